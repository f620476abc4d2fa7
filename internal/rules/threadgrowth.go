package rules

import (
	_ "embed"
	"fmt"
	"slices"
	"time"

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
	procs := knownProcs(p.Model)
	threads, first := threadsOf(p.Model.Process)
	if threads == 0 || procs == 0 {
		return
	}
	usual := threadsPerP*procs + threadsMore
	if threads < usual {
		p.Fine(fmt.Sprintf("threads: %d for %d Ps", threads, procs))
		return
	}
	groups := kernelBlocked(p)
	if p.Model.Sched == nil {
		p.Unchecked("why there are so many threads", fmt.Sprintf("there are %d threads for %d Ps, and only a trace tells who blocks them", threads, procs), diagnosis.HowToGet(model.Trace))
		return
	}
	if len(groups) == 0 {
		p.Fine(fmt.Sprintf("threads: %d for %d Ps, left over from before: nobody blocks so many now", threads, procs))
		return
	}
	p.Report(threadFinding(p, groups, threads, first, procs))
}

// threadsOf is the most threads at a time, and those of the first look.
func threadsOf(proc *model.Process) (most, first int) {
	if proc == nil {
		return 0, 0
	}
	for i, s := range proc.Samples {
		if i == 0 {
			first = s.Threads
		}
		most = max(most, s.Threads)
	}
	return most, first
}

// kernelBlocked is who keeps threads in system calls, most first: groups that on
// average have more than a thread for each P there.
func kernelBlocked(p *diagnosis.Pass) (gs []*model.Group) {
	if p.Model.Sched == nil {
		return nil
	}
	for i := range p.Model.Sched.Groups {
		if g := &p.Model.Sched.Groups[i]; held(p, g) > float64(p.Procs()) {
			gs = append(gs, g)
		}
	}
	slices.SortFunc(gs, func(a, b *model.Group) int { return int(inKernel(b) - inKernel(a)) })
	return gs
}

func inKernel(g *model.Group) time.Duration { return g.Syscall + g.SyscallBlocked }

// held is how many threads a group has in system calls on average.
func held(p *diagnosis.Pass, g *model.Group) float64 { return div(inKernel(g).Seconds(), p.Seconds()) }

func threadFinding(p *diagnosis.Pass, groups []*model.Group, threads, first, procs int) diagnosis.Finding {
	g := groups[0]
	more := float64(threads - procs)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("There are %d threads for %s: on average %s of %s are in a system call, each on a thread of its own.", threads, many(procs, "P"), num(held(p, g)), groupName(g.Name)),
		Evidence: []fact.Fact{
			{Name: "threads at most", Value: float64(threads), Unit: fact.Count, Source: "/proc: threads of the process"},
			{Name: "threads at the start", Value: float64(first), Unit: fact.Count, Source: "/proc: threads of the process"},
			{Name: "in system calls on average", Value: held(p, g), Unit: fact.Count, Source: "trace: goroutine groups"},
		},
		Cost: diagnosis.Cost{Value: more * threadStack, Unit: fact.Bytes, What: "memory of threads beyond one for each P, 24 KiB each at least"},
		Bound: diagnosis.Bound{
			Value: more * threadStack, Unit: fact.Bytes, Goal: diagnosis.MemoryGoal, Partial: true,
			Method: "threads beyond the Ps × 24 KiB, the least that one costs; switches between them cost CPU besides, which other rules count",
		},
		Confidence: diagnosis.Medium,
		Reasons:    []string{"two kinds of evidence agree: the kernel counts the threads, and the trace who is in system calls"},
		RuledOut: []string{
			fmt.Sprintf("the runtime's own and those of the Ps: %d threads would be usual here", threadsPerP*procs+threadsMore),
			"threads left over from a burst before: they are in use now",
		},
		Groups: []string{g.Name},
		Remedy: diagnosis.Remedy{
			Text: "A goroutine that waits in the kernel, for a file, a pipe that is not polled, a flock, C code or the resolver of C, keeps a thread; one that waits for the network does not. Bound how many do so at once with a semaphore, or use what the runtime can poll: sockets, pipes opened non-blocking, the resolver of Go (GODEBUG=netdns=go).",
			Code: "slots := make(chan struct{}, 16) // at most so many block in the kernel\nslots <- struct{}{}\ndefer func() { <-slots }()",
		},
		Experiment: changed(diagnosis.PeakRSS, "", "The number of threads is in the ledger of both recordings. Throughput is guarded: a bound that is too low makes work wait."),
	}
	if place, ok := p.GroupPlace(g); ok {
		f.Where = where(place)
	}
	return f
}
