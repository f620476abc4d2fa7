package agent

import (
	"runtime/metrics"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// What keeps triggers from crying wolf.
const (
	// hold is how many seconds on end a state must last. One second of full
	// CPU is a collection or a burst of requests; three in a row are a state.
	hold = 3
	// holdLatency is shorter: a percentile over many events is steadier than
	// a single value.
	holdLatency = 2
	// rearmShare is the part of a limit under which a level must fall before it
	// can be too high again: one that swings around its limit is one event.
	rearmShare = 0.8
	// minGoroutines is the least growth that counts: a thousand goroutines
	// that wait are a few MB, and fewer come and go with any burst.
	minGoroutines = 1000
	// minHeap is the least growth that counts. A small heap may well double
	// when a cache fills; 64 MiB are felt in a container.
	minHeap = 64 << 20
	// minLatencies is how many goroutines must have been scheduled in a
	// second: the 99th percentile of 500 is five of them, not one.
	minLatencies = 500
)

// A reading is what the triggers need to know of one moment.
type reading struct {
	at         time.Time
	cpu        time.Duration // since the program's start
	procs      float64       // GOMAXPROCS
	goroutines float64
	heap       float64  // live after the last collection, so that garbage does not count
	latencies  []uint64 // since the program's start, by the bounds
	bounds     []float64
}

// newReader returns a function that reads the runtime without allocating.
func newReader() func() reading {
	samples := []metrics.Sample{
		{Name: "/sched/gomaxprocs:threads"}, {Name: "/sched/goroutines:goroutines"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/sched/latencies:seconds"},
	}
	number := func(i int) float64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return float64(samples[i].Value.Uint64())
	}
	return func() reading {
		metrics.Read(samples)
		r := reading{at: time.Now(), procs: number(0), goroutines: number(1), heap: number(2)}
		r.cpu, _ = cpuTime()
		if v := samples[3].Value; v.Kind() == metrics.KindFloat64Histogram {
			r.latencies, r.bounds = v.Float64Histogram().Counts, v.Float64Histogram().Buckets
		}
		return r
	}
}

// A detector tells events from readings, one a second.
type detector struct {
	t             Triggers
	begun         time.Time
	last          reading
	lastLatencies []uint64 // the last reading's latencies; the runtime writes over its own
	cpu           level
	latency       level
	goroutines    growth
	heap          growth
}

// look returns the events that a reading shows.
func (d *detector) look(r reading) (events []recording.Event) {
	if d.begun.IsZero() {
		d.begun = r.at
		d.remember(r)
		return nil
	}
	warm := r.at.Sub(d.begun) >= d.t.Warmup
	report := func(kind string, fired bool, value, limit float64) {
		if fired && warm {
			events = append(events, recording.Event{Kind: kind, Time: r.at, Value: value, Limit: limit})
		}
	}
	if wall := r.at.Sub(d.last.at).Seconds(); d.t.CPU > 0 && wall > 0 && r.procs > 0 {
		share := (r.cpu - d.last.cpu).Seconds() / (wall * r.procs)
		report("cpu", d.cpu.exceeded(share, d.t.CPU, hold), share, d.t.CPU)
	}
	if d.t.Latency > 0 {
		if p99, ok := percentile99(r.bounds, d.lastLatencies, r.latencies); ok {
			report("latency", d.latency.exceeded(p99, d.t.Latency.Seconds(), holdLatency), p99, d.t.Latency.Seconds())
		} else {
			d.latency.exceeded(0, d.t.Latency.Seconds(), holdLatency) // too few to matter
		}
	}
	if d.t.Goroutines > 0 {
		limit, fired := d.goroutines.over(r.goroutines, d.t.Goroutines, minGoroutines, warm)
		report("goroutines", fired, r.goroutines, limit)
	}
	if d.t.Heap > 0 {
		limit, fired := d.heap.over(r.heap, d.t.Heap, minHeap, warm)
		report("heap", fired, r.heap, limit)
	}
	d.remember(r)
	return events
}

func (d *detector) remember(r reading) {
	d.last = r
	d.lastLatencies = append(d.lastLatencies[:0], r.latencies...)
}

// rebase takes what an event was of for usual from now on, so that it reports growth at each
// further multiple, and not all the time.
func (d *detector) rebase(e recording.Event) {
	switch e.Kind {
	case "goroutines":
		d.goroutines.rebase(e.Value)
	case "heap":
		d.heap.rebase(e.Value)
	}
}

// A level is a quantity that is too high for a time. It is so once: what was
// too high from the start is how this program is.
type level struct {
	high, low int // for how many readings on end
	is        bool
}

// exceeded reports whether the level has become too high now.
func (l *level) exceeded(value, limit float64, hold int) bool {
	switch {
	case value >= limit:
		l.high, l.low = l.high+1, 0
		if l.high >= hold && !l.is {
			l.is = true
			return true
		}
	case value < limit*rearmShare:
		l.high, l.low = 0, l.low+1
		if l.low >= hold {
			l.is = false
		}
	default:
		l.high, l.low = 0, 0
	}
	return false
}

// A growth is a quantity that becomes a multiple of the most it usually was. The
// most, not the mean: what goes up and down with the day is then told of once.
type growth struct {
	usual float64
	high  int
}

func (g *growth) over(value, factor, least float64, warm bool) (limit float64, fired bool) {
	if !warm {
		g.usual = max(g.usual, value)
		return 0, false
	}
	limit = max(g.usual*factor, g.usual+least)
	if value < limit {
		g.high = 0
		return limit, false
	}
	g.high++
	return limit, g.high >= hold
}

func (g *growth) rebase(value float64) { *g = growth{usual: value} }

// percentile99 returns the 99th percentile of what a histogram counted between
// two readings, as the lower bound of its bucket, so that nothing is exaggerated.
func percentile99(bounds []float64, before, after []uint64) (value float64, ok bool) {
	if len(before) != len(after) || len(bounds) != len(after)+1 {
		return 0, false
	}
	total := uint64(0)
	for i := range after {
		total += after[i] - before[i]
	}
	if total < minLatencies {
		return 0, false
	}
	rest := (total + 99) / 100
	for i := len(after) - 1; i >= 0; i-- {
		n := after[i] - before[i]
		if n >= rest {
			return max(bounds[i], 0), true
		}
		rest -= n
	}
	return 0, false
}
