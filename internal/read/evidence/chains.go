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
	// chainStates is how many of its last states a goroutine is remembered with: before one that
	// cannot keep up a hundred pieces wait, each of which is several states.
	chainStates = 2048
	// chainSteps bounds through how many states waits are followed in all: before one that cannot keep
	// up each of many waits goes through hundreds.
	chainSteps = 1 << 23
	// chainDead is how many goroutines that have ended are remembered: they woke somebody just before.
	chainDead = 256
	// chainDeep is through how many goroutines a wait is followed, and from how many
	// who do the same the calls are counted.
	chainDeep = 4
	// chainLinks is how many things are told apart that one wait of operations is for, and
	// chainWaits how many waits of one operation.
	chainLinks, chainWaits = 64, 8
	// gathering is the part of its waits that the clock must end for a select to be one
	// that gathers: the others are ended by what it gathers.
	gathering = 0.05
)

// A chainReader follows the waits of operations to those who end them, and says what these did
// meanwhile: they worked, or waited themselves, for the clock, for an answer, for somebody else.
type chainReader struct {
	goroutines map[int64]*chainLife
	dead       map[int64]*chainLife
	died       []int64
	selects    map[spot]*endings
	sums       map[chainKey]*chainSum
	stops      map[stopKey]*stop
	steps      int
}

// A stopKey is what is remembered of a stop: one of many that are alike stands for all.
type stopKey struct {
	leaf, root spot
	reason     string
	to         exectrace.State
	kind       callKind
}

// one returns the stop that stands for all that are like it.
func (r *chainReader) one(s *stop) *stop {
	if s == nil {
		return nil
	}
	key := stopKey{s.spot(), spot{s.root.Func, s.root.Line}, s.reason, s.to, s.kind}
	if first := r.stops[key]; first != nil {
		return first
	}
	r.stops[key] = s
	return s
}

// A spot is the innermost line of the program in a stack.
type spot struct {
	function string
	line     int
}

func (s *stop) spot() spot { return spot{s.leaf.Func, s.leaf.Line} }

// endings is how often the waits of one select were ended, and by the clock.
type endings struct{ all, clock int64 }

// A chainLife is what one goroutine did last.
type chainLife struct {
	root     exectrace.Frame // of the program, outermost; none before it first waits in it
	born     exectrace.Time
	creator  int64 // -1 for the runtime, which starts what a timer runs
	known    bool  // it was seen from its beginning
	asked    int64 // times that another goroutine ended a wait of it for one
	states   []chainState
	cut      bool // it had more
	deadline bool // a timer started it to end a context
}

// A chainState is a time that a goroutine was in one state.
type chainState struct {
	from, to exectrace.Time
	state    exectrace.State
	stop     *stop // of a wait or system call; nil where that began unseen
	by       int64 // who ended a wait, -1 for the clock or the network
	open     bool
	counted  []*chainSum // of these it is in a link already
}

type chainKey struct {
	operation string
	at        spot
	loops     bool
}

// A chainSum is the waits of operations at one line for other goroutines.
type chainSum struct {
	model.Chain
	frames []exectrace.Frame
	links  map[linkKey]*chainLink
}

// A linkKey is one thing that operations wait for.
type linkKey struct {
	kind model.LinkKind
	at   spot // of the wait, or the function that the goroutine runs
}

type chainLink struct {
	model.ChainLink
	frames []exectrace.Frame
	lives  []*chainLife // the first of those who are in it
}

// A chainWait is what one operation waited at one line for others.
type chainWait struct {
	at     spot
	last   exectrace.Time // when it was answered there; 0 before
	sum    *chainSum      // nil where none of it is known to be of an operation
	waits  int64
	waited time.Duration
}

func newChainReader() *chainReader {
	return &chainReader{goroutines: map[int64]*chainLife{}, dead: map[int64]*chainLife{}, selects: map[spot]*endings{}, sums: map[chainKey]*chainSum{}, stops: map[stopKey]*stop{}}
}

// next takes one transition of a goroutine, which may be a stop.
func (r *chainReader) next(e *exectrace.Event, s *stop) {
	g, from, to := e.GoTransition()
	l := r.goroutines[g]
	if l == nil {
		l = &chainLife{born: e.Time, creator: -1}
		if from == exectrace.Dead {
			l.known, l.creator = true, e.Goroutine
		}
		r.goroutines[g] = l
	}
	if len(l.states) > 0 {
		r.close(l, e)
	}
	if to == exectrace.Dead {
		r.bury(g, l)
		return
	}
	if s != nil && s.own && l.root.Func == "" {
		l.root = s.root
	}
	if len(l.states) == chainStates {
		l.states, l.cut = append(l.states[:0], l.states[chainStates/2:]...), true
	}
	l.states = append(l.states, chainState{from: e.Time, state: to, stop: r.one(s), by: -1, open: true})
}

// close ends the last state of a goroutine, and counts who ends its waits.
func (r *chainReader) close(l *chainLife, e *exectrace.Event) {
	d := &l.states[len(l.states)-1]
	d.to, d.open, d.by = e.Time, false, e.Goroutine
	if d.state != exectrace.Waiting || d.stop == nil || !d.stop.forAnother() {
		return
	}
	if d.by >= 0 {
		l.asked++
	}
	if d.stop.reason != "select" {
		return
	}
	at := d.stop.spot()
	n := r.selects[at]
	if n == nil {
		n = &endings{}
		r.selects[at] = n
	}
	n.all++
	if d.by < 0 {
		n.clock++
	}
}

// bury keeps a goroutine that has ended for as long as its last act may be asked for.
func (r *chainReader) bury(g int64, l *chainLife) {
	delete(r.goroutines, g)
	if len(r.died) == chainDead {
		delete(r.dead, r.died[0])
		r.died = append(r.died[:0], r.died[1:]...)
	}
	r.dead[g] = l
	r.died = append(r.died, g)
}

// forAnother reports whether a goroutine waits there for another one of the program: neither for a
// lock nor for a client that another goroutine reads for.
func (s *stop) forAnother() bool {
	if !s.own || s.to != exectrace.Waiting || s.kind != notCall {
		return false
	}
	switch s.reason {
	case "chan receive", "chan send", "select":
		return true
	case "sync":
		return slices.ContainsFunc(s.frames, func(f exectrace.Frame) bool {
			return f.Func == "sync.(*WaitGroup).Wait" || f.Func == "sync.(*Cond).Wait"
		})
	}
	return false
}

// answered adds a wait of an operation that another goroutine has ended, or of a round of a loop that
// comes to it again and again.
func (r *chainReader) answered(o *operation, e *exectrace.Event) {
	s, from := o.wait, o.asked
	o.wait = nil
	if e.Goroutine < 0 || o.root.Func == "" || r.steps > chainSteps {
		return
	}
	by := r.goroutines[e.Goroutine]
	if by != nil && by.root.Func == "" {
		frames := e.Stack()
		by.deadline = slices.ContainsFunc(frames, func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "context.(*timerCtx).") })
		by.root, _, _ = outerInner(frames)
	}
	if by != nil && by.deadline { // its own
		return
	}
	at := s.spot()
	i := slices.IndexFunc(o.waits, func(w chainWait) bool { return w.at == at })
	if i < 0 {
		if len(o.waits) == chainWaits {
			return
		}
		i, o.waits = len(o.waits), append(o.waits, chainWait{at: at})
	}
	w := &o.waits[i]
	key := chainKey{o.root.Func, at, !o.serves && w.last != 0}
	if !key.loops && !o.whole {
		w.last = e.Time
		return
	}
	sum := r.sums[key]
	if sum == nil {
		sum = &chainSum{Chain: model.Chain{Operation: model.Frame(o.root), Loops: key.loops}, frames: s.frames, links: map[linkKey]*chainLink{}}
		r.sums[key] = sum
	}
	if key.loops {
		sum.Done++
		sum.Waits++
		sum.Waited += e.Time.Sub(from)
		sum.Took += e.Time.Sub(w.last)
	} else {
		w.sum = sum
		w.waits++
		w.waited += e.Time.Sub(from)
	}
	w.last = e.Time
	sum.Followed++
	if by != nil && by.root.Func == o.root.Func {
		sum.Peers++
		sum.PeersTime += e.Time.Sub(from)
	}
	r.follow(sum, e.Goroutine, from, e.Time, 0)
}

// finish adds up an operation.
func (r *chainReader) finish(o *operation, at exectrace.Time) {
	for _, w := range o.waits {
		if w.sum != nil {
			w.sum.Done++
			w.sum.Waits += w.waits
			w.sum.Waited += w.waited
			w.sum.Took += at.Sub(o.since)
		}
	}
}

// follow adds what a goroutine that ended a wait did while it lasted, and those whom it waited for.
func (r *chainReader) follow(sum *chainSum, by int64, from, to exectrace.Time, deep int) {
	l := cmp.Or(r.goroutines[by], r.dead[by])
	if l == nil || deep == chainDeep {
		sum.add(linkKey{kind: model.LinkOther}, to.Sub(from), nil, nil)
		return
	}
	for i := len(l.states) - 1; i >= 0 && to > from; i-- {
		if r.steps++; r.steps > chainSteps {
			return
		}
		d := &l.states[i]
		end := to
		if !d.open {
			end = min(to, d.to)
		}
		begin := max(d.from, from)
		if end > begin {
			r.state(sum, l, d, begin, end, deep)
		}
		to = min(to, max(d.from, from))
	}
	switch {
	case to <= from || !l.known || l.cut:
	case l.creator < 0: // the clock had to start it first
		sum.add(linkKey{model.LinkClock, spot{function: l.root.Func}}, to.Sub(from), l, nil)
	default:
		r.follow(sum, l.creator, from, min(to, l.born), deep+1)
	}
}

// state adds one state of a goroutine that others wait for.
func (r *chainReader) state(sum *chainSum, l *chainLife, d *chainState, from, to exectrace.Time, deep int) {
	key := linkKey{model.LinkOther, spot{function: l.root.Func}}
	if d.stop != nil && d.stop.own {
		key.at = d.stop.spot()
	}
	switch {
	case d.state == exectrace.Running:
		key.kind = model.LinkRuns
	case d.state == exectrace.Runnable:
		key.kind = model.LinkReady
	case d.stop == nil:
	case d.state == exectrace.Syscall:
		key.kind = model.LinkSyscall
	case !d.stop.own:
		if d.stop.reason == "network" {
			key.kind = model.LinkClient
		}
	case d.stop.kind == inSleep:
		key.kind = model.LinkClock
	case d.stop.kind != notCall || d.stop.reason == "network":
		key.kind = model.LinkAnswer
		if l.root.Func == sum.Operation.Func { // it is an operation, too, whose place is waited for
			key.kind = model.LinkPeer
		}
	case !d.stop.forAnother():
	case d.by < 0 || d.stop.reason == "select" && r.gathers(key.at):
		key.kind = model.LinkClock
	default:
		r.follow(sum, d.by, from, to, deep+1)
		return
	}
	sum.add(key, to.Sub(from), l, d)
}

// gathers reports whether the clock ends the waits at a select, too: then what ends the
// others is what it gathers until then.
func (r *chainReader) gathers(at spot) bool {
	n := r.selects[at]
	return n != nil && float64(n.clock) >= gathering*float64(n.all)
}

// add adds a time to what is waited for, in a state of a goroutine where it was in one.
func (sum *chainSum) add(key linkKey, waited time.Duration, l *chainLife, d *chainState) {
	if waited <= 0 {
		return
	}
	link := sum.links[key]
	if link == nil && len(sum.links) >= chainLinks {
		key = linkKey{kind: model.LinkOther}
		link = sum.links[key]
	}
	if link == nil {
		link = &chainLink{ChainLink: model.ChainLink{Kind: key.kind}}
		if l != nil {
			link.Goroutine = model.Frame(l.root)
		}
		if d != nil && d.stop != nil && d.stop.own {
			link.frames = d.stop.frames
			link.Gathers = d.stop.reason == "select" && key.kind == model.LinkClock
		}
		sum.links[key] = link
	}
	link.Time += waited
	if l != nil && len(link.lives) < chainDeep && !slices.Contains(link.lives, l) {
		link.lives = append(link.lives, l)
	}
	if d != nil && link.Gathers && d.by >= 0 {
		return
	}
	link.For++
	switch {
	case d == nil:
		link.Count++
	case !slices.Contains(d.counted, sum):
		d.counted = append(d.counted, sum)
		link.Count++
	}
}

// found returns what operations wait for at other goroutines, longest first.
func (r *chainReader) found(m *model.Model) (out []model.Chain) {
	stacks := waitStacks(m)
	for _, sum := range r.sums {
		if sum.Stack = stacks[framesText(modelFrames(sum.frames))]; sum.Stack == 0 || sum.Done == 0 {
			continue
		}
		for _, link := range sum.links {
			if len(link.frames) > 0 {
				link.Stack = stacks[framesText(modelFrames(link.frames))]
			}
			for _, l := range link.lives {
				link.Asked += l.asked
			}
			sum.Links = append(sum.Links, link.ChainLink)
		}
		slices.SortFunc(sum.Links, func(a, b model.ChainLink) int {
			return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Goroutine.Func, b.Goroutine.Func), cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.For, b.For))
		})
		out = append(out, sum.Chain)
	}
	slices.SortFunc(out, func(a, b model.Chain) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Operation.Func, b.Operation.Func), cmp.Compare(a.Stack, b.Stack))
	})
	return out
}
