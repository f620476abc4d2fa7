package corpus

import (
	"fmt"
	"io"
	"math/rand/v2"
)

// A Shape says what [Synthetic] writes.
type Shape struct {
	Threads int // each with a P of its own; at least 1
	Events  int // about as many
	// Cross is the share of wake-ups, in percent, that go to a goroutine of
	// another thread: what makes one thread's events wait for another's.
	Cross int
	Seed  uint64
	Minor int // of the format's version, see [NewBuilder]; 0 means 26
}

const (
	tickRate  = 15_625_000 // of Linux: 64 ns
	perThread = 8          // goroutines, about
	genTicks  = tickRate   // a generation is a second, as the runtime's
	meanStep  = 8          // ticks between two events anywhere: 2 M events/s
	// Start functions, each with a place to wait. With the pairs of waker and
	// woken that come of it, the profiles have 600 lines; those of a net/http
	// server under load have 800 to 1,300.
	stackKinds = 16
)

// Synthetic writes a whole and valid trace of many threads whose events are
// finely interleaved: goroutines wake each other, block, make system calls,
// come and go. It exists because no machine at hand has a thousand Ps.
func Synthetic(w io.Writer, s Shape) error {
	if s.Threads < 1 || s.Cross < 0 || s.Cross > 100 {
		return fmt.Errorf("corpus: bad shape %+v", s)
	}
	if s.Minor == 0 {
		s.Minor = 26
	}
	y := newSynth(w, s)
	for y.events < s.Events {
		y.generation(s.Events)
	}
	return y.b.Close()
}

type synth struct {
	b      *Builder
	rnd    *rand.Rand
	cross  int
	now    uint64
	number uint64
	events int
	ms     []synthM
	live   []*synthG // in the order of creation, for the same trace each time
	nextG  uint64

	gen     *Generation
	stacks  [stackKinds]uint64
	reasons [3]uint64
}

type synthM struct {
	t          *Thread
	p          uint64
	pSeq       uint64
	cur        *synthG
	sys        bool // cur is in a system call
	runq       []*synthG
	goroutines []*synthG
}

type synthG struct {
	id     uint64
	m      int
	status uint64
	seq    uint64
	gen    uint64 // in which its status was last written
	stack  int
	dead   bool
}

func newSynth(w io.Writer, s Shape) *synth {
	y := &synth{
		b: NewBuilder(w, s.Minor), rnd: rand.New(rand.NewPCG(s.Seed, uint64(s.Threads))),
		cross: s.Cross, now: tickRate, ms: make([]synthM, s.Threads), nextG: 1,
	}
	y.b.TicksPerSecond = tickRate
	for m := range y.ms {
		y.ms[m].p = uint64(m)
		for range perThread {
			y.add(m, Waiting)
		}
		g := y.ms[m].goroutines[0]
		g.status, y.ms[m].cur = Running, g
	}
	return y
}

func (y *synth) add(m int, status uint64) *synthG {
	g := &synthG{id: y.nextG, m: m, status: status, stack: y.rnd.IntN(stackKinds)}
	y.nextG++
	y.live = append(y.live, g)
	y.ms[m].goroutines = append(y.ms[m].goroutines, g)
	return g
}

func (y *synth) generation(limit int) {
	y.number++
	y.begin()
	end := y.now + genTicks
	for y.now < end && y.events < limit {
		y.now += 1 + y.rnd.Uint64N(2*meanStep-1)
		y.step(y.rnd.IntN(len(y.ms)))
	}
	y.end()
}

// begin opens a generation: everyone with a P tells his state first.
func (y *synth) begin() {
	y.gen = y.b.Generation(y.number, y.now)
	for i, r := range []string{"chan receive", "select", "network"} {
		y.reasons[i] = y.gen.String(r)
	}
	for i := range y.stacks {
		y.stacks[i] = y.gen.Stack(fmt.Sprintf("main.leaf%d", i%16), fmt.Sprintf("main.middle%d", i%32),
			fmt.Sprintf("main.worker%d", i))
	}
	for i := range y.ms {
		m := &y.ms[i]
		m.t, m.pSeq = y.gen.Thread(uint64(1000+i)), 0
		status := uint64(ProcRunning)
		if m.sys {
			status = ProcInSys
		}
		y.emit(m, ProcStatus, m.p, status)
		if m.cur != nil {
			y.status(m, m.cur)
		}
		if i == 0 && m.cur != nil && !m.sys {
			y.emit(m, ProcsChange, uint64(len(y.ms)), 0)
		}
		y.now++
	}
}

// end writes the states of those of whom nothing was heard.
func (y *synth) end() {
	late := &synthM{t: y.gen.Thread(NoThread)}
	alive := y.live[:0]
	for _, g := range y.live {
		if !g.dead {
			y.status(late, g)
			alive = append(alive, g)
		}
	}
	y.live = alive
}

func (y *synth) emit(m *synthM, typ Type, args ...uint64) {
	m.t.Event(y.now, typ, args...)
	y.events++
}

// status makes sure that g's state in this generation is on record before its
// first event.
func (y *synth) status(m *synthM, g *synthG) {
	if g.gen == y.number {
		return
	}
	g.gen, g.seq = y.number, 0
	on := NoThread
	if g.status == InSys {
		on = uint64(1000 + g.m)
	}
	if y.b.minor < 23 {
		y.emit(m, GoStatus, g.id, on, g.status)
		return
	}
	y.emit(m, StatusStack, g.id, on, g.status, y.stacks[g.stack])
}

func (y *synth) step(i int) {
	m := &y.ms[i]
	switch {
	case m.sys:
		y.emit(m, SyscallEnd)
		m.sys, m.cur.status = false, Running
	case m.cur == nil && len(m.runq) > 0:
		y.start(m)
	case m.cur == nil:
		y.wake(i) // as the poller does, without a goroutine
	default:
		y.act(i)
	}
}

func (y *synth) start(m *synthM) {
	g := m.runq[0]
	m.runq = m.runq[1:]
	y.status(m, g)
	g.seq++
	y.emit(m, GoStart, g.id, g.seq)
	g.status, m.cur = Running, g
}

func (y *synth) act(i int) {
	m := &y.ms[i]
	g := m.cur
	switch r := y.rnd.IntN(100); {
	case r < 48:
		y.wake(i)
	case r < 82:
		y.emit(m, GoBlock, y.reasons[r%len(y.reasons)], y.stacks[g.stack])
		g.status, m.cur = Waiting, nil
	case r < 90:
		m.pSeq++
		y.emit(m, SyscallBegin, m.pSeq, y.stacks[g.stack])
		g.status, m.sys = InSys, true
	case r < 94:
		y.emit(m, GoStop, y.gen.String("preempted"), y.stacks[g.stack])
		g.status, m.cur = Runnable, nil
		m.runq = append(m.runq, g)
	case len(m.goroutines) < perThread || len(m.goroutines) == perThread && r < 97:
		y.create(i)
	default:
		y.destroy(m)
	}
}

func (y *synth) create(i int) {
	m := &y.ms[i]
	g := y.add(i, Runnable)
	g.gen = y.number
	y.emit(m, GoCreate, g.id, y.gen.Stack(fmt.Sprintf("main.worker%d", g.stack)), y.stacks[m.cur.stack])
	m.runq = append(m.runq, g)
}

func (y *synth) destroy(m *synthM) {
	g := m.cur
	y.emit(m, GoDestroy)
	g.dead, m.cur = true, nil
	for k, o := range m.goroutines {
		if o == g {
			m.goroutines = append(m.goroutines[:k], m.goroutines[k+1:]...)
			return
		}
	}
}

// wake makes a waiting goroutine runnable on the thread it belongs to.
func (y *synth) wake(i int) {
	home := i
	if y.rnd.IntN(100) < y.cross {
		home = y.rnd.IntN(len(y.ms))
	}
	own := y.ms[home].goroutines
	g := own[y.rnd.IntN(len(own))]
	if g.status != Waiting {
		return
	}
	m := &y.ms[i]
	y.status(m, g)
	g.seq++
	var stack uint64
	if m.cur != nil {
		stack = y.stacks[m.cur.stack]
	}
	y.emit(m, GoUnblock, g.id, g.seq, stack)
	g.status = Runnable
	y.ms[home].runq = append(y.ms[home].runq, g)
}
