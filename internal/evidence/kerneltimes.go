package evidence

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/kernel"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
)

// When the kernel took its samples: a header, and then lines of columns, each of
// timesInLine samples at most. The samples' stacks are those of the profile that
// is recorded beside it, by index; without that profile the times say nothing.
const (
	timesKind   = "gowhy kernel sample times"
	timesSchema = 1

	timesInLine  = 4096
	maxTimesLine = 1 << 20
	maxTimes     = 1 << 20 // as many as are recorded
	// The largest numbers that Linux gives to threads and CPUs.
	maxThreadID = 1 << 22
	maxCPUID    = 1 << 13
)

// timesSource is under which the one file of times is noted.
const timesSource = "kernel sample times"

// A timesHeader is the first line.
type timesHeader struct {
	header
	// Clock ties the times, which are of CLOCK_MONOTONIC, to the wall.
	Clock  recording.Anchor `json:"clock"`
	Stacks int              `json:"stacks"`         // samples of the profile
	Lost   int64            `json:"lost,omitempty"` // samples without a time, for there were too many
}

// A timesLine has the columns of some samples.
type timesLine struct {
	Times   []int64 `json:"t"` // ns since the sample before; of the first one since 0
	Threads []int32 `json:"tid"`
	CPUs    []int32 `json:"cpu"`
	Samples []int32 `json:"s"` // index in the profile
}

// writeTimes writes when samples were taken.
func writeTimes(w io.Writer, res *kernel.Result, clock recording.Anchor) error {
	e := json.NewEncoder(w)
	err := e.Encode(timesHeader{header: header{timesKind, timesSchema}, Clock: clock, Stacks: len(res.CPU), Lost: res.MomentsLost})
	before := time.Duration(0)
	for some := range slices.Chunk(res.Moments, timesInLine) {
		var l timesLine
		for _, m := range some {
			l.Times = append(l.Times, int64(m.Time-before))
			l.Threads, l.CPUs, l.Samples = append(l.Threads, int32(m.Thread)), append(l.CPUs, int32(m.CPU)), append(l.Samples, int32(m.Sample))
			before = m.Time
		}
		err = errors.Join(err, e.Encode(l))
	}
	return err
}

// keepTimes writes the member beside the profile that it is about.
func (r *recorder) keepTimes(res *kernel.Result) {
	if len(res.Moments) == 0 || !r.has(recording.KernelMember) {
		return
	}
	path := r.w.Path(recording.KernelTimesMember)
	err := func() error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		return errors.Join(writeTimes(w, res, r.man.Clock[0]), w.Flush(), f.Close())
	}()
	if err != nil {
		os.Remove(path)
		r.refuse(recording.KernelTimesMember, Refusal{Why: err.Error()})
	}
}

// sampleTimes are what such a file says.
type sampleTimes struct {
	head timesHeader
	list []model.KernelMoment // At is of CLOCK_MONOTONIC
}

// readTimes reads when the kernel took its samples.
func (l *loader) readTimes(s source) error {
	if _, twice := l.from[timesSource]; twice {
		return l.take(timesSource, "file of kernel sample times", s.name) // which refuses it
	}
	l.from[timesSource] = s.name // alone it is no evidence, so nothing is taken
	times, err := parseTimes(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if times == nil {
		return l.pass(problem.New(problem.Failure, "", "%q cannot be read: %w", s.name, err))
	}
	if err != nil {
		l.note("%s is read up to its sample %d: %v", s.name, len(times.list), err)
	}
	l.align(func(c clock) { l.joinTimes(c, s.name, times) })
	return nil
}

// parseTimes returns the lines before the first that cannot be read.
func parseTimes(r io.Reader) (*sampleTimes, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTimesLine)
	if !lines.Scan() {
		return nil, lines.Err()
	}
	t := &sampleTimes{}
	if err := json.Unmarshal(lines.Bytes(), &t.head); err != nil {
		return nil, err
	}
	if h := t.head; h.Kind != timesKind || h.Schema > timesSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", h.Schema)
	}
	if at := t.head.Clock.Monotonic; at < 0 || at > 1<<62 {
		return nil, errors.New("its clock makes no sense")
	}
	for lines.Scan() {
		var line timesLine
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return t, err
		}
		if err := t.add(line); err != nil {
			return t, err
		}
	}
	return t, lines.Err()
}

// add adds a line, all of it or nothing.
func (t *sampleTimes) add(l timesLine) error {
	n := len(l.Times)
	switch {
	case n == 0 || len(l.Threads) != n || len(l.CPUs) != n || len(l.Samples) != n:
		return errors.New("its columns are not of one length")
	case len(t.list)+n > maxTimes:
		return errors.New("there are too many")
	}
	var at time.Duration
	if len(t.list) > 0 {
		at = t.list[len(t.list)-1].At
	}
	some := make([]model.KernelMoment, 0, n)
	for i, by := range l.Times {
		m := model.KernelMoment{Thread: l.Threads[i], CPU: l.CPUs[i], Sample: l.Samples[i]}
		switch {
		case by < 0 || by > 1<<62-int64(at):
			return errors.New("its time goes backwards, or beyond all clocks")
		case m.Thread < 0 || m.Thread > maxThreadID || m.CPU < 0 || m.CPU >= maxCPUID || m.Sample < 0 || int(m.Sample) >= t.head.Stacks:
			return fmt.Errorf("a sample of thread %d, CPU %d and stack %d cannot be", m.Thread, m.CPU, m.Sample)
		}
		at += time.Duration(by)
		m.At = at
		some = append(some, m)
	}
	t.list = append(t.list, some...)
	return nil
}

// joinTimes gives the samples of the kernel's profile their times.
func (l *loader) joinTimes(c clock, name string, t *sampleTimes) {
	if l.m.Kernel == nil || l.m.Kernel.CPU == nil {
		return // refused, or given without it: what it is about is not there
	}
	if err := t.fits(l.m.Kernel.CPU); err != nil {
		l.note("%s is left out: %v", name, err)
		return
	}
	since, ok := l.sinceMonotonic(c, t.head.Clock)
	if !ok {
		l.note("%s is left out: when the evidence begins is not known", name)
		return
	}
	for i := range t.list {
		t.list[i].At = since(t.list[i].At)
	}
	k := l.m.Kernel
	k.Moments, k.MomentsLost = kept(c, t.list, func(m *model.KernelMoment) time.Duration { return m.At }), max(0, t.head.Lost)
	if k.MomentsLost > 0 {
		l.note("%d samples of the kernel's came after the last whose time was kept; they are in its profile only", k.MomentsLost)
	}
}

// fits reports whether the times can be of a profile's samples.
func (t *sampleTimes) fits(p *model.Profile) error {
	if t.head.Stacks != len(p.Samples) {
		return fmt.Errorf("it is of a profile with %d stacks, and the one here has %d", t.head.Stacks, len(p.Samples))
	}
	count, _ := p.Columns()
	left := make([]int64, len(p.Samples))
	for i := range left {
		if count >= 0 {
			left[i] = p.Samples[i].Values[count]
		}
	}
	for _, m := range t.list {
		if left[m.Sample]--; left[m.Sample] < 0 {
			return fmt.Errorf("it has more samples of a stack than the profile")
		}
	}
	return nil
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
