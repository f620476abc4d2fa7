package evidence

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What `perf script` prints: for each sample a line with the thread, its ids,
// the CPU, the time since boot, the period and the event, then one line for
// each frame, leaf first, then an empty line.
//
//	server  4711/4714  [001]  1234.567890:    4000000 cpu-clock:uhpppH:
//		          47e0f4 runtime.mallocgc+0x34 (/srv/server)
//
// Which of the fields there are, the user chose.
var (
	perfHeader = regexp.MustCompile(`^(\S.*?)\s+(-?\d+(?:/-?\d+)?)\s+(?:\[\d+\]\s+)?(?:[.A-Za-z]{4,8}\s+)?(?:(\d+\.\d+):\s+)?(?:(\d+)\s+)?([A-Za-z][\w./-]*(?::\S*?)?):\s*$`)
	perfFrame  = regexp.MustCompile(`^\s+([0-9a-f]+) (.+?)(?:\+0x[0-9a-f]+)?(?: \(([^()]*(?:\([^()]*\))?[^()]*)\))?$`)
)

// isPerfScript accepts a text whose first sample has a frame.
func isPerfScript(head []byte) bool {
	lines := bytes.SplitN(head, []byte("\n"), 200)
	for i, line := range lines {
		line = bytes.TrimRight(line, "\r")
		switch {
		case len(line) == 0, line[0] == '#':
			continue
		case perfHeader.Match(line) && i+1 < len(lines):
			return perfFrame.Match(bytes.TrimRight(lines[i+1], "\r"))
		}
		return false
	}
	return false
}

// readPerfScript folds the samples as a CPU profile with the labels "thread"
// and, in the kernel, "mode". Only of a clock's events the period is time; those of
// cycles and others are counted. Of several events one is read.
func (l *loader) readPerfScript(s source) error {
	if err := l.take(model.CPU, "CPU profile", s.name); err != nil {
		return err
	}
	p := perfScript{l: l, name: s.name}
	err := l.lines(s, p.line)
	if err == nil {
		err = p.flush()
	}
	if err != nil {
		return err
	}
	p.finish()
	return nil
}

// A perfScript is read sample by sample.
type perfScript struct {
	l       *loader
	name    string
	events  []*perfEvent
	into    *perfEvent // the event of the sample that is read; nil outside of one
	thread  string
	period  int64
	frames  []model.Frame
	kernel  bool  // the leaf is
	lost    int64 // samples of further events
	frameOf map[string]model.Frame
}

// A perfEvent is what was sampled of one event.
type perfEvent struct {
	name        string
	t           *tally
	samples     int64
	timed       bool          // every period was time
	first, last time.Duration // since boot
}

// maxPerfEvents is how many events are kept apart: perf stat -d has some twenty.
const maxPerfEvents = 32

func (p *perfScript) line(line []byte) error {
	switch {
	case len(line) == 0:
		return p.flush()
	case line[0] == '#':
		return nil
	case line[0] == ' ' || line[0] == '\t':
		if p.into != nil {
			p.frame(line)
		}
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	if m := perfHeader.FindSubmatch(line); m != nil {
		p.begin(string(m[1]), string(m[3]), string(m[4]), string(m[5]))
	}
	return nil
}

// begin starts a sample.
func (p *perfScript) begin(thread, at, period, event string) {
	e := p.event(event)
	if e == nil {
		p.lost++
		return
	}
	p.into, p.thread = e, thread
	e.samples++
	p.period, _ = strconv.ParseInt(period, 10, 64)
	if !perfClock(event) || p.period <= 0 {
		e.timed = false
	}
	c := cursor{rest: []byte(at), ok: true}
	if d := c.amount(time.Second); c.ok {
		if e.first == 0 {
			e.first = d
		}
		e.last = max(e.last, d)
	}
}

// event returns where samples of an event are added up; nil when there are too many events.
func (p *perfScript) event(name string) *perfEvent {
	for _, e := range p.events {
		if e.name == name {
			return e
		}
	}
	if len(p.events) == maxPerfEvents {
		return nil
	}
	e := &perfEvent{name: name, timed: true, t: newTally(samplesOnly, model.ValueType{Name: "cpu", Unit: "nanoseconds"})}
	p.events = append(p.events, e)
	return e
}

// best returns the event that says most of time: a clock, else cycles, else the first.
func (p *perfScript) best() *perfEvent {
	for _, like := range []func(name string) bool{perfClock, func(name string) bool { return strings.Contains(name, "cycles") && !strings.Contains(name, "stalled") }} {
		for _, e := range p.events {
			if like(e.name) {
				return e
			}
		}
	}
	return p.events[0]
}

// perfClock reports whether an event's period is nanoseconds.
func perfClock(event string) bool {
	name, _, _ := strings.Cut(event, ":")
	return name == "cpu-clock" || name == "task-clock"
}

// frame reads a frame. Most lines were seen before.
func (p *perfScript) frame(line []byte) {
	if len(p.frames) >= maxStackFrames {
		return
	}
	f, ok := p.frameOf[string(line)]
	if !ok {
		m := perfFrame.FindSubmatch(line)
		if m == nil {
			return
		}
		f = perfFrameOf(string(m[1]), string(m[2]), string(m[3]))
		if p.frameOf == nil || len(p.frameOf) >= maxKnownFrames {
			p.frameOf = map[string]model.Frame{}
		}
		p.frameOf[string(line)] = f
	}
	if len(p.frames) == 0 {
		p.kernel = f.File == kernelFile
	}
	p.frames = append(p.frames, f)
}

// maxKnownFrames bounds what is remembered of lines.
const maxKnownFrames = 1 << 17

func perfFrameOf(pc, name, object string) model.Frame {
	f := model.Frame{Func: clipName(strings.TrimSuffix(name, ".abi0"))} // as the linker calls assembly
	f.PC, _ = strconv.ParseUint(pc, 16, 64)
	if name == "[unknown]" {
		f.Func = hexName(f.PC)
	}
	switch {
	case strings.HasPrefix(object, "[kernel"), strings.HasPrefix(object, "[guest.kernel"), strings.HasSuffix(object, ".ko"), strings.HasSuffix(object, ".ko.xz"), strings.HasSuffix(object, ".ko.zst"):
		f.File = kernelFile
	case f.PC >= 1<<63 && object != "[vdso]":
		f.File = kernelFile // where every system has its kernel
	}
	return f
}

func (p *perfScript) flush() error {
	if p.into == nil {
		return nil
	}
	stack, err := p.l.intern(p.name, p.frames)
	if err != nil {
		return err
	}
	p.into.t.add(stack, modeLabel(p.kernel, map[string]string{"thread": p.thread}), 1, 1, p.period)
	p.into, p.kernel, p.frames = nil, false, nil
	return nil
}

func (p *perfScript) finish() {
	if len(p.events) == 0 {
		p.events = []*perfEvent{{t: newTally(samplesOnly)}}
	}
	e := p.best()
	m := e.t.p
	if !e.timed {
		m.Types = m.Types[:1]
		for i := range m.Samples {
			m.Samples[i].Values = m.Samples[i].Values[:1]
		}
		if perfClock(e.name) {
			p.l.note("%s has %q samples without their period, so shares are of samples: perf script -F +period", p.name, e.name)
		} else {
			p.l.note("%s counts %q events, which are no time; shares are of samples", p.name, e.name)
		}
	}
	var others []string
	for _, o := range p.events {
		if o != e {
			others = append(others, fmt.Sprintf("%d of %q", o.samples, o.name))
		}
	}
	if p.lost > 0 {
		others = append(others, fmt.Sprintf("%d of more", p.lost))
	}
	if len(others) > 0 {
		p.l.note("%s has samples of several events: those of %q were read, and not %s", p.name, e.name, strings.Join(others, ", "))
	}
	m.Duration = max(0, e.last-e.first)
	nameGroups(&p.l.m.Stacks, m)
	p.l.setCPU(m, zeroTime)
}
