package oracle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"
)

// The four profiles.
const (
	Net     = iota // waits for the network
	Sync           // waits for channels, select and package sync
	Syscall        // system calls
	Sched          // waits for a P
	profiles
)

// A Record is an entry of a profile.
type Record struct {
	Frames []trace.StackFrame // leaf first
	Count  int64
	Time   time.Duration
}

// Key returns the record's stack as a string of PCs: what makes two stacks the same.
func (r Record) Key() string { return key(r.Frames) }

// key leaves out PCs of 0 at the root, and so takes a stack of one unknown
// frame for none, because the tool pads with zeros before it compares.
func key(frames []trace.StackFrame) string {
	for len(frames) > 0 && frames[len(frames)-1].PC == 0 {
		frames = frames[:len(frames)-1]
	}
	b := make([]byte, 0, 8*len(frames))
	for _, f := range frames {
		b = binary.LittleEndian.AppendUint64(b, f.PC)
	}
	return string(b)
}

// A profiler collects the time from a transition into a state to the one out of
// it, by the stack of the first.
//
// The tool looks only at what lies between the first run and the end of a
// goroutine, of its last life if it has several, and learns both before it
// looks. One pass is enough all the same: what ended before the first run
// overlaps nothing, so it counts only if there turns out to be no first run.
// A new life starts that question again, hence the undo.
type profiler struct {
	sum    *summarizer
	stacks map[trace.Stack]*entry // of this generation
	byPC   map[string]*entry
}

// An entry is a stack with what each profile has for it.
type entry struct {
	frames []trace.StackFrame
	count  [profiles]int64
	time   [profiles]time.Duration
}

type interval struct {
	*entry
	from, to trace.Time
	profile  int
}

// A track is what the profiler knows of a goroutine. No state belongs to two
// profiles, so one interval is open at most.
type track struct {
	open    interval   // its entry is nil if none is
	early   []interval // ended before the first run
	counted []interval // of a life whose id may be used again
	reused  bool       // it may: the life began in a system call
}

func newProfiler(s *summarizer) *profiler {
	return &profiler{sum: s, stacks: make(map[trace.Stack]*entry), byPC: make(map[string]*entry)}
}

func (p *profiler) event(ev *trace.Event, at trace.Time) error {
	if ev.Kind() == trace.EventSync {
		clear(p.stacks) // the generation's tables can go
	}
	g := p.sum.g
	if g == nil {
		return nil
	}
	t := &g.track
	from, to := p.sum.st.Goroutine()
	if from == trace.GoUndetermined || from == trace.GoNotExist {
		if g.Earlier > 0 && !t.reused {
			return fmt.Errorf("oracle: goroutine %d lives twice", g.ID)
		}
		t.born(to == trace.GoSyscall)
	}
	if t.open.entry != nil {
		iv := t.open
		t.open, iv.to = interval{}, at
		g.ended(iv)
	}
	if i, ok := profileOf(to, p.sum.st.Reason); ok {
		t.open = interval{p.entry(ev.Stack()), at, 0, i}
	}
	return nil
}

// born takes back what an earlier life of the id brought in.
func (t *track) born(reusable bool) {
	for _, iv := range t.counted {
		iv.count[iv.profile]--
		iv.time[iv.profile] -= iv.to.Sub(iv.from)
	}
	t.early = append(t.early, t.counted...)
	t.counted, t.reused = nil, reusable
}

func profileOf(s trace.GoState, reason string) (int, bool) {
	switch {
	case s == trace.GoSyscall:
		return Syscall, true
	case s == trace.GoRunnable:
		return Sched, true
	case s != trace.GoWaiting:
	case reason == "network":
		return Net, true
	case strings.Contains(reason, "chan"), strings.Contains(reason, "sync"), strings.Contains(reason, "select"):
		return Sync, true
	}
	return 0, false
}

func (g *Goroutine) ended(iv interval) {
	t := &g.track
	if g.First == 0 {
		t.early = append(t.early, iv)
		return
	}
	t.early = nil
	if iv.from = max(iv.from, g.First); iv.to <= iv.from {
		return
	}
	iv.add()
	if t.reused {
		t.counted = append(t.counted, iv)
	}
}

func (iv interval) add() {
	iv.count[iv.profile]++
	iv.time[iv.profile] += iv.to.Sub(iv.from)
}

func (p *profiler) entry(s trace.Stack) *entry {
	e := p.stacks[s]
	if e != nil {
		return e
	}
	frames := slices.Collect(s.Frames())
	k := key(frames)
	if e = p.byPC[k]; e == nil {
		e = &entry{frames: frames}
		p.byPC[k] = e
	}
	p.stacks[s] = e
	return e
}

func (p *profiler) finish() (out [profiles][]Record) {
	for _, g := range p.sum.gs {
		end := g.Ended
		if end == 0 {
			end = p.sum.last
		}
		for _, iv := range g.track.early {
			if iv.to = min(iv.to, end); g.First == 0 && iv.to > iv.from {
				iv.add()
			}
		}
	}
	for _, e := range p.byPC {
		for i := range out {
			if e.count[i] > 0 {
				out[i] = append(out[i], Record{e.frames, e.count[i], e.time[i]})
			}
		}
	}
	for i := range out {
		slices.SortFunc(out[i], func(a, b Record) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.Key(), b.Key()))
		})
	}
	return out
}
