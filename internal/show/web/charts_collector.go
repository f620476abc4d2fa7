package web

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

func heapOfTrace(p plot) *Chart {
	if p.GC == nil {
		return nil
	}
	heap, goal := line{name: "heap"}, line{name: "goal"}
	for _, h := range p.GC.Heap {
		heap.add(h.At, bytesOrGap(h.Alloc))
		goal.add(h.At, bytesOrGap(h.Goal))
	}
	return p.chart("heap", "bytes", fromTrace, false, heap, goal)
}

func heapOfMetrics(p plot) *Chart {
	limit := gauge("limit", p.metric("/gc/gomemlimit:bytes"))
	for i, b := range limit.value {
		if b > math.MaxInt64/2 { // there is none
			limit.value[i] = gap
		}
	}
	return p.chart("heap", "bytes", fromMetrics, false,
		gauge("heap", p.metric("/memory/classes/heap/objects:bytes")), gauge("goal", p.metric("/gc/heap/goal:bytes")),
		gauge("live", p.metric("/gc/heap/live:bytes")), limit)
}

func heapOfLog(p plot) *Chart {
	heap, goal, live := line{name: "heap"}, line{name: "goal"}, line{name: "live"}
	for _, g := range alignedGC(p.Model) {
		heap.add(g.At, float64(g.Before))
		goal.add(g.At, float64(g.Goal))
		live.add(g.At, float64(g.Live))
	}
	return p.chart("heap", "bytes", fromGCLog, false, heap, goal, live)
}

// collectorOfTrace returns the share of the Ps that the collector takes, by what for.
// A smaller window has smaller stretches.
func collectorOfTrace(p plot) *Chart {
	if p.GC == nil {
		return nil
	}
	c := p.chart("gc", "share", fromTrace, true, p.collectorShares()...)
	if c != nil {
		_, _, width := p.pieces()
		c.Thinned = width > 1
	}
	return c
}

// collectorKinds are what the collector takes Ps for, in the order in which they
// are drawn on top of each other.
var collectorKinds = []struct {
	name string
	flag model.LoadFlags
}{{"background", model.CountBackground}, {"assist", model.CountAssist}, {"sweep", model.CountSweep}, {"stop", model.CountSTW}}

// collectorShares returns the lines of those kinds that occurred in the run. A P that is
// taken for two things at once, as all of them are while the world is stopped, counts
// for the one that is drawn higher: each line is what its kind takes more than those
// above it do together, so that they add up to what the collector takes.
func (p plot) collectorShares() []line {
	lines := make([]line, len(collectorKinds))
	var flags model.LoadFlags
	var above []float64
	for i := len(collectorKinds) - 1; i >= 0; i-- {
		k := collectorKinds[i]
		lines[i].name = k.name
		if p.GC.LoadTime(k.flag, p.Run.Procs, 0, p.Run.Duration) <= 0 {
			continue
		}
		flags |= k.flag
		l := p.loadShare(flags)
		together := slices.Clone(l.value)
		for j := range above {
			l.value[j] = max(0, l.value[j]-above[j])
		}
		lines[i].at, lines[i].value, above = l.at, l.value, together
	}
	return lines
}

// stretches is how many pieces of the window averages are taken over.
const stretches = 500

// pieces returns the pieces that averages are taken over: where the first begins and the last
// ends, and how long each is.
func (p plot) pieces() (from, to, width time.Duration) {
	from, to = 0, p.Run.Duration
	if !p.whole() {
		from, to = p.from, min(p.to, to)
	}
	return from, to, max((to-from)/stretches, 1)
}

// loadShare returns the share of the Ps that some kinds of load have together, averaged over
// stretches.
func (p plot) loadShare(flags model.LoadFlags) (l line) {
	begin, end, width := p.pieces()
	for _, steps := range p.GC.Utilization(flags, p.Run.Procs, begin, end) {
		i := 0
		for from := begin; from < end; from += width {
			to := min(from+width, end)
			var lost, over float64
			for ; i+1 < len(steps); i++ {
				a, b := max(steps[i].At, from), min(steps[i+1].At, to)
				if b > a {
					lost += (1 - steps[i].Util) * float64(b-a)
					over += float64(b - a)
				}
				if steps[i+1].At > to {
					break
				}
			}
			l.add(from+(to-from)/2, lost/over) // a gap before the series begins
		}
	}
	return l
}

func collectorOfLog(p plot) *Chart {
	stop, mark := line{name: "stop"}, line{name: "mark"}
	for _, g := range alignedGC(p.Model) {
		stop.add(g.At, float64(g.SweepTerm+g.MarkTerm))
		mark.add(g.At, float64(g.Mark))
	}
	return p.chart("gc", "ns", fromGCLog, false, stop, mark)
}

func collectorOfMetrics(p plot) *Chart {
	return p.chart("gc", "cores", fromMetrics, false, rate("collector", p.metric("/cpu/classes/gc/total:cpu-seconds")))
}

// cycles returns the collections of a window, the longest of too many.
func cycles(g *model.GC, end time.Duration, w window) (list []Gap) {
	for _, c := range g.Cycles {
		to := c.End
		if to < 0 {
			to = end
		}
		if w.meets(c.Begin, to) {
			list = append(list, Gap{FromNS: int64(max(c.Begin, 0)), ToNS: int64(to), Why: decimal(c.Seq)})
		}
	}
	return longest(list)
}

func pauses(g *model.GC, w window) (list []Gap) {
	for _, p := range g.Pauses {
		if w.meets(p.At, p.At+p.Duration) {
			list = append(list, Gap{FromNS: int64(p.At), ToNS: int64(p.At + p.Duration), Why: name(p.Kind)})
		}
	}
	return longest(list)
}

// longest keeps the longest stretches where there are more than a chart can
// show, in the order of time.
func longest(list []Gap) []Gap {
	if len(list) > maxPoints {
		slices.SortStableFunc(list, func(a, b Gap) int { return cmp.Compare(b.ToNS-b.FromNS, a.ToNS-a.FromNS) })
		list = list[:maxPoints]
		slices.SortStableFunc(list, func(a, b Gap) int { return cmp.Compare(a.FromNS, b.FromNS) })
	}
	return list
}
