package rules

import (
	"math"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/measure/memory"
	"github.com/gowhy/gowhy/internal/know/model"
)

// counters read what the runtime and the system count of this process, as a
// recording does: ten times a second, and at both ends.
type counters struct {
	begin   time.Time
	names   []metrics.Sample
	series  map[string]model.Series
	process model.Process
	stop    chan struct{}
	done    chan struct{}
}

// counted are those of the runtime's metrics that rules ask for.
var counted = []string{
	memory.MetricLive, memory.MetricGoal, memory.MetricCycles, memory.MetricAllocBytes, memory.MetricAllocObjects, memory.MetricGOGC, memory.MetricLimit, memory.MetricLimiter,
	memory.MetricTotal, memory.MetricReleased, memory.MetricGoroutines, memory.MetricStackStart, memory.MetricCreated, "/sched/gomaxprocs:threads",
}

func startCounters() *counters {
	c := &counters{begin: time.Now(), series: map[string]model.Series{}, stop: make(chan struct{}), done: make(chan struct{})}
	known := metrics.All()
	for _, name := range counted {
		if slices.ContainsFunc(known, func(d metrics.Description) bool { return d.Name == name }) {
			c.names = append(c.names, metrics.Sample{Name: name})
		}
	}
	go func() {
		defer close(c.done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			c.read()
			select {
			case <-tick.C:
			case <-c.stop:
				c.read()
				return
			}
		}
	}()
	return c
}

func (c *counters) read() {
	at := time.Since(c.begin)
	metrics.Read(c.names)
	for _, s := range c.names {
		v := math.NaN()
		switch s.Value.Kind() {
		case metrics.KindUint64:
			v = float64(s.Value.Uint64())
		case metrics.KindFloat64:
			v = s.Value.Float64()
		}
		c.series[s.Name] = append(c.series[s.Name], model.Point{At: at, Value: v})
	}
	if p, ok := ownProcess(); ok {
		p.At = at
		c.process.Samples = append(c.process.Samples, p)
	}
}

// end stops reading.
func (c *counters) end() {
	close(c.stop)
	<-c.done
}

// add puts what was counted into a model of the same time.
func (c *counters) add(m *model.Model) {
	m.Metrics = &model.Metrics{Series: c.series, Histograms: map[string]model.MetricHistogram{}}
	if len(c.process.Samples) > 1 {
		m.Process = &c.process
	}
}
