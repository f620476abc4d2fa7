package whatif

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// Options say how a trace is read. The zero value is right.
type Options struct {
	// Cores is how many the machine has for the program; 0 when not known. More
	// Ps than cores then share them, in the trace and in replays.
	Cores int
	// Window restricts what is read; the zero range is the whole trace, or the
	// busiest piece of a large one.
	Window exectrace.Range
	// Events is after how many events reading ends; 0 means 3 million, which
	// take some 200 MB.
	Events int
	// Progress, if set, is called now and then with the events read and an
	// estimate of all.
	Progress func(read, all int64)
}

const (
	defaultEvents = 3_000_000
	// bytesPerEvent is what an event takes in traces of real programs, rather less.
	bytesPerEvent = 5
)

// Read makes a program of a trace. The error is a [*RefusedError] when the trace
// cannot carry a replay, else that of reading.
func Read(ctx context.Context, tr *exectrace.Trace, o Options) (*Program, error) {
	if o.Events <= 0 {
		o.Events = defaultEvents
	}
	info, err := tr.Info()
	if err != nil {
		return nil, err
	}
	r := newReader(o)
	window := o.Window
	if window.IsZero() {
		window, r.p.Cut = busiest(info, o.Events)
	}
	r.window = window
	var damage exectrace.Damage
	read := int64(0)
	estimate := max(1, info.Size/bytesPerEvent)
	for e, err := range tr.Events(exectrace.EventOptions{Window: window, Lead: true, Damage: &damage}) {
		if errors.Is(err, exectrace.ErrNoEvents) {
			break
		}
		if err != nil {
			return nil, err
		}
		if read++; read%8192 == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if o.Progress != nil {
				o.Progress(read, min(estimate, int64(o.Events)))
			}
		}
		if r.event(&e); !r.begun {
			continue // it only tells who is doing what
		}
		if r.p.Events++; r.p.Events >= o.Events {
			r.p.Cut = true
			break
		}
	}
	if r.p.Events == 0 {
		return nil, exectrace.ErrNoEvents
	}
	if info.Size > 0 {
		r.p.lost = float64(damage.LostBytes) / float64(info.Size)
	}
	r.p.Cut = r.p.Cut || !o.Window.IsZero()
	return r.finish()
}

// busiest returns the run of generations that fits the budget of events and
// has most bytes a second; cut tells that it is not all of them.
func busiest(info exectrace.Info, events int) (window exectrace.Range, cut bool) {
	gens := info.Generations
	budget := int64(events) * bytesPerEvent
	if info.Size <= budget || len(gens) < 2 {
		return exectrace.Range{}, false
	}
	best := -1.0
	for first := range gens {
		var bytes int64
		last := first
		for ; last < len(gens) && (last == first || bytes+gens[last].Bytes <= budget); last++ {
			bytes += gens[last].Bytes
		}
		end := info.End
		if last < len(gens) {
			end = gens[last].Start
		}
		// Short runs at the trace's end are no better than long ones.
		if rate := float64(bytes) / max(float64(end-gens[first].Start), 1e8); rate > best {
			from := gens[first].Start
			if first > 0 {
				// Generations overlap by a little; one that reaches into the
				// window would be read whole.
				from = max(from, gens[first-1].End+1)
			}
			best, window = rate, exectrace.Range{From: from, To: max(end, from+1)}
		}
	}
	return window, true
}

// A reader follows the goroutines of a trace.
type reader struct {
	p      *Program
	window exectrace.Range
	cores  float64
	begun  bool
	start  exectrace.Time
	now    exectrace.Time

	live    map[int64]*track
	groups  map[string]int32
	sites   sites
	samples map[string]map[int32]int // by function and group
	sampled map[int32]int            // by group
	procs   map[int32]*procTrack
	joins   []joinTrack
	steps   []step // of user work over time
	starter int64  // goroutine that started the tracer, -1 unknown
	lastP   int    // the highest P seen, plus 1
	cycle   int    // collections begun

	running int // goroutines on a P
	user    int // of these, the program's own
	// v is how much work one goroutine on a P could have done since the start:
	// less than the time when Ps shared cores. done is all user work.
	v, done float64

	changes, wakes sampler
	call           exectrace.Time // when a goroutine became ready while a P was idle, 0 none
	caller         int64          // that goroutine
}

// A track is the state of one goroutine while the trace is read.
type track struct {
	g       int32 // index in Program.gs
	id      int64
	state   exectrace.State
	named   bool
	user    bool
	idle    bool // an idle mark worker: it takes no P from anybody
	v       float64
	pending float64 // work since the last op
	part    part
	since   exectrace.Time // of the state
	wait    int            // op that it waits in, -1
	site    int32          // of the lock it waits for, -1
	join    bool           // it waits for a WaitGroup
	epoch   int32          // join of the goroutines that it creates now, plus 1
	stolen  exectrace.Time // when its P was taken in a system call; 0 not
	holds   bool           // the lock that it waited for last
	lockOf  int32
	took    exectrace.Time // when it ran with that lock, 0 not yet
	asleep  time.Duration  // in waits that ended from outside
	sources []source
	cycle   int // of the collector, when it began to wait
	born    exectrace.Time
}

// A source is a group that wakes a goroutine, with the token for that.
type source struct{ group, token int32 }

type procTrack struct {
	freed exectrace.Time // when its last goroutine left it, 0 when something else was then
	// called is when a goroutine became ready for which this P was then woken;
	// 0 when it was not, or has run something since.
	called exectrace.Time
	in     *track // in a system call on it
}

type joinTrack struct {
	at    exectrace.Time // when the wait ended
	waker int32
	ended []lifeEnd
}

type lifeEnd struct {
	g  int32
	at exectrace.Time
}

// A step is how much user work was done at a time.
type step struct {
	at   exectrace.Time
	done float64
}

func newReader(o Options) *reader {
	return &reader{
		p: &Program{Cores: o.Cores, main: -1}, cores: float64(o.Cores), starter: -1,
		live: map[int64]*track{}, groups: map[string]int32{}, procs: map[int32]*procTrack{},
		samples: map[string]map[int32]int{}, sampled: map[int32]int{}, sites: newSites(),
	}
}

func (r *reader) event(e *exectrace.Event) {
	if !r.begun && e.Time >= r.window.From && e.Kind != exectrace.EventSync {
		r.begin(e.Time)
	}
	r.advance(e.Time)
	switch e.Kind {
	case exectrace.EventGoroutine:
		r.goroutine(e)
	case exectrace.EventProc:
		r.proc(e)
	case exectrace.EventMetric:
		if name, v := e.Metric(); name == exectrace.MetricProcs && v < 1<<16 {
			r.p.Procs = max(r.p.Procs, int(v))
		}
	case exectrace.EventLabel:
		if t := r.live[e.Goroutine]; t != nil {
			t.idle = e.Label() == "GC (idle)"
		}
	case exectrace.EventRangeBegin, exectrace.EventRangeActive, exectrace.EventRangeEnd:
		r.special(e)
	case exectrace.EventSample:
		r.sample(e)
	}
}

// begin starts the account: what came before only told who was doing what.
func (r *reader) begin(at exectrace.Time) {
	r.begun, r.start, r.now = true, at, at
	for _, t := range r.live {
		t.since, t.born, t.v, t.pending = at, 0, 0, 0
	}
}

// advance moves the clock. Events of different threads may be out of order by
// a little.
func (r *reader) advance(at exectrace.Time) {
	if !r.begun || at <= r.now {
		return
	}
	dt := float64(at - r.now)
	speed := 1.0
	if r.cores > 0 && float64(r.running) > r.cores {
		speed = r.cores / float64(r.running)
	}
	r.now = at
	r.v += dt * speed
	r.done += dt * speed * float64(r.user)
	if n := len(r.steps); n == 0 || at-r.steps[n-1].at > 100_000 {
		r.steps = append(r.steps, step{at, r.done})
	}
}

func (r *reader) track(id int64) *track {
	if t := r.live[id]; t != nil {
		return t
	}
	t := &track{g: int32(len(r.p.gs)), id: id, wait: -1, site: -1, since: r.now, user: true}
	r.p.gs = append(r.p.gs, goroutine{group: r.groupOf(""), start: float64(r.since(r.now))})
	r.live[id] = t
	return t
}

func (r *reader) since(at exectrace.Time) time.Duration {
	if !r.begun {
		return 0
	}
	return max(0, at.Sub(r.start))
}

func (r *reader) groupOf(name string) int32 {
	i, ok := r.groups[name]
	if !ok {
		i = int32(len(r.p.Groups))
		r.groups[name] = i
		r.p.Groups = append(r.p.Groups, Group{Name: name, System: exectrace.IsSystem(name), gc: name == markWorker})
	}
	return i
}

// maxFrames is the depth at which the runtime cuts stacks: one this deep need
// not reach down to the start function.
const maxFrames = 128

// name learns the start function of a goroutine.
func (r *reader) name(t *track, stack []exectrace.Frame) {
	if t.named || len(stack) == 0 || len(stack) >= maxFrames {
		return
	}
	t.named = true
	name := stack[len(stack)-1].Func
	r.p.gs[t.g].group = r.groupOf(name)
	if user := !exectrace.IsSystem(name); user != t.user {
		t.user = user
		if t.state == exectrace.Running {
			r.user--
		}
	}
}

// add appends an op, after the work that came before it.
func (r *reader) add(t *track, o op) int {
	g := &r.p.gs[t.g]
	if !r.begun {
		return -1
	}
	r.flush(t)
	g.ops = append(g.ops, o)
	return len(g.ops) - 1
}

// flush appends the work done since the last op.
func (r *reader) flush(t *track) {
	r.settle(t)
	if t.pending <= 0 {
		return
	}
	o := op{kind: opRun, dur: t.pending, part: t.part, lock: noLock}
	if t.idle {
		// An idle mark worker uses what nobody wants. Its time passes, its P is free.
		o.kind = opSleep
	}
	t.pending = 0
	r.p.gs[t.g].ops = append(r.p.gs[t.g].ops, o)
}

// settle counts work up to now.
func (r *reader) settle(t *track) {
	if r.begun && (t.state == exectrace.Running || t.state == exectrace.Syscall && t.stolen == 0) {
		t.pending += r.v - t.v
		t.v = r.v
	}
}

func (r *reader) goroutine(e *exectrace.Event) {
	g, from, to := e.GoTransition()
	if g < 0 || from == exectrace.Dead && to == exectrace.Dead {
		return
	}
	if from == exectrace.Dead {
		r.created(e, g, to)
		return
	}
	t := r.track(g)
	if !t.named {
		r.name(t, e.GoStack())
	}
	if to == t.state {
		return
	}
	r.move(e, t, to)
	if to == exectrace.Syscall && (from == to || from == exectrace.Unknown) {
		// It was in a call before anything was seen of it: a long one, like
		// waiting for signals, and not on the P of whoever tells it.
		r.procAt(e.Proc).in = nil
		r.steal(t)
	}
}

func (r *reader) created(e *exectrace.Event, id int64, to exectrace.State) {
	if old := r.live[id]; old != nil {
		r.leave(e, old)
		r.die(old)
	}
	t := r.track(id)
	t.born = r.now
	r.name(t, e.GoStack())
	creator := r.live[e.Goroutine]
	if r.begun && creator != nil && creator.state == exectrace.Running {
		r.p.gs[t.g].start = -1
		r.add(creator, op{kind: opCreate, ref: t.g, lock: noLock})
		if creator.epoch == 0 {
			r.joins = append(r.joins, joinTrack{})
			creator.epoch = int32(len(r.joins))
		}
		r.p.gs[t.g].join = creator.epoch
	}
	r.enter(e, t, to)
}

// move takes a goroutine from one state to another.
func (r *reader) move(e *exectrace.Event, t *track, to exectrace.State) {
	r.leave(e, t)
	if to == exectrace.Dead {
		r.die(t)
		return
	}
	r.enter(e, t, to)
}

func (r *reader) leave(e *exectrace.Event, t *track) {
	switch t.state {
	case exectrace.Running:
		r.settle(t)
		r.running--
		if t.user {
			r.user--
		}
		if p := r.procs[e.Proc]; p != nil {
			p.freed = r.now
		}
	case exectrace.Waiting:
		r.woken(e, t)
	case exectrace.Syscall, exectrace.SyscallBlocked:
		r.returned(t)
	}
	t.state = exectrace.Unknown
}

func (r *reader) enter(e *exectrace.Event, t *track, to exectrace.State) {
	from := t.since
	t.state, t.since = to, r.now
	switch to {
	case exectrace.Running:
		r.running++
		if t.user {
			r.user++
		}
		if t.v = r.v; t.took == 0 {
			t.took = r.now
		}
		r.dispatched(e, t, from)
	case exectrace.Runnable:
		if r.call == 0 && r.running < r.p.Procs {
			r.call, r.caller = r.now, t.id
		}
		if reason := e.Reason(); reason != "" && reason != "preempted" && r.begun {
			r.add(t, op{kind: opYield, lock: noLock})
		}
	case exectrace.Waiting:
		r.blocked(e, t)
	case exectrace.Syscall:
		t.stolen, t.v = 0, r.v
		r.running++
		if e.Proc >= 0 {
			p := r.procAt(e.Proc)
			p.in, p.freed = t, 0
		}
	case exectrace.SyscallBlocked:
		t.stolen = r.now
	}
}

func (r *reader) procAt(id int32) *procTrack {
	p := r.procs[id]
	if p == nil {
		p = &procTrack{}
		r.procs[id] = p
	}
	return p
}

// dispatched learns what scheduling costs: a change of goroutines on a busy P,
// and the way to an idle one. since is when the goroutine became ready.
func (r *reader) dispatched(e *exectrace.Event, t *track, since exectrace.Time) {
	if e.Proc < 0 || !r.begun {
		return
	}
	p := r.procAt(e.Proc)
	switch {
	case p.called != 0:
		r.wakes.add(float64(r.now - p.called))
	case p.freed > since:
		r.changes.add(float64(r.now - p.freed))
	}
	if t.id == r.caller {
		r.call = 0
	}
	p.called, p.freed, p.in = 0, 0, nil
}

// blocked begins a wait.
func (r *reader) blocked(e *exectrace.Event, t *track) {
	t.site, t.join, t.cycle = -1, false, r.cycle
	reason := e.Reason()
	t.wait = r.add(t, op{kind: opWait, lock: noLock})
	if reason != "sync" {
		return
	}
	stack := e.GoStack()
	if len(stack) > 0 && stack[0].Func == "sync.(*WaitGroup).Wait" || len(stack) > 1 && stack[1].Func == "sync.(*WaitGroup).Wait" {
		t.join = true
		return
	}
	if s := r.sites.lookup(stack); s >= 0 {
		t.site = s
		if t.holds && r.sites.find(t.lockOf) == r.sites.find(s) {
			t.holds = false // who waits once more did not get it, or has released it
		}
		r.sites.wait(s, r.v)
	}
}

// woken ends a wait: by an edge from whoever ended it, or from outside.
func (r *reader) woken(e *exectrace.Event, t *track) {
	waker := r.live[e.Goroutine]
	if waker == nil || waker == t || waker.state != exectrace.Running && waker.state != exectrace.Syscall {
		r.fromOutside(t)
		return
	}
	r.wake(e, waker, t)
}

func (r *reader) fromOutside(t *track) {
	waited := r.now.Sub(t.since)
	r.sites.leave(t.site, waited)
	if t.wait < 0 || !r.begun {
		return
	}
	o := &r.p.gs[t.g].ops[t.wait]
	*o = op{kind: opSleep, dur: float64(waited), lock: noLock}
	if r.p.Groups[r.p.gs[t.g].group].gc && t.cycle != r.cycle {
		// A collection starts when enough was allocated, not at a time.
		*o = op{kind: opDue, dur: r.done, lock: noLock}
	}
	t.asleep += waited
	t.wait = -1
}

// wake makes the edge from waker to the goroutine that waits.
func (r *reader) wake(e *exectrace.Event, waker, t *track) {
	waited := r.now.Sub(t.since)
	r.sites.leave(t.site, waited)
	if t.wait < 0 || !r.begun {
		return
	}
	w := &r.p.gs[t.g].ops[t.wait]
	t.wait = -1
	if t.site >= 0 {
		if unlocks := r.sites.lookup(e.Stack()); unlocks >= 0 {
			token := r.token()
			*w = op{kind: opLock, ref: token, lock: int16(t.site)}
			r.unlock(waker, t, unlocks, token)
			return
		}
	}
	token := r.tokenFrom(t, r.p.gs[waker.g].group)
	w.ref = token
	if t.join && t.epoch > 0 {
		r.joins[t.epoch-1].at, r.joins[t.epoch-1].waker = r.now, waker.g
		r.p.gs[t.g].ops = append(r.p.gs[t.g].ops, op{kind: opJoin, ref: t.epoch - 1, lock: noLock})
		t.epoch = 0
	}
	kind := opWake
	if strings.HasPrefix(e.Name(), "GoSwitch") {
		kind = opSwitch // between coroutines: the waker waits, and the other one is on its P
	}
	r.add(waker, op{kind: kind, ref: token, lock: noLock})
}

func (r *reader) token() int32 {
	r.p.tokens++
	return int32(r.p.tokens)
}

// tokenFrom returns what a goroutine gets from any goroutine of a group. It
// does not matter which worker makes room in a queue, or has a result: in a
// replay another one may be the first.
func (r *reader) tokenFrom(t *track, group int32) int32 {
	const most = 64 // groups that wake one goroutine
	for _, s := range t.sources {
		if s.group == group {
			return s.token
		}
	}
	token := r.token()
	if len(t.sources) < most {
		t.sources = append(t.sources, source{group, token})
	}
	return token
}

// unlock reads a wake from a goroutine that releases a lock. Its own wait for it shows since
// when the releaser held it, if it had one, else by the hand-over before, or by how long the
// others had to wait.
func (r *reader) unlock(waker, t *track, unlocks int32, token int32) {
	r.settle(waker)
	s := r.sites.join(unlocks, t.site)
	own := r.sinceLock(waker)
	if waker.holds && r.sites.find(waker.lockOf) == s {
		r.sites.countHold(s, waker.g, waker.took, own)
	}
	if waker.holds && r.sites.find(waker.lockOf) == s && r.sites.plausible(s, waker.g, own) {
		r.sites.hold(s, own, true)
	} else {
		held, exact := r.sites.holdTime(s, waker.g, r.v)
		held = min(held, waker.pending)
		waker.pending -= held
		r.add(waker, op{kind: opLock, lock: int16(unlocks)})
		waker.pending += held
		r.sites.hold(s, held, exact)
	}
	r.add(waker, op{kind: opUnlock, ref: token, lock: int16(unlocks)})
	waker.holds = false
	t.holds, t.lockOf, t.took = true, t.site, 0
	r.sites.released(s, waker.g, t.g, r.v, r.now)
}

// sinceLock returns the work of a goroutine since it last took a lock.
func (r *reader) sinceLock(t *track) float64 {
	if !t.holds {
		return 0
	}
	sum := t.pending
	ops := r.p.gs[t.g].ops
	for i := len(ops) - 1; i >= 0 && ops[i].kind != opLock; i-- {
		if ops[i].kind == opRun {
			sum += ops[i].dur
		}
	}
	return sum
}

// returned ends a system call: up to the loss of its P it counts as work.
func (r *reader) returned(t *track) {
	if t.stolen == 0 {
		r.settle(t)
		r.running--
	}
	var off time.Duration
	if t.stolen != 0 {
		off = r.now.Sub(t.stolen)
	}
	if off > 0 && r.begun {
		r.add(t, op{kind: opSleep, dur: float64(off), lock: noLock})
		t.asleep += off
	}
}

func (r *reader) die(t *track) {
	r.flush(t)
	delete(r.live, t.id)
	g := &r.p.gs[t.g]
	if t.born != 0 && r.begun {
		grp := &r.p.Groups[g.group]
		grp.life += r.now.Sub(t.born)
		grp.lives++
	}
	if g.join > 0 {
		r.joins[g.join-1].ended = append(r.joins[g.join-1].ended, lifeEnd{t.g, r.now})
	}
}

func (r *reader) proc(e *exectrace.Event) {
	id, from, to := e.ProcTransition()
	if id < 0 {
		return
	}
	r.lastP = max(r.lastP, int(id)+1)
	p := r.procAt(id)
	p.freed, p.called = 0, 0
	if from == exectrace.ProcIdle && to == exectrace.ProcRunning {
		p.called, r.call = r.call, 0
	}
	if p.in != nil {
		// Taken away, or handed on by a call that is known to block.
		r.steal(p.in)
		p.in = nil
	}
}

// steal takes the P of a goroutine in a system call.
func (r *reader) steal(t *track) {
	if t.state == exectrace.Syscall && t.stolen == 0 {
		r.settle(t)
		t.stolen = r.now
		r.running--
	}
}

// special follows what a goroutine does for the collector, and learns who
// started the tracer.
func (r *reader) special(e *exectrace.Event) {
	name, g, _ := e.Range()
	var is part
	switch name {
	case exectrace.RangeAssist:
		is = partAssist
	case exectrace.RangeSweep:
		is, g = partSweep, e.Goroutine
	case exectrace.RangeMark:
		if e.Kind == exectrace.EventRangeBegin {
			r.cycle++
		}
		return
	case "stop-the-world (start trace)":
		r.starter = g
		return
	default:
		return
	}
	t := r.live[g]
	if t == nil || t.part != partOwn && t.part != is {
		return // sweeping while it assists
	}
	r.flush(t)
	if t.part = is; e.Kind == exectrace.EventRangeEnd {
		t.part = partOwn
	}
}

// sample counts a CPU sample for each function on its stack, once.
func (r *reader) sample(e *exectrace.Event) {
	t := r.live[e.Goroutine]
	if t == nil || !r.begun {
		return
	}
	stack := e.Stack()
	group := r.p.gs[t.g].group
	r.sampled[group]++
	for i, f := range stack {
		if slices.ContainsFunc(stack[:i], func(o exectrace.Frame) bool { return o.Func == f.Func }) {
			continue
		}
		by := r.samples[f.Func]
		if by == nil {
			by = map[int32]int{}
			r.samples[f.Func] = by
		}
		by[group]++
	}
}
