package evidence

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// roundLives is how many goroutines are followed round by round.
const roundLives = 1 << 14

// A roundReader says what goroutines wait for, call after call, in one round of a loop that they are in for as long
// as they are seen: a batch, a consumer, a load generator. No wait for a client parts their operations, and what tells
// where one ends is that the calls begin again at an earlier line of the function with the loop.
type roundReader struct {
	lives map[int64]*roundLife
	sums  map[serialKey]*serialSum // of those that have ended
}

// A roundLife is a goroutine, with the round that it is in.
type roundLife struct {
	operation
	over   bool // it waits for something outside of the program, or sleeps between what it does
	last   []exectrace.Frame
	depth  int // of the function with the loop, from the outermost of its frames; those within it have loops, too
	rounds int
	sums   map[serialKey]*serialSum
}

// roundsOfWorker is how many rounds tell a goroutine that ended from one that was started for one piece of work.
const roundsOfWorker = 20

// fewestRounds is from how many rounds of a goroutine what they have is the loop's: two may be a function that is
// called from two lines.
const fewestRounds = 3

// next takes one transition of a goroutine, which may be a stop.
func (r *roundReader) next(e *exectrace.Event, s *stop) {
	g, from, to := e.GoTransition()
	l := r.lives[g]
	switch {
	case to == exectrace.Dead && l != nil:
		if l.rounds >= roundsOfWorker && !l.over {
			r.add(l)
		}
		delete(r.lives, g)
	case l != nil && from == exectrace.Waiting && l.open > 0:
		l.endCall(e)
	case s == nil || l != nil && l.over:
	case l == nil && len(r.lives) < roundLives:
		l = &roundLife{depth: len(s.frames), sums: map[serialKey]*serialSum{}}
		r.lives[g] = l
		l.stop(e.Time, s)
	case l != nil:
		l.stop(e.Time, s)
	}
}

// stop is about a goroutine that waits or calls the system.
func (l *roundLife) stop(at exectrace.Time, s *stop) {
	if len(s.frames) > 0 {
		l.settle(s)
	}
	switch {
	case len(s.frames) == 0 || s.kind == notCall && s.own:
		return
	case !s.own || s.kind == inSleep:
		l.over = true
		return
	case s.to == exectrace.Syscall:
		if !ofFile(s.frames) {
			l.wrote = s.frames
		}
		return
	case s.reason == "network" && sends(s.frames):
		return
	}
	if depth, back := beginsAgain(l.last, s.frames); back && depth <= l.depth {
		if depth < l.depth { // what was taken for rounds was in one
			l.depth, l.rounds = depth, 0
			clear(l.sums)
		}
		if l.rounds++; l.rounds > 1 {
			l.keepAlike()
			l.addTo(l.sums, at)
		}
		l.operation = operation{whole: true, since: at, parts: l.parts[:0], wrote: l.wrote, root: s.frames[len(s.frames)-1-depth]}
	}
	l.last = s.frames
	i := l.part(s.leaf.Func, s.kind)
	if i < 0 {
		return
	}
	p := &l.parts[i]
	before := p.waits
	p.add(s.frames, l.wrote)
	if s.kind == onSocket {
		l.wrote = nil
	}
	if p.waits > before || p.frames == nil {
		p.countStack(s.frames)
	}
	l.at, l.open = at, i+1
}

// keepAlike leaves of the calls of each function those from one place: a script asks for one thing after another.
func (l *roundLife) keepAlike() {
	for i := range l.parts {
		p := &l.parts[i]
		p.waits = min(p.waits, (p.waits+p.votes)/2)
	}
}

// beginsAgain reports whether a stack, leaf first, is at an earlier line than the one before it in the outermost
// function that differs, and how deep that is.
func beginsAgain(before, now []exectrace.Frame) (depth int, back bool) {
	for depth < len(before) && depth < len(now) {
		a, b := &before[len(before)-1-depth], &now[len(now)-1-depth]
		if a.Func != b.Func {
			return depth, false
		}
		if a.Line != b.Line {
			return depth, b.Line < a.Line && !model.IsStd(b.Func)
		}
		depth++
	}
	return depth, false
}

// found returns what the rounds wait for.
func (r *roundReader) found(m *model.Model) []model.Serial {
	for _, l := range r.lives {
		if !l.over && l.rounds >= fewestRounds {
			r.add(l)
		}
	}
	found := foundSums(m, r.sums)
	for i := range found {
		found[i].Loops = true
	}
	return found
}

// add adds up the rounds of a goroutine.
func (r *roundReader) add(l *roundLife) {
	for key, sum := range l.sums {
		if known := r.sums[key]; known != nil {
			known.join(sum)
		} else {
			r.sums[key] = sum
		}
	}
}

// join adds what was seen of the same calls elsewhere.
func (s *serialSum) join(o *serialSum) {
	s.Done, s.Calls, s.Waited, s.Took, s.serves = s.Done+o.Done, s.Calls+o.Calls, s.Waited+o.Waited, s.Took+o.Took, s.serves+o.serves
	if o.longest > s.longest {
		s.longest, s.frames = o.longest, o.frames
	}
}

// foundSums returns what operations wait for. On a busy machine a question of the other side may be there before it
// is waited for, so that one operation seems to ask: most of them decide.
func foundSums(m *model.Model, sums map[serialKey]*serialSum) (out []model.Serial) {
	stacks := waitStacks(m)
	for _, key := range slices.SortedFunc(maps.Keys(sums), func(a, b serialKey) int {
		return cmp.Or(cmp.Compare(sums[b].Waited, sums[a].Waited), cmp.Compare(a.operation, b.operation), cmp.Compare(a.function, b.function))
	}) {
		sum := sums[key]
		if sum.serves >= sum.Done {
			continue
		}
		if sum.Stack = stacks[framesText(modelFrames(sum.frames))]; sum.Stack != 0 {
			out = append(out, sum.Serial)
		}
	}
	return out
}
