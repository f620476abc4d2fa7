package rules

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// lockedioEach is the least number of such waits to a lock handed over, where they are short. One that
	// lasts lockedioLong, long for work under a lock, keeps all the others out by itself: a peer that takes nothing for
	// a while makes few of them.
	lockedioEach = 0.5
	lockedioLong = 5 * time.Millisecond
	// lockedioInside is the part of the time that a lock is in use which a wait fills that the lines of the source have
	// between its taking and its giving back: a queue before what is in use for less is much shorter. Two
	// programs of the field are at 0.32 and 0.44.
	lockedioInside = 0.25
)

// atChannel is what a holder waits for that another goroutine of the program ends.
const atChannel = "a channel"

// A heldWait is a wait for something outside that fills the time in which a
// lock is held.
type heldWait struct {
	wait  *model.Wait
	what  string
	inUse fact.Fact       // the lock
	runs  fact.Fact       // those who take it, in cores
	total fact.Fact       // time in the wait
	line  diagnosis.Place // of the source that has it between the lock's lines; none where it is inferred
	// inside is how many are in the wait on average: under the lock one at a time.
	inside fact.Fact
}

func checkLockedio(p *diagnosis.Pass) {
	for _, q := range queueing.Queues(p) {
		waiting := q.Waiting(p, "goroutines waiting for this lock, on average")
		if q.Kind != queueing.Lock || waiting.Value < hotmutexWaiters {
			continue
		}
		h, ok := heldAcross(p, &q, waiting)
		if !ok {
			h, ok = heldInside(p, &q, waiting)
		}
		if ok && q.Faster(p).Value >= worthwhile {
			p.Report(lockedioFinding(p, &q, h, waiting))
		}
	}
}

// heldAcross infers what the holder of a lock does from what those who take it
// can have done: if the lock is in use for longer than all of them run, it is
// held by one who waits, and a wait in the same function that one at a time is
// in, about once for each hand-over, is what he waits for.
func heldAcross(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact) (h heldWait, ok bool) {
	h.inUse = queueing.LockInUse.Of("lock in use", fact.Ratio, waiting)
	takers := code.CountRoots(p.Model, q.Servers)
	h.runs = fact.Quotient.Of("those who take it run", fact.Cores,
		p.Goroutines("time that those who take it run", statistics.Largest(takers), "running"), p.WindowLength())
	if h.runs.Value >= lockedioRuns*h.inUse.Value {
		return h, false
	}
	functions := lockFunctions(p.Model, q)
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		what := waitsFor(p.Model, w)
		if takers[w.Group] == 0 || what == "" || !code.ContainsAny(p.Model.Stacks.Frames(w.Stack), functions) {
			continue
		}
		total := p.Waits("time waiting for "+what, w.Kind, func(o *model.Wait) bool { return o == w })
		inside := fact.Quotient.Of("goroutines with the lock waiting for "+what+", on average", fact.Count, total, p.WindowLength())
		if inside.Value >= lockedioWaits*h.inUse.Value && inside.Value <= queueing.OneAtATime &&
			(float64(w.Count) >= lockedioEach*float64(q.Served) || w.Count > 0 && w.Total >= time.Duration(w.Count)*lockedioLong) && inside.Value > h.inside.Value {
			h.wait, h.what, h.total, h.inside = w, what, total, inside
		}
	}
	return h, h.wait != nil
}

// heldInside finds what the holder of a lock waits for at a line between one that takes it and one that gives it back,
// also where that is another goroutine of the program: it may be slow, and here all others wait for it, too.
func heldInside(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact) (h heldWait, ok bool) {
	held, ok := q.HolderWait(p)
	if !ok {
		return h, false
	}
	h.inUse = queueing.LockInUse.Of("lock in use", fact.Ratio, waiting)
	h.wait, h.total, h.line = held.Wait, held.Time, held.Line
	switch h.what = waitsFor(p.Model, held.Wait); {
	case h.what != "":
	case held.Wait.Reason == "chan send" || held.Wait.Reason == "chan receive" || held.Wait.Reason == "select":
		h.what = atChannel
	default:
		return h, false
	}
	h.inside = fact.Quotient.Of("goroutines with the lock waiting for "+h.what+", on average", fact.Count, h.total, p.WindowLength())
	return h, h.inside.Value >= lockedioInside*h.inUse.Value
}

// waitsFor names what a wait is for that no other goroutine of the program ends by its work; "" for all others.
func waitsFor(m *model.Model, w *model.Wait) string {
	switch {
	case slices.ContainsFunc(m.Stacks.Frames(w.Stack), func(f model.Frame) bool {
		return f.Func == "net/http.(*persistConn).roundTrip" || model.AwaitsStream(f.Func)
	}):
		return "an answer"
	case w.Kind == model.Net:
		return "the network"
	case w.Kind == model.SyscallWait:
		return "a system call"
	case w.Reason == "sleep":
		return "a sleep to end"
	}
	return ""
}

// lockFunctions returns the functions that take and release the lock.
func lockFunctions(m *model.Model, q *queueing.Queue) (functions []string) {
	for _, s := range append(slices.Clone(q.Stacks), statistics.Largest(q.Servers)...) {
		if f, ok := code.Caller(m.Stacks.Frames(s)); ok {
			// The release may be in a deferred function literal of its own.
			functions = append(functions, strings.TrimSuffix(f.Func, ".deferwrap1"))
		}
	}
	return functions
}

func lockedioFinding(p *diagnosis.Pass, q *queueing.Queue, h heldWait, waiting fact.Fact) diagnosis.Finding {
	lock := q.Place(p)
	wait, _ := p.UserPlace(h.wait.Stack)
	waits := p.WaitCount("such waits", h.wait.Kind, func(o *model.Wait) bool { return o == h.wait })
	ended := h.total
	if h.wait.Open > 0 {
		ended = fact.Difference.Of("time in those that ended", fact.Seconds, ended,
			p.Statistic(fact.Timeline, "waits without an end", "time in those that go on", h.wait.OpenTotal.Seconds(), fact.Seconds))
	}
	mean := fact.Quotient.Of("one such wait, mean", fact.Seconds, ended, waits)
	f := inQueue(p, q, waiting, "if nobody waited for this lock", lock, wait, q.Server(p))
	f.Stacks = append(f.Stacks, h.wait.Stack)
	often := fact.Quotient.Of("such waits", fact.PerSec, waits, p.WindowLength())
	if h.line.Line > 0 {
		f.Where = code.Places(append([]diagnosis.Place{h.line}, f.Where...)...)
		f.Evidence = []fact.Fact{waiting, h.inUse, h.inside, mean, often, cpu.BusyPs(p)}
		f.Reasons = []string{"waits taken from every goroutine of the trace, at a line between one that takes the lock and one that gives it back"}
		f.RuledOut = []string{cpu.FullMachine(p)}
	} else {
		f.Evidence = []fact.Fact{waiting, h.inUse, h.runs, h.inside, mean, often, cpu.BusyPs(p)}
		f.Reasons = []string{
			"inferred from one trace: the lock is in use for longer than those who take it run, " +
				"and one at a time waits in the function that takes it",
			"the trace does not say when a lock is taken, only when somebody waits for it",
		}
		f.RuledOut = []string{
			fact.Sentence("work under the lock: all who take it together keep %s busy", h.runs),
			fact.Sentence("waits outside of the lock: then several would wait at the same time, here it is %s on average", h.inside),
			cpu.FullMachine(p),
		}
	}
	f.Remedy = diagnosis.Remedy{
		Text: "Take the wait out of the locked section: copy what is needed under the lock, release it, then ask, " +
			"and take it again to store the answer. Where the lock protects a connection, " +
			"give each goroutine one of its own, from a pool. " +
			"Where it keeps several from asking the same, let one ask and the others wait for its answer alone " +
			"(golang.org/x/sync/singleflight), by key.",
		Code: "mu.Lock()\nv, ok := cache[key]\nmu.Unlock()\nif !ok {\n\tv = fetch(key) // not under the lock\n\tmu.Lock()\n\tcache[key] = v\n\tmu.Unlock()\n}",
	}
	if h.what == atChannel {
		f.Remedy = diagnosis.Remedy{
			Text: "Take what is sent and received out of the locked section: copy under the lock who is to get it, release it, and " +
				"send then. Where a receiver may be slow, do not wait for it: drop what has no room, or keep only the newest.",
			Code: "mu.Lock()\nto := slices.Clone(listeners)\nmu.Unlock()\nfor _, c := range to {\n\tselect {\n\tcase c <- v:\n\tdefault: // it has enough\n\t}\n}",
		}
	}
	f.Experiment = codeChange(diagnosis.ThroughputMetric(p.Model), "", "In a new recording several goroutines are in that wait at the same time, "+
		"and few wait for the lock. If throughput stays, the other side serves one at a time.")
	f.Say("The lock taken in %s is held while its holder waits for %s, %s each time: %s goroutines wait for it on average.",
		code.Name(lock.Function), fact.Name(h.what), mean, waiting)
	return f
}
