package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed futexstorm.md
var futexstormPage string

var futexstorm = &diagnosis.Rule{
	Name:  "futexstorm",
	Title: "Threads are put to sleep and woken all the time",
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
	// futexShare is the part of the CPU inside futex calls where operations
	// are not known: a broadcast showed 0.12, work of short waits 0.45,
	// requests over HTTP 0.02 and hand-overs through a channel 0.03.
	futexShare = 0.05
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
		"They switch threads, because a goroutine that called runtime.LockOSThread runs on its own one only: each hand-over to it puts one thread to sleep and wakes another. Call LockOSThread only around what needs it, and give such a goroutine its work in batches."},
	{"locks inside the runtime", []string{"runtime.lock2", "runtime.unlock2", "runtime.unlock2Wake"},
		"They are for locks inside the runtime, of channels, timers or the heap: many goroutines use one channel, timer heap or size of memory at once. Give each group its own channel, stop one broadcast to all, allocate less at a time."},
	{"waking a thread for a goroutine that became ready", []string{"runtime.wakep", "runtime.startm", "runtime.notewakeup"},
		"They wake threads for goroutines that became ready. Make fewer ready one by one: hand over in batches, let one goroutine do several steps rather than pass them on, replace a broadcast. Fewer Ps wake fewer threads: try GOMAXPROCS lower when they are not used."},
	{"threads that found no work", []string{"runtime.stopm", "runtime.notesleep", "runtime.futexsleep", "runtime.notetsleep_internal"},
		"They put threads to sleep that looked for work and found none: there are more Ps than work. Try GOMAXPROCS lower, and hand over in batches so that fewer are woken for nothing."},
}

func checkFutexstorm(p *diagnosis.Pass) {
	rate := futexCalls(p.Model)
	ops, name := operations(p)
	perOp := div(rate, ops)
	if rate < futexRate {
		p.Fine(fmt.Sprintf("futex: %s calls a second", num(math.Round(rate))))
		return
	}
	if ops > 0 && perOp < futexPerOp {
		p.Fine(fmt.Sprintf("futex: %s calls a second, %s for each of the %s", num(math.Round(rate)), num(perOp), name))
		return
	}
	cores, share, samples := kernelCores(p.Model, isFutex)
	sampled := samples > 0 && enoughKernelSamples(p.Model)
	switch {
	case sampled && share < minShare:
		p.Fine(fmt.Sprintf("futex: %s calls a second, which are %s of the CPU", num(math.Round(rate)), pct(share)))
	case ops == 0 && sampled && share < futexShare:
		p.Fine(fmt.Sprintf("futex: %s calls a second, %s of the CPU", num(math.Round(rate)), pct(share)))
	case ops == 0 && !sampled:
		p.Unchecked("whether threads are woken too often", fmt.Sprintf("there are %s futex calls a second, and neither a count of operations nor kernel samples to compare them with", num(math.Round(rate))), diagnosis.HowToGet(model.KernelCPU))
	default:
		p.Report(futexFinding(p, rate, perOp, name, cores, share, sampled))
	}
}

// futexCalls is how many were made a second, of all kinds.
func futexCalls(m *model.Model) float64 {
	return calls(m.Syscalls, "futex", "futex_wait", "futex_wake", "futex_waitv")
}

func isFutex(s *model.Sample) bool { return strings.HasPrefix(s.Labels["syscall"], "futex") }

func futexFinding(p *diagnosis.Pass, rate, perOp float64, opName string, cores, share float64, sampled bool) diagnosis.Finding {
	how, sure := howCounted(p.Model.Syscalls)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s futex calls a second: threads are put to sleep and woken again.", num(math.Round(rate))),
		Evidence: []fact.Fact{
			{Name: "futex calls", Value: rate, Unit: fact.PerSec, Source: "system calls counted by the kernel"},
		},
		Confidence: sure,
		Reasons:    []string{how},
		RuledOut:   []string{fmt.Sprintf("timers and the runtime's own watch: those are some hundred a second, not %s", num(math.Round(rate)))},
	}
	if perOp > 0 {
		f.Summary = fmt.Sprintf("%s futex calls a second, %s for each of the %s: threads are put to sleep and woken again.", num(math.Round(rate)), num(perOp), opName)
		f.Evidence = append(f.Evidence, fact.Fact{Name: "futex calls for each operation", Value: perOp, Unit: fact.Count, Source: "system calls ÷ operations"})
		f.RuledOut = append(f.RuledOut, "many operations with a wake-up now and then: "+num(perOp)+" calls for each")
	}
	text := "Find what makes goroutines ready so often: an unbuffered hand-over for every piece, a broadcast to many, tickers of microseconds. Hand over in batches, and try GOMAXPROCS lower when the Ps are not used."
	if sampled {
		text = followRoutes(p, &f, text)
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, "the kernel's samples show the CPU in them too")
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU inside futex calls", Value: cores, Unit: fact.Cores, Source: "kernel samples"})
		f.Cost = diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "CPU inside futex calls"}
		f.Bound = diagnosis.Bound{
			Value: cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method:  "Amdahl: all of the CPU inside futex calls, as if no thread ever slept; the search for work around them comes on top, and is what idlespin is about",
			Partial: true,
		}
	} else {
		f.Cost, f.Bound = callPrice(p, rate, 0)
	}
	f.Remedy = diagnosis.Remedy{Text: text}
	note := "It is " + futexWords(rate, perOp) + " now. CPU time per operation tells what the calls cost; keep fewer Ps only if the 99th percentile of latency bears it."
	if procs := knownProcs(p.Model); procs >= idlespinProcs {
		f.Remedy.Knob = fmt.Sprintf("GOMAXPROCS=%d", (procs+1)/2)
		f.Experiment = tried(diagnosis.Futexes, f.Remedy.Knob, fmt.Sprintf("GOMAXPROCS=%d", procs), note)
		f.Experiment.Else = diagnosis.CPUPerOp
		return f
	}
	f.Experiment = changed(diagnosis.Futexes, diagnosis.CPUPerOp, note)
	return f
}

// followRoutes adds to a finding where its futex calls come from, by the
// kernel's samples, and returns what to do about most of them. Go's stacks go
// on from the scheduler to the goroutine that made another ready, but not
// where a thread looks for work on its own.
func followRoutes(p *diagnosis.Pass, f *diagnosis.Finding, otherwise string) (text string) {
	sums := make([]float64, len(routes))
	whole, best := 0.0, -1
	eachKernelSample(p.Model, func(s *model.Sample, n int64, _ time.Duration) {
		if !isFutex(s) {
			return
		}
		whole += float64(n)
		i := slices.IndexFunc(routes, func(r route) bool { return r.on(p.Model, s.Stack) })
		if i < 0 {
			return
		}
		sums[i] += float64(n)
		if best < 0 || sums[i] > sums[best] {
			best = i
		}
	})
	// About the whole program: which goroutines wake threads, and which only
	// happen to be on them, cannot be told apart.
	f.Where = kernelSites(p, isFutex)
	for i, r := range routes {
		if sums[i] > 0 {
			f.Evidence = append(f.Evidence, fact.Fact{Name: "share of them for " + r.name, Value: sums[i] / whole, Unit: fact.Ratio, Source: "kernel samples: stacks"})
		}
	}
	if best < 0 {
		return otherwise
	}
	f.Summary += fmt.Sprintf(" %s of the CPU in them is for %s.", pct(sums[best]/whole), routes[best].name)
	return routes[best].text
}

func (r *route) on(m *model.Model, s model.Stack) bool {
	return slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool { return slices.Contains(r.funcs, f.Func) })
}

func futexWords(rate, perOp float64) string {
	if perOp > 0 {
		return num(perOp)
	}
	return num(math.Round(rate)) + " a second"
}
