package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// handoverLives is how many goroutines are remembered for who took what: a program that starts one
	// for each request has more, and none of them is one of few that others wait for.
	handoverLives = 1 << 14
	// handoverTakers is how many are told apart that end the waits at one line.
	handoverTakers = 1 << 10
)

// A handoverReader says of the lines where goroutines wait at a channel which single goroutine ended
// these waits, and what the others who run the same did meanwhile. The accounts have that of all together.
type handoverReader struct {
	begin, end exectrace.Time
	lives      map[int64]*handoverLife
	lines      map[spot]*handoverLine
}

// A handoverLife is a goroutine, and how long it waited to be given something.
type handoverLife struct {
	root        exectrace.Frame // of the program, outermost; none before it first waits in it
	born, ended exectrace.Time
	at          *stop // the wait at a channel that goes on
	since       exectrace.Time
	waits       int64
	waited      time.Duration
}

// A handoverLine is the waits at one line.
type handoverLine struct {
	frames   []exectrace.Frame
	root     exectrace.Frame // of who waits, outermost
	waits    int64
	waited   time.Duration
	by       map[int64]*handoverTaken
	gaveUp   int64 // waits that the clock ended
	gaveTime time.Duration
}

// handoverTaken is how many waits one goroutine ended, and their time.
type handoverTaken struct {
	life   *handoverLife
	waits  int64
	waited time.Duration
}

func newHandoverReader() *handoverReader {
	return &handoverReader{lives: map[int64]*handoverLife{}, lines: map[spot]*handoverLine{}}
}

// next takes one transition of a goroutine, which may be a stop.
func (r *handoverReader) next(e *exectrace.Event, s *stop) {
	if r.end = e.Time; r.begin == 0 {
		r.begin = e.Time
	}
	g, from, to := e.GoTransition()
	l := r.life(g, from, e.Time)
	if l == nil {
		return
	}
	if from == exectrace.Waiting && l.at != nil {
		r.ended(l, e)
	}
	since := e.Time
	if s == nil && from == exectrace.Unknown && to == exectrace.Waiting {
		s, since = stoppedBefore(e), l.born // a generation tells of it at its end
	}
	switch {
	case to == exectrace.Dead:
		if l.ended = e.Time; l.root.Func == "" {
			delete(r.lives, g)
		}
	case s != nil && s.own:
		if l.root.Func == "" {
			l.root = s.root
		}
		if s.atChannel() {
			l.at, l.since = s, since
		}
	}
}

// stoppedBefore returns where a goroutine stands that began to wait before the trace, nil where that is not known: its
// reason is in no event, and what it called is.
func stoppedBefore(e *exectrace.Event) *stop {
	s := &stop{to: exectrace.Waiting, frames: e.GoStack()}
	s.root, s.leaf, s.own = outerInner(s.frames)
	for _, f := range s.frames {
		switch {
		case strings.HasPrefix(f.Func, "runtime.chanrecv"):
			s.reason = "chan receive"
		case strings.HasPrefix(f.Func, "runtime.chansend"):
			s.reason = "chan send"
		case f.Func == "runtime.selectgo":
			s.reason = "select"
		case strings.HasPrefix(f.Func, "runtime."):
			continue
		}
		break
	}
	return s
}

// atChannel reports whether a goroutine waits at a channel of the program or of a library that is not Go's:
// what net/http and database/sql wait for at theirs is an answer, and not work.
func (s *stop) atChannel() bool {
	if s.to != exectrace.Waiting || s.reason != "chan send" && s.reason != "chan receive" && s.reason != "select" {
		return false
	}
	i := slices.IndexFunc(s.frames, func(f exectrace.Frame) bool { return !strings.HasPrefix(f.Func, "runtime.") })
	return i >= 0 && !model.IsStd(s.frames[i].Func)
}

// life returns what is known of a goroutine; nil of one that is too many.
func (r *handoverReader) life(g int64, from exectrace.State, at exectrace.Time) *handoverLife {
	l := r.lives[g]
	if l != nil && (from != exectrace.Dead || l.ended == 0) {
		return l
	}
	if len(r.lives) >= handoverLives && l == nil {
		return nil
	}
	l = &handoverLife{born: r.begin}
	if from == exectrace.Dead {
		l.born = at
	}
	r.lives[g] = l
	return l
}

// ended adds a wait at a channel that is over, and who ended it.
func (r *handoverReader) ended(l *handoverLife, e *exectrace.Event) {
	s, took := l.at, e.Time.Sub(l.since)
	l.at = nil
	if s.reason != "chan send" {
		l.waits, l.waited = l.waits+1, l.waited+took
	}
	by := r.lives[e.Goroutine]
	clock := e.Goroutine < 0 && s.reason == "select"
	if s.reason == "chan receive" || by == nil && !clock {
		return
	}
	line := r.lines[s.spot()]
	if line == nil {
		line = &handoverLine{frames: s.frames, root: l.root, by: map[int64]*handoverTaken{}}
		r.lines[s.spot()] = line
	}
	if clock {
		line.gaveUp, line.gaveTime = line.gaveUp+1, line.gaveTime+took
		return
	}
	line.waits, line.waited = line.waits+1, line.waited+took
	t := line.by[e.Goroutine]
	if t == nil {
		if len(line.by) == handoverTakers {
			return
		}
		t = &handoverTaken{life: by}
		line.by[e.Goroutine] = t
	}
	t.waits, t.waited = t.waits+1, t.waited+took
}

// found returns the lines, with the one who ended most of their waits and those who run the same.
func (r *handoverReader) found(m *model.Model) (out []model.Handover) {
	stacks := waitStacks(m)
	for _, line := range r.lines {
		h := model.Handover{Stack: stacks[framesText(modelFrames(line.frames))], Seen: r.end.Sub(r.begin), Waits: line.waits, Waited: line.waited}
		var most *handoverTaken
		for _, t := range line.by {
			if most == nil || t.waited > most.waited {
				most = t
			}
		}
		h.Giver, h.GaveUp, h.GaveUpTime = model.Frame(line.root), line.gaveUp, line.gaveTime
		switch {
		case h.Stack == 0 || most == nil && line.gaveUp == 0:
			continue
		case most != nil && most.life.root.Func != "":
			r.describe(&h, most)
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b model.Handover) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Stack, b.Stack))
	})
	return out
}

// describe says who ended most of the waits, and what those who run the same do.
func (r *handoverReader) describe(h *model.Handover, most *handoverTaken) {
	h.Taker, h.Taken, h.TakenTime = model.Frame(most.life.root), most.waits, most.waited
	h.Idle, h.Lived = r.idle(most.life), r.lived(most.life)
	for _, l := range r.lives {
		if l != most.life && l.root.Func == most.life.root.Func {
			h.Peers, h.PeersWaits = h.Peers+1, h.PeersWaits+l.waits
			h.PeersIdle, h.PeersLived = h.PeersIdle+r.idle(l), h.PeersLived+r.lived(l)
		}
	}
}

// idle returns how long a goroutine waited to be given something, to the end of what was read.
func (r *handoverReader) idle(l *handoverLife) time.Duration {
	if l.at != nil && l.at.reason != "chan send" {
		return l.waited + r.end.Sub(l.since)
	}
	return l.waited
}

func (r *handoverReader) lived(l *handoverLife) time.Duration {
	if l.ended > 0 {
		return l.ended.Sub(l.born)
	}
	return r.end.Sub(l.born)
}
