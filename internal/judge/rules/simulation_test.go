package rules

import (
	"bytes"
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// A simulation is a program whose goroutines repeat their steps on some Ps: what it gains
// from a change is known, and any window of it gives a trace as the runtime writes it.
// It has no preemption, and locks, channels and Ps serve who came first.
type simulation struct {
	procs   []bool // in use
	threads []bool
	actors  []*actor
	ready   []*actor // for a P
	todo    timers
	now     time.Duration
	marks   []mark
	random  *rand.Rand
	number  int // of timers so far
	first   int // goroutines whose turns are counted
	turns   int // of theirs
}

// simWake is the time from being made ready to running.
const simWake = 6 * time.Microsecond

// An actor is one goroutine.
type actor struct {
	id, next     int
	steps        []step
	proc, thread int // of one that runs
}

// A step is one thing that a goroutine does. It returns false when it goes on later.
type step func(s *simulation, a *actor) bool

// A mark is a change of a goroutine's state.
type mark struct {
	at           time.Duration
	kind         markKind
	of           int
	by           int // the goroutine that made it ready, -1 for none
	proc, thread int
	reason       string
	stack        string // functions, leaf first
}

type markKind uint8

const (
	made markKind = iota // ready
	started
	blocked
	yielded
	called // the system
	returned
)

type timer struct {
	at     time.Duration
	number int
	do     func()
}

type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(t[i].at, t[j].at), cmp.Compare(t[i].number, t[j].number)) < 0
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(timer)) }
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func newSimulation(procs int) *simulation {
	return &simulation{procs: make([]bool, procs), random: rand.New(rand.NewPCG(1, 2))}
}

// add starts n goroutines that repeat steps. The turns of the first are counted.
func (s *simulation) add(n int, steps ...step) {
	if len(s.actors) == 0 {
		s.first = n
	}
	for range n {
		a := &actor{id: len(s.actors), steps: steps, proc: -1, thread: -1}
		s.actors = append(s.actors, a)
		s.after(0, func() { s.awake(a, -1, "") })
	}
}

func (s *simulation) after(d time.Duration, do func()) {
	s.number++
	heap.Push(&s.todo, timer{s.now + d, s.number, do})
}

// run goes on until a condition holds.
func (s *simulation) run(until func() bool) {
	for !until() {
		t := heap.Pop(&s.todo).(timer)
		s.now = t.at
		t.do()
	}
}

func (s *simulation) runFor(d time.Duration) {
	over := false
	s.after(d, func() { over = true })
	s.run(func() bool { return over })
}

func (s *simulation) mark(m mark) {
	m.at = s.now
	s.marks = append(s.marks, m)
}

func (s *simulation) awake(a *actor, by int, stack string) {
	s.mark(mark{kind: made, of: a.id, by: by, stack: stack})
	s.queue(a)
}

func (s *simulation) queue(a *actor) {
	s.after(simWake, func() {
		s.ready = append(s.ready, a)
		s.dispatch()
	})
}

// dispatch gives Ps to who is ready.
func (s *simulation) dispatch() {
	for len(s.ready) > 0 {
		p := slices.Index(s.procs, false)
		if p < 0 {
			return
		}
		a := s.ready[0]
		s.ready = s.ready[1:]
		t := slices.Index(s.threads, false)
		if t < 0 {
			t = len(s.threads)
			s.threads = append(s.threads, false)
		}
		s.procs[p], s.threads[t], a.proc, a.thread = true, true, p, t
		s.mark(mark{kind: started, of: a.id, proc: p, thread: t})
		s.proceed(a)
	}
}

// proceed does steps until one takes time.
func (s *simulation) proceed(a *actor) {
	for {
		do := a.steps[a.next]
		if a.next++; a.next == len(a.steps) {
			a.next = 0
			if a.id < s.first {
				s.turns++
			}
		}
		if !do(s, a) {
			return
		}
	}
}

func (s *simulation) block(a *actor, reason, stack string) {
	s.mark(mark{kind: blocked, of: a.id, proc: a.proc, thread: a.thread, reason: reason, stack: stack})
	s.procs[a.proc], s.threads[a.thread] = false, false
	s.after(0, s.dispatch)
}

// work takes a P for some time.
func work(d func(*rand.Rand) time.Duration) step {
	return func(s *simulation, a *actor) bool {
		s.after(d(s.random), func() { s.proceed(a) })
		return false
	}
}

// yield gives the P to others who are ready.
func yield(stack string) step {
	return func(s *simulation, a *actor) bool {
		s.mark(mark{kind: yielded, of: a.id, proc: a.proc, thread: a.thread, stack: stack})
		s.procs[a.proc], s.threads[a.thread] = false, false
		s.after(0, s.dispatch)
		s.queue(a)
		return false
	}
}

// pause waits for a time, or for somebody outside.
func pause(d func(*rand.Rand) time.Duration, reason, stack string) step {
	return func(s *simulation, a *actor) bool {
		s.block(a, reason, stack)
		s.after(d(s.random), func() { s.awake(a, -1, "") })
		return false
	}
}

// call is in the system for a time, and loses its P at once.
func call(d func(*rand.Rand) time.Duration, stack string) step {
	return func(s *simulation, a *actor) bool {
		s.mark(mark{kind: called, of: a.id, proc: a.proc, thread: a.thread, stack: stack})
		s.procs[a.proc] = false
		s.after(0, s.dispatch)
		s.after(d(s.random), func() {
			s.mark(mark{kind: returned, of: a.id, thread: a.thread})
			s.threads[a.thread] = false
			s.queue(a)
		})
		return false
	}
}

// exactly is always the same time, and about one between half and one and a half of it.
func exactly(d time.Duration) func(*rand.Rand) time.Duration {
	return func(*rand.Rand) time.Duration { return d }
}

func about(d time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return d/2 + time.Duration(r.Int64N(int64(d)+1)) }
}

// A turnstile lets some in at a time: a lock, a semaphore, a pool.
type turnstile struct {
	free               int
	line               []*actor
	reason, wait, give string // the runtime's word, and the stacks
}

func (t *turnstile) enter(s *simulation, a *actor) bool { return t.enterAs(s, a, t.wait) }

// enterAs has another stack where it waits.
func (t *turnstile) enterAs(s *simulation, a *actor, wait string) bool {
	if t.free > 0 {
		t.free--
		return true
	}
	t.line = append(t.line, a)
	s.block(a, t.reason, wait)
	return false
}

func (t *turnstile) leave(s *simulation, a *actor) bool {
	if len(t.line) == 0 {
		t.free++
		return true
	}
	next := t.line[0]
	t.line = t.line[1:]
	s.awake(next, a.id, t.give)
	return true
}

// A pipe is a channel with a buffer.
type pipe struct {
	buffer, held       int
	senders, receivers []*actor
	send, receive      string // stacks
}

func (p *pipe) offer(s *simulation, a *actor) bool {
	switch {
	case len(p.receivers) > 0:
		next := p.receivers[0]
		p.receivers = p.receivers[1:]
		s.awake(next, a.id, p.send)
	case p.held < p.buffer:
		p.held++
	default:
		p.senders = append(p.senders, a)
		s.block(a, "chan send", p.send)
		return false
	}
	return true
}

func (p *pipe) take(s *simulation, a *actor) bool {
	switch {
	case len(p.senders) > 0:
		next := p.senders[0]
		p.senders = p.senders[1:]
		s.awake(next, a.id, p.receive)
	case p.held > 0:
		p.held--
	default:
		p.receivers = append(p.receivers, a)
		s.block(a, "chan receive", p.receive)
		return false
	}
	return true
}

// trace returns a recording from one moment to another. The runtime begins a generation each
// second; goroutines that do nothing in it have a stack in their status, the others none.
func (s *simulation) trace(t *testing.T, from, to time.Duration) []byte {
	var out bytes.Buffer
	w := simWriter{b: corpus.NewBuilder(&out, 26), s: s, base: from, states: make([]actorState, len(s.actors)), running: map[int]int{}}
	rest := s.marks
	for len(rest) > 0 && rest[0].at < from {
		w.apply(&rest[0])
		rest = rest[1:]
	}
	for at, number := from, uint64(1); at < to; number++ {
		end := min(at+time.Second, to)
		n, _ := slices.BinarySearchFunc(rest, end, func(m mark, end time.Duration) int { return cmp.Compare(m.at, end) })
		w.generation(number, at, rest[:n])
		for i := range rest[:n] {
			w.event(&rest[i])
			w.apply(&rest[i])
		}
		w.control.Event(w.time(end), corpus.ProcsChange, uint64(len(s.procs)), 0)
		rest, at = rest[n:], end
	}
	if err := w.b.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type actorState struct {
	status        uint64
	reason, stack string
	thread        int
}

type simWriter struct {
	b       *corpus.Builder
	s       *simulation
	base    time.Duration
	states  []actorState
	running map[int]int // goroutines by P

	g       *corpus.Generation
	control *corpus.Thread // of the runtime, which has no P
	threads map[int]*corpus.Thread
	goSeq   map[int]uint64
	procSeq map[int]uint64
}

func (w *simWriter) time(at time.Duration) uint64 { return corpus.Epoch + uint64(at-w.base) }

// apply keeps the states up to a mark.
func (w *simWriter) apply(m *mark) {
	a := &w.states[m.of]
	switch m.kind {
	case made:
		a.status = corpus.Runnable
	case started:
		a.status, a.thread = corpus.Running, m.thread
		w.running[m.proc] = m.of
	case blocked:
		*a = actorState{status: corpus.Waiting, reason: m.reason, stack: m.stack}
		delete(w.running, m.proc)
	case yielded:
		*a = actorState{status: corpus.Runnable}
		delete(w.running, m.proc)
	case called:
		a.status, a.stack = corpus.InSys, m.stack
		delete(w.running, m.proc)
	case returned:
		a.status = corpus.Runnable
	}
}

const simControl = 1 << 20

func goID(actor int) uint64 { return uint64(10 + actor) }

func (w *simWriter) thread(id int) *corpus.Thread {
	if w.threads[id] == nil {
		w.threads[id] = w.g.Thread(uint64(1 + id))
	}
	return w.threads[id]
}

func (w *simWriter) stack(functions string) uint64 {
	if functions == "" {
		return 0
	}
	return w.g.Stack(strings.Fields(functions)...)
}

func (w *simWriter) generation(number uint64, at time.Duration, marks []mark) {
	w.g = w.b.Generation(number, w.time(at))
	w.threads, w.goSeq, w.procSeq = map[int]*corpus.Thread{}, map[int]uint64{}, map[int]uint64{}
	w.control = w.g.Thread(simControl)
	for p := range w.s.procs {
		if of, ok := w.running[p]; ok {
			th := w.thread(w.states[of].thread)
			th.Event(w.time(at), corpus.ProcStatus, uint64(p), corpus.ProcRunning)
			th.Event(w.time(at), corpus.GoStatus, goID(of), uint64(1+w.states[of].thread), corpus.Running)
			continue
		}
		w.control.Event(w.time(at), corpus.ProcStatus, uint64(p), corpus.ProcIdle)
	}
	w.control.Event(w.time(at), corpus.ProcsChange, uint64(len(w.s.procs)), 0)
	acts := map[int]bool{}
	for i := range marks {
		acts[marks[i].of] = true
	}
	quiet := w.g.Thread(corpus.NoThread)
	for i := range w.states {
		a, on := &w.states[i], corpus.NoThread
		switch {
		case a.status == corpus.Running:
			continue
		case a.status == corpus.InSys:
			on = uint64(1 + a.thread)
		}
		if !acts[i] {
			quiet.Event(w.time(at), corpus.StatusStack, goID(i), on, a.status, w.stack(parkedStack(a)))
		} else {
			quiet.Event(w.time(at), corpus.GoStatus, goID(i), on, a.status)
		}
	}
}

// parkedStack returns how a status has the stack of one that waits: with the runtime's frames.
func parkedStack(a *actorState) string {
	if a.status != corpus.Waiting {
		return a.stack
	}
	if rest, ok := strings.CutPrefix(a.stack, "sync.(*Mutex).Lock "); ok {
		return "runtime.gopark runtime.goparkunlock runtime.semacquire1 internal/sync.runtime_SemacquireMutex " +
			"internal/sync.(*Mutex).lockSlow internal/sync.(*Mutex).Lock sync.(*Mutex).Lock " + rest
	}
	return "runtime.gopark " + a.stack
}

func (w *simWriter) event(m *mark) {
	at, id := w.time(m.at), goID(m.of)
	step := func() uint64 { w.goSeq[m.of]++; return w.goSeq[m.of] }
	take := func() uint64 { w.procSeq[m.proc]++; return w.procSeq[m.proc] }
	switch m.kind {
	case made:
		th := w.control
		if m.by >= 0 {
			th = w.thread(w.states[m.by].thread)
		}
		th.Event(at, corpus.GoUnblock, id, step(), w.stack(m.stack))
	case started:
		th := w.thread(m.thread)
		th.Event(at, corpus.ProcStart, uint64(m.proc), take())
		th.Event(at, corpus.GoStart, id, step())
	case blocked:
		th := w.thread(m.thread)
		th.Event(at, corpus.GoBlock, w.g.String(m.reason), w.stack(m.stack))
		th.Event(at, corpus.ProcStop)
	case yielded:
		th := w.thread(m.thread)
		th.Event(at, corpus.GoStop, w.g.String("preempted"), w.stack(m.stack))
		th.Event(at, corpus.ProcStop)
	case called:
		w.thread(m.thread).Event(at, corpus.SyscallBegin, take(), w.stack(m.stack))
		w.control.Event(at, corpus.ProcSteal, uint64(m.proc), take(), uint64(1+m.thread))
	case returned:
		w.thread(m.thread).Event(at, corpus.SyscallLost)
	}
}
