package evidence

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A Stretch is a time without a break of a goroutine that held a P.
type Stretch struct {
	Proc       int
	Goroutine  int64
	Group      string        // start function; empty when no stack told it so far
	Syscall    bool          // it was in a system call, not running
	Begin, End time.Duration // since the window's start
}

// EachStretch calls yield with every stretch in the trace among the named files, in
// the order of their ends, until it returns false. Stretches that go on at the end
// of the window end with it. It reads the trace a second time,
// event by event; standard input it cannot.
func EachStretch(ctx context.Context, paths []string, o Options, yield func(Stretch) bool) error {
	l := newLoader(ctx, o)
	l.onlyTrace = func(s source) error { return l.eachStretch(s, yield) }
	for _, p := range paths {
		if p == "-" {
			return problem.New(problem.Misuse, "put it into a file first", "standard input can be read only once")
		}
		if err := l.path(p); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) eachStretch(s source, yield func(Stretch) bool) error {
	if s.at == nil {
		return l.spool(s, func(s source) error { return l.eachStretch(s, yield) })
	}
	t, err := openTrace(s)
	if err != nil {
		return traceProblem(s.name, err)
	}
	defer t.Close()
	info, err := t.Info()
	if err != nil {
		return traceProblem(s.name, err)
	}
	window := exectrace.Range{From: info.Start, To: math.MaxInt64}
	options := exectrace.EventOptions{Lead: true}
	if l.opts.Window != (Window{}) {
		if window, err = l.opts.Window.toTrace(info); err != nil {
			return err
		}
		options.Window = window
	}
	runs := stretchTracker{window: window, open: map[int64]openStretch{}, groups: map[int64]string{}}
	last, n := window.From, 0
	for e, err := range t.Events(options) {
		if err != nil {
			return traceProblem(s.name, err)
		}
		if n++; n%4096 == 0 && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		if e.Time > last {
			last = e.Time
		}
		if r, ok := runs.next(&e); ok && !yield(r) {
			return nil
		}
	}
	for _, g := range slices.Sorted(maps.Keys(runs.open)) {
		if r, ok := runs.end(g, min(last, window.To)); ok && !yield(r) {
			return nil
		}
	}
	return nil
}

// A stretchTracker follows which goroutine holds which P.
type stretchTracker struct {
	window exectrace.Range
	began  exectrace.Time // of the generation
	open   map[int64]openStretch
	groups map[int64]string // of goroutines that are alive
}

type openStretch struct {
	proc    int32
	syscall bool
	since   exectrace.Time
}

// next takes one event and returns the stretch that it ends, if it ends one
// inside the window.
func (t *stretchTracker) next(e *exectrace.Event) (r Stretch, ok bool) {
	if e.Kind == exectrace.EventSync {
		t.began = e.Time
	}
	if e.Kind != exectrace.EventGoroutine {
		return r, false
	}
	g, from, to := e.GoTransition()
	t.name(g, e)
	told := from == to || from == exectrace.Unknown // it was so already
	if _, known := t.open[g]; known && told {
		return r, false
	}
	r, ok = t.end(g, min(e.Time, t.window.To))
	if to == exectrace.Dead {
		delete(t.groups, g)
	}
	if to == exectrace.Running || to == exectrace.Syscall {
		since := e.Time
		if told {
			since = t.began
		}
		t.open[g] = openStretch{e.Proc, to == exectrace.Syscall, since}
	}
	return r, ok
}

// maxFrames is the depth at which the runtime cuts stacks: one this deep need
// not reach down to the start function.
const maxFrames = 128

// name learns the start function of a goroutine from the first stack it has.
func (t *stretchTracker) name(g int64, e *exectrace.Event) {
	if _, known := t.groups[g]; known {
		return
	}
	if frames := e.GoStack(); len(frames) > 0 && len(frames) < maxFrames {
		t.groups[g] = frames[len(frames)-1].Func
	}
}

// end closes the stretch of a goroutine, if it has one.
func (t *stretchTracker) end(g int64, at exectrace.Time) (r Stretch, ok bool) {
	was, held := t.open[g]
	if !held {
		return r, false
	}
	delete(t.open, g)
	begin := max(was.since, t.window.From)
	r = Stretch{Proc: int(was.proc), Goroutine: g, Group: t.groups[g], Syscall: was.syscall, Begin: begin.Sub(t.window.From), End: at.Sub(t.window.From)}
	return r, at > begin && was.proc >= 0
}
