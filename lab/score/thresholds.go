package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// Thresholds say how often single events of a trace were longer than the limit
// of their kind, as trace analysers publish such limits: the first baseline.
type Thresholds struct {
	GCPause    Over `json:"gc_pause"`
	Scheduling Over `json:"scheduling"`
	Syscall    Over `json:"syscall"`
	Mutex      Over `json:"mutex"`
	IdleP      Over `json:"idle_p"`
	// Missing is set when there was no trace, or a part of it was not read.
	Missing bool `json:"missing,omitempty"`
}

// An Over is how many events were longer than their limit, and the longest of all.
type Over struct {
	Count  int     `json:"count"`
	MostMS float64 `json:"most_ms"`
}

// A limit is one of the five thresholds. Families are those of illnesses that
// it is taken to point at, generously: every family that somebody who was told
// of it alone would look into.
type limit struct {
	name     string
	most     time.Duration
	families []string
	of       func(*Thresholds) *Over
}

var limits = []limit{
	{"GC pause", 5 * time.Millisecond, []string{"memory"}, func(t *Thresholds) *Over { return &t.GCPause }},
	{"scheduling latency", time.Millisecond, []string{"scheduler", "goroutines", "cpu", "timers"}, func(t *Thresholds) *Over { return &t.Scheduling }},
	{"system call", 10 * time.Millisecond, []string{"syscalls", "network"}, func(t *Thresholds) *Over { return &t.Syscall }},
	{"mutex wait", time.Millisecond, []string{"locks", "network", "channels"}, func(t *Thresholds) *Over { return &t.Mutex }},
	{"idle P", 10 * time.Millisecond, []string{"scheduler", "load", "locks", "channels"}, func(t *Thresholds) *Over { return &t.IdleP }},
}

// exceeded returns the limits that at least one event was over.
func (t *Thresholds) exceeded() (names []string) {
	for _, l := range limits {
		if l.of(t).Count > 0 {
			names = append(names, l.name)
		}
	}
	return names
}

// covers reports whether a limit that fired points at the family.
func (t *Thresholds) covers(family string) bool {
	return slices.ContainsFunc(limits, func(l limit) bool {
		return l.of(t).Count > 0 && slices.Contains(l.families, family)
	})
}

// thresholds reads a trace. Of one that is damaged or cut it tells what came
// before that.
func thresholds(r io.Reader) Thresholds {
	w := &watch{goroutines: map[trace.GoID]since{}, procs: map[trace.ProcID]since{}, stops: map[string]trace.Time{}}
	reader, err := trace.NewReader(r)
	for err == nil {
		var ev trace.Event
		if ev, err = reader.ReadEvent(); err == nil {
			w.event(&ev)
		}
	}
	w.over.Missing = !errors.Is(err, io.EOF)
	return w.over
}

// A since is the state that something is in, and from when on.
type since struct {
	at    trace.Time
	state string
}

// The states whose length a limit is for.
const (
	isRunnable = "runnable"
	isSyscall  = "syscall"
	isLocked   = "locked"
	isIdle     = "idle"
)

// A watch measures states and ranges whose beginning and end were both seen:
// what was open at the trace's start or end is not counted.
type watch struct {
	over       Thresholds
	goroutines map[trace.GoID]since
	procs      map[trace.ProcID]since
	stops      map[string]trace.Time
}

func (w *watch) event(ev *trace.Event) {
	switch ev.Kind() {
	case trace.EventRangeBegin:
		if name := ev.Range().Name; strings.HasPrefix(name, "stop-the-world") {
			w.stops[name] = ev.Time()
		}
	case trace.EventRangeEnd:
		if name := ev.Range().Name; strings.HasPrefix(name, "stop-the-world (GC") {
			if at, ok := w.stops[name]; ok {
				w.ended(&w.over.GCPause, ev.Time().Sub(at), limits[0].most)
			}
			delete(w.stops, name)
		}
	case trace.EventStateTransition:
		w.transition(ev)
	}
}

func (w *watch) transition(ev *trace.Event) {
	st := ev.StateTransition()
	switch st.Resource.Kind {
	case trace.ResourceGoroutine:
		id := st.Resource.Goroutine()
		w.leave(w.goroutines[id], ev.Time())
		_, to := st.Goroutine()
		w.goroutines[id] = since{ev.Time(), goroutineState(to, &st)}
		if to == trace.GoNotExist {
			delete(w.goroutines, id)
		}
	case trace.ResourceProc:
		id := st.Resource.Proc()
		w.leave(w.procs[id], ev.Time())
		state := ""
		if _, to := st.Proc(); to == trace.ProcIdle {
			state = isIdle
		}
		w.procs[id] = since{ev.Time(), state}
	}
}

// goroutineState returns the state that a limit is for, or "". Whose stack tells
// that it is part of the recording is left out. Of the waits that a trace calls
// "sync" only those for a mutex count: the others are for a WaitGroup, a
// condition, or the collector.
func goroutineState(to trace.GoState, st *trace.StateTransition) string {
	switch {
	case to == trace.GoRunnable:
		return isRunnable
	case to == trace.GoSyscall && !through(st.Stack, ours...):
		return isSyscall
	case to == trace.GoWaiting && st.Reason == "sync" && through(st.Stack, "Mutex).") && !through(st.Stack, ours...):
		return isLocked
	}
	return ""
}

// ours are packages that only a recording brings into a program.
var ours = []string{"github.com/gowhy/gowhy/agent.", "runtime/pprof.", "runtime/trace.", "runtime.(*profBuf)"}

// through reports whether a stack has a function with one of the words in it.
func through(stack trace.Stack, words ...string) bool {
	for f := range stack.Frames() {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f.Func, w) }) {
			return true
		}
	}
	return false
}

// leave counts a state that ends.
func (w *watch) leave(s since, now trace.Time) {
	of := map[string]int{isRunnable: 1, isSyscall: 2, isLocked: 3, isIdle: 4}
	if i, ok := of[s.state]; ok {
		w.ended(limits[i].of(&w.over), now.Sub(s.at), limits[i].most)
	}
}

func (w *watch) ended(o *Over, d, most time.Duration) {
	o.MostMS = max(o.MostMS, float64(d.Microseconds())/1000)
	if d > most {
		o.Count++
	}
}
