package rules

import (
	"cmp"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// This is syscallbound's second view, for a process without a trace: what the
// kernel counted as its own work for it, and what it sampled there.

const (
	// kernelShare is the part of the CPU time that the kernel must have taken
	// for the process. The catalogue's figure. Programs that open, write or
	// read files in small pieces show 0.77 to 0.93, a web server 0.4 to 0.5,
	// computing 0.02 to 0.1, the same writing through a buffer 0.17.
	kernelShare = 0.4
	// kernelBulk is the mean size of reads and writes from which the kernel
	// copies rather than enters and leaves: 64 KiB take some 20 µs.
	kernelBulk = 64 << 10
)

// A kernelUse is what the kernel did something for.
type kernelUse uint8

const (
	forProgram kernelUse = iota + 1 // the rest
	forSockets
	forRuntime
	forBulk
)

// A kernelSplit is the kernel's samples of the process, by what they are for. Those
// in user mode are not in it.
type kernelSplit map[*model.Sample]kernelUse

func checkKernelbound(p *diagnosis.Pass) {
	const what = "whether the work is in system calls"
	used, ok := cpu.ProcessCPU(p)
	if !ok {
		p.Unchecked(what, "neither a trace nor the process's CPU counters were given", p.HowToGet(model.Trace))
		return
	}
	part := cpu.KernelCPU(p)
	if part.Value < kernelShare || used.Value < syscallCores {
		p.Fine(fact.Sentence("system calls: the kernel took %s of the CPU time", part))
		return
	}
	if p.Model.Kernel == nil || p.Model.Kernel.UserOnly || !cpu.EnoughKernelSamples(p) {
		p.Unchecked(what, fact.Sentence("the kernel took %s of the CPU time, and there are no samples of what "+
			"for", part), p.HowToGet(model.KernelCPU))
		return
	}
	k := splitKernel(p.Model)
	program, sockets, runtime, large := k.part(p, forProgram), k.part(p, forSockets), k.part(p, forRuntime), k.part(p, forBulk)
	switch {
	case program.Value >= 0.5:
		p.Report(kernelFinding(p, k, used, part))
	case sockets.Value >= max(runtime.Value, large.Value):
		p.Fine(fact.Sentence("system calls: the kernel took %s of the CPU time, most of it to read and write "+
			"sockets and pipes", part))
	case large.Value >= runtime.Value:
		p.Fine(fact.Sentence("system calls: the kernel took %s of the CPU time, most of it to read and write in "+
			"large pieces", part))
	default:
		p.Fine(fact.Sentence("system calls: the kernel took %s of the CPU time, most of it for the scheduler and "+
			"the collector", part))
	}
}

// splitKernel sorts the samples in the kernel. Sockets are left out as in the
// view of a trace, and so is what the runtime calls for itself.
func splitKernel(m *model.Model) kernelSplit {
	k, large := kernelSplit{}, bulkCalls(m.Syscalls)
	cpu.EachKernelSample(m, func(s *model.Sample, _ time.Duration) {
		if s.Labels["mode"] != "kernel" {
			return
		}
		k[s] = 0
		call := s.Labels["syscall"]
		switch part := model.CPUPartOf(m.Stacks.Frames(s.Stack)); {
		case part == model.Scheduling || part == model.Collecting || part == model.Allocating || part == model.StackGrowth:
			k[s] = forRuntime
		case cpu.OnSocket(m, s.Stack) || call == "epoll_pwait" || call == "epoll_wait":
			k[s] = forSockets
		case large[call]:
			k[s] = forBulk
		case call != "":
			k[s] = forProgram
		}
	})
	return k
}

// part returns the part of the kernel's time that was for something.
func (k kernelSplit) part(p *diagnosis.Pass, use kernelUse) fact.Fact {
	return fact.Quotient.Of("part of the kernel's time", fact.Ratio,
		p.Samples("CPU time in the kernel for it, by the samples", "kernel", k.is(use)),
		p.Samples("CPU time in the kernel, by the samples", "kernel", func(s *model.Sample) bool { _, ok := k[s]; return ok }))
}

func (k kernelSplit) is(use kernelUse) fact.Where {
	return func(s *model.Sample) bool { return k[s] == use }
}

// bulkCalls returns those that carry so much each that the copying is what they cost.
func bulkCalls(s *model.Syscalls) map[string]bool {
	out := map[string]bool{}
	if s == nil {
		return out
	}
	for _, c := range s.Calls {
		if c.Bytes >= kernelBulk*c.Count {
			out[c.Name] = true
		}
	}
	return out
}

// requestName names what the program wanted when its thread was in a system call: the outermost
// function of the system's packages, as callName has it, above the kernel's own frames; the
// call's name when no Go code is on the stack.
func requestName(m *model.Model, s model.Stack, call string) (name string) {
	inGo := false
	for _, f := range m.Stacks.Frames(s) {
		system := code.IsSystem(f.Func)
		if inGo && !system {
			break
		}
		if system {
			inGo, name = true, f.Func
		}
	}
	if name == "" || strings.HasPrefix(name, "runtime.") {
		return call
	}
	return name
}

func kernelFinding(p *diagnosis.Pass, k kernelSplit, used, part fact.Fact) diagnosis.Finding {
	asks, names := cpu.Requests{}, cpu.Requests{}
	cpu.EachKernelSample(p.Model, func(s *model.Sample, t time.Duration) {
		if call := s.Labels["syscall"]; k[s] == forProgram {
			asks.Add(requestName(p.Model, s.Stack, call), s.Stack, t)
			names.Add(call, s.Stack, t)
		}
	})
	first := asks.Sorted()
	// The samples give the parts, the counters the whole.
	inCalls := cpu.CallUseOf(p, "CPU in system calls for the program, without sockets and large transfers", k.is(forProgram))
	f := diagnosis.Finding{
		Where:    cpu.KernelSites(p, func(s *model.Sample) bool { return first[0].Stacks[s.Stack] > 0 }),
		Evidence: []fact.Fact{part, used, inCalls.Share.Named("share of CPU time in calls for the program")},
		Cost:     inCalls.Cost(),
		Bound: inCalls.Bound("Amdahl, as if none of these calls were needed; what the program does around them " +
			"comes on top"),
		Confidence: diagnosis.High,
		Reasons:    []string{"two kinds of evidence agree: the process's counters and the kernel's samples"},
		RuledOut: []string{
			fact.Sentence("sockets and pipes: %s of the kernel's time", k.part(p, forSockets)),
			fact.Sentence("reads and writes of %s and more: %s of it", fact.Name(fact.Bytes.Format(kernelBulk)), k.part(p, forBulk)),
			fact.Sentence("the scheduler and the collector: %s of it", k.part(p, forRuntime)),
		},
		Remedy: kernelRemedy(p, first[0].Name),
		Experiment: codeChange(diagnosis.Syscalls, diagnosis.CPUPerOp, fact.Sentence("The kernel's part of the CPU time is %s now, "+
			"and `gowhy ledger` prints it. CPU time per operation tells what the calls cost.", part)),
	}
	f.Say("The kernel took %s of the process's CPU time: %s in system calls for the program itself, most of it in %s.",
		part, inCalls.Cores, fact.Name(first[0].Name))
	for _, o := range first[:min(3, len(first))] {
		f.Stacks = append(f.Stacks, statistics.Largest(o.Stacks)...)
	}
	calls := names.Sorted()
	for _, o := range calls[:min(4, len(calls))] {
		in := cpu.CallUseOf(p, "CPU in "+o.Name, func(s *model.Sample) bool { return k[s] == forProgram && s.Labels["syscall"] == o.Name })
		f.Evidence = append(f.Evidence, in.Cores)
		if s := p.Model.Syscalls; s != nil && s.Call(o.Name).Count > 0 {
			f.Evidence = append(f.Evidence, cpu.CallRate(p, "calls of "+o.Name, "calls", o.Name))
		}
	}
	return f
}

// kernelRemedy goes by what is asked for, as that of a trace does.
func kernelRemedy(p *diagnosis.Pass, name string) diagnosis.Remedy {
	if r, ok := knownCall(name); ok || p.Model.Syscalls == nil {
		r.Text = cmp.Or(r.Text, fewerCalls)
		return r
	}
	var names []string
	for _, c := range p.Model.Syscalls.Calls {
		names = append(names, c.Name)
	}
	return diagnosis.Remedy{Text: fewerCalls + fact.Sentence(" There are %s calls a second.", cpu.CallRate(p, "system calls", "calls", names...).Number())}
}

// addKernelFacts adds what the kernel says to a finding that the trace made.
func addKernelFacts(p *diagnosis.Pass, f *diagnosis.Finding) {
	if cpu.TimeOfProcess(p).Duration() < neighbourTicks {
		return
	}
	part := cpu.KernelCPU(p)
	f.Rest(part)
	if part.Value >= kernelShare {
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, fact.Sentence("the process's own counters agree: the kernel took %s of its CPU time", part))
	}
	a := p.Model.CPUAccount() // there is one where the process was counted
	if a.Believed != model.KernelCPU {
		return
	}
	for _, c := range a.KernelCalls()[:min(4, len(a.KernelCalls()))] {
		cores := c.Time.Seconds() / a.Window.Seconds()
		f.Rest(p.Statistic(fact.Account, "time in "+c.Name, "CPU in "+c.Name, cores, fact.Cores).From(model.KernelCPU))
	}
}
