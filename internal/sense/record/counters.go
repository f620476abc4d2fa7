package record

import (
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
)

// Of a program that nobody can ask, what its runtime counts is read in its memory.
// That becomes a metrics log like the agent's.

const (
	// The counters are read this often: a heap that is collected twice a second
	// shows each collection. It takes two system calls.
	countersEvery = 200 * time.Millisecond
	// countersLater is how often after a while, so that an hour is some megabytes.
	countersLater = time.Second
)

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
	if first.Procs <= 0 { // they were not found
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
	if l.err = json.NewEncoder(l.out).Encode(artifact.CountersHeader()); l.err == nil {
		l.write(first)
	}
	go l.run()
	return l
}

func (l *counterLog) run() {
	defer close(l.done)
	l.pace.until(l.quit, l.look)
	_ = l.look() // what differences are taken to; end tells an error
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
	line := artifact.CountersLine(&c, l.gauge.Usage)
	line.Time = l.clock.now().UnixNano()
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
