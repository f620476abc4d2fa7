package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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
)

func checkThreadgrowth(p *diagnosis.Pass) {
	ps := knownPs(p)
	threads := p.Process("threads at most", "threads", fact.Most)
	if threads.Value == 0 || ps.Value == 0 {
		return
	}
	usual := usualThreads.Of("threads that would be usual", fact.Count, ps)
	if threads.Value < usual.Value {
		p.Fine(fact.Sentence("threads: %s for %s", threads, plural(ps, "P")))
		return
	}
	if p.Model.Sched == nil {
		p.Unchecked("why there are so many threads",
			fact.Sentence("there are %s threads for %s, and only a trace tells who blocks them", threads, plural(ps, "P")), diagnosis.HowToGet(model.Trace))
		return
	}
	group, blocked := kernelBlocked(p)
	if group == nil {
		p.Fine(fact.Sentence("threads: %s for %s, left over from before: nobody blocks so many now", threads, plural(ps, "P")))
		return
	}
	p.Report(threadFinding(p, group, blocked, threads, ps, usual))
}

// usualThreads is how many threads a program has that blocks few of them.
var usualThreads = &fact.Formula{Name: "usual threads", Words: "four for each of {0}, and twenty of the runtime's own",
	Value: func(x []float64) float64 { return threadsPerP*x[0] + threadsMore }}

// kernelBlocked is who keeps most threads in system calls, more than one for each
// P on average, and how many; nil when nobody does.
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

func threadFinding(p *diagnosis.Pass, g *model.Group, blocked, threads, ps, usual fact.Fact) diagnosis.Finding {
	memory := fact.Product.Of("memory of threads beyond one for each P, at least", fact.Bytes,
		fact.Difference.Of("threads beyond one for each P", fact.Count, threads, ps),
		fact.Figure("least that a thread costs", threadStack, fact.Bytes, "its kernel stack, and the pages of its own that the runtime touches"))
	f := diagnosis.Finding{
		Evidence:   []fact.Fact{threads, p.Process("threads at the start", "threads", fact.First), blocked},
		Cost:       diagnosis.CostOf(memory, 0),
		Bound:      diagnosis.Direction(memory, diagnosis.MemoryGoal, 0, "switches between them cost CPU besides, which other rules count"),
		Confidence: diagnosis.Medium,
		Reasons: []string{"two kinds of evidence agree: the kernel counts the threads, and the trace who is in " +
			"system calls"},
		RuledOut: []string{
			fact.Sentence("the runtime's own and those of the Ps: %s threads would be usual here", usual),
			"threads left over from a burst before: they are in use now",
		},
		Groups: []string{g.Name},
		Remedy: diagnosis.Remedy{
			Text: "A goroutine that waits in the kernel, for a file, a pipe that is not polled, a flock, C code or " +
				"the resolver of C, " +
				"keeps a thread; one that waits for the network does not. Bound how many do so at once with a " +
				"semaphore, " +
				"or use what the runtime can poll: sockets, pipes opened non-blocking, the resolver of Go " +
				"(GODEBUG=netdns=go).",
			Code: "slots := make(chan struct{}, 16) // at most so many block in the kernel\nslots <- struct{}{}\ndefer func() { <-slots }()",
		},
		Experiment: changed(diagnosis.PeakRSS, "", "The number of threads is in the ledger of both recordings. "+
			"Throughput is guarded: a bound that is too low makes work wait."),
	}
	f.Say("There are %s threads for %s: on average %s of %s are in a system call, each on a thread of its own.",
		threads, plural(ps, "P"), blocked, fact.Name(groupName(g.Name)))
	if place, ok := p.GroupPlace(g); ok {
		f.Where = where(place)
	}
	return f
}
