package rules

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed threadgrowth.md
var threadgrowthPage string

var threadgrowth = &diagnosis.Rule{
	Name:  "threadgrowth",
	Title: "Goroutines that block in the kernel take a thread each",
	Doc:   threadgrowthPage,
	Needs: []model.Source{model.ProcFS},
	Check: checkThreadgrowth,
}

const (
	// threadsPerP and threadsMore are how many threads a program has at most
	// that blocks few of them: one for each P that runs, as many that are in a
	// system call or spin, and the runtime's own. Web servers and pipelines on
	// two Ps have 6 to 12; a hundred goroutines that read pipes which the
	// runtime does not poll have 108.
	threadsPerP = 4
	threadsMore = 20
	// threadStack is what a thread costs at least in resident memory: its
	// kernel stack of 16 KiB, and the pages of its own that the runtime touches.
	threadStack = 24 << 10
	// threadsBlocked is the part of the threads that one function must keep at both
	// ends of a window without a trace: most of them. Two moments tell nothing of what
	// is between, so that goroutines of short calls, as many as have a thread, are left
	// to the trace.
	threadsBlocked = 0.5
)

func checkThreadgrowth(p *diagnosis.Pass) {
	ps := cpu.KnownProcs(p)
	threads := p.Process("threads at most", "threads", fact.Most)
	if threads.Value == 0 || ps.Value == 0 {
		p.Unchecked("whether there are too many threads", "the number of threads or of Ps is not known", p.HowToGet(model.Trace))
		return
	}
	usual := usualThreads.Of("threads that would be usual", fact.Count, ps)
	if threads.Value < usual.Value {
		p.Fine(fact.Sentence("threads: %s for %s", threads, ps.Things("P")))
		return
	}
	if blocked, ok := kernelBlockedOutside(p, threads); ok && p.Model.Sched == nil {
		p.Report(outsideFinding(p, &blocked, threads, ps, usual))
		return
	}
	if p.Model.Sched == nil {
		p.Unchecked("why there are so many threads",
			fact.Sentence("there are %s threads for %s, and only a trace tells who blocks them", threads, ps.Things("P")), p.HowToGet(model.Trace))
		return
	}
	group, blocked := kernelBlocked(p)
	if group == nil && threadsRise(p.Model) {
		p.Unchecked("whether threads become more and more", fact.Sentence("they rose from %s to %s, and no goroutine is in a system call for so long: "+
			"a goroutine that is locked to its thread (runtime.LockOSThread), and C code, keep one each",
			p.Process("threads at the start", "threads", fact.First), threads), p.RecordAgain(60, "longer.gowhy"))
		return
	}
	if group == nil {
		p.Fine(fact.Sentence("threads: %s for %s, left over from before: nobody blocks so many now", threads, ps.Things("P")))
		return
	}
	p.Report(groupFinding(p, group, blocked, threads, ps, usual))
}

// threadsRise reports whether threads became more at one pace, by as many as are the
// runtime's own: those that were left over from a burst are as many at both ends.
func threadsRise(m *model.Model) bool {
	s := untilMost(m.Process.Series(func(s model.ProcessSample) float64 { return float64(s.Threads) }))
	by, _, _ := s.Delta()
	rises, _ := s.Rises(descriptorsPart)
	return rises && by >= threadsMore
}

// usualThreads is how many threads a program has that blocks few of them.
var usualThreads = &fact.Formula{Name: "usual threads", Words: "four for each of {0}, and twenty of the runtime's own",
	Value: func(x []float64) float64 { return threadsPerP*x[0] + threadsMore }}

// kernelBlocked finds who keeps most threads in system calls, more than one for each P on
// average, and how many; nil when nobody does.
func kernelBlocked(p *diagnosis.Pass) (most *model.Group, blocked fact.Fact) {
	for i := range p.Model.Sched.Groups {
		g := &p.Model.Sched.Groups[i]
		average := fact.Quotient.Of("in system calls on average", fact.Count,
			p.Goroutines("time in system calls", []string{g.Name}, "syscall", "syscall_blocked"), p.WindowLength())
		if average.Value > float64(p.Procs()) && average.Value > blocked.Value {
			most, blocked = g, average
		}
	}
	return most, blocked
}

// A blockedPlace is the function from which most goroutines are in the kernel, both
// at the start of the window and at its end.
type blockedPlace struct {
	place      diagnosis.Place
	stacks     []model.Stack
	start, end fact.Fact
}

// kernelBlockedOutside finds who keeps most of the threads in system calls, by what
// goroutines do at both ends of the window; false when nobody does so at both.
func kernelBlockedOutside(p *diagnosis.Pass, threads fact.Fact) (most blockedPlace, ok bool) {
	m := p.Model
	if m.Goroutines.Start == nil || m.Goroutines.End == nil {
		return most, false
	}
	stacks, places := map[string][]model.Stack{}, map[string]diagnosis.Place{}
	for _, of := range []*model.Profile{m.Goroutines.Start, m.Goroutines.End} {
		for i := range of.Samples {
			stack := of.Samples[i].Stack
			if place, user := p.UserPlace(stack); user && inKernel(m.Stacks.Frames(stack)) && !slices.Contains(stacks[place.Function], stack) {
				stacks[place.Function], places[place.Function] = append(stacks[place.Function], stack), place
			}
		}
	}
	for _, function := range slices.Sorted(maps.Keys(stacks)) {
		b := blockedPlace{places[function], stacks[function],
			p.SamplesAtStart("in system calls at the start", "goroutine", code.MatchStacks(stacks[function])),
			p.Samples("in system calls at the end", "goroutine", code.MatchStacks(stacks[function]))}
		if least := min(b.start.Value, b.end.Value); least >= threadsBlocked*threads.Value && b.end.Value > most.end.Value {
			most, ok = b, true
		}
	}
	return most, ok
}

// inKernel reports whether a goroutine is in a system call, or in C code.
func inKernel(frames []model.Frame) bool {
	return len(frames) > 0 && (model.EntersKernel(frames[0].Func) || frames[0].Func == "runtime.cgocall" || frames[0].Func == "runtime.asmcgocall")
}

// outsideFinding makes the finding of goroutines at both ends of the window.
func outsideFinding(p *diagnosis.Pass, b *blockedPlace, threads, ps, usual fact.Fact) diagnosis.Finding {
	f := threadFinding(p, b.end, threads, ps, usual)
	f.Evidence = append(f.Evidence, b.start)
	f.Reasons = []string{"two kinds of evidence agree: the kernel counts the threads, and the goroutines at both ends of the window " +
		"tell who is in system calls"}
	f.Where, f.Stacks = code.Places(b.place), b.stacks
	f.Say("There are %s threads for %s: %s goroutines of %s were in a system call at the start and %s at the end, "+
		"each on a thread of its own.",
		threads, ps.Things("P"), b.start.Number(), fact.Name(b.place.Function), b.end.Number())
	return f
}

// groupFinding makes the finding of a trace.
func groupFinding(p *diagnosis.Pass, g *model.Group, blocked, threads, ps, usual fact.Fact) diagnosis.Finding {
	f := threadFinding(p, blocked, threads, ps, usual)
	f.Reasons = []string{"two kinds of evidence agree: the kernel counts the threads, and the trace who is in " +
		"system calls"}
	f.Groups = []string{g.Name}
	f.Say("There are %s threads for %s: on average %s of %s are in a system call, each on a thread of its own.",
		threads, ps.Things("P"), blocked, fact.Name(code.GroupName(g.Name)))
	if place, ok := p.GroupPlace(g); ok {
		f.Where = code.Places(place)
	}
	return f
}

// threadFinding makes what both have.
func threadFinding(p *diagnosis.Pass, blocked, threads, ps, usual fact.Fact) diagnosis.Finding {
	memory := fact.Product.Of("memory of threads beyond one for each P, at least", fact.Bytes,
		fact.Difference.Of("threads beyond one for each P", fact.Count, threads, ps),
		fact.Figure("least that a thread costs", threadStack, fact.Bytes, "its kernel stack, and the pages of its own that the runtime touches"))
	return diagnosis.Finding{
		Evidence:   []fact.Fact{threads, p.Process("threads at the start", "threads", fact.First), blocked},
		Cost:       diagnosis.CostOf(memory, 0),
		Bound:      diagnosis.Direction(memory, diagnosis.MemoryGoal, 0, "switches between them cost CPU besides, which other rules count"),
		Confidence: diagnosis.Medium,
		RuledOut: []string{
			fact.Sentence("the runtime's own and those of the Ps: %s threads would be usual here", usual),
			"threads left over from a burst before: they are in use now",
		},
		Remedy: diagnosis.Remedy{
			Text: "Bound with a semaphore how many wait in the kernel at once, " +
				"or use what the runtime can poll: sockets, pipes opened non-blocking, the resolver of Go " +
				"(GODEBUG=netdns=go). " +
				"A goroutine that waits in the kernel, for a file, a pipe that is not polled, a flock, C code or " +
				"the resolver of C, keeps a thread; one that waits for the network does not.",
			Code: "slots := make(chan struct{}, 16) // at most so many block in the kernel\nslots <- struct{}{}\ndefer func() { <-slots }()",
		},
		Experiment: codeChange(diagnosis.PeakRSS, "", "The number of threads is in the ledger of both recordings. "+
			"Throughput is guarded: a bound that is too low makes work wait."),
	}
}
