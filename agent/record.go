package agent

import (
	"errors"
	"io"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"

	"github.com/gowhy/gowhy/agent/recording"
)

// A recorder makes one whole recording.
type recorder struct {
	opts     options
	window   *window
	out      *recording.Stream
	man      recording.Manifest
	clock    clock
	captures []*capture
	block    *block // nil when it was not had
	mutex    *mutex
	history  *history // what came before the window; nil outside of Watch
}

// A capture is a source of the window, or what came of it.
type capture struct {
	member  string
	source  windowSource
	content []byte
	err     error
}

// A state is a profile of what is there at one moment.
type state struct{ source, start, end string }

var states = []state{
	{"heap", recording.HeapStartMember, recording.HeapEndMember},
	{"goroutine", recording.GoroutineStartMember, recording.GoroutineEndMember},
	{"threadcreate", "", recording.ThreadCreateMember},
	{"goroutineleak", "", recording.LeakMember},
}

// record writes a whole recording to w for as long as the window is open. An
// error means that nobody reads it.
func record(w io.Writer, window *window, o options) error {
	r := &recorder{opts: o, window: window, out: recording.NewStream(w), man: manifest(o.redact), clock: startClock()}
	r.man.Start = r.clock.now().Round(0)
	r.anchor()
	if err := r.out.Start(r.man); err != nil {
		return err
	}
	if err := r.add(recording.BuildMember, buildText(o.redact)); err != nil {
		return err
	}
	if err := r.states(func(s state) string { return s.start }); err != nil {
		return err
	}
	return r.run()
}

// run returns the window itself, and what follows it.
func (r *recorder) run() error {
	t := r.tracer()
	r.start()
	// Everything is put back whatever happens to the connection.
	r.man.Start = r.clock.now().Round(0)
	cpuBefore, measured := cpuTime()
	wait := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.window.wait(wait)
		r.man.End = r.clock.now().Round(0)
		if after, ok := cpuTime(); ok && measured {
			r.man.Cost = &recording.Cost{TargetCPU: (after - cpuBefore).Seconds(), TargetWall: r.man.End.Sub(r.man.Start).Seconds()}
		}
		if t != nil {
			t.end()
		}
		r.stop()
	}()
	err := r.copyTrace(t)
	if err != nil {
		close(wait) // nobody reads on
	}
	<-ended
	if err == nil && r.window.gone() {
		err = r.window.ctx.Err()
	}
	if err != nil {
		return err
	}
	return r.finish(t)
}

func (r *recorder) wants(source, member string) bool {
	if r.opts.sources != nil && !slices.Contains(r.opts.sources, source) {
		return false
	}
	r.man.Asked = append(r.man.Asked, member)
	return true
}

func (r *recorder) refuse(member string, err error) {
	r.man.Refused = append(r.man.Refused, recording.Refusal{Member: member, Why: err.Error()})
}

func (r *recorder) anchor() {
	if a, ok := r.clock.anchor(); ok {
		r.man.Clock = append(r.man.Clock, a)
	}
}

// add writes a member that is there.
func (r *recorder) add(member string, content []byte) error { return r.out.Add(member, content) }

// states writes the profiles of this moment.
func (r *recorder) states(member func(state) string) error {
	for _, s := range states {
		name := member(s)
		if name == "" || pprof.Lookup(s.source) == nil || !r.wants(s.source, name) {
			continue
		}
		if r.opts.collect && s.source == "heap" {
			runtime.GC()
		}
		content, err := snapshot(s.source, r.opts.redact)
		if err != nil {
			r.refuse(name, err)
			continue
		}
		if err := r.add(name, content); err != nil {
			return err
		}
	}
	return nil
}

// tracer starts the execution trace, first of all that last: what the others
// do at their start and end is then in it.
func (r *recorder) tracer() *tracer {
	if !r.wants("trace", recording.TraceMember) {
		return nil
	}
	t := &tracer{limit: r.opts.limit}
	if err := t.start(); err != nil {
		r.refuse(recording.TraceMember, err)
		return nil
	}
	return t
}

func (r *recorder) start() {
	o := r.opts
	b := &block{delta: delta{name: "block", redact: o.redact}, rate: o.blockRate, window: o.blockWindow()}
	m := &mutex{delta: delta{name: "mutex", redact: o.redact}, fraction: o.mutexFraction}
	for _, s := range []struct {
		name, member string
		source       windowSource
	}{
		{"block", recording.BlockMember, b},
		{"mutex", recording.MutexMember, m},
		{"allocs", recording.AllocsMember, &delta{name: "allocs", redact: o.redact, collect: o.collect}},
		{"cpu", recording.CPUMember, &cpu{redact: o.redact}},
		{"metrics", recording.MetricsMember, &meter{history: r.history, from: r.man.Start}},
	} {
		if !r.wants(s.name, s.member) {
			continue
		}
		if err := s.source.start(); err != nil {
			r.refuse(s.member, err)
			continue
		}
		r.captures = append(r.captures, &capture{member: s.member, source: s.source})
		switch s.source {
		case b:
			r.block = b
		case m:
			r.mutex = m
		}
	}
	r.man.Rates = rates(r.block, r.mutex)
}

// stop ends all sources, at once: the CPU profile takes its time.
func (r *recorder) stop() {
	var wg sync.WaitGroup
	for _, s := range r.captures {
		wg.Add(1)
		go func(s *capture) {
			defer wg.Done()
			s.content, s.err = s.source.stop()
		}(s)
	}
	wg.Wait()
}

// copyTrace sends the trace while it is recorded, until it has ended.
func (r *recorder) copyTrace(t *tracer) error {
	if t == nil {
		return nil
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() { // at its limit the trace ends, and the recording goes on
		select {
		case <-t.quit:
			t.end()
		case <-ended:
		}
	}()
	w, err := r.out.Begin(recording.TraceMember)
	if err != nil {
		return err
	}
	return t.copyTo(w)
}

func (t *tracer) copyTo(w io.Writer) error {
	for piece, ok := t.next(nil); ok; piece, ok = t.next(piece) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what came of the window.
func (r *recorder) finish(t *tracer) error {
	if t != nil && t.endReason() != "" {
		r.man.Refused = append(r.man.Refused, recording.Refusal{Member: recording.TraceMember, Why: t.endReason()})
	}
	if t != nil && r.opts.redact {
		r.man.Unredacted = append(r.man.Unredacted, recording.TraceMember)
	}
	if err := r.results(); err != nil {
		return err
	}
	if err := r.states(func(s state) string { return s.end }); err != nil {
		return err
	}
	r.anchor()
	return r.out.Finish(r.man)
}

// results writes what came of the sources.
func (r *recorder) results() error {
	for _, s := range r.captures {
		if s.err != nil {
			r.refuse(s.member, s.err)
			continue
		}
		if err := r.add(s.member, s.content); err != nil {
			return err
		}
		s.content = nil
		if n, ok := s.source.(interface{ note() string }); ok && n.note() != "" {
			r.refuse(s.member, errors.New(n.note()))
		}
	}
	return nil
}
