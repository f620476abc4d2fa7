package whatif

import "math"

// A replay is a discrete-event simulation of the Go scheduler.
//
// Ps run goroutines for slices of 10 ms. Whoever is made ready by a goroutine
// goes to the slot of its P and runs there next, unless an idle P takes it
// first; whom the slot pushes out, and all others, go to one queue. One idle P
// at a time is on its way to look for work, as with the runtime's spinning
// threads, and needs as long as in the trace. Ps beyond the cores share them:
// the work clock v then runs slower than the time.
//
// Locks are sync.Mutex: a release wakes the first waiter, which may find that
// somebody else was faster and then waits again before all others; who waited
// for more than a millisecond is handed the lock.
//
// Every P has an entry in the queue of ends that says when its stretch is over.
// One that is cut short gets another, and the first is passed over.
type replay struct {
	p *Program
	e edits

	now, v float64
	busy   int // Ps with a goroutine
	cores  float64
	onP    float64 // P time in use
	worked float64 // user work done, as traced
	rate   float64 // of it, by the work clock
	spent  float64 // CPU time
	forced int     // waits that had to be ended for lack of anything else

	gs     []replayG
	ps     []replayP
	idle   []int32
	coming int32 // the P on its way, -1 none
	ready  queue
	slots  queue   // Ps that may have a next goroutine
	slice  float64 // ns that a goroutine may run when others wait
	front  []int32 // mark workers, before all others
	ends   heap    // of Ps, by work clock
	timers heap    // of goroutines, and of the P on its way, by time
	due    heap    // of goroutines, by user work
	tokens []token
	joins  []joinState
	locks  []lock
	stuck  []lockWaiter // by the order of blocking
	over   bool
}

// A token counts the wake-ups that nobody has waited for yet. Only one
// goroutine waits for it, waiter, plus 1.
type token struct{ count, waiter int32 }

type replayG struct {
	pc        int32
	left      float64 // of the op at pc that is running, as edited; negative: not begun
	state     simState
	lockCount uint32    // locks so far
	want      int32     // index in replay.locks of the lock that it waits for
	heldLocks []lockRef // locks
	passed    bool      // it was given its P by a coroutine
	sliceFrom float64   // work clock when its slice began
	startAt   float64
	endAt     float64
	waitFrom  float64 // since when for the lock
}

type simState uint8

const (
	unborn simState = iota
	waiting
	runnable
	running
	retrying // woken by a release, has to take the lock yet
	ended
)

type replayP struct {
	g    int32 // -1 when idle
	next int32 // -1 none
	till float64
	from float64 // work clock when its present stretch began
	over float64 // of the stretch, scheduling
	rate float64 // user work done in it, by the work clock
	lump bool    // it is too short for a rate: its work is done at its end
	idle float64 // since when it has nothing to do
}

type joinState struct{ left, waiter int32 }

type lock struct {
	holder   int32 // -1 free
	waiters  deque
	woken    bool
	starving bool
}

type lockWaiter struct {
	g   int32
	seq int32 // its pc then
}

const (
	slice = 10e6 // ns, as the runtime preempts
	// maxSlices bounds the time of a replay, for traces that say that they are
	// years long.
	maxSlices = 20e6
	starve    = 1e6 // ns after which a mutex is handed over
	// steals is how long a P that has nothing to do looks around before it
	// takes what another P is about to run.
	steals = 3e3
	// spins is how long a P without work looks for some before its thread
	// sleeps, and finds how long it then takes to see it.
	spins = 10e3
	finds = 500
	// early is how much work before its time a mark worker starts when nobody
	// else does anything: somebody may be waiting for it.
	early = 1e6
	// smallest is the factor below which work is done at once.
	smallest = 0.01
	// instant is the time in nanoseconds that is none.
	instant = 0.01
)

// none returns the time that is none now. Less than the last digit of the clock, which of
// an hour is 0.0005 and of a week that a broken trace tells 0.06, would never pass.
func (r *replay) none() float64 { return max(instant, math.Nextafter(r.v, math.Inf(1))-r.v) }

// A lockRef is a lock of the program and its shard: an index in replay.locks.
type lockRef struct {
	lock  int16
	shard int32
}

// run replays the program. The second result is the goroutines, for latencies.
func (p *Program) run(e edits) (Result, []replayG) {
	r := newReplay(p, e)
	for !r.over && r.next() {
	}
	return r.result(), r.gs
}

func newReplay(p *Program, e edits) *replay {
	n := p.Procs
	if e.procs > 0 {
		n = e.procs
	}
	r := &replay{p: p, e: e, coming: -1, cores: float64(p.Cores), gs: make([]replayG, len(p.gs)),
		ps: make([]replayP, n), tokens: make([]token, p.tokens+1), joins: make([]joinState, p.joins)}
	r.slice = max(slice, r.longest()/maxSlices)
	for i := n - 1; i >= 0; i-- {
		r.ps[i] = replayP{g: -1, next: -1, idle: -spins}
		r.idle = append(r.idle, int32(i))
	}
	r.makeLocks()
	for i := range p.gs {
		g := &p.gs[i]
		r.gs[i] = replayG{left: -1}
		if g.join > 0 {
			r.joins[g.join-1].left++
		}
		if g.start >= 0 {
			r.timers.push(g.start, int32(i))
		}
	}
	for i := range r.joins {
		r.joins[i].waiter = -1
	}
	return r
}

// longest is about the most work that there can be with the edits.
func (r *replay) longest() float64 {
	f := max(1, r.e.work, r.e.gc)
	for _, g := range r.e.groups {
		f = max(f, g)
	}
	for _, l := range r.e.locks {
		f = max(f, l.hold)
	}
	return f * float64(r.p.Work+r.p.GC)
}

// makeLocks makes as many locks as there are shards of each.
func (r *replay) makeLocks() {
	n := len(r.p.Locks)
	for _, l := range r.e.locks {
		n += l.shards - 1
	}
	r.locks = make([]lock, n)
	for i := range r.locks {
		r.locks[i].holder = -1
	}
}

// speed returns how fast the work clock runs.
func (r *replay) speed() float64 {
	if r.cores > 0 && float64(r.busy) > r.cores {
		return r.cores / float64(r.busy)
	}
	return 1
}

// next does what comes next, and reports whether there was anything.
func (r *replay) next() bool {
	for len(r.ends.list) > 0 && r.ps[r.ends.list[0].id].till != r.ends.list[0].at {
		r.ends.pop() // that stretch was cut short
	}
	if r.busy == 0 && r.ready.len() == 0 && len(r.due.list) > 0 && r.due.list[0].at-r.worked < early {
		r.fire(r.due.pop())
		return true
	}
	speed := r.speed()
	end, timer := math.Inf(1), math.Inf(1)
	due, goal := r.nextDue(speed)
	if len(r.ends.list) > 0 {
		end = r.now + max(0, r.ends.list[0].at-r.v)/speed
	}
	if len(r.timers.list) > 0 {
		timer = r.timers.list[0].at
	}
	switch {
	case due < end && due < timer:
		r.advance(due, speed)
		r.worked = max(r.worked, goal) // what is left may be less than the clock's last digit
		r.reached()
	case timer <= end && !math.IsInf(timer, 1):
		r.advance(timer, speed)
		if id := r.timers.pop(); id < 0 {
			r.arrive()
		} else {
			r.fire(id)
		}
	case !math.IsInf(end, 1):
		r.advance(end, speed)
		p := r.ends.pop()
		r.v = max(r.v, r.ps[p].till)
		r.turn(p)
	default:
		return r.force()
	}
	return true
}

// nextDue returns when the work comes to what somebody waits for, or to the end, and how much
// work that is.
func (r *replay) nextDue(speed float64) (at, goal float64) {
	goal = math.Inf(1)
	if r.p.main < 0 {
		goal = r.p.goal
	}
	if len(r.due.list) > 0 {
		goal = min(goal, r.due.list[0].at)
	}
	left := goal - r.worked
	switch {
	case left <= 0:
		return r.now, goal
	case r.rate <= 0:
		return math.Inf(1), goal
	}
	return r.now + left/(r.rate*speed), goal
}

// reached ends an endless program, or starts a mark worker.
func (r *replay) reached() {
	const close = 1 // ns; less is rounding
	if r.p.main < 0 && r.worked >= r.p.goal-close {
		r.over = true
		return
	}
	for len(r.due.list) > 0 && r.due.list[0].at <= r.worked+close {
		r.fire(r.due.pop())
	}
}

func (r *replay) advance(to, speed float64) {
	dt := max(0, to-r.now)
	r.onP += dt * float64(r.busy)
	r.spent += dt * speed * float64(r.busy)
	r.v += dt * speed
	r.worked += dt * speed * r.rate
	r.now += dt
}

// fire makes a goroutine ready that waited for something outside.
func (r *replay) fire(g int32) {
	if s := &r.gs[g]; s.state == unborn {
		s.startAt = r.now
	} else {
		s.pc++
	}
	r.makeReady(g, -1)
}

// force ends a wait when nothing else can happen, since the change took away
// what ended it. The collector goes first, for it waits for nobody in particular.
func (r *replay) force() bool {
	if len(r.due.list) > 0 {
		r.fire(r.due.pop())
		return true
	}
	for len(r.stuck) > 0 {
		b := r.stuck[0]
		r.stuck = r.stuck[1:]
		s := &r.gs[b.g]
		if s.state != waiting || s.pc != b.seq {
			continue
		}
		r.forced++
		o := &r.p.gs[b.g].ops[s.pc]
		switch {
		case o.kind == opJoin:
			r.joins[o.ref] = joinState{0, -1}
		case o.kind == opLock && !r.asTraced(o):
			r.locks[s.want].waiters.remove(b.g)
			s.pc++
		default:
			r.tokens[o.ref].count++
		}
		r.makeReady(b.g, -1)
		return true
	}
	return false
}

// makeReady makes a goroutine runnable; p is where the one that woke it runs,
// -1 for none.
func (r *replay) makeReady(g, p int32) {
	if s := &r.gs[g]; s.state != retrying {
		s.state = runnable
	}
	switch {
	case r.p.Groups[r.p.gs[g].group].gc:
		r.front = append(r.front, g)
		r.interrupt()
	case p >= 0:
		r.setNext(p, g)
	default:
		r.ready.push(g)
	}
	delay := r.p.costs.wake
	if p < 0 {
		delay = 0 // the P that waited for timers and the network is awake
	}
	r.call(delay)
}

// interrupt ends the stretch of a P for a mark worker when none is idle: a
// collection begins by stopping all of them.
func (r *replay) interrupt() {
	if len(r.idle) > 0 || r.coming >= 0 {
		return
	}
	for p := range r.ps {
		q := &r.ps[p]
		if q.g >= 0 && r.gs[q.g].state == running && q.till > r.v && !r.p.Groups[r.p.gs[q.g].group].gc {
			q.till = r.v
			r.ends.push(q.till, int32(p))
			return
		}
	}
}

// call sends an idle P to look for work, unless one is on its way.
func (r *replay) call(delay float64) {
	if r.coming >= 0 || len(r.idle) == 0 {
		return
	}
	r.coming = r.idle[len(r.idle)-1]
	r.idle = r.idle[:len(r.idle)-1]
	if r.now-r.ps[r.coming].idle < spins {
		delay = min(delay, finds)
	}
	r.timers.push(r.now+delay, -1)
}

// arrive lets the P that was on its way find work, or not.
func (r *replay) arrive() {
	p := r.coming
	r.coming = -1
	g := r.take(p)
	if g < 0 {
		g = r.steal()
	}
	if g < 0 {
		r.idleP(p)
		return
	}
	r.start(p, g)
	r.callIdle(r.p.costs.wake)
}

// idleP makes a P idle.
func (r *replay) idleP(p int32) {
	r.ps[p].idle = r.now
	r.idle = append(r.idle, p)
}

// callIdle calls another P when there is something for it.
func (r *replay) callIdle(delay float64) {
	if r.ready.len() > 0 || len(r.front) > 0 {
		r.call(delay)
		return
	}
	if len(r.idle) > 0 && r.coming < 0 && r.slot() >= 0 {
		r.call(max(delay, steals))
	}
}

// slot returns the P whose next goroutine waits longest, -1 none.
func (r *replay) slot() int32 {
	for r.slots.len() > 0 {
		if p := r.slots.list[r.slots.head]; r.ps[p].next >= 0 {
			return p
		}
		r.slots.pop()
	}
	return -1
}

// take returns what a P runs next, -1 nothing.
func (r *replay) take(p int32) int32 {
	if len(r.front) > 0 {
		g := r.front[0]
		r.front = r.front[1:]
		return g
	}
	if g := r.ps[p].next; g >= 0 {
		r.ps[p].next = -1
		return g
	}
	return r.ready.pop()
}

// steal takes what another P would run next.
func (r *replay) steal() int32 {
	p := r.slot()
	if p < 0 {
		return -1
	}
	g := r.ps[p].next
	r.ps[p].next = -1
	return g
}

// setNext puts a goroutine into the slot of a P.
func (r *replay) setNext(p, g int32) {
	if old := r.ps[p].next; old >= 0 {
		r.ready.push(old)
	} else {
		r.slots.push(p)
	}
	r.ps[p].next = g
}

// start puts a goroutine on an idle P.
func (r *replay) start(p, g int32) {
	r.busy++
	r.ps[p].g = g
	if !r.resume(p) {
		r.dispatch(p)
	}
}

// resume lets the goroutine that a P got run, and reports whether it stays there.
func (r *replay) resume(p int32) bool {
	q := &r.ps[p]
	s := &r.gs[q.g]
	woken := s.state == retrying
	s.state, s.sliceFrom = running, r.v
	q.from, q.over = r.v, r.p.costs.change
	if s.passed {
		q.over, s.passed = 0, false
	}
	if woken && !r.retry(q.g) {
		return false
	}
	return r.follow(p, r.slice)
}

// dispatch finds work for a P that its goroutine left.
func (r *replay) dispatch(p int32) {
	q := &r.ps[p]
	for !r.over {
		if q.g = r.take(p); q.g < 0 {
			r.busy--
			r.idleP(p)
			r.callIdle(steals)
			return
		}
		if r.resume(p) {
			return
		}
	}
}

// turn ends a stretch on a P: of an op, or of the slice.
func (r *replay) turn(p int32) {
	q := &r.ps[p]
	s := &r.gs[q.g]
	q.till = -1
	s.left -= max(0, r.v-q.from-q.over)
	r.worked -= min(q.over, r.v-q.from) * q.rate // scheduling is none
	if r.rate -= q.rate; r.busy == 1 {
		r.rate = 0
	}
	none := r.none()
	if q.lump && s.left <= none {
		r.worked += r.p.gs[q.g].ops[s.pc].dur
	}
	q.from, q.over, q.rate = r.v, 0, 0
	if s.left <= none {
		s.left = -1
		s.pc++
	}
	rest := r.slice - (r.v - s.sliceFrom)
	if rest <= none && r.ready.len() == 0 && q.next < 0 {
		s.sliceFrom, rest = r.v, r.slice // nobody else wants the P
	}
	if rest > none && (len(r.front) == 0 || r.p.Groups[r.p.gs[q.g].group].gc) {
		if !r.follow(p, rest) {
			r.dispatch(p)
		}
		return
	}
	s.state = runnable
	r.ready.push(q.g)
	r.dispatch(p)
	r.callIdle(r.p.costs.wake)
}

// follow lets the goroutine of p go on until it has to work, which it may for
// the rest of its slice, and reports that; or until it leaves the P.
func (r *replay) follow(p int32, rest float64) bool {
	q := &r.ps[p]
	g := q.g
	s := &r.gs[g]
	ops := r.p.gs[g].ops
	for {
		if int(s.pc) >= len(ops) {
			r.end(g)
			return false
		}
		o := &ops[s.pc]
		if o.kind == opRun {
			f := r.factor(g, o)
			if s.left < 0 {
				s.left = o.dur * f
			}
			q.lump = false
			if !r.p.Groups[r.p.gs[g].group].System {
				if q.lump = f < smallest; !q.lump {
					q.rate = 1 / f
					r.rate += q.rate
				}
			}
			q.till = r.v + q.over + min(s.left, max(rest, 0))
			r.ends.push(q.till, p)
			return true
		}
		if !r.do(p, g, s, o) {
			return false
		}
	}
}

// end ends a goroutine.
func (r *replay) end(g int32) {
	s := &r.gs[g]
	s.state, s.endAt = ended, r.now
	for _, h := range s.heldLocks {
		r.release(h.shard, -1)
	}
	s.heldLocks = nil
	if g == r.p.main {
		r.over = true
	}
	if j := r.p.gs[g].join; j > 0 {
		join := &r.joins[j-1]
		if join.left--; join.left == 0 && join.waiter >= 0 {
			w := join.waiter
			join.waiter = -1
			r.makeReady(w, -1)
		}
	}
}

// factor returns how much longer than in the trace a piece of work takes.
func (r *replay) factor(g int32, o *op) float64 {
	grp := r.p.gs[g].group
	f := r.e.work
	if r.p.Groups[grp].gc || o.part != partOwn {
		return r.e.gc
	}
	if r.e.groups != nil {
		f *= r.e.groups[grp]
	}
	return f * r.heldFactor(g)
}

// heldFactor returns the change of what is done under the locks that g holds.
func (r *replay) heldFactor(g int32) float64 {
	f := 1.0
	if r.e.locks != nil {
		for _, h := range r.gs[g].heldLocks {
			f *= r.e.locks[h.lock].hold
		}
	}
	return f
}

// do performs an op that is no work, and reports whether the goroutine goes on.
func (r *replay) do(p, g int32, s *replayG, o *op) bool {
	switch o.kind {
	case opSleep:
		s.state = waiting
		r.timers.push(r.now+o.dur*r.heldFactor(g), g)
		return false
	case opDue:
		if o.dur > r.worked {
			s.state = waiting
			r.due.push(o.dur, g)
			return false
		}
	case opWait:
		if o.ref == 0 || !r.wait(g, s, o.ref) {
			s.state = waiting
			return false
		}
	case opWake:
		r.wake(o.ref, p)
	case opSwitch:
		r.pass(o.ref, p)
	case opCreate:
		if c := &r.gs[o.ref]; c.state == unborn && c.startAt == 0 {
			c.startAt = r.now
			r.makeReady(o.ref, p)
		}
	case opLock:
		return r.acquire(g, s, o)
	case opUnlock:
		r.unlock(p, s, o)
	case opYield:
		s.pc++
		s.state = runnable
		r.ready.push(g)
		r.call(r.p.costs.wake)
		return false
	case opJoin:
		if j := &r.joins[o.ref]; j.left > 0 {
			j.waiter = g
			r.block(g, s)
			return false
		}
	}
	s.pc++
	return true
}

func (r *replay) block(g int32, s *replayG) {
	s.state = waiting
	r.stuck = append(r.stuck, lockWaiter{g, s.pc})
}

// wait takes a token, and reports whether it was there.
func (r *replay) wait(g int32, s *replayG, ref int32) bool {
	t := &r.tokens[ref]
	if t.count > 0 {
		t.count, t.waiter = t.count-1, 0
		return true
	}
	t.waiter = g + 1
	r.block(g, s)
	return false
}

// give adds a token, and returns the goroutine that waits for it, -1 none.
func (r *replay) give(ref int32) int32 {
	t := &r.tokens[ref]
	t.count++
	w := t.waiter - 1
	if t.waiter = 0; w >= 0 && r.standsAt(w, ref) {
		return w
	}
	return -1
}

// standsAt reports whether a goroutine waits for a token. A wait that had to be ended may
// have left it noted at one, and it waits for a lock now, or ended.
func (r *replay) standsAt(g, ref int32) bool {
	s := &r.gs[g]
	if s.state != waiting {
		return false
	}
	o := &r.p.gs[g].ops[s.pc]
	return o.ref == ref && (o.kind == opWait || o.kind == opLock && r.asTraced(o))
}

// wake gives a token.
func (r *replay) wake(ref, p int32) {
	if w := r.give(ref); w >= 0 {
		r.makeReady(w, p)
	}
}

// pass gives a token and, as soon as the giver waits, its P.
func (r *replay) pass(ref, p int32) {
	w := r.give(ref)
	if w < 0 {
		return
	}
	s := &r.gs[w]
	s.state, s.passed = runnable, true
	r.setNext(p, w)
}
