package exectrace

import (
	"cmp"
	"maps"
	"slices"
)

// Special ranges, regions, tasks, logs, labels and samples in pieces of traces of
// Go 1.21 and older; see v1_piece.go.

// An openRange names a special range that goes on: there is at most one of a kind
// for each goroutine, P, or, with -1, for the program.
type openRange struct {
	kind rangeKind
	id   int64
}

type rangeKind uint8

const (
	markRange rangeKind = iota
	sweepRange
	assistRange
	pauseRange
)

// rangeOf returns which range an event is about, as it would begin now.
func (r *oldPieces) rangeOf(e *Event) (openRange, RangeSpan) {
	name, g, p := e.Range()
	x := RangeSpan{From: r.now, Name: name, Goroutine: g, Proc: p, Stack: Stack(e.stackID())}
	switch {
	case name == RangeMark:
		x.Stack = 0
		return openRange{markRange, -1}, x
	case name == RangeSweep:
		x.Goroutine = e.Goroutine
		return openRange{sweepRange, int64(p)}, x
	case name == RangeAssist:
		return openRange{assistRange, g}, x
	}
	return openRange{pauseRange, g}, x
}

// special adds an event of a special range.
func (r *oldPieces) special(e *Event) {
	key, x := r.rangeOf(e)
	switch e.Kind {
	case EventRangeBegin:
		if key.kind == markRange {
			r.close(key, r.now) // the end of one before was lost
		}
		r.open[key] = x
	case EventRangeActive:
		if _, ok := r.open[key]; !ok {
			x.From, x.Stack = r.p.From, 0
			r.open[key] = x
		}
	case EventRangeEnd:
		if _, ok := r.open[key]; !ok && (key.kind == markRange || key.kind == pauseRange) {
			x.From, x.Stack = r.p.From, 0
			r.open[key] = x
		}
		r.close(key, r.now)
	}
}

// close ends a range, if it goes on.
func (r *oldPieces) close(key openRange, at Time) {
	x, ok := r.open[key]
	if !ok {
		return
	}
	delete(r.open, key)
	x.To = max(at, x.From)
	r.p.Ranges = append(r.p.Ranges, x)
}

// cutRanges cuts those that go on.
func (r *oldPieces) cutRanges() {
	keys := slices.SortedFunc(maps.Keys(r.open), func(a, b openRange) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
	})
	for _, k := range keys {
		x := r.open[k]
		r.close(k, r.now)
		x.From, x.Stack = r.now, 0
		r.open[k] = x
	}
}

// user adds what belongs to no state.
func (r *oldPieces) user(e *Event) {
	p := r.p
	switch e.Kind {
	case EventSample:
		p.Samples = append(p.Samples, SampleAt{At: r.now, Goroutine: cmp.Or(e.Goroutine, -1), Proc: e.Proc, Thread: e.Thread, Stack: Stack(e.args[0])})
	case EventLabel:
		p.Labels = append(p.Labels, LabelAt{r.now, e.Goroutine, e.Label()})
	case EventLog:
		task, category, message := e.Log()
		p.Logs = append(p.Logs, LogEvent{r.now, e.Goroutine, taskOf(task), category, message})
	case EventTaskBegin, EventTaskEnd:
		id, parent, name := e.Task()
		x := TaskEvent{At: r.now, ID: id, Parent: taskOf(parent), Goroutine: e.Goroutine, Name: name}
		if x.End = e.Kind == EventTaskEnd; x.End {
			x.Parent = 0
		}
		p.Tasks = append(p.Tasks, x)
	case EventRegionBegin:
		if slot, ok := r.slots[e.Goroutine]; ok && len(r.lives[slot].regions) < maxRegions {
			task, name := e.Region()
			l := &r.lives[slot]
			l.regions = append(l.regions, oldRegion{name, taskOf(task), r.now})
		}
	case EventRegionEnd:
		slot, ok := r.slots[e.Goroutine]
		if !ok {
			return
		}
		l := &r.lives[slot]
		if len(l.regions) == 0 { // it began before the trace
			task, name := e.Region()
			p.Regions = append(p.Regions, RegionSpan{From: max(p.From, l.created), To: r.now, Goroutine: l.id, Task: taskOf(task), Name: name, Ended: true})
			return
		}
		r.regionEnd(l)
	}
}

// taskOf returns a task as pieces have it: 0 for none.
func taskOf(id uint64) uint64 {
	if id == NoTask {
		return 0
	}
	return id
}

// regionEnd ends the innermost region of a goroutine.
func (r *oldPieces) regionEnd(l *oldLife) {
	n := len(l.regions) - 1
	r.regionSpan(l, l.regions[n], true)
	l.regions = l.regions[:n]
}

// cutRegions cuts those of a goroutine.
func (r *oldPieces) cutRegions(l *oldLife) {
	for i := len(l.regions) - 1; i >= 0; i-- {
		r.regionSpan(l, l.regions[i], false)
	}
}

func (r *oldPieces) regionSpan(l *oldLife, x oldRegion, ended bool) {
	r.p.Regions = append(r.p.Regions, RegionSpan{
		From: max(x.begin, r.p.From), To: r.now, Goroutine: l.id, Task: x.task, Name: x.name, Began: x.begin >= r.p.From, Ended: ended,
	})
}
