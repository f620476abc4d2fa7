package rules

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed hotmutex.md
var hotmutexPage string

var hotmutex = &diagnosis.Rule{
	Name:     "hotmutex",
	Title:    "Goroutines queue for one lock",
	Doc:      hotmutexPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs", "futexstorm"},
	Check:    checkHotmutex,
}

const (
	// hotmutexWaiters is how many goroutines wait for a lock on average when
	// it limits the program. By the queue M/M/1 one waiter is a lock in use 62 % of
	// the time; two measured programs that a lock held back had it in use 90
	// and 96 %, which is 8 and 23 waiters.
	hotmutexWaiters = 1
	// hotmutexCPU is the share of CPU samples inside the lock's slow path
	// that makes a profile a second witness. An uncontended Lock never gets there.
	hotmutexCPU = 0.01
)

func checkHotmutex(p *diagnosis.Pass) {
	worst, enough, found := 0.0, 0.0, false
	for _, q := range queues(p) {
		if q.kind != lockDemand {
			continue
		}
		waiters := q.waiters(p)
		factor, method := speedup(p, q.groups, q.total, 0)
		switch {
		case waiters < hotmutexWaiters:
			worst = max(worst, waiters)
		case factor < worthwhile:
			enough = max(enough, waiters)
		default:
			found = true
			p.Report(hotLock(p, &q, factor, method))
		}
	}
	switch {
	case found:
	case enough > 0:
		p.Fine(fmt.Sprintf("locks: %s goroutines wait for one on average, but %s of %d Ps are busy anyway, so it is not the limit", num(enough), num(working(p)), p.Procs()))
	case worst == 0:
		p.Fine("locks: nobody waits for one")
	default:
		p.Fine(fmt.Sprintf("locks: at most %s goroutines wait for one on average", num(worst)))
	}
}

func hotLock(p *diagnosis.Pass, q *queue, factor float64, method string) diagnosis.Finding {
	waiters := q.waiters(p)
	use := mm1(waiters)
	place, server := q.place(p), q.server(p)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("On average %s goroutines wait for the lock taken in %s, %s each time: it is held about %s of the time.",
			num(waiters), short(place.Function), dur(q.mean()), pct(use)),
		Where: where(place, server),
		Evidence: []fact.Fact{
			{Name: "goroutines waiting on average", Value: waiters, Unit: fact.Count, Source: "trace: sync waits ÷ window"},
			{Name: "lock in use", Value: use, Unit: fact.Ratio, Source: "waiters of a queue M/M/1"},
			{Name: "mean wait", Value: q.mean().Seconds(), Unit: fact.Seconds, Source: "trace: sync waits"},
			{Name: "waits per second", Value: div(float64(q.waits), p.Seconds()), Unit: fact.PerSec, Source: "trace: sync waits"},
			{Name: "busy Ps", Value: working(p), Unit: fact.Cores, Source: "trace: Ps"},
		},
		Cost: diagnosis.Cost{
			Value: waiters, Unit: fact.Count, Share: waitShare(p, q),
			What: "goroutines waiting for this lock, on average",
		},
		Bound: diagnosis.Bound{
			Value: factor, Unit: fact.Ratio, Goal: diagnosis.Throughput, Share: gain(factor),
			Method: "throughput factor if nobody waited for this lock: " + method,
		},
		RuledOut: []string{
			"wait groups, first uses and condition variables: only stacks inside Mutex or RWMutex are counted",
			"goroutines without work: a goroutine that waits for a lock has work",
			"Ps that are busy anyway: " + fmt.Sprintf("%s of %d are", num(working(p)), p.Procs()),
		},
		Groups:     q.groups,
		Stacks:     q.stacks,
		Remedy:     lockRemedy(p.Model, q),
		Experiment: changed(diagnosis.ThroughputMetric(p.Model), "", "A new recording tells the number of waiters. On one or two cores a short section that was split often shows no gain: there was nobody to run beside it."),
	}
	f.Confidence, f.Reasons = lockConfidence(p)
	return f
}

func lockConfidence(p *diagnosis.Pass) (diagnosis.Confidence, []string) {
	reasons := []string{"waits taken from every goroutine of the trace", "the trace does not name the lock: places whose unlocks wake each other's waiters are taken for one"}
	share, n := p.CPUShare(func(f string) bool {
		return isMutex(f) && strings.HasSuffix(f, "Slow") || f == "runtime.semacquire1" || f == "runtime.semrelease1"
	})
	if n >= diagnosis.ThinSamples/10 && share >= hotmutexCPU {
		return diagnosis.High, append(reasons, fmt.Sprintf("the CPU profile agrees: %s of it is spent waiting for and handing over locks", pct(share)))
	}
	return diagnosis.Medium, reasons
}

// mm1 is the utilization of a single server at which the given number waits,
// served one excluded: L = ρ² ÷ (1-ρ).
func mm1(waiting float64) float64 {
	return (math.Sqrt(waiting*waiting+4*waiting) - waiting) / 2
}

// waitShare is the part of its goroutines' time that a queue takes.
func waitShare(p *diagnosis.Pass, q *queue) float64 {
	var whole float64
	for _, g := range groupsOf(p.Model, q.groups) {
		whole += g.Total().Seconds()
	}
	return min(1, div(q.total.Seconds(), whole))
}

// lockRemedy is what helps with the lock that the stacks name, and with any
// lock otherwise.
func lockRemedy(m *model.Model, q *queue) diagnosis.Remedy {
	for _, s := range q.stacks {
		for _, f := range m.Stacks.Frames(s) {
			for _, k := range knownLocks {
				if strings.Contains(f.Func, k.function) {
					return diagnosis.Remedy{Text: k.text, Code: k.code}
				}
			}
		}
	}
	return diagnosis.Remedy{
		Text: "Take out of the locked section what need not be there: input and output first, then allocation, formatting and calls to other code. Then split the lock by key, so that goroutines with different keys do not meet, or replace what is mostly read by a copy that is swapped whole. A read-write lock is no cure for short sections: its reader count is one more contended word.",
		Code: "type shard struct {\n\tmu sync.Mutex\n\tm  map[string]V\n\t_  [48]byte // its own cache line\n}\nvar shards [64]shard // shards[maphash.String(seed, key)%64]",
	}
}

var knownLocks = []struct{ function, text, code string }{
	{"log.(*Logger).", "The lock is the logger's: every line is written while it is held. Guard debug lines by level before their arguments are built, log less on the hot path, or give the logger a buffered writer that one goroutine flushes (lines in the buffer are lost in a crash).", ""},
	{"log/slog.", "The lock is the log handler's: every record is written while it is held. Guard debug records by level, log less on the hot path, or give the handler a buffered writer that one goroutine flushes (records in the buffer are lost in a crash).", ""},
	{"math/rand.(*lockedSource)", "The lock is that of a shared random source, which math/rand takes only when it is seeded or built by hand. Use math/rand/v2's functions, which have none. A rand.New per call costs more than the lock.", "import \"math/rand/v2\"\n\nn := rand.IntN(100)"},
	{"sync.(*Cond).Wait", "The lock is the one that goroutines woken by a condition variable must take again one after the other. Wake one with Signal where one can go on, rather than all with Broadcast.", "c.L.Lock()\nready = append(ready, item)\nc.L.Unlock()\nc.Signal() // one item, one goroutine"},
}
