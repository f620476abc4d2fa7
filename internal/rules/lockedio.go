package rules

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed lockedio.md
var lockedioPage string

var lockedio = &diagnosis.Rule{
	Name:     "lockedio",
	Title:    "A lock is held while its holder waits",
	Doc:      lockedioPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"hotmutex", "idleprocs", "futexstorm"},
	Check:    checkLockedio,
}

const (
	// lockedioRuns is the part of the time that the lock is held in which
	// those who take it may run, all together, when it is held by somebody who does
	// not: they cannot work under the lock for longer than they work at all.
	lockedioRuns = 0.5
	// lockedioWaits is the part of that time that one wait of theirs fills.
	lockedioWaits = 0.5
	// lockedioAtOnce is how many of them are in that wait on average. Under
	// one lock it is one at a time; rounding and the window's ends leave a little more.
	lockedioAtOnce = 1.1
	// lockedioEach is the least number of such waits to a lock handed over.
	lockedioEach = 0.5
)

// A heldWait is a wait for something outside that fills the time in which a
// lock is held.
type heldWait struct {
	wait   *model.Wait
	inUse  float64 // the lock, 0 to 1
	runs   float64 // those who take it, in cores
	inside float64 // of the time, 0 to 1
}

func checkLockedio(p *diagnosis.Pass) {
	for _, q := range queues(p) {
		if q.kind != lockDemand || q.waiters(p) < hotmutexWaiters {
			continue
		}
		factor, method := speedup(p, q.groups, q.total, 0)
		if h, ok := heldAcross(p, &q); ok && factor >= worthwhile {
			p.Report(lockedioFinding(p, &q, h, factor, method))
		}
	}
}

// heldAcross infers what the holder of a lock does from what those who take it
// can have done: if the lock is in use for longer than all of them run, it is
// held by one who waits, and a wait in the same function that one at a time is
// in, about once for each hand-over, is what he waits for.
func heldAcross(p *diagnosis.Pass, q *queue) (h heldWait, ok bool) {
	h.inUse = mm1(q.waiters(p))
	takers := countRoots(p.Model, q.servers)
	for name := range takers {
		if g := group(p.Model, name); g != nil {
			h.runs += div(g.Times.Running.Seconds(), p.Seconds())
		}
	}
	if h.runs >= lockedioRuns*h.inUse {
		return h, false
	}
	functions := lockFunctions(p.Model, q)
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		outside := w.Kind == model.Net || w.Kind == model.SyscallWait || w.Reason == "sleep"
		if takers[w.Group] == 0 || !outside || !throughAny(p.Model, w.Stack, functions) {
			continue
		}
		inside := div(w.Total.Seconds(), p.Seconds())
		if inside >= lockedioWaits*h.inUse && inside <= lockedioAtOnce && float64(w.Count) >= lockedioEach*float64(q.served) && inside > h.inside {
			h.wait, h.inside = w, inside
		}
	}
	return h, h.wait != nil
}

// lockFunctions are the functions that take and release the lock.
func lockFunctions(m *model.Model, q *queue) map[string]bool {
	out := map[string]bool{}
	add := func(s model.Stack) {
		for _, f := range m.Stacks.Frames(s) {
			if !machinery(f.Func) {
				// The release may be in a deferred function literal of its own.
				out[strings.TrimSuffix(f.Func, ".deferwrap1")] = true
				return
			}
		}
	}
	for _, s := range q.stacks {
		add(s)
	}
	for s := range q.servers {
		add(s)
	}
	return out
}

func throughAny(m *model.Model, s model.Stack, functions map[string]bool) bool {
	for _, f := range m.Stacks.Frames(s) {
		if functions[f.Func] {
			return true
		}
	}
	return false
}

func lockedioFinding(p *diagnosis.Pass, q *queue, h heldWait, factor float64, method string) diagnosis.Finding {
	lock := q.place(p)
	wait, _ := p.UserPlace(h.wait.Stack)
	what := map[model.WaitKind]string{model.Net: "the network", model.SyscallWait: "a system call"}[h.wait.Kind]
	if what == "" {
		what = "time to pass"
	}
	mean := h.wait.Total / time.Duration(max(1, h.wait.Count))
	return diagnosis.Finding{
		Summary: fmt.Sprintf("The lock taken in %s is held while its holder waits for %s, %s each time: %s goroutines wait for it on average.",
			short(lock.Function), what, dur(mean), num(q.waiters(p))),
		Where: where(lock, wait, q.server(p)),
		Evidence: []fact.Fact{
			{Name: "goroutines waiting for the lock on average", Value: q.waiters(p), Unit: fact.Count, Source: "trace: sync waits ÷ window"},
			{Name: "lock in use", Value: h.inUse, Unit: fact.Ratio, Source: "waiters of a queue M/M/1"},
			{Name: "those who take it run", Value: h.runs, Unit: fact.Cores, Source: "trace: goroutine groups"},
			{Name: "one of them waits for " + what, Value: h.inside, Unit: fact.Ratio, Source: "trace: waits in the function that takes the lock ÷ window"},
			{Name: "one such wait, mean", Value: mean.Seconds(), Unit: fact.Seconds, Source: "trace: waits"},
			{Name: "such waits", Value: div(float64(h.wait.Count), p.Seconds()), Unit: fact.PerSec, Source: "trace: waits"},
			{Name: "busy Ps", Value: working(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{Value: q.waiters(p), Unit: fact.Count, Share: waitShare(p, q), What: "goroutines waiting for this lock, on average"},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if nobody waited for this lock: " + method,
		},
		Confidence: diagnosis.Medium,
		Reasons: []string{
			"inferred from one trace: the lock is in use for longer than those who take it run, and one at a time waits in the function that takes it",
			"the trace does not say when a lock is taken, only when somebody waits for it",
		},
		RuledOut: []string{
			"work under the lock: all who take it run " + num(h.runs) + " cores together",
			"waits outside of the lock: then several would wait at the same time, here it is " + num(h.inside) + " on average",
			fmt.Sprintf("a full machine: %s of %d Ps are busy", num(working(p)), p.Procs()),
		},
		Groups: q.groups,
		Stacks: append(q.stacks, h.wait.Stack),
		Remedy: diagnosis.Remedy{
			Text: "Take the wait out of the locked section: copy what is needed under the lock, release it, then ask, and take it again to store the answer. Where the lock protects a connection, give each goroutine one of its own, from a pool. Where it keeps several from asking the same, let one ask and the others wait for its answer alone (golang.org/x/sync/singleflight), by key.",
			Code: "mu.Lock()\nv, ok := cache[key]\nmu.Unlock()\nif !ok {\n\tv = fetch(key) // not under the lock\n\tmu.Lock()\n\tcache[key] = v\n\tmu.Unlock()\n}",
		},
		Experiment: changed(diagnosis.ThroughputMetric(p.Model), "", "In a new recording several goroutines are in that wait at the same time, and few wait for the lock. If throughput stays, the other side serves one at a time."),
	}
}
