package evidence

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/model"
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
// and, in the kernel, "mode". Only of a clock's events the period is time.
func (l *loader) readPerfScript(s source) error {
	if err := l.take(model.CPU, "CPU profile", s.name); err != nil {
		return err
	}
	p := perfScript{l: l, name: s.name, timed: true,
		t: newTally(samplesOnly, model.ValueType{Name: "cpu", Unit: "nanoseconds"})}
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
	l            *loader
	name         string
	t            *tally
	inside       bool
	thread       string
	period       int64
	frames       []model.Frame
	kernel       bool  // the leaf is
	otherSamples int64 // samples of further events
	event        string
	timed        bool // every period was time
	first        time.Duration
	last         time.Duration // since boot
	frameOf      map[string]model.Frame
}

func (p *perfScript) line(line []byte) error {
	switch {
	case len(line) == 0:
		return p.flush()
	case line[0] == '#':
		return nil
	case line[0] == ' ' || line[0] == '\t':
		if p.inside {
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

// begin starts a sample. Samples of another event than the first are counted
// and left out: they count something else.
func (p *perfScript) begin(thread, at, period, event string) {
	if p.event == "" {
		p.event = event
	}
	if event != p.event {
		p.otherSamples++
		return
	}
	p.inside, p.thread = true, thread
	p.period, _ = strconv.ParseInt(period, 10, 64)
	if !perfClock(event) || p.period <= 0 {
		p.timed = false
	}
	c := cursor{rest: []byte(at), ok: true}
	if d := c.amount(time.Second); c.ok {
		if p.first == 0 {
			p.first = d
		}
		p.last = max(p.last, d)
	}
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
	if !p.inside {
		return nil
	}
	stack, err := p.l.intern(p.name, p.frames)
	if err != nil {
		return err
	}
	p.t.add(stack, modeLabel(p.kernel, map[string]string{"thread": p.thread}), 1, 1, p.period)
	p.inside, p.kernel, p.frames = false, false, nil
	return nil
}

func (p *perfScript) finish() {
	m := p.t.p
	if !p.timed {
		m.Types = m.Types[:1]
		for i := range m.Samples {
			m.Samples[i].Values = m.Samples[i].Values[:1]
		}
		p.l.note("%s counts %q events, which are no time; its samples are used without", p.name, p.event)
	}
	if p.otherSamples > 0 {
		p.l.note("%s has %d samples of other events than %q, which were left out", p.name, p.otherSamples, p.event)
	}
	m.Duration = max(0, p.last-p.first)
	nameGroups(&p.l.m.Stacks, m)
	p.l.setCPU(m, zeroTime)
}
