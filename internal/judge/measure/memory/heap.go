// Package memory says what memory costs a program: what lives on the heap, how often it is
// collected and why then, what allocating and collecting take of the CPU and at which lines, and
// what became more and stays.
//
// It hides which evidence says it best: the runtime's metrics, a trace's samples of the heap, the
// lines of gctrace and heap profiles know different parts of the same. It hides how an allocation
// is priced by its objects and its bytes, and how a goal tells the setting behind it.
//
// memory knows no rule: from which cost or growth on something is a problem stands with each.
package memory

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Names of runtime/metrics: see its documentation for what each counts.
const (
	MetricLive         = "/gc/heap/live:bytes"
	MetricGoal         = "/gc/heap/goal:bytes"
	MetricCycles       = "/gc/cycles/total:gc-cycles"
	MetricAllocBytes   = "/gc/heap/allocs:bytes"
	MetricAllocObjects = "/gc/heap/allocs:objects"
	MetricGOGC         = "/gc/gogc:percent"
	MetricLimit        = "/gc/gomemlimit:bytes"
	MetricLimiter      = "/gc/limiter/last-enabled:gc-cycle"
	MetricTotal        = "/memory/classes/total:bytes"
	MetricReleased     = "/memory/classes/heap/released:bytes"
	MetricGoroutines   = "/sched/goroutines:goroutines"
	MetricStackStart   = "/gc/stack/starting-size:bytes"
	MetricCreated      = "/sched/goroutines-created:goroutines"
)

// MetricNow returns the last value of a metric, 0 without it.
func MetricNow(m *model.Model, name string) float64 {
	v, _ := m.Metrics.Last(name)
	return v
}

// A LiveSeries is what each collection of the window found alive, from the
// evidence that says it best.
type LiveSeries struct {
	model.Series
	Source model.Source
}

// LiveHeap returns what each collection found alive: by metrics, else by the lines of gctrace, else by the trace.
func LiveHeap(m *model.Model) LiveSeries {
	if m.Metrics != nil {
		if s := changes(m.Metrics.Series[MetricLive]); len(s) > 0 {
			return LiveSeries{s, model.MetricsLog}
		}
	}
	if len(m.GCLog) > 0 {
		l := LiveSeries{Source: model.GCTrace} // in whole MB
		for _, line := range m.GCLog {
			l.Series = append(l.Series, model.Point{At: line.At, Value: float64(line.Live)})
		}
		return l
	}
	if m.GC != nil {
		return LiveSeries{lows(m.GC), model.Trace}
	}
	return LiveSeries{}
}

// LastFound returns the heap that the last collection found.
func (l *LiveSeries) LastFound(p *diagnosis.Pass) fact.Fact {
	if l.Source == model.MetricsLog {
		return p.Metric("live heap", MetricLive, fact.Last)
	}
	last, _ := l.Last()
	return l.Statistic(p, "live heap", last.Value, fact.Bytes)
}

// MaxHeap returns the largest heap that any collection found.
func (l *LiveSeries) MaxHeap(p *diagnosis.Pass) fact.Fact {
	if l.Source == model.MetricsLog {
		return p.Metric("largest live heap", MetricLive, fact.Most)
	}
	most := 0.0
	for _, point := range l.Series {
		most = max(most, point.Value)
	}
	return l.Statistic(p, "largest live heap", most, fact.Bytes)
}

// GrownInProfile returns how much of the growth the heap profile of the end shows. The runtime adds
// what was allocated up to a collection when the next one has ended: the profile is of the last
// but one before it was taken, and of a heap that doubles from one to the next it has the half.
// ok is false where nobody knows when that was, and where no collection is left.
func (l *LiveSeries) GrownInProfile(m *model.Model) (bytes float64, ok bool) {
	end := m.LiveHeap.End
	if end == nil || !end.Known {
		return 0, false
	}
	taken := end.At
	if l.Source == model.MetricsLog { // which says it when it is read again
		read := m.Metrics.Series[MetricLive]
		if i := read.Index(end.At); i < len(read) {
			taken = read[i].At
		}
	}
	ended := l.Index(taken + 1)
	if ended < 3 {
		return 0, false
	}
	return l.Series[ended-2].Value - l.Series[0].Value, true
}

// Statistic measures what else the series has.
func (l *LiveSeries) Statistic(p *diagnosis.Pass, name string, v float64, u fact.Unit) fact.Fact {
	if l.Source == model.MetricsLog {
		return p.Statistic(fact.Metric, MetricLive, name, v, u).From(l.Source)
	}
	return p.Statistic(fact.Collector, "live heap of each collection", name, v, u).From(l.Source)
}

// changes leaves one point for each value of a series that steps: the metric
// is read more often than it changes.
func changes(in model.Series) (out model.Series) {
	for i, p := range in {
		if p.Value > 0 && (i == 0 || p.Value != in[i-1].Value) {
			out = append(out, p)
		}
	}
	return out
}

// lows returns the smallest heap between the begin of each collection and the next:
// what it left.
func lows(gc *model.GC) (out model.Series) {
	next := 0
	for i, c := range gc.Cycles {
		if c.Begin < 0 {
			continue
		}
		until := time.Duration(math.MaxInt64)
		if i+1 < len(gc.Cycles) {
			until = gc.Cycles[i+1].Begin
		}
		low := model.Point{}
		for ; next < len(gc.Heap) && gc.Heap[next].At < until; next++ {
			h := gc.Heap[next]
			if h.At >= c.Begin && h.Alloc > 0 && (low.Value == 0 || float64(h.Alloc) < low.Value) {
				low = model.Point{At: h.At, Value: float64(h.Alloc)}
			}
		}
		if low.Value > 0 {
			out = append(out, low)
		}
	}
	return out
}

// RetainedShare returns which part of what was allocated, from the first collection that is known to
// the last, was still alive there; false where nothing tells both.
func RetainedShare(p *diagnosis.Pass) (part fact.Fact, ok bool) {
	live := LiveHeap(p.Model)
	if len(live.Series) < 2 {
		return part, false
	}
	first, last := live.Series[0], live.Series[len(live.Series)-1]
	made := 0.0
	switch live.Source {
	case model.GCTrace:
		lines := p.Model.GCLog
		for i, line := range lines[1:] {
			made += max(0, float64(line.Before)-float64(lines[i].Live))
		}
		if lines[0].Cycle == 1 { // before it was nothing
			made, first.Value = made+float64(lines[0].Before), 0
		}
	case model.MetricsLog:
		allocs := p.Model.Metrics.Series[MetricAllocBytes]
		made = allocs.At(last.At) - allocs.At(first.At)
	default:
		for i, h := range p.Model.GC.Heap[1:] {
			if h.At > first.At && h.At <= last.At {
				made += max(0, float64(h.Alloc)-float64(p.Model.GC.Heap[i].Alloc))
			}
		}
	}
	if made <= 0 {
		return part, false
	}
	return live.Statistic(p, "part of what was allocated that the last collection found alive", max(0, last.Value-first.Value)/made, fact.Ratio), true
}

// Collections returns how often the collector ran, a second and in all.
func Collections(p *diagnosis.Pass) (rate, n fact.Fact, ok bool) {
	m := p.Model
	if _, _, ok := m.Metrics.Delta(MetricCycles); ok {
		return p.Metric("collections", MetricCycles, fact.Rate), p.Metric("collections", MetricCycles, fact.Change), true
	}
	const name = "collections"
	if k := len(m.GCLog); k > 0 && m.GCLog[k-1].At > m.GCLog[0].At {
		log := func(name string, v float64, u fact.Unit) fact.Fact {
			return p.Statistic(fact.Collector, "lines", name, v, u).From(model.GCTrace)
		}
		over := (m.GCLog[k-1].At - m.GCLog[0].At).Seconds()
		rate = fact.Quotient.Of(name, fact.PerSec, log("collections after the first", float64(k-1), fact.Count), log("time since the first", over, fact.Seconds))
		return rate, log(name, float64(k), fact.Count), true
	}
	if m.GC != nil && p.Seconds() > 0 {
		n = p.Statistic(fact.Collector, name, name, float64(countCollections(m.GC)), fact.Count)
		return fact.Quotient.Of(name, fact.PerSec, n, p.WindowLength()), n, true
	}
	return rate, n, false
}

// countCollections returns how many collections began in the window.
func countCollections(gc *model.GC) (n int) {
	for _, c := range gc.Cycles {
		if c.Begin >= 0 {
			n++
		}
	}
	return n
}

// gogcLargest is the largest percentage that is taken for a setting; the
// metric writes "off" as a number beyond.
const gogcLargest = 1e6

// DefaultGOGC is what Go takes when nobody sets it.
const DefaultGOGC = 100

// GOGC returns the heap's growth target in percent, Go's own when nobody says
// otherwise; off says that it is never reached.
func GOGC(p *diagnosis.Pass) (percent fact.Fact, off bool) {
	if g := p.Metric("GOGC", MetricGOGC, fact.Last); g.Value > 0 {
		return g, g.Value > gogcLargest
	}
	if p.Model.Build != nil {
		v := p.Model.Build.Environment["GOGC"]
		if n, err := strconv.Atoi(v); v == "off" || err == nil && n > 0 {
			return p.Setting("GOGC", "GOGC", float64(n), fact.Count), v == "off"
		}
	}
	if percent, steady, ok := LoggedGOGC(p.Model); ok && steady && percent > LimitGOGC {
		return LogFact(p, "goals", "GOGC, by the goals", math.Round(percent/gogcRound)*gogcRound, fact.Count), false
	}
	return fact.Figure("GOGC", DefaultGOGC, fact.Count, "Go's default"), false
}

// LimitBinds reports whether a memory limit sets the pace of the collector, so that a
// higher GOGC changes nothing; or may, where the goals are low and nobody knows why.
func LimitBinds(p *diagnosis.Pass) bool {
	limit, set, known := Limit(p)
	if !known {
		return PacedLow(p.Model)
	}
	live := LiveHeap(p.Model)
	percent, off := GOGC(p)
	return set && (off || live.LastFound(p).Value*(1+percent.Value/100) >= limit.Value)
}

// GOGCKnob sets GOGC for a run.
func GOGCKnob(percent float64) string { return "GOGC=" + strconv.FormatFloat(percent, 'f', 0, 64) }

// MiB is bytes in whole MiB.
func MiB(bytes float64) float64 { return math.Ceil(bytes / (1 << 20)) }

// LimitKnob sets GOMEMLIMIT for a run.
func LimitKnob(mebibytes float64) string {
	return "GOMEMLIMIT=" + strconv.FormatFloat(mebibytes, 'f', 0, 64) + "MiB"
}

// Limit is GOMEMLIMIT; set is false when it is off, and known when nothing
// tells.
func Limit(p *diagnosis.Pass) (limit fact.Fact, set, known bool) {
	if l := p.Metric("GOMEMLIMIT", MetricLimit, fact.Last); l.Value > 0 {
		return l, l.Value < math.MaxInt64, true
	}
	if p.Model.Build == nil || p.Model.Build.Environment == nil {
		return limit, false, false
	}
	bytes, known := parseLimit(p.Model.Build.Environment["GOMEMLIMIT"])
	return p.Setting("GOMEMLIMIT", "GOMEMLIMIT", bytes, fact.Bytes), known && bytes > 0, known
}

// parseLimit reads GOMEMLIMIT as the runtime does: bytes, with B or one of
// the binary units after them. Not set is off, zero.
func parseLimit(v string) (bytes float64, ok bool) {
	if v == "" || v == "off" {
		return 0, true
	}
	digits := strings.TrimRight(v, "BKMGTi")
	unit, ok := map[string]float64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[v[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	return float64(n) * unit, ok && err == nil && n > 0
}

// CollectorCPU returns the collector's share of the CPU in use, assists included, and
// that CPU; or of what the Ps can do, and their number, where only the lines of gctrace
// tell. The runtime's own estimate, /cpu/classes, is never asked: it came to
// more than the whole of rusage where Ps were starved.
func CollectorCPU(p *diagnosis.Pass) (share, cores fact.Fact, ok bool) {
	if s, ok := cpu.UseOf(p); ok {
		return p.CPUPart(InCollector, model.Collecting), s.InUse(), true
	}
	var a Allocation
	if a.FromTrace(p); a.Cores.Value > 0 {
		return a.Collect, a.Cores, true
	}
	return loggedCPU(p)
}

// The names of the parts of what memory costs, the same in every finding.
const (
	InAllocator = "CPU in the allocator"
	InCollector = "CPU in the garbage collector"
)

// Collector is what garbage collection costs and what it depends on.
type Collector struct {
	Share, Cores fact.Fact // of the CPU in use, and all of that
	Rate, Cycles fact.Fact // collections a second, and in all
	Live, Most   fact.Fact // as the last collection found it, and as any did
	GOGC         fact.Fact
	Off          bool // GOGC is
	Full         bool // the goals of the lines leave no room above what is alive
	Logged       bool // share is of what the Ps can do, by the lines of gctrace
}

// CollectorOf fails where the price or the number of collections is not known.
func CollectorOf(p *diagnosis.Pass) (h Collector, ok bool) {
	live := LiveHeap(p.Model)
	h.Live, h.Most = live.LastFound(p), live.MaxHeap(p)
	h.GOGC, h.Off = GOGC(p)
	percent, _, told := LoggedGOGC(p.Model)
	h.Full = told && percent <= LimitGOGC
	var counted, priced bool
	h.Rate, h.Cycles, counted = Collections(p)
	h.Share, h.Cores, priced = CollectorCPU(p)
	h.Logged = h.Cores.Origin.Source == model.GCTrace
	return h, counted && priced && len(live.Series) > 0
}

// Facts returns the evidence that every finding about the collector rests on.
func (h *Collector) Facts() []fact.Fact { return []fact.Fact{h.Share, h.Cores, h.Rate, h.Live} }

// Cost returns the CPU in collecting.
func (h *Collector) Cost() diagnosis.Cost {
	return diagnosis.CostOf(fact.Product.Of("CPU in garbage collection, assists included", fact.Cores, h.Share, h.Cores), h.Share.Value)
}

// LargestHeap returns the peak of the heap in the window, in bytes; 0 without evidence of it.
func LargestHeap(m *model.Model) (bytes float64) {
	if m.GC != nil {
		for _, h := range m.GC.Heap {
			bytes = max(bytes, float64(h.Alloc))
		}
	}
	return bytes
}
