package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed futexstorm.md
var futexstormPage string

var futexstorm = &diagnosis.Rule{
	Name:  "futexstorm",
	Title: "Threads sleep and wake up constantly (futex)",
	Doc:   futexstormPage,
	Needs: []model.Source{model.SyscallLog},
	Check: checkFutexstorm,
}

const (
	// futexRate is how many futex calls a second are many: an idle server
	// makes some hundred. Work of short waits made 38 in all on one P, 7,630
	// on two and 17,599 on eight.
	futexRate = 5000
	// futexPerOp is how many an operation makes at least. A broadcast to 900
	// goroutines made 5 to 12, requests over HTTP 0.02 to 0.17, a hand-over
	// through a channel 0.002.
	futexPerOp = 1
	// futexShare is the part of the CPU inside futex calls: work of short waits
	// showed 0.45, and ten programs of the field that are well at most 0.12, with
	// up to five calls for each operation. So did a broadcast to 900 goroutines,
	// which has rules of its own.
	futexShare = 0.15
)

// A route is why futex calls are made, by the functions on their stacks.
type route struct {
	name  string
	funcs []string // any of them on the stack
	text  string
}

// routes in the order in which they are looked for: a lock's sleep is a sleep
// too.
var routes = []route{
	{"goroutines that are locked to their threads", []string{"runtime.startlockedm", "runtime.stoplockedm"},
		"Call LockOSThread only around what needs it, and give such a goroutine its work in batches: it runs on its " +
			"own thread only, so that each hand-over to it puts one to sleep and wakes another."},
	{"locks inside the runtime", []string{"runtime.lock2", "runtime.unlock2", "runtime.unlock2Wake"},
		"Give each group of goroutines its own channel, stop one broadcast to all, allocate less at a time: they " +
			"are for locks inside the runtime, of a channel, timers or a size of memory that many use at once."},
	{"waking a thread for a goroutine that became ready", []string{"runtime.wakep", "runtime.startm", "runtime.notewakeup"},
		"Make fewer goroutines ready one by one: hand over in batches, let one do several steps rather than pass " +
			"them on, replace a broadcast. Each that becomes ready can wake a thread. Fewer Ps wake fewer " +
			"threads: try GOMAXPROCS lower when they are not used."},
	{"threads that found no work", []string{"runtime.stopm", "runtime.notesleep", "runtime.futexsleep", "runtime.notetsleep_internal"},
		"They put threads to sleep that looked for work and found none: there are more Ps than work. Try " +
			"GOMAXPROCS lower, and hand over in batches so that fewer are woken for nothing."},
}

func checkFutexstorm(p *diagnosis.Pass) {
	rate := cpu.FutexCalls(p)
	ops, operations := operationRate(p)
	perOp := fact.Quotient.Of("futex calls for each operation", fact.Count, rate, ops)
	if rate.Value < futexRate {
		p.Fine(fact.Sentence("futex: %s calls a second", rate.Number()))
		return
	}
	if ops.Value > 0 && perOp.Value < futexPerOp {
		p.Fine(fact.Sentence("futex: %s calls a second, %s for each of the %s", rate.Number(), perOp, fact.Name(operations)))
		return
	}
	inCalls := cpu.CallUseOf(p, "CPU inside futex calls", isFutex)
	switch {
	case inCalls.Enough && inCalls.Share.Value < futexShare:
		p.Fine(fact.Sentence("futex: %s calls a second, %s of the CPU", rate.Number(), inCalls.Share))
	case ops.Value == 0 && !inCalls.Enough:
		p.Unchecked("whether threads are woken too often", fact.Sentence("there are %s futex calls a second, and neither "+
			"a count of operations nor kernel samples to compare them with", rate.Number()), p.HowToGet(model.KernelCPU))
	default:
		p.Report(futexFinding(p, rate, perOp, string(operations), &inCalls))
	}
}

func isFutex(s *model.Sample) bool { return strings.HasPrefix(s.Labels["syscall"], "futex") }

func futexFinding(p *diagnosis.Pass, rate, perOp fact.Fact, operations string, inCalls *cpu.CallUse) diagnosis.Finding {
	how, confidence := cpu.CallCountMethod(p)
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{rate},
		Confidence: confidence,
		Reasons:    []string{how},
		RuledOut: []string{fact.Sentence("timers and the runtime's own watch: those are some hundred a second, "+
			"not %s", rate.Number())},
		Remedy: diagnosis.Remedy{Text: "Find what makes goroutines ready so often: an unbuffered hand-over for " +
			"every piece, a broadcast to many, " +
			"tickers of microseconds. Hand over in batches, and try GOMAXPROCS lower when the Ps are not used."},
	}
	now := fact.Sentence("There are %s a second now.", rate.Number())
	if perOp.Value > 0 {
		now = fact.Sentence("There are %s for each operation now.", perOp)
		f.RuledOut = append(f.RuledOut, fact.Sentence("many operations with a wake-up now and then: %s calls for each", perOp))
		f.Say("%s futex calls a second, %s for each of the %s: threads are put to sleep and woken again.",
			rate.Number(), perOp, fact.Name(operations))
	} else {
		f.Say("%s futex calls a second: threads are put to sleep and woken again.", rate.Number())
	}
	if inCalls.Enough {
		followRoutes(p, &f)
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, "the kernel's samples show the CPU in them too")
		f.Evidence = append(f.Evidence, inCalls.Cores)
		f.Cost = inCalls.Cost()
		f.Bound = inCalls.Bound("Amdahl, as if no thread ever slept; the search for work around them comes on top, and " +
			"is what idlespin is about")
	} else {
		f.Cost, f.Bound = cpu.CallPrice(p, rate, fact.Fact{})
	}
	now += " CPU time per operation tells what the calls cost; keep fewer Ps only if the 99th percentile of " +
		"latency bears it."
	f.Experiment = codeChange(diagnosis.Futexes, "", now)
	if ps := cpu.ProcsCount(p.Model); ps >= surplusPs {
		f.Remedy.Knob = cpu.ProcsKnob((ps + 1) / 2)
		f.Experiment = settingTrial(diagnosis.Futexes, f.Remedy.Knob, cpu.ProcsKnob(ps), now)
	}
	f.Experiment.Else = diagnosis.CPUPerOp
	return f
}

// followRoutes adds to a finding where its futex calls come from, by the
// kernel's samples, and what to do about most of them. Go's stacks go on from the
// scheduler to the goroutine that made another ready, but not where a thread
// looks for work on its own.
func followRoutes(p *diagnosis.Pass, f *diagnosis.Finding) {
	// About the whole program: which goroutines wake threads, and which only
	// happen to be on them, cannot be told apart.
	f.Where = cpu.KernelSites(p, isFutex)
	all := p.Samples("CPU in futex calls, by the samples", "kernel", isFutex)
	var most fact.Fact
	best := -1
	for i := range routes {
		part := p.Samples("CPU in them for "+routes[i].name, "kernel", func(s *model.Sample) bool {
			return isFutex(s) && slices.IndexFunc(routes, func(r route) bool { return r.on(p.Model, s.Stack) }) == i
		})
		share := fact.Quotient.Of("share of them for "+routes[i].name, fact.Ratio, part, all)
		if share.Value > 0 {
			f.Evidence = append(f.Evidence, share)
		}
		if share.Value > most.Value {
			most, best = share, i
		}
	}
	if best >= 0 {
		f.Summary += fact.Sentence(" %s of the CPU in them is for %s.", most, fact.Name(routes[best].name))
		f.Remedy.Text = routes[best].text
	}
}

func (r *route) on(m *model.Model, s model.Stack) bool {
	return code.ContainsAny(m.Stacks.Frames(s), r.funcs)
}
