package record

import (
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
)

// Of a program that nobody can ask, what its runtime counts is read in its memory.
// That becomes a metrics log like the agent's, under the names of runtime/metrics.
// A metric that is not sure is left out, and never written as zero.

const (
	// The counters are read this often: a heap that is collected twice a second
	// shows each collection. It takes two system calls.
	countersEvery = 200 * time.Millisecond
	// countersLater is how often after a while, so that an hour is some megabytes.
	countersLater = time.Second
)

// counterMetrics say which metric is which counter; negative is not known.
var counterMetrics = []struct {
	name string
	of   func(c *goroutines.Runtime) int64
}{
	{"/sched/gomaxprocs:threads", func(c *goroutines.Runtime) int64 { return int64(c.Procs) }},
	{"/gc/cycles/total:gc-cycles", func(c *goroutines.Runtime) int64 { return c.Collections }},
	{"/gc/cycles/forced:gc-cycles", func(c *goroutines.Runtime) int64 { return c.Forced }},
	{"/gc/heap/live:bytes", func(c *goroutines.Runtime) int64 { return c.HeapMarked }},
	{"/gc/heap/goal:bytes", heapGoal},
	{"/gc/heap/allocs:bytes", func(c *goroutines.Runtime) int64 { return c.Allocated }},
	{"/gc/gogc:percent", func(c *goroutines.Runtime) int64 { return c.GOGC }},
	{"/gc/gomemlimit:bytes", func(c *goroutines.Runtime) int64 { return c.MemoryLimit }},
	{"/memory/classes/heap/released:bytes", func(c *goroutines.Runtime) int64 { return c.Released }},
	{"/memory/classes/total:bytes", mappedInAll},
}

// usageMetrics say which metric is which count of the runtime's memory.
var usageMetrics = []struct {
	name string
	of   func(u *goroutines.Usage) int64
}{
	{"/memory/classes/heap/objects:bytes", func(u *goroutines.Usage) int64 { return u.Objects }},
	{"/memory/classes/heap/unused:bytes", func(u *goroutines.Usage) int64 { return u.Unused }},
	{"/memory/classes/heap/free:bytes", func(u *goroutines.Usage) int64 { return u.Free }},
	{"/memory/classes/heap/stacks:bytes", func(u *goroutines.Usage) int64 { return u.Stacks }},
	{"/memory/classes/metadata/other:bytes", func(u *goroutines.Usage) int64 { return u.GC + u.GCWork }},
	{"/memory/classes/os-stacks:bytes", func(u *goroutines.Usage) int64 { return u.ThreadStacks }},
	{"/memory/classes/other:bytes", func(u *goroutines.Usage) int64 { return u.Other }},
	{"/memory/classes/profiling/buckets:bytes", func(u *goroutines.Usage) int64 { return u.Buckets }},
	// The runtime's metrics have them by what is in use and what is not.
	{"/memory/classes/metadata/mspan/inuse:bytes", func(u *goroutines.Usage) int64 { return u.Spans }},
	{"/memory/classes/metadata/mcache/inuse:bytes", func(u *goroutines.Usage) int64 { return u.Caches }},
}

// heapGoal is the goal where GOGC alone sets it: with a memory limit it may be less.
func heapGoal(c *goroutines.Runtime) int64 {
	if c.MemoryLimit != goroutines.Off {
		return -1
	}
	return c.HeapGoal
}

// mappedInAll counts what was given back, as the metric does.
func mappedInAll(c *goroutines.Runtime) int64 {
	if c.Mapped < 0 || c.Released < 0 {
		return -1
	}
	return c.Mapped + c.Released
}

// A counterLog writes what a program's runtime counts. A nil one writes nothing.
type counterLog struct {
	gauge      *goroutines.Gauge
	clock      wall
	pace       pace
	mu         sync.Mutex // while a line is written
	out        io.WriteCloser
	quit, done chan struct{}
	err        error // of writing
}

// logCounters begins, unless nothing is to be read there.
func (r *recorder) logCounters(gauge *goroutines.Gauge) *counterLog {
	first := gauge.Read()
	if first.Procs <= 0 { // the program has no symbols
		gauge.Close()
		return nil
	}
	l := &counterLog{gauge: gauge, clock: r.clock, pace: slowing(countersEvery, countersLater), quit: make(chan struct{}), done: make(chan struct{})}
	var err error
	if l.out, err = r.logFor(recording.MetricsMember, &l.pace); err != nil {
		gauge.Close()
		r.refuse(recording.MetricsMember, artifact.Refusal{Why: err.Error()})
		return nil
	}
	head := artifact.MetricsHeader{Header: artifact.Header{Kind: artifact.MetricsKind, Schema: artifact.MetricsSchema}}
	for _, m := range counterMetrics {
		head.Scalars = append(head.Scalars, m.name)
	}
	for _, m := range usageMetrics {
		head.Scalars = append(head.Scalars, m.name)
	}
	if l.err = json.NewEncoder(l.out).Encode(head); l.err == nil {
		l.write(first)
	}
	go l.run()
	return l
}

func (l *counterLog) run() {
	defer close(l.done)
	began := time.Now()
	next := time.NewTimer(beat.Until(l.pace(0)))
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-l.quit:
			_ = l.look() // what differences are taken to; an error is told at the end
			return
		}
		if l.look() != nil {
			return
		}
		next.Reset(beat.Until(l.pace(time.Since(began))))
	}
}

// look adds a line of now, and returns the first error of writing.
func (l *counterLog) look() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.write(l.gauge.Read())
	}
	return l.err
}

// write adds a line, unless the program is gone.
func (l *counterLog) write(c goroutines.Runtime) {
	if c.Procs <= 0 {
		return
	}
	line := artifact.MetricsLine{Time: l.clock.now().UnixNano(), Values: make([]*float64, len(counterMetrics)+len(usageMetrics))}
	for i, m := range counterMetrics {
		if v := m.of(&c); v >= 0 {
			line.Values[i] = new(float64(v))
		}
	}
	if u, ok := l.gauge.Usage(); ok {
		for i, m := range usageMetrics {
			line.Values[len(counterMetrics)+i] = new(float64(m.of(&u)))
		}
	}
	l.err = json.NewEncoder(l.out).Encode(line)
}

// end ends the log, at the end of the window.
func (l *counterLog) end(r *recorder) {
	if l == nil {
		return
	}
	close(l.quit)
	<-l.done
	l.gauge.Close()
	if err := errors.Join(l.err, l.out.Close()); err != nil {
		r.refuse(recording.MetricsMember, artifact.Refusal{Why: err.Error()})
	}
}
