package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// it limits the program. By the queue M/M/1 one waiter is a lock in use 62% of
	// the time; two measured programs that a lock held back had it in use 90
	// and 96%, which is 8 and 23 waiters.
	hotmutexWaiters = 1
	// hotmutexCPU is the share of CPU samples inside the lock's slow path
	// that makes a profile a second witness. An uncontended Lock never gets there.
	hotmutexCPU = 0.01
)

func checkHotmutex(p *diagnosis.Pass) {
	worst, enough, robbed, start, found := fact.Fact{}, fact.Fact{}, fact.Fact{}, fact.Fact{}, false
	for _, q := range queueing.Queues(p) {
		if q.Kind != queueing.Lock {
			continue
		}
		waiting, throughput := q.Waiting(p, "goroutines waiting for this lock, on average"), q.Faster(p)
		switch {
		case waiting.Value < hotmutexWaiters:
			if o, slow := slowed(p, &q, waiting); slow {
				found = true
				p.Report(slowLock(p, &q, waiting, &o))
				continue
			}
			worst = worst.Larger(waiting)
		case q.LateLength(p, "goroutines waiting for it later").Value < hotmutexWaiters:
			start = start.Larger(waiting)
		case throughput.Value >= worthwhile:
			found = true
			p.Report(hotLock(p, &q, waiting))
		case q.Faster(p, queueing.StolenPs(p)...).Value >= worthwhile: // with the CPUs that others have
			robbed = robbed.Larger(waiting)
		default:
			enough = enough.Larger(waiting)
		}
	}
	switch {
	case found:
	case robbed.Value > 0:
		p.Unchecked("whether a lock holds up the program", fact.Sentence("%s goroutines wait for one on average, and all Ps "+
			"are busy, some of them without a CPU (%s)", robbed, queueing.StolenPs(p)[0]), p.RecordAgain(10, "again.gowhy"))
	case enough.Value > 0:
		p.Fine(fact.Sentence("locks: %s goroutines wait for one on average, but %s of %s Ps are busy anyway, so it is not the limit", enough, cpu.BusyPs(p).Number(), cpu.Procs(p)))
	case start.Value > 0:
		p.Unchecked("whether a lock holds up more than a start",
			fact.Sentence("%s goroutines wait for one on average, nearly all of that in the first tenth of the window", start), p.RecordAgain(60, "longer.gowhy"))
	case queueing.Unseen(p, queueing.Lock) != "" && lockByProfile(p):
	case queueing.Unseen(p, queueing.Lock) != "":
		p.Unchecked("whether goroutines wait for locks", queueing.Unseen(p, queueing.Lock), p.HowToGet(model.Trace))
	case worst.Value == 0:
		p.Fine("locks: nobody waits for one")
	default:
		p.Fine(fact.Sentence("locks: at most %s goroutines wait for one on average", worst))
	}
}

// lockByProfile reports what the mutex profile says where the trace lost who waits for
// what: its delays are counted by the runtime itself. It has no bound, for what those who
// wait would do is in the part that is lost; where the Ps are busy there is nothing to say.
func lockByProfile(p *diagnosis.Pass) bool {
	mutex := p.Model.Mutex
	if mutex == nil || mutex.Duration <= 0 || cpu.BusyPs(p).Value >= busyAnyway*cpu.Procs(p).Value {
		return false
	}
	user := func(s *model.Sample) bool { _, ok := p.UserPlace(s.Stack); return ok }
	delay := p.Samples("waiting for locks that code of the program held", "mutex", user)
	waiting := fact.Quotient.Of("goroutines waiting for locks, on average", fact.Count, delay, p.ProfileLength("mutex"))
	if waiting.Value < hotmutexWaiters {
		return false
	}
	const other = ""
	places := map[string]diagnosis.Place{}
	holders := p.Largest("mutex", func(s *model.Sample) string {
		place, ok := p.UserPlace(s.Stack)
		if !ok {
			return other
		}
		places[code.Line(place)] = place
		return code.Line(place)
	})
	holders = slices.DeleteFunc(holders, func(h string) bool { return h == other })
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{waiting, delay},
		Cost:       diagnosis.CostOf(waiting, 0),
		Bound:      diagnosis.NoLimit(fact.Figure("part of the time", 0, fact.Ratio, "what would be done instead is not in the trace"), diagnosis.Throughput, 0, ""),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the runtime counts delays at each unlock; " + queueing.Unseen(p, queueing.Lock)},
		RuledOut:   []string{fact.Sentence("Ps that are busy anyway: %s of %s are", cpu.BusyPs(p).Number(), cpu.Procs(p)), "locks of the runtime itself: only those that code of the program gave back are counted"},
		Remedy:     lockRemedy(p.Model, &queueing.Queue{Stacks: mutexStacks(p)}),
		Experiment: codeChange(diagnosis.ThroughputMetric(p.Model), "", "A new recording tells the number of waiters."),
	}
	for _, h := range holders[:min(len(holders), cpu.MostSites)] {
		f.Where = append(f.Where, places[h])
	}
	what := "locks"
	if share := p.SampleShare("inside maps", "mutex", p.Frames(diagnosis.InSyncMap)); share.Value >= mapLocks {
		what = "the locks inside a sync.Map"
		f.Evidence = append(f.Evidence, share)
	}
	f.Say("On average %s goroutines wait for "+what+", by the mutex profile; %s places hold them, most %s.", waiting,
		fact.Name(fact.Count.Format(float64(len(holders)))), code.Name(places[holders[0]].Function))
	p.Report(f)
	return true
}

// mutexStacks returns those of the mutex profile that hold up others longest.
func mutexStacks(p *diagnosis.Pass) (list []model.Stack) {
	delays := map[model.Stack]int64{}
	column := p.Model.Mutex.Column("delay")
	for i := range p.Model.Mutex.Samples {
		if s := &p.Model.Mutex.Samples[i]; s.Value(column) > 0 {
			delays[s.Stack] += int64(s.Value(column))
		}
	}
	list = statistics.Largest(delays)
	return list[:min(len(list), cpu.MostSites)]
}

const (
	// busyAnyway is the part of the Ps that must be busy for a lock to be no limit: those
	// who wait could not run either.
	busyAnyway = 0.9
	// mapLocks is the part of all delay from which a sync.Map is named.
	mapLocks = 0.5
)

func hotLock(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact) diagnosis.Finding {
	place, server := q.Place(p), q.Server(p)
	use, wait, busy := queueing.LockInUse.Of("lock in use", fact.Ratio, waiting), q.MeanWait(p, "mean wait"), cpu.BusyPs(p)
	f := inQueue(p, q, waiting, "if nobody waited for this lock", place, server)
	f.Evidence = []fact.Fact{waiting, use, wait, q.Rate(p, "waits per second"), busy}
	f.RuledOut = []string{
		"wait groups, first uses and condition variables: only stacks inside Mutex or RWMutex are counted",
		"goroutines without work: a goroutine that waits for a lock has work",
		fact.Sentence("Ps that are busy anyway: %s of %s are", busy.Number(), cpu.Procs(p)),
	}
	f.Remedy = lockRemedy(p.Model, q)
	f.Experiment = codeChange(diagnosis.ThroughputMetric(p.Model), "", "A new recording tells the number of waiters. "+
		"On one or two cores a short section that was split often shows no gain: there was nobody to run beside it.")
	held, known := q.Holder(p)
	if known && held.Reader {
		// The queue M/M/1 is of a lock that one at a time holds.
		f.Evidence = slices.DeleteFunc(f.Evidence, func(e fact.Fact) bool { return e.Name == use.Name })
		f.Say("On average %s goroutines wait for the lock taken in %s, %s each time.", waiting, code.Name(place.Function), q.WaitWords(wait))
		f.Remedy = diagnosis.Remedy{Text: longReader, Code: readFirst}
		f.Experiment = codeChange(diagnosis.ThroughputMetric(p.Model), "", "A new recording tells the number of waiters.")
	} else {
		f.Say("On average %s goroutines wait for the lock taken in %s, %s each time: it is held about %s of the time.",
			waiting, code.Name(place.Function), q.WaitWords(wait), use)
	}
	if known {
		f.Where = code.Places(slices.Concat([]diagnosis.Place{place}, held.Places, []diagnosis.Place{server})...)
		f.Evidence = append(f.Evidence, held.Facts...)
		f.Summary += " " + held.Words
	}
	f.Confidence, f.Reasons = lockConfidence(p)
	return f
}

func lockConfidence(p *diagnosis.Pass) (diagnosis.Confidence, []string) {
	reasons := []string{
		"waits taken from every goroutine of the trace",
		"the trace does not name the lock: places whose unlocks wake each other's waiters are taken for one",
	}
	share := handover(p)
	if share.Origin.N >= diagnosis.ThinSamples/10 && share.Value >= hotmutexCPU {
		return diagnosis.High, append(reasons, fact.Sentence("the CPU profile agrees: %s of it is spent waiting for and handing over locks", share))
	}
	return diagnosis.Medium, reasons
}

// handover measures what waiters and owners of locks do for each other.
func handover(p *diagnosis.Pass) fact.Fact {
	return p.SampleShare("CPU in waiting for and handing over locks", "cpu", p.Frames(queueing.PassesLock))
}

// lockRemedy says what helps with the lock that the stacks name, and with any lock otherwise.
func lockRemedy(m *model.Model, q *queueing.Queue) diagnosis.Remedy {
	for _, s := range q.Stacks {
		for _, f := range m.Stacks.Frames(s) {
			for _, k := range knownLocks {
				if strings.Contains(f.Func, k.function) {
					return diagnosis.Remedy{Text: k.text, Code: k.code}
				}
			}
		}
	}
	return diagnosis.Remedy{
		Text: "Take out of the locked section what need not be there: " +
			"input and output first, then allocation, formatting and calls to other code. " +
			"Then split the lock by key, so that goroutines with different keys do not meet, " +
			"or replace what is mostly read by a copy that is swapped whole. " +
			"A read-write lock is no fix for short sections: its reader count is one more contended word.",
		Code: "type shard struct {\n\tmu sync.Mutex\n\tm  map[string]V\n\t_  [48]byte // its own cache line\n}\nvar shards [64]shard // shards[maphash.String(seed, key)%64]",
	}
}

var knownLocks = []struct{ function, text, code string }{
	{"log.(*Logger).", "Guard debug lines by level before their arguments are built, log less on the hot path, " +
		"or give the logger a buffered writer that one goroutine flushes (lines in the buffer are lost in a crash): " +
		"the lock is the logger's, and every line is written while it is held.", ""},
	{"log/slog.", "Guard debug records by level, log less on the hot path, " +
		"or give the handler a buffered writer that one goroutine flushes (records in the buffer are lost in a crash): " +
		"the lock is the log handler's, and every record is written while it is held.", ""},
	{"math/rand.(*lockedSource)", "Use math/rand/v2's functions, which have no lock: this one is that of a shared random source, which math/rand " +
		"takes only when it is seeded or built by hand. A rand.New per call costs more than the lock.", "import \"math/rand/v2\"\n\nn := rand.IntN(100)"},
	{"internal/sync.(*HashTrieMap", "Keep a pointer to an atomic value in the map in the place of storing anew, give each goroutine values of " +
		"its own that are joined when somebody asks, or write less often: the lock is one inside a sync.Map, " +
		"where those meet who store, swap or delete the same keys, or keys beside them.", "v, _ := m.LoadOrStore(key, new(atomic.Int64))\nv.(*atomic.Int64).Add(1)"},
	{"sync.(*Cond).Wait", "Wake one with Signal where one can go on, rather than all with Broadcast: " +
		"those woken by a condition variable must take its lock again one after the other.", "c.L.Lock()\nready = append(ready, item)\nc.L.Unlock()\nc.Signal() // one item, one goroutine"},
}
