package cpu

import (
	"fmt"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// EnoughKernelSamples reports whether shares can be taken from the kernel's samples.
func EnoughKernelSamples(p *diagnosis.Pass) bool {
	return p.Samples("all", "kernel", nil).Origin.N >= diagnosis.ThinSamples
}

// OnSocket recognises calls on sockets by the Go code above them, or by the
// kernel's functions where a stack begins in the kernel. Pipes carry messages
// too, but only the kernel's functions tell them from files.
func OnSocket(m *model.Model, s model.Stack) bool {
	return code.ContainsPrefix(m.Stacks.Frames(s), socketFuncs)
}

// CallSites returns the lines that make system calls with such stacks, those of the most calls first, and the
// time inside those calls: by the trace, which has all of them and lets other findings be compared, else, as where
// most of it is lost, by the kernel's samples in them.
func CallSites(p *diagnosis.Pass, match func(model.Stack) bool, inCall func(*model.Sample) bool) (places []diagnosis.Place, stacks []model.Stack, inside fact.Fact) {
	if p.Model.Sched != nil {
		places, stacks, inside = tracedSites(p, match)
	}
	if len(places) == 0 {
		places = KernelSites(p, inCall)
	}
	return places, stacks, inside
}

// tracedSites returns those of the trace.
func tracedSites(p *diagnosis.Pass, match func(model.Stack) bool) (places []diagnosis.Place, stacks []model.Stack, inside fact.Fact) {
	byStack := map[model.Stack]int64{}
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Kind == model.SyscallWait && match(w.Stack) {
			byStack[w.Stack] += w.Count
		}
	}
	stacks = statistics.Largest(byStack)
	least := siteShare * float64(statistics.Total(byStack))
	for _, s := range stacks {
		if place, ok := p.UserPlace(s); ok && len(places) < MostSites && float64(byStack[s]) >= least {
			places = append(places, place)
		}
	}
	inside = p.Waits("time inside these calls", model.SyscallWait, func(w *model.Wait) bool { return match(w.Stack) })
	return code.Places(places...), stacks, inside
}

// An Request is what a program asks the system for, like os.(*File).Write.
type Request struct {
	Name   string
	total  time.Duration
	Stacks map[model.Stack]time.Duration
}

// Requests are several, by name.
type Requests map[string]*Request

// Add adds time in which a stack stood in a request of that name.
func (o Requests) Add(name string, s model.Stack, d time.Duration) {
	if o[name] == nil {
		o[name] = &Request{Name: name, Stacks: map[model.Stack]time.Duration{}}
	}
	o[name].total += d
	o[name].Stacks[s] += d
}

// Sorted returns all of them, the largest total first.
func (o Requests) Sorted() (list []*Request) {
	totals := map[string]time.Duration{}
	for name := range o {
		totals[name] = o[name].total
	}
	for _, name := range statistics.Largest(totals) {
		list = append(list, o[name])
	}
	return list
}

// Place returns the user's line with most of the request's time.
func (o *Request) Place(p *diagnosis.Pass) diagnosis.Place {
	return code.UserPlace(p, statistics.Largest(o.Stacks)...)
}

// CallRate returns how often a second any of the named system calls was made; column is
// calls, good or errors.
func CallRate(p *diagnosis.Pass, name, column string, calls ...string) fact.Fact {
	return fact.Quotient.Of(name, fact.PerSec, p.Syscalls(name, column, calls...), p.SyscallWindow())
}

// CallCountMethod says how the system calls were counted, and how sure their numbers
// alone are: what was scaled up from a part of the time is an estimate.
func CallCountMethod(p *diagnosis.Pass) (how string, confidence diagnosis.Confidence) {
	s := p.Model.Syscalls
	if s.Exact() {
		return "every call is counted", diagnosis.Medium
	}
	part := p.Setting("part of the time in which calls were counted", "slices spread over the window", s.Share, fact.Ratio)
	return fact.Sentence("calls were counted in %s of the time and scaled up", part), diagnosis.Low
}

// EachKernelSample calls f with each sample and its time.
func EachKernelSample(m *model.Model, f func(s *model.Sample, t time.Duration)) {
	if m.Kernel == nil || m.Kernel.CPU == nil {
		return
	}
	_, nanos := m.Kernel.CPU.Columns()
	for i := range m.Kernel.CPU.Samples {
		s := &m.Kernel.CPU.Samples[i]
		f(s, time.Duration(s.Value(nanos)))
	}
}

// MatchCalls matches samples inside one of the named system calls.
func MatchCalls(names ...string) fact.Where {
	return func(s *model.Sample) bool { return slices.Contains(names, s.Labels["syscall"]) }
}

// A CallUse is the CPU in system calls, as the kernel's samples have it.
type CallUse struct {
	Cores, Share fact.Fact
	Enough       bool // samples to rest a finding on
}

// CallUseOf returns the CPU that matching samples stand for. The shares are the
// samples', the whole is what the kernel's counters say where they were read.
func CallUseOf(p *diagnosis.Pass, name string, match fact.Where) (c CallUse) {
	c.Share = p.SampleShare("share of the kernel's samples", "kernel", match)
	if used, ok := ProcessCPU(p); ok {
		c.Cores = fact.Product.Of(name, fact.Cores, c.Share, used)
	} else {
		c.Cores = fact.Quotient.Of(name, fact.Cores, p.Samples(name, "kernel", match), p.ProfileLength("kernel"))
	}
	c.Enough = c.Share.Value > 0 && EnoughKernelSamples(p)
	return c
}

// Cost returns the CPU of the calls as a cost.
func (c *CallUse) Cost() diagnosis.Cost { return diagnosis.CostOf(c.Cores, c.Share.Value) }

// Bound returns a direction: the part of the calls in the kernel goes with them, and
// what the program does around them besides.
func (c *CallUse) Bound(note string) diagnosis.Bound {
	return diagnosis.Direction(c.Cores, diagnosis.CPUGoal, c.Share.Value, note)
}

const (
	// leastPrice and mostPrice, in seconds, are what a call costs where no
	// sample tells. A byte from a file took 0.34 µs, 20 bytes to one 0.7 to 1 µs,
	// and the calls around opening a file 1.1 µs on average, on two cores of a
	// virtual machine. Five times that is more than any of them took.
	leastPrice = 0.34e-6
	mostPrice  = 5e-6
)

// CallPrice returns the CPU of a number of calls a second where no sample tells it: the time
// inside them where a trace has it, which may include waiting, else what calls cost
// elsewhere, and no more than what the kernel took in all. What the program does around a
// call comes on top.
func CallPrice(p *diagnosis.Pass, rate, inside fact.Fact) (diagnosis.Cost, diagnosis.Bound) {
	least := fact.Product.Of("CPU to enter and leave the kernel so often", fact.Cores, rate,
		fact.Figure("least that a call costs", leastPrice, fact.Seconds, "reading a byte from a file, on a virtual machine"))
	most := fact.Product.Of("largest cost of such calls elsewhere", fact.Cores, rate,
		fact.Figure("most that a call costs", mostPrice, fact.Seconds, "five times what opening a file took, on a virtual machine"))
	if inside.Value > 0 {
		most = fact.Quotient.Of("all time inside these calls", fact.Cores, inside, p.WindowLength())
	}
	if _, ok := ProcessCPU(p); ok {
		most = fact.Smallest.Of("most CPU of these calls", fact.Cores, most,
			p.Process("what the kernel took for the process", "system", fact.Rate))
	}
	if most.Value < least.Value {
		least = most.Named(least.Name)
	}
	share := func(f fact.Fact) float64 {
		return fact.Fraction.Of("share of the CPU", fact.Ratio, f, Cores(p)).Value
	}
	return diagnosis.CostOf(least, share(least)),
		diagnosis.Direction(most, diagnosis.CPUGoal, share(most), "what the program does around the calls comes on top")
}

// KernelSites returns the user's lines under matching samples, the most time
// first.
func KernelSites(p *diagnosis.Pass, match func(*model.Sample) bool) (places []diagnosis.Place) {
	times, byName := map[string]time.Duration{}, map[string]diagnosis.Place{}
	EachKernelSample(p.Model, func(s *model.Sample, t time.Duration) {
		if place, ok := p.UserPlace(s.Stack); ok && match(s) {
			name := fmt.Sprint(place)
			times[name], byName[name] = times[name]+t, place
		}
	})
	least := siteShare * float64(statistics.Total(times))
	for _, name := range statistics.Largest(times) {
		if len(places) < MostSites && float64(times[name]) >= least {
			places = append(places, byName[name])
		}
	}
	return places
}

// FutexCalls returns how many were made a second, of all kinds.
func FutexCalls(p *diagnosis.Pass) fact.Fact {
	return CallRate(p, "futex calls", "calls", "futex", "futex_wait", "futex_wake", "futex_waitv")
}

// MostSites is how many lines a finding about system calls names, and
// siteShare the part of the whole that each must have: further ones are
// somebody else's, like the recording's own.
const MostSites = 3

const siteShare = 0.1

var socketFuncs = []string{"net.", "sock_", "__sys_sendto", "__sys_recvfrom", "__sys_sendmsg", "__sys_recvmsg", "pipe_read", "pipe_write", "anon_pipe_read", "anon_pipe_write"}
