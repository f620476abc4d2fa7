package load

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// How a load is run.
//
// One goroutine, the pace, sleeps until the next operation is due and gives it
// to a worker that is idle, or to a new one while there may be more; a worker
// has one connection. When all are busy the operation stays in the plan, and
// the first worker that becomes free takes it from there: its latency counts
// from when it was due all the same. The plan is computed and never stored, so
// that it does not matter how far it is behind.
//
// Operations are never begun early. They are begun late by what it takes to
// wake up: 50 to 100 µs on an idle virtual machine, where waking up costs about
// 40 µs of CPU too, whatever the means (timerfd, nanosleep and time.Sleep were
// compared). So distances below shortest are not slept: what is due by then is
// begun together. That bounds the pace's cost by 5000 wake-ups a second, at any
// rate, and adds at most shortest to a latency. How late operations were in fact
// is measured, [loadresult.Result].Late.

const (
	shortest = 200 * time.Microsecond
	// grace is how long after the end what was due before it is still begun: the
	// generator's own delay is no reason not to.
	grace = 5 * time.Millisecond
	// sampling is the distance of the backlog's samples and of progress.
	sampling = 250 * time.Millisecond
	// expiring is how often a pipelined connection looks for operations that
	// waited too long.
	expiring = 50 * time.Millisecond
)

// A run is one call of Offer.
type run struct {
	o     Options
	start time.Time
	rec   *recorder
	sleep func(context.Context, time.Duration)
	// end is when no operation is begun any more; 0 when all of them are.
	end time.Duration

	// ctx ends everything, at once.
	ctx     context.Context
	workers sync.WaitGroup

	mu    sync.Mutex
	plan  *arrivals // what is handed out; nil for a closed loop
	seq   int64
	left  int64 // of a closed loop; negative without an end
	idle  []*worker
	size  int // workers there are
	ended bool
	// waits is set while the pace waits for a worker to become idle, which tells
	// it so.
	waits bool
	freed chan struct{}

	busy  atomic.Int64 // operations under way
	conns gauge        // open connections
	// dropped answers reached this process's sockets and were lost in them.
	dropped atomic.Int64

	cpu  time.Duration // used between these times
	span time.Duration
	own  bool
}

// A gauge is a level with its highest.
type gauge struct{ now, most atomic.Int64 }

func (g *gauge) add(n int64) {
	now := g.now.Add(n)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
}

// A worker has a connection and does one operation after the other, or hands
// them over one after the other when it is pipelined.
type worker struct{ ops chan op }

func newRun(o Options) *run {
	r := &run{o: o, left: -1, sleep: o.sleep, freed: make(chan struct{}, 1)}
	var planned time.Duration
	if o.Closed {
		r.end = o.Warmup + o.Duration
		planned = r.end
		if o.Duration == 0 {
			r.end = 0
		}
		if o.Count > 0 {
			r.left = o.Count
		}
	} else {
		r.plan = newArrivals(&o)
		planned = r.plan.end()
		if o.Count == 0 || o.Duration > 0 {
			r.end = planned
		}
	}
	r.rec = newRecorder(o.Warmup, planned, r.end == 0)
	return r
}

func (r *run) now() time.Duration { return time.Since(r.start) }

func (r *run) offer(ctx context.Context) (*loadresult.Result, error) {
	// A deadline of ctx ends everything, but is none of an operation's own.
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if r.sleep == nil {
		p, stop := newPacer(r.ctx)
		defer stop()
		r.sleep = p.sleep
	}
	r.start = time.Now()
	watched := make(chan int64)
	done := make(chan struct{})
	go func() { watched <- r.watch(done) }()
	if r.o.Closed || r.o.Depth > 1 {
		r.fill()
	}
	r.pace()
	stopped := r.now()
	r.finish()
	r.workers.Wait()
	close(done)
	planned := <-watched
	if r.ctx.Err() != nil && r.plan != nil {
		r.rec.cut(stopped)
		_, planned = newArrivals(&r.o).countPassed(stopped)
	} else if r.ctx.Err() != nil {
		r.rec.cut(r.now())
	} else {
		r.giveUp()
	}
	return r.result(planned), ctx.Err()
}

// fill starts all workers at once.
func (r *run) fill() {
	for range r.o.Connections {
		r.mu.Lock()
		r.size++
		r.mu.Unlock()
		r.workers.Go(func() {
			w := &worker{ops: make(chan op, 1)}
			if r.o.Depth > 1 {
				r.pipe(w)
			} else if first, has := r.take(w, false); has {
				r.work(w, first)
			}
		})
	}
}

// pace gives operations to idle workers as they become due. Those of a closed
// loop look for themselves.
func (r *run) pace() {
	if r.o.Closed {
		return
	}
	var end <-chan time.Time
	if r.end > 0 {
		t := time.NewTimer(r.end + grace)
		defer t.Stop()
		end = t.C
	}
	for {
		wait, more := r.release()
		switch {
		case !more || r.ctx.Err() != nil:
			return
		case wait > 0:
			r.sleep(r.ctx, max(wait, shortest))
			continue
		}
		select {
		case <-r.freed:
		case <-end:
			return
		case <-r.ctx.Done():
			return
		}
	}
}

// release hands out what is due and says how long it is until there is more;
// 0 when something is due and no worker is idle.
func (r *run) release() (wait time.Duration, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = false
	for now := r.now(); r.plan.more && !r.over(now); {
		if r.plan.at > now {
			return r.plan.at - now, true
		}
		switch n := len(r.idle); {
		case n > 0:
			r.next(n).ops <- r.nextPlanned(true)
		case r.size < r.o.Connections:
			r.size++
			w, first := &worker{ops: make(chan op, 1)}, r.nextPlanned(true)
			r.workers.Go(func() { r.work(w, first) })
		default:
			r.waits = true
			return 0, true
		}
	}
	return 0, false
}

// next takes an idle worker: the last one to become so, whose connection is the
// warmest. Pipelined ones take turns, so that all of them are used.
func (r *run) next(n int) *worker {
	i := n - 1
	if r.o.Depth > 1 {
		i = 0
	}
	w := r.idle[i]
	r.idle = slices.Delete(r.idle, i, i+1)
	return w
}

// over reports whether nothing is begun any more.
func (r *run) over(now time.Duration) bool { return r.end > 0 && now > r.end+grace }

// nextPlanned takes the next operation from the plan.
func (r *run) nextPlanned(free bool) op {
	o := op{seq: r.seq, at: r.plan.at, free: free}
	r.seq++
	r.plan.next()
	return o
}

// finish sends idle workers home; the others look for themselves.
func (r *run) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, w := range r.idle {
		close(w.ops)
	}
	r.idle = nil
}

// giveUp notes what came due and was never begun.
func (r *run) giveUp() {
	for ; r.plan != nil && r.plan.more; r.plan.next() {
		r.rec.never(r.plan.at)
	}
}

// take gives a worker its next operation, when there is one. held says that it
// could not have begun it before now.
func (r *run) take(w *worker, held bool) (op, bool) {
	r.mu.Lock()
	if r.o.Closed {
		defer r.mu.Unlock()
		return r.nextClosed()
	}
	now := r.now()
	if r.plan.more && r.plan.at <= now && !r.over(now) && r.ctx.Err() == nil {
		defer r.mu.Unlock()
		return r.nextPlanned(!held && !r.full()), true
	}
	if r.ended || r.ctx.Err() != nil {
		r.mu.Unlock()
		return op{}, false
	}
	r.idle = append(r.idle, w)
	if r.waits {
		r.waits = false
		select {
		case r.freed <- struct{}{}:
		default:
		}
	}
	r.mu.Unlock()
	o, ok := <-w.ops
	return o, ok
}

// nextClosed returns the next operation of a closed loop.
func (r *run) nextClosed() (op, bool) {
	now := r.now()
	if r.left == 0 || r.end > 0 && now >= r.end || r.ctx.Err() != nil {
		return op{}, false
	}
	if r.left > 0 && now >= r.o.Warmup {
		r.left--
	}
	o := op{seq: r.seq, at: now}
	r.seq++
	return o, true
}

// work runs a worker.
func (r *run) work(w *worker, o op) {
	var c Conn
	for has := true; has; o, has = r.take(w, false) {
		c = r.do(c, o)
	}
	r.hangUp(c)
}

// full reports whether every operation waits for its answer on a connection of
// its own, and there can be no more of them: what waits then waits for the
// program.
func (r *run) full() bool {
	return r.o.Depth == 1 && r.size == r.o.Connections && len(r.idle) == 0
}

// do does one operation and returns the connection, nil when it has to be made
// anew.
func (r *run) do(c Conn, o op) Conn {
	o.began = r.now()
	o.crowd = r.crowded(r.busy.Add(1))
	defer r.busy.Add(-1)
	r.begin(&o)
	reply, c, err := r.exchange(c, o.seq)
	if errors.Is(err, ErrStale) {
		reply, c, err = r.exchange(nil, o.seq)
	}
	r.done(o, reply, err)
	if err == nil && !reply.Last || errors.Is(err, ErrTimeout) {
		return c
	}
	r.hangUp(c)
	return nil
}

func (r *run) exchange(c Conn, seq int64) (reply Reply, _ Conn, err error) {
	if c == nil {
		if c, err = r.dial(); err != nil {
			return reply, nil, err
		}
	}
	deadline := time.Now().Add(r.o.Timeout)
	err = c.Send(seq, deadline)
	for reply.Seq = -1; err == nil && reply.Seq != seq; { // others are of operations that expired
		if reply, err = c.Receive(deadline); err == nil && reply.Seq < 0 {
			r.rec.stray(r.now(), reply.Note, 1)
		}
	}
	if errors.Is(err, ErrStale) {
		r.hangUp(c)
		c = nil
	}
	return reply, c, err
}

func (r *run) begin(o *op) {
	if o.at >= r.rec.counted {
		r.rec.begun.Add(1)
	}
}

// done records an operation; what our own ending tore is none.
func (r *run) done(o op, reply Reply, err error) {
	if r.ctx.Err() != nil && err != nil {
		return
	}
	out := outcome{bytes: reply.Bytes, note: reply.Note, err: err, answered: err == nil || Kind(err) == kindTimeout}
	if err == nil {
		out.err = reply.Err
	}
	r.rec.finish(o, r.now(), out)
}

// crowded sorts an operation by how many connections are busy.
func (r *run) crowded(busy int64) int {
	most := int64(r.o.Connections)
	switch {
	case most < 4:
		return -1
	case busy <= most/2:
		return 0
	case busy >= most-most/20:
		return 1
	}
	return -1
}

// dial opens a connection, which closes when everything ends.
func (r *run) dial() (Conn, error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.o.Timeout)
	defer cancel()
	c, err := r.o.Protocol.Dial(ctx)
	if err != nil {
		return nil, err
	}
	r.conns.add(1)
	k := &guarded{Conn: c}
	k.unwatch = context.AfterFunc(r.ctx, func() { c.Close() })
	return k, nil
}

// A guarded connection closes when the run is cancelled.
type guarded struct {
	Conn
	unwatch func() bool
}

// hangUp closes a connection, and waits until it is closed if the end of the
// run is doing that already.
func (r *run) hangUp(c Conn) {
	k, ok := c.(*guarded)
	if !ok {
		return
	}
	r.conns.add(-1)
	k.unwatch()
	if d, ok := k.Conn.(interface{ dropped() int64 }); ok {
		n := d.dropped()
		r.dropped.Add(n)
		r.rec.stray(r.now(), strayDropped, n)
	}
	k.Close()
}

// watch samples the backlog until done, tells progress, and returns how many
// operations came due.
func (r *run) watch(done chan struct{}) (planned int64) {
	var due *arrivals
	if !r.o.Closed {
		due = newArrivals(&r.o)
	}
	var all int64
	look := func(now time.Duration) {
		if due == nil {
			return
		}
		if r.end > 0 {
			now = min(now, r.end)
		}
		n, counted := due.countPassed(now)
		all, planned = all+n, planned+counted
	}
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	cpu := stopwatch{}
	for {
		select {
		case <-done:
			look(r.now())
			if r.o.Closed {
				planned = r.rec.begun.Load()
			}
			return planned
		case <-tick.C:
		}
		now := r.now()
		look(now)
		backlog := r.busy.Load()
		if due != nil {
			backlog = max(0, all-r.rec.finished.Load())
		}
		r.rec.sample(now, backlog)
		if now >= r.o.Warmup && (r.rec.soft || now <= r.rec.end) {
			r.cpu, r.span, r.own = cpu.lap(now)
		}
		r.reportProgress(now, backlog)
	}
}

// A stopwatch measures the CPU time that this process uses.
type stopwatch struct {
	begun   bool
	at, cpu time.Duration
}

// lap returns what was used since the first lap.
func (s *stopwatch) lap(now time.Duration) (cpu, span time.Duration, ok bool) {
	used, ok := ownCPU()
	if !s.begun {
		*s = stopwatch{true, now, used}
	}
	return used - s.cpu, now - s.at, ok && now > s.at
}

func (r *run) reportProgress(now time.Duration, backlog int64) {
	if r.o.Progress == nil {
		return
	}
	p := Progress{At: now - r.o.Warmup, Backlog: backlog}
	if r.end > 0 {
		p.Of = r.end - r.o.Warmup
	}
	r.rec.lately(&p)
	r.o.Progress(p)
}

// result returns the recorder's, with what only the run knows.
func (r *run) result(planned int64) *loadresult.Result {
	res := r.rec.result(planned)
	res.Start = r.start.Add(r.o.Warmup).Round(0)
	res.Target, res.Plan, res.Closed = loadresult.Words(r.o.Protocol.String()), r.o.words(), r.o.Closed
	if !r.o.Closed {
		if d := (r.rec.end - r.o.Warmup).Seconds(); d > 0 {
			res.Offered = float64(planned) / d
		}
	}
	res.Procs = runtime.GOMAXPROCS(0)
	if r.own {
		res.CPU = r.cpu.Seconds() / r.span.Seconds()
	}
	res.Connections = int(r.conns.most.Load())
	res.Generator = r.limit(res)
	return res
}

// nap sleeps by the runtime's timers.
func nap(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
