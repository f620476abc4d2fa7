package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A moment is made in two steps. Readers give looks, one for each goroutine or for
// those that a profile counted together; and of all looks locks.go finds which locks
// there are and who holds them, before those that stand alike become one standing. A
// dump's arguments differ between goroutines that stand alike otherwise, so they are
// used for that and not kept.

// A look is a goroutine, or several that stand alike, as a reader saw them.
type look struct {
	stack  model.Stack
	state  string
	count  int64
	still  int64
	waited time.Duration
	id     int64
	began  string   // the function that it began at, where it has no stack
	args   []uint64 // the first argument of each frame, leaf first, 0 where it is not known; nil where none is
}

// arg returns the first argument of a frame, 0 when not known.
func (k *look) arg(frame int) uint64 {
	if frame < 0 || frame >= len(k.args) {
		return 0
	}
	return k.args[frame]
}

// joinMoment makes the model's moment of a goroutine profile or dump. What a trace's
// window ended with is kept beside one that knows of no waits: it tells who moved.
func (l *loader) joinMoment(s *snapshot) {
	looks := s.looks
	if looks == nil {
		looks = profileLooks(&l.m.Stacks, s.p, s.watched)
	}
	waits := slices.ContainsFunc(looks, func(k look) bool { return k.waited > 0 })
	if l.m.Moment != nil && !waits && !s.dead {
		return
	}
	m := &model.Moment{Source: model.GoroutineProfile, Dead: s.dead, Watched: s.watched}
	l.m.Moment = m
	l.align(func(c clock) { m.At, m.Known = c.since(s.at) })
	l.resolve(m, looks)
}

// resolveMoment finds the locks of a moment that has standings already, of a trace.
func (l *loader) resolveMoment() {
	m := l.m.Moment
	if m == nil || m.Source != model.Trace {
		return
	}
	looks := make([]look, len(m.Goroutines))
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		looks[i] = look{stack: s.Stack, state: stateInTrace(s.State, l.m.Stacks.Frames(s.Stack)), count: s.Count, still: s.Still, waited: s.Waited, id: s.Goroutine, began: s.Began}
	}
	l.resolve(m, looks)
}

// profileLooks returns those of a profile: by its labels where a dump printed states, and
// by stacks. Who made no step while they were watched has waited for that long.
func profileLooks(stacks *model.Stacks, p *model.Profile, watched time.Duration) []look {
	looks := make([]look, 0, len(p.Samples))
	for i := range p.Samples {
		s := &p.Samples[i]
		if len(s.Values) == 0 || s.Values[0] <= 0 {
			continue
		}
		k := look{stack: s.Stack, count: s.Values[0], state: s.Labels[stateLabel]}
		if by := model.StateOf(stacks.Frames(s.Stack)); k.state == "" || k.state == model.StateWaiting && by != model.StateRunning {
			k.state = by
		}
		if n, err := strconv.Atoi(s.Labels[minutesLabel]); err == nil {
			k.waited = time.Duration(n) * time.Minute
		}
		if n, err := strconv.ParseInt(s.Labels[artifact.StillLabel], 10, 64); err == nil && watched > 0 && n > 0 {
			k.still, k.waited = min(n, k.count), max(k.waited, watched)
		}
		looks = append(looks, k)
	}
	return looks
}

// stateOfDump returns the state that a dump prints, in the words of today's runtime: older
// ones had semacquire for all locks, and one that waits for a reader-writer lock may do
// so in its mutex.
func stateOfDump(printed string, frames []model.Frame) string {
	if printed != "semacquire" && !model.WantsLock(printed) {
		return printed
	}
	if s := model.StateOf(frames); s != model.StateRunning && s != model.StateWaiting {
		return s
	}
	return printed
}

// stateInTrace returns a trace's word for a wait in the words of dumps. "sync" may be any of
// several things, and what a trace begins with has no word at all.
func stateInTrace(reason string, frames []model.Frame) string {
	switch reason {
	case "sync", "":
		return model.StateOf(frames)
	case "network":
		return "IO wait"
	case "sync.(*Cond).Wait":
		return "sync.Cond.Wait"
	case "preempted":
		return "runnable"
	case "forever":
		return "select (no cases)"
	}
	return reason
}

// resolve finds the locks and puts those together that stand alike.
func (l *loader) resolve(m *model.Moment, looks []look) {
	t := newLockTable(&l.m.Stacks, looks, l.sourceReader())
	t.find()
	t.findChannels()
	t.findAbsences()
	m.Absences = t.absences
	m.Locks = t.named()
	m.Channels = nil
	for i := range t.channels {
		c := model.Channel{Name: t.channels[i].ref.name, All: t.source.all(&t.channels[i])}
		c.From, c.Deserted = t.deserted(i)
		frames := t.stacks.Frames(t.looks[t.channels[i].senders[0]].stack)
		c.Slots = t.source.slots(t.channels[i].ref.last, frames[model.Asker(frames)].File)
		m.Channels = append(m.Channels, c)
	}
	type key struct {
		stack model.Stack
		state string
		wants int
		holds string
		sends int
		lacks int
		began string
	}
	at := map[key]int{}
	m.Goroutines = nil
	for i := range looks {
		k := &looks[i]
		holds := t.holds[i]
		id := key{k.stack, k.state, t.wants[i], holdsKey(holds) + servesKey(t.serves[i]), t.sends[i], t.lacks[i], k.began}
		j, ok := at[id]
		if !ok {
			j = len(m.Goroutines)
			at[id] = j
			m.Goroutines = append(m.Goroutines, model.Standing{Stack: k.stack, State: k.state, Wants: t.wants[i], Holds: holds, Sends: t.sends[i], Serves: t.serves[i],
				Lacks: t.lacks[i], Began: k.began, Goroutine: k.id})
		}
		s := &m.Goroutines[j]
		s.Count += k.count
		s.Still += k.still
		if k.waited > s.Waited {
			s.Waited, s.Goroutine = k.waited, k.id
		}
	}
	slices.SortStableFunc(m.Goroutines, func(a, b model.Standing) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Waited, a.Waited))
	})
}

func holdsKey(holds []model.Holding) string {
	var b strings.Builder
	for _, h := range holds {
		b.WriteString(strconv.Itoa(h.Lock))
		b.WriteByte(' ')
	}
	return b.String()
}

func servesKey(serves []model.Serving) string {
	var b strings.Builder
	for _, s := range serves {
		b.WriteByte('c')
		b.WriteString(strconv.Itoa(s.Channel))
	}
	return b.String()
}

// A lockTable finds the locks of a moment: who waits for which, and who holds them.
type lockTable struct {
	stacks *model.Stacks
	looks  []look
	source *sourceReader
	locks  []*lock
	wants  []int             // of each look, as [model.Standing.Wants]
	holds  [][]model.Holding // of each look
	held   map[model.Stack][]heldLock

	channels []channel
	sends    []int             // of each look, as [model.Standing.Sends]
	serves   [][]model.Serving // of each look

	absences []model.Absence
	lacks    []int // of each look, as [model.Standing.Lacks]
	// receivers are those of channels that are fields.
	receivers map[ownField]fieldReceivers
}

// A lock is what is known of one while the holders are looked for.
type lock struct {
	model.Lock
	rw      bool
	global  bool              // its name is that of one variable
	owners  map[uint64]bool   // receivers of those who ask for it
	roots   map[uint64]bool   // receivers through whose fields it is asked for
	types   map[string]bool   // of those receivers
	askers  map[string]int    // functions that ask for it, and the line
	longest time.Duration     // wait
	best    map[int]candidate // who may hold it, by look
	found   bool              // somebody does, and not only probably
}

// A candidate is somebody who probably holds a lock.
type candidate struct {
	frame int
	score int
}

func newLockTable(stacks *model.Stacks, looks []look, source *sourceReader) *lockTable {
	return &lockTable{stacks: stacks, looks: looks, source: source, wants: make([]int, len(looks)), holds: make([][]model.Holding, len(looks)),
		held: map[model.Stack][]heldLock{}, sends: make([]int, len(looks)), serves: make([][]model.Serving, len(looks)), lacks: make([]int, len(looks)),
		receivers: map[ownField]fieldReceivers{}}
}

func (t *lockTable) named() (list []model.Lock) {
	for _, l := range t.locks {
		list = append(list, l.Lock)
	}
	return list
}

func (t *lockTable) find() {
	var asks []asking
	for i := range t.looks {
		if a, ok := t.asks(i); ok {
			asks = append(asks, a)
		}
	}
	// Those with an address say which locks there are; the others join them.
	slices.SortStableFunc(asks, func(a, b asking) int { return cmp.Compare(b.rank(), a.rank()) })
	for _, a := range asks {
		t.join(&a)
	}
	if len(t.locks) == 0 {
		return
	}
	t.holdersBySource()
	t.holdersByStacks()
}

// An asking is a look that waits for a lock, and what it tells of that.
type asking struct {
	look    int
	address uint64
	owner   uint64 // the receiver of who asks
	root    uint64 // the receiver through whose fields it is asked for
	frame   model.Frame
	name    string
	naming  model.Naming
	global  bool
	rw      bool
	typ     string
}

func (a *asking) rank() int {
	switch {
	case a.address != 0:
		return 2
	case a.owner != 0:
		return 1
	}
	return 0
}

// lockFunctions are those whose first argument is the lock.
var lockFunctions = map[string]bool{
	"sync.(*Mutex).Lock": true, "sync.(*Mutex).lockSlow": true, "internal/sync.(*Mutex).Lock": true, "internal/sync.(*Mutex).lockSlow": true,
	"sync.(*RWMutex).Lock": true, "sync.(*RWMutex).RLock": true,
}

const onceSlow = "sync.(*Once).doSlow"

// asks tells what a look waits for.
func (t *lockTable) asks(i int) (a asking, ok bool) {
	k := &t.looks[i]
	if !model.WantsLock(k.state) {
		return a, false
	}
	frames := t.stacks.Frames(k.stack)
	at := model.Asker(frames)
	if at < 0 {
		return a, false
	}
	a = asking{look: i, frame: frames[at], rw: k.state != model.StateMutex, owner: k.arg(at), typ: model.Receiver(frames[at].Func)}
	once := false
	for j := range at {
		switch v := k.arg(j); {
		case frames[j].Func == onceSlow:
			once, a.owner, a.address = true, v, v
		case lockFunctions[frames[j].Func] && v != 0:
			a.address = v
		}
	}
	switch {
	case once:
		a.name, a.naming, a.typ = frames[at].Func, model.ByOnce, ""
	default:
		a.name, a.naming = frames[at].Func, model.ByCaller
		if a.typ != "" {
			a.name, a.naming = a.typ, model.ByReceiver
		}
		if n, ok := t.source.lockAt(frames[at]); ok {
			a.name, a.naming, a.global = n.name, model.BySource, n.global
			if n.deep {
				a.root = k.arg(at)
			}
		}
	}
	if !pointerMethod(a.frame.Func) && !once {
		a.owner = 0
	}
	if !once && a.owner != 0 && a.address != 0 && (a.address < a.owner || a.address >= a.owner+ownerReach) {
		// A method takes the lock of another value, which perhaps begins with it.
		a.owner, a.typ = a.address, ""
		if a.naming == model.ByReceiver {
			a.name, a.naming = a.frame.Func, model.ByCaller
		}
	}
	return a, true
}

func pointerMethod(function string) bool { return strings.Contains(function, "(*") }

// join puts a look to its lock.
func (t *lockTable) join(a *asking) {
	fits := -1
	for i, l := range t.locks {
		if !l.may(a) {
			continue
		}
		if fits >= 0 && a.address == 0 { // of several, nobody knows which
			fits = -1
			break
		}
		fits = i
	}
	if fits < 0 {
		fits = len(t.locks)
		t.locks = append(t.locks, &lock{Lock: model.Lock{Address: a.address, Name: a.name, Naming: a.naming}, rw: a.rw, global: a.global,
			owners: map[uint64]bool{}, roots: map[uint64]bool{}, types: map[string]bool{}, askers: map[string]int{}, best: map[int]candidate{}})
	}
	l := t.locks[fits]
	t.wants[a.look] = fits + 1
	l.longest = max(l.longest, t.looks[a.look].waited)
	if a.owner != 0 {
		l.owners[a.owner] = true
	}
	if a.root != 0 {
		l.roots[a.root] = true
	}
	if a.typ != "" {
		l.types[a.typ] = true
	}
	if line, ok := l.askers[a.frame.Func]; !ok || a.frame.Line < line {
		l.askers[a.frame.Func] = a.frame.Line
	}
}

// may reports whether what a look waits for may be the lock.
func (l *lock) may(a *asking) bool {
	if l.Address != 0 && a.address != 0 {
		return l.Address == a.address
	}
	if l.Name != a.name || l.Naming != a.naming || l.rw != a.rw {
		return false
	}
	return a.owner == 0 || len(l.owners) == 0 || l.owners[a.owner]
}

// holdersBySource finds who stands between Lock and Unlock.
func (t *lockTable) holdersBySource() {
	byName := map[string][]int{}
	for i, l := range t.locks {
		if l.Naming == model.BySource {
			byName[l.Name] = append(byName[l.Name], i)
		}
	}
	for i := range t.looks {
		k := &t.looks[i]
		held, ok := t.held[k.stack]
		if !ok {
			held = t.source.heldOn(t.stacks.Frames(k.stack))
			t.held[k.stack] = held
		}
		for _, h := range held {
			for _, n := range byName[h.name] {
				same, other := t.locks[n].same(k.arg(h.frame), h)
				if !same && t.wants[i] == n+1 {
					same = h.receiver && t.source.onReceiver(t.stacks.Frames(k.stack), h.frame)
					if !same { // two values of one type, as far as is known
						continue
					}
				} else if other {
					continue
				}
				t.holds[i] = append(t.holds[i], model.Holding{Lock: n + 1, Taken: h.taken, Shared: h.shared, Sure: same})
			}
		}
	}
}

// ownerReach is how far behind the receiver of who takes it a lock may lie: values with
// a lock in them are smaller, but for rare ones with arrays.
const ownerReach = 64 << 10

// same reports whether a lock of its name that a frame holds is this one, by the frame's
// receiver, or surely another. A variable of a package is there once.
func (l *lock) same(receiver uint64, h heldLock) (same, other bool) {
	switch {
	case l.global:
		return true, false
	case !h.receiver || receiver == 0:
		return false, false
	case h.deep: // it may lie elsewhere, so that only who asks through the same value tells
		return l.roots[receiver], len(l.roots) > 0 && !l.roots[receiver]
	case len(l.owners) > 0:
		return l.owners[receiver], !l.owners[receiver]
	}
	if l.Address == 0 {
		return false, false
	}
	return l.Address == receiver, l.Address < receiver || l.Address >= receiver+ownerReach
}

// Scores of who probably holds a lock.
const (
	sameOwner    = 8 // a method of the very value whose method waits for it
	sameFunction = 6 // further on in the function that waits for it
	sameType     = 2 // a method of the type
	stoodAsLong  = 3 // it stands as long as the longest of those who wait
	heldUp       = 2 // in something that takes time, not at rest
)

// holdersByStacks finds who probably holds the locks that no source tells of.
func (t *lockTable) holdersByStacks() {
	owners, askers, types, onces := map[uint64][]int{}, map[string][]int{}, map[string][]int{}, map[string]int{}
	for i, l := range t.locks {
		if l.Naming == model.ByOnce {
			onces[l.Name] = i
			continue
		}
		if l.Naming == model.BySource { // then the source tells who holds it, or that nobody does
			continue
		}
		for o := range l.owners {
			owners[o] = append(owners[o], i)
		}
		for f := range l.askers {
			askers[f] = append(askers[f], i)
		}
		for y := range l.types {
			types[y] = append(types[y], i)
		}
	}
	receivers := map[string]string{}
	for i := range t.looks {
		k := &t.looks[i]
		frames := t.stacks.Frames(k.stack)
		asker := max(0, model.Asker(frames))
		for j := asker; j < len(frames); j++ {
			f := frames[j]
			r, ok := receivers[f.Func]
			if !ok {
				r = model.Receiver(f.Func)
				receivers[f.Func] = r
			}
			if f.Func == onceSlow && j > 0 {
				t.runsOnce(i, j, frames, onces)
			}
			if v := k.arg(j); v != 0 && r != "" {
				for _, n := range owners[v] {
					if t.locks[n].types[r] || t.locks[n].Address == v {
						t.offer(n, i, j, sameOwner)
					}
				}
			}
			for _, n := range askers[f.Func] {
				if f.Line > t.locks[n].askers[f.Func] && t.owned(n, k.arg(j)) {
					t.offer(n, i, j, sameFunction)
				}
			}
			for _, n := range types[r] {
				if t.owned(n, k.arg(j)) {
					t.offer(n, i, j, sameType)
				}
			}
		}
	}
	for n, l := range t.locks {
		t.choose(n, l)
	}
}

// owned reports whether a receiver may be that of a lock: it is not known to be another.
func (t *lockTable) owned(n int, receiver uint64) bool {
	o := t.locks[n].owners
	return receiver == 0 || len(o) == 0 || o[receiver]
}

// runsOnce notes who is inside the function that a sync.Once calls.
func (t *lockTable) runsOnce(i, at int, frames []model.Frame, onces map[string]int) {
	next := at + 1
	for next < len(frames) && strings.HasPrefix(frames[next].Func, "sync.(*Once).") {
		next++
	}
	n, ok := 0, false
	if next < len(frames) && model.Asker(frames) < at {
		n, ok = onces[frames[next].Func]
	}
	if !ok {
		return
	}
	t.locks[n].found = true
	t.holds[i] = append(t.holds[i], model.Holding{Lock: n + 1, Taken: frames[next], Sure: true})
}

// offer names a candidate, with the best that is known for it.
func (t *lockTable) offer(n, i, frame, score int) {
	if t.wants[i] == n+1 {
		return
	}
	k, l := &t.looks[i], t.locks[n]
	if k.waited > 0 && k.waited+time.Minute >= l.longest {
		score += stoodAsLong
	}
	if atRest := k.state == "chan receive" || k.state == "select" || strings.HasSuffix(k.state, "Cond.Wait"); !atRest {
		score += heldUp
	} else if score <= sameType {
		return // a method of the type that waits for work
	}
	if c, ok := l.best[i]; !ok || score > c.score {
		l.best[i] = candidate{frame, score}
	}
}

// mostGuesses is how many may be named for a lock that only one of them can hold.
const mostGuesses = 3

// choose takes the best candidates of a lock; when many stand alike, none of them is more
// probable than another, and only a few have room.
func (t *lockTable) choose(n int, l *lock) {
	if len(l.best) == 0 || l.found {
		return
	}
	most := 0
	for _, c := range l.best {
		most = max(most, c.score)
	}
	best := slices.DeleteFunc(slices.Sorted(maps.Keys(l.best)), func(i int) bool { return l.best[i].score != most })
	if len(best) > mostGuesses && !l.rw {
		return // one of this many holds it, and to name them says that all do
	}
	for _, i := range best {
		c := l.best[i]
		frames := t.stacks.Frames(t.looks[i].stack)
		t.holds[i] = append(t.holds[i], model.Holding{Lock: n + 1, Taken: frames[c.frame]})
	}
}
