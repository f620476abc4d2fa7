package evidence

import (
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// timesSource is under which the one file of times is noted.
const timesSource = "kernel sample times"

// readTimes reads when the kernel took its samples.
func (l *loader) readTimes(s source) error {
	if _, twice := l.from[timesSource]; twice {
		return l.take(timesSource, "file of kernel sample times", s.name) // which refuses it
	}
	l.from[timesSource] = s.name // alone it is no evidence, so nothing is taken
	times, err := artifact.ParseTimes(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if times == nil {
		return l.pass(problem.New(problem.Failure, "", "%q cannot be read: %w", s.name, err))
	}
	if err != nil {
		l.note("%s is read up to its sample %d: %v", s.name, len(times.List), err)
	}
	l.align(func(c clock) { l.joinTimes(c, s.name, times) })
	return nil
}

// joinTimes gives the samples of the kernel's profile their times.
func (l *loader) joinTimes(c clock, name string, t *artifact.SampleTimes) {
	if l.m.Kernel == nil || l.m.Kernel.CPU == nil {
		return // refused, or given without it: what it is about is not there
	}
	if err := t.Fits(l.m.Kernel.CPU); err != nil {
		l.note("%s is left out: %v", name, err)
		return
	}
	since, ok := l.sinceMonotonic(c, t.Head.Clock)
	if !ok {
		l.note("%s is left out: when the evidence begins is not known", name)
		return
	}
	for i := range t.List {
		t.List[i].At = since(t.List[i].At)
	}
	k := l.m.Kernel
	k.Moments, k.MomentsLost = inWindow(c, t.List, func(m *model.KernelMoment) time.Duration { return m.At }), max(0, t.Head.Lost)
	if k.MomentsLost > 0 {
		l.note("%d samples of the kernel's came after the last whose time was kept; they are in its profile only", k.MomentsLost)
	}
}

// sameClock is how far the wall time of a trace's beginning, as the trace tells
// it, may be from the one by CLOCK_MONOTONIC while both count the same clock.
const sameClock = time.Second

// sinceMonotonic returns how times of CLOCK_MONOTONIC become the model's. A trace
// that counts this clock itself needs no wall in between, which may have been
// set meanwhile.
func (l *loader) sinceMonotonic(c clock, a recording.Anchor) (since func(time.Duration) time.Duration, ok bool) {
	wall := func(at time.Duration) time.Time { return a.Wall.Add(at - time.Duration(a.Monotonic)) }
	if l.m.Sched != nil && l.traceStart != 0 {
		start := time.Duration(l.traceStart)
		if c.start.IsZero() || wall(start).Sub(c.start).Abs() < sameClock {
			return func(at time.Duration) time.Duration { return at - start }, true
		}
	}
	if a.Wall.IsZero() || c.start.IsZero() {
		return nil, false
	}
	return func(at time.Duration) time.Duration { return wall(at).Sub(c.start) }, true
}
