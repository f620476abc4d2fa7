package whatif

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// A RefusedError says why a trace cannot carry a what-if.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "no what-if of this trace: " + e.Why }

const (
	// maxLost is the share of a trace that may be lost: who misses a wake
	// waits forever.
	maxLost = 0.02
	// maxOff is how far the replay of the unchanged trace may be off.
	maxOff = 0.25
	// maxOutside is the share of the time that may pass outside of the program.
	maxOutside = 0.97
	// replayShare is the share of an endless program's work that a replay does: what
	// single goroutines have left at the end would only say how long these are.
	replayShare = 0.9
)

// finish makes the program of what was read.
func (r *reader) finish() (*Program, error) {
	p := r.p
	if p.Procs == 0 {
		p.Procs = max(1, r.lastP)
	}
	p.Procs = min(p.Procs, 1<<14)
	stopper := r.stopper()
	for _, id := range slices.Sorted(maps.Keys(r.live)) {
		r.flush(r.live[id])
	}
	lockOf := r.sites.locks(p)
	for i := range p.gs {
		p.gs[i].ops = r.closed(p.gs[i].ops, lockOf)
	}
	r.settleJoins()
	r.account()
	r.endless()
	p.costs = costs{change: r.changes.median(), wake: r.wakes.median()}
	if stopper != nil {
		p.Ends, p.main = true, stopper.g
		p.Elapsed, p.goalTime = r.now.Sub(r.start), p.Elapsed
	}
	p.functions(r)
	return p, p.check()
}

// stopper returns the goroutine that stopped the tracer when the program ended
// the trace: the one that also started it, running at the end, and not because
// it slept for a given time as net/http/pprof does.
func (r *reader) stopper() *track {
	id := r.starter
	if id < 0 {
		id = 1 // runtime.main
	}
	t := r.live[id]
	if t == nil || r.p.Cut || t.state != exectrace.Running || t.asleep > r.now.Sub(r.start)/2 {
		return nil
	}
	return t
}

// endless says how far a program that does not end is replayed.
func (r *reader) endless() {
	i, _ := slices.BinarySearchFunc(r.steps, r.done*replayShare, func(s step, d float64) int { return cmp.Compare(s.done, d) })
	if i < len(r.steps) {
		r.p.Elapsed = r.steps[i].at.Sub(r.start)
	}
	var all float64
	for i := range r.p.gs {
		if !r.p.Groups[r.p.gs[i].group].System {
			all += work(r.p.gs[i].ops)
		}
	}
	r.p.goal = all * replayShare
}

func work(ops []op) (d float64) {
	for i := range ops {
		if ops[i].kind == opRun {
			d += ops[i].dur
		}
	}
	return d
}

// closed gives the ops of a goroutine the numbers of locks, and a release to
// every lock that it took: who releases without waking anybody leaves no event.
func (r *reader) closed(ops []op, lockOf []int16) []op {
	if !slices.ContainsFunc(ops, func(o op) bool { return o.lock >= 0 }) {
		return ops
	}
	for i := range ops {
		if ops[i].lock >= 0 {
			ops[i].lock = lockOf[ops[i].lock]
		}
	}
	out := make([]op, 0, len(ops)+len(ops)/4)
	for i := 0; i < len(ops); i++ {
		out = append(out, ops[i])
		if ops[i].kind != opLock || released(ops, i) {
			continue
		}
		i = r.release(&out, ops, i)
	}
	return out
}

// released reports whether the next thing that a goroutine does with the lock
// that it takes is to release it.
func released(ops []op, i int) bool {
	const ahead = 4096 // more is another hold
	for _, o := range ops[i+1 : min(len(ops), i+ahead)] {
		if o.lock == ops[i].lock {
			return o.kind == opUnlock
		}
	}
	return false
}

// release copies what a goroutine does for the mean hold of the lock that it
// took at i, then releases it, and returns how far it came.
func (r *reader) release(out *[]op, ops []op, i int) int {
	lock := ops[i].lock
	left := float64(r.p.Locks[lock].Hold)
	free := op{kind: opUnlock, lock: lock}
	for i++; i < len(ops); i++ {
		o := ops[i]
		if o.lock == lock && o.kind == opLock {
			// It waits again. After a moment it had not got it the time before.
			if left < 0.7*float64(r.p.Locks[lock].Hold) {
				*out = append(*out, free)
			}
			return i - 1
		}
		if o.kind == opRun && o.dur > left {
			rest := o
			o.dur, rest.dur = left, o.dur-left
			*out = append(*out, o, free, rest)
			return i
		}
		if o.kind == opRun {
			left -= o.dur
		}
		if o.kind == opLock {
			break // of another lock: the order in which both are held is not known
		}
		*out = append(*out, o)
	}
	*out = append(*out, free)
	return i - 1
}

// settleJoins leaves a goroutine's join only where the wait ended after it:
// Done comes a moment before the end.
func (r *reader) settleJoins() {
	const moment = exectrace.Time(time.Millisecond)
	counted := make([]bool, len(r.p.gs))
	for _, j := range r.joins {
		for _, e := range j.ended {
			counted[e.g] = j.at != 0 && (e.at <= j.at+moment || e.g == j.waker)
		}
	}
	for i := range r.p.gs {
		if !counted[i] {
			r.p.gs[i].join = 0
		}
	}
	r.p.joins = len(r.joins)
}

// account sums up the work of groups.
func (r *reader) account() {
	p := r.p
	for i := range p.gs {
		g := &p.gs[i]
		grp := &p.Groups[g.group]
		grp.Count++
		for _, o := range g.ops {
			if o.kind != opRun {
				continue
			}
			grp.Work += time.Duration(o.dur)
			if grp.gc || o.part != partOwn {
				p.GC += time.Duration(o.dur)
			} else {
				p.Work += time.Duration(o.dur)
			}
		}
	}
}

// functions turns CPU samples into shares of the groups' work.
func (p *Program) functions(r *reader) {
	all := 0
	for _, n := range r.sampled {
		all += n
	}
	p.shares = make(map[string][]float64, len(r.samples))
	for name, by := range r.samples {
		share := make([]float64, len(p.Groups))
		sum := 0
		for g, n := range by {
			share[g] = float64(n) / float64(r.sampled[g])
			sum += n
		}
		p.shares[name] = share
		p.Functions = append(p.Functions, Function{name, float64(sum) / float64(all)})
	}
	slices.SortFunc(p.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name))
	})
}

// check refuses traces that cannot carry a replay.
func (p *Program) check() error {
	switch {
	case p.lost > maxLost:
		return &RefusedError{figures.Percent(p.lost) + " of it cannot be read, and who misses a wake-up waits for ever"}
	case p.Work <= 0 || p.Elapsed <= 0:
		return &RefusedError{"no goroutine of the program runs in it"}
	}
	p.calibrate()
	if p.Outside = p.nonWorkShare(); p.Outside > timerShare && p.Ends {
		// It ran for a given time, like a benchmark: what counts is its work.
		p.Ends, p.main, p.Elapsed = false, -1, p.goalTime
		p.calibrate()
		p.Outside = p.nonWorkShare()
	}
	if off := p.ReplayExcess(); off > maxOff || off < -maxOff {
		return &RefusedError{"replayed as it is, it takes " + figures.Change(1+off) + " of what it took, so that a replay with a change would mean nothing"}
	}
	if p.Outside > maxOutside && !p.hasQueues() {
		return &RefusedError{figures.Percent(p.Outside) + " of its time would remain if all of the program's work took nothing: it waits for timers, the network or " +
			"system calls, which a replay cannot change"}
	}
	return nil
}

// hasQueues reports whether goroutines waited for locks for long. Who holds one
// may be waiting for something outside: that is no work, but a lock edit
// changes it.
func (p *Program) hasQueues() bool {
	var waited time.Duration
	for _, l := range p.Locks {
		waited += l.Wait
	}
	return waited > p.Elapsed/10
}

// timerShare is the share of time outside above which a program is taken to have
// ended because its time was up.
const timerShare = 0.8

// nonWorkShare returns the share of the time that remains when work takes none: of the
// replay's, or of the trace's where the replay is longer. A replay can be so because
// the time of a program was up, when what its goroutines still do one after the
// other in a replay was not theirs to do.
func (p *Program) nonWorkShare() float64 {
	free, _ := p.run(edits{work: 1e-6, gc: 1e-6})
	return clamp(float64(free.Elapsed)/float64(max(1, min(p.base.Elapsed, p.Elapsed))), 0, 1)
}

// calibrate replays the unchanged trace, with locks granted anew and with
// locks granted as traced, and stays with what is nearer to the trace.
func (p *Program) calibrate() {
	anew, lives := p.run(edits{work: 1, gc: 1})
	p.base = &anew
	if off := p.ReplayExcess(); len(p.Locks) > 0 {
		p.traced = true
		traced, asTraced := p.run(edits{work: 1, gc: 1})
		p.base = &traced
		// Locks granted anew tell more of a change, and are worth some error.
		if t := p.ReplayExcess(); max(off, -off) <= max(t, -t)+worth {
			p.traced, p.base = false, &anew
		} else {
			lives = asTraced
		}
	}
	p.baseLives, p.baseCounts = p.lifetimes(lives)
}

const worth = 0.05

// ReplayExcess returns by how much the replay of the unchanged trace is longer than the
// trace, as a share.
func (p *Program) ReplayExcess() float64 { return float64(p.base.Elapsed)/float64(p.Elapsed) - 1 }

// A Baseline is the replay of the unchanged trace beside the trace: what every
// prediction is relative to.
type Baseline struct {
	Traced   time.Duration `json:"traced_ns"`
	Replayed time.Duration `json:"replayed_ns"`
	Off      float64       `json:"off"`  // Replayed by Traced, less 1
	Ends     bool          `json:"ends"` // the program ended the trace, not somebody from outside
	Procs    int           `json:"procs"`
	Cores    int           `json:"cores,omitempty"` // 0 when not known
	Events   int           `json:"events"`
	Cut      bool          `json:"cut,omitempty"` // only a piece of the trace was read
	// Outside is the share of the time that would remain if work took none.
	Outside float64 `json:"outside"`
	// TracedLocks tells that locks are granted in the order of the trace
	// everywhere, because that comes nearer to it.
	TracedLocks bool `json:"traced_locks,omitempty"`
}

// Baseline returns the replay of the unchanged trace.
func (p *Program) Baseline() Baseline {
	return Baseline{Traced: p.Elapsed, Replayed: p.base.Elapsed, Off: p.ReplayExcess(), Ends: p.Ends, Procs: p.Procs, Cores: p.Cores,
		Events: p.Events, Cut: p.Cut, Outside: p.Outside, TracedLocks: p.traced}
}

func clamp(v, low, high float64) float64 { return min(max(v, low), high) }

// A sampler keeps enough of many values for their median.
type sampler struct {
	n    int
	kept []float64
}

const samplerSize = 1 << 14

func (s *sampler) add(v float64) {
	if s.n++; len(s.kept) < samplerSize {
		s.kept = append(s.kept, v)
	}
}

func (s *sampler) median() float64 {
	if len(s.kept) == 0 {
		return 0
	}
	return statistics.Median(s.kept)
}
