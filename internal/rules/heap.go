package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

// Names of runtime/metrics.
const (
	metricLive         = "/gc/heap/live:bytes"
	metricGoal         = "/gc/heap/goal:bytes"
	metricCycles       = "/gc/cycles/total:gc-cycles"
	metricAllocBytes   = "/gc/heap/allocs:bytes"
	metricAllocObjects = "/gc/heap/allocs:objects"
	metricGOGC         = "/gc/gogc:percent"
	metricLimit        = "/gc/gomemlimit:bytes"
	metricLimiter      = "/gc/limiter/last-enabled:gc-cycle"
	metricTotal        = "/memory/classes/total:bytes"
	metricReleased     = "/memory/classes/heap/released:bytes"
	metricGoroutines   = "/sched/goroutines:goroutines"
	metricStackStart   = "/gc/stack/starting-size:bytes"
	metricCreated      = "/sched/goroutines-created:goroutines"
)

// metricNow is the last value of a metric, 0 without it.
func metricNow(m *model.Model, name string) float64 {
	v, _ := m.Metrics.Last(name)
	return v
}

// liveHeap is what each collection of the window found alive, from the source
// that says it best.
func liveHeap(m *model.Model) (s model.Series, source string) {
	if m.Metrics != nil {
		if s = changes(m.Metrics.Series[metricLive]); len(s) > 0 {
			return s, "metrics: " + metricLive
		}
	}
	if len(m.GCLog) > 0 {
		for _, l := range m.GCLog {
			s = append(s, model.Point{At: l.At, Value: float64(l.Live)})
		}
		return s, "gctrace: live heap, in whole MB"
	}
	if m.GC != nil {
		return lows(m.GC), "trace: smallest heap of each collection"
	}
	return nil, ""
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

// lows is the smallest heap between the begin of each collection and the next:
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

// collections is how often the collector ran, a second and in all.
func collections(p *diagnosis.Pass) (rate float64, n int, source string, ok bool) {
	m := p.Model
	if by, over, ok := m.Metrics.Delta(metricCycles); ok {
		return by / over.Seconds(), int(by), "metrics: " + metricCycles, true
	}
	if k := len(m.GCLog); k > 1 && m.GCLog[k-1].At > m.GCLog[0].At {
		return float64(k-1) / (m.GCLog[k-1].At - m.GCLog[0].At).Seconds(), k, "gctrace", true
	}
	if m.GC != nil && p.Seconds() > 0 {
		for _, c := range m.GC.Cycles {
			if c.Begin >= 0 {
				n++
			}
		}
		return float64(n) / p.Seconds(), n, "trace: collections", true
	}
	return 0, 0, "", false
}

// gogcOff stands for a target that is never reached.
var gogcOff = math.Inf(1)

// gogcLargest is the largest percentage that is taken for a setting; the
// metric writes "off" as a number beyond.
const gogcLargest = 1e6

// gogc is the heap's growth target in percent, 100 when nobody says otherwise.
func gogc(m *model.Model) float64 {
	if g := metricNow(m, metricGOGC); g > 0 {
		if g > gogcLargest {
			return gogcOff
		}
		return g
	}
	if m.Build != nil {
		v := m.Build.Environment["GOGC"]
		if v == "off" {
			return gogcOff
		}
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			return float64(n)
		}
	}
	return 100
}

// memoryLimit is GOMEMLIMIT in bytes, infinite when it is off; known is false
// when nothing tells.
func memoryLimit(m *model.Model) (bytes float64, known bool) {
	if l := metricNow(m, metricLimit); l > 0 {
		if l >= math.MaxInt64 {
			return math.Inf(1), true
		}
		return l, true
	}
	if m.Build == nil || m.Build.Environment == nil {
		return 0, false
	}
	return parseLimit(m.Build.Environment["GOMEMLIMIT"])
}

// parseLimit reads GOMEMLIMIT as the runtime does: bytes, with B or one of
// the binary units after them. Not set is off.
func parseLimit(v string) (bytes float64, ok bool) {
	if v == "" || v == "off" {
		return math.Inf(1), true
	}
	digits := strings.TrimRight(v, "BKMGTi")
	unit, ok := map[string]float64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}[v[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	return float64(n) * unit, ok && err == nil && n > 0
}

// collectorCPU is the collector's share of the CPU in use, assists included.
// The runtime's own estimate, /cpu/classes, is never asked: it came to more
// than the whole of rusage where Ps were starved.
func collectorCPU(p *diagnosis.Pass) (share, cores float64, source string, ok bool) {
	if s, ok := spentCPU(p); ok {
		return s.part(model.Collecting), s.Cores(), s.from(), true
	}
	var a allocation
	if a.fromTrace(p); a.cores > 0 {
		return a.collect, a.cores, "trace: collector's time on the Ps", true
	}
	return 0, 0, "", false
}

// heapCost is what garbage collection costs and what it depends on.
type heapCost struct {
	share, cores float64 // of the CPU in use, and all of that
	source       string
	rate         float64 // collections a second
	cycles       int
	live         float64 // bytes, as the last collection found them
	most         float64 // largest of the window
	gogc         float64
}

// measureHeap fails where the price or the number of collections is not known.
func measureHeap(p *diagnosis.Pass) (h heapCost, ok bool) {
	live, _ := liveHeap(p.Model)
	for _, point := range live {
		h.live, h.most = point.Value, max(h.most, point.Value)
	}
	var counted, priced bool
	h.rate, h.cycles, _, counted = collections(p)
	h.share, h.cores, h.source, priced = collectorCPU(p)
	h.gogc = gogc(p.Model)
	return h, counted && priced && h.cores > 0 && len(live) > 0
}

// facts are the evidence that every finding about the collector rests on.
func (h *heapCost) facts() []fact.Fact {
	return []fact.Fact{
		{Name: "collector's share of the CPU", Value: h.share, Unit: fact.Ratio, Source: h.source},
		{Name: "CPU in use", Value: h.cores, Unit: fact.Cores, Source: h.source},
		{Name: "collections", Value: h.rate, Unit: fact.PerSec, Source: "collections ÷ window"},
		{Name: "live heap", Value: h.live, Unit: fact.Bytes, Source: "as the last collection found it"},
	}
}

// largestHeap is the most that the heap held in the window, in bytes; 0
// without evidence of it.
func largestHeap(m *model.Model) (bytes float64) {
	if m.GC != nil {
		for _, h := range m.GC.Heap {
			bytes = max(bytes, float64(h.Alloc))
		}
	}
	return bytes
}

// gcSymptoms is what a collector that is kept busy may explain: its stops
// only as far as it is their number that costs, and what allocating costs only
// where collecting is most of that.
func gcSymptoms(p *diagnosis.Pass) []string {
	return slices.DeleteFunc(slices.Clone(p.Rule.Explains), func(rule string) bool {
		return rule == "slowstop" && !stopsByNumber(p) || rule == "allocchurn" && !mostlyCollecting(p)
	})
}
