package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
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

// A kernelSplit is the kernel's time for the process, by what it was for.
type kernelSplit struct {
	whole            time.Duration // all samples in the kernel
	sockets, runtime time.Duration // of those
	bulk             time.Duration
	calls            []op // the rest by what the program asked for, the largest first
	rest             time.Duration
	names            map[string]time.Duration // the rest by system call
}

func checkKernelbound(p *diagnosis.Pass) {
	const what = "whether the work is in system calls"
	u, ok := rusage(p.Model)
	if !ok {
		p.Unchecked(what, "neither a trace nor the process's CPU counters were given", diagnosis.HowToGet(model.Trace))
		return
	}
	if u.kernelShare() < kernelShare || u.cores() < syscallCores {
		p.Fine(fmt.Sprintf("system calls: the kernel took %s of the CPU time", pct(u.kernelShare())))
		return
	}
	if p.Model.Kernel == nil || p.Model.Kernel.UserOnly || !enoughKernelSamples(p.Model) {
		p.Unchecked(what, fmt.Sprintf("the kernel took %s of the CPU time, and there are no samples of what for", pct(u.kernelShare())), diagnosis.HowToGet(model.KernelCPU))
		return
	}
	k := splitKernel(p.Model)
	switch {
	case k.rest >= k.whole/2 && len(k.calls) > 0:
		p.Report(kernelFinding(p, u, &k))
	case k.sockets >= max(k.runtime, k.bulk):
		p.Fine(fmt.Sprintf("system calls: the kernel took %s of the CPU time, most of it to read and write sockets and pipes", pct(u.kernelShare())))
	case k.bulk >= k.runtime:
		p.Fine(fmt.Sprintf("system calls: the kernel took %s of the CPU time, most of it to read and write in large pieces", pct(u.kernelShare())))
	default:
		p.Fine(fmt.Sprintf("system calls: the kernel took %s of the CPU time, most of it for the scheduler and the collector", pct(u.kernelShare())))
	}
}

// splitKernel sorts the samples in the kernel. Sockets are left out as in the
// view of a trace, and so is what the runtime calls for itself.
func splitKernel(m *model.Model) (k kernelSplit) {
	large := bulkCalls(m.Syscalls)
	sums := map[string]*op{}
	k.names = map[string]time.Duration{}
	eachKernelSample(m, func(s *model.Sample, n int64, t time.Duration) {
		if s.Labels["mode"] != "kernel" {
			return
		}
		k.whole += t
		call := s.Labels["syscall"]
		switch part := model.CPUPartOf(m.Stacks.Frames(s.Stack)); {
		case part == model.Scheduling || part == model.Collecting || part == model.Allocating || part == model.StackGrowth:
			k.runtime += t
		case onSocket(m, s.Stack) || call == "epoll_pwait" || call == "epoll_wait":
			k.sockets += t
		case large[call]:
			k.bulk += t
		case call != "":
			k.rest += t
			k.names[call] += t
			name := asked(m, s.Stack, call)
			if sums[name] == nil {
				sums[name] = &op{name: name, stacks: map[model.Stack]time.Duration{}}
			}
			sums[name].count += n
			sums[name].total += t
			sums[name].stacks[s.Stack] += t
		}
	})
	for _, name := range largest(totals(sums)) {
		k.calls = append(k.calls, *sums[name])
	}
	return k
}

func totals(sums map[string]*op) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, o := range sums {
		out[name] = o.total
	}
	return out
}

// bulkCalls are those that carry so much each that the copying is what they cost.
func bulkCalls(s *model.Syscalls) map[string]bool {
	out := map[string]bool{}
	if s == nil {
		return out
	}
	for _, c := range s.Calls {
		if c.Count > 0 && c.Bytes/c.Count >= kernelBulk {
			out[c.Name] = true
		}
	}
	return out
}

// asked is what the program asked for when its thread was in a system call:
// the outermost function of the system's packages, as callName has it, above
// the kernel's own frames; the call's name when no Go code is on the stack.
func asked(m *model.Model, s model.Stack, call string) (name string) {
	inGo := false
	for _, f := range m.Stacks.Frames(s) {
		system := systemPackage(f.Func)
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

func kernelFinding(p *diagnosis.Pass, u cpuUse, k *kernelSplit) diagnosis.Finding {
	whole, _ := kernelSamples(p.Model, nil)
	// The samples give the parts, the counters the whole.
	share := min(1, div(k.rest.Seconds(), whole.Seconds()))
	cores := share * u.cores()
	first := &k.calls[0]
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("The kernel took %s of the process's CPU time: %s cores in system calls for the program itself, most of it in %s.",
			pct(u.kernelShare()), num(cores), first.name),
		Where: kernelSites(p, func(s *model.Sample) bool { return first.stacks[s.Stack] > 0 }),
		Evidence: []fact.Fact{
			{Name: "share of CPU time in the kernel", Value: u.kernelShare(), Unit: fact.Ratio, Source: "/proc: CPU time of the process"},
			{Name: "CPU of the process", Value: u.cores(), Unit: fact.Cores, Source: "/proc: CPU time of the process"},
			{Name: "share of CPU time in calls for the program", Value: share, Unit: fact.Ratio, Source: "kernel samples, without sockets, large transfers and the runtime's own"},
		},
		Cost: diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "CPU in system calls for the program, without sockets and large transfers"},
		Bound: diagnosis.Bound{
			Value: cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method:  "Amdahl: all CPU in these calls, as if none were needed: their part of the kernel's samples × the process's CPU time; what the program does around them comes on top",
			Partial: true,
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"two kinds of evidence agree: the process's counters and the kernel's samples"},
		RuledOut: []string{
			"sockets and pipes: " + pct(div(k.sockets.Seconds(), k.whole.Seconds())) + " of the kernel's time",
			"reads and writes of " + size(kernelBulk) + " and more: " + pct(div(k.bulk.Seconds(), k.whole.Seconds())) + " of it",
			"the scheduler and the collector: " + pct(div(k.runtime.Seconds(), k.whole.Seconds())) + " of it",
		},
		Remedy:     kernelRemedy(first.name, p.Model.Syscalls),
		Experiment: changed(diagnosis.Syscalls, diagnosis.CPUPerOp, "The kernel's part of the CPU time is "+pct(u.kernelShare())+" now, and `gowhy ledger` prints it. CPU time per operation tells what the calls cost."),
	}
	for i := range k.calls[:min(3, len(k.calls))] {
		f.Stacks = append(f.Stacks, largest(k.calls[i].stacks)...)
	}
	for _, name := range largest(k.names)[:min(4, len(k.names))] {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in " + name, Value: div(k.names[name].Seconds(), whole.Seconds()) * u.cores(), Unit: fact.Cores, Source: "kernel samples"})
		if s := p.Model.Syscalls; s != nil && s.Call(name).Count > 0 {
			f.Evidence = append(f.Evidence, fact.Fact{Name: "calls of " + name, Value: calls(s, name), Unit: fact.PerSec, Source: "system calls counted by the kernel"})
		}
	}
	return f
}

// kernelRemedy goes by what is asked for, as that of a trace does.
func kernelRemedy(name string, s *model.Syscalls) diagnosis.Remedy {
	for _, r := range callRemedies {
		if slices.ContainsFunc(r.names, func(n string) bool { return strings.Contains(name, n) }) {
			return diagnosis.Remedy{Text: r.text, Code: r.code}
		}
	}
	text := "The time is the kernel's, spent on behalf of these calls: make fewer of them (keep files open, read and write larger pieces, keep results) rather than faster code around them."
	if s == nil {
		return diagnosis.Remedy{Text: text}
	}
	var all int64
	for _, c := range s.Calls {
		all += c.Count
	}
	return diagnosis.Remedy{Text: fmt.Sprintf("There are %s calls a second. %s", num(math.Round(div(float64(all), s.Window.Seconds()))), text)}
}

// addKernelFacts adds what the kernel says to a finding that the trace made.
func addKernelFacts(p *diagnosis.Pass, f *diagnosis.Finding) {
	u, ok := rusage(p.Model)
	if !ok || u.total() < neighbourTicks {
		return
	}
	f.Evidence = append(f.Evidence, fact.Fact{Name: "share of CPU time in the kernel", Value: u.kernelShare(), Unit: fact.Ratio, Source: "/proc: CPU time of the process"})
	if u.kernelShare() >= kernelShare {
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, "the process's own counters agree: the kernel took "+pct(u.kernelShare())+" of its CPU time")
	}
	a := p.Model.CPUAccount()
	if a == nil || a.Believed != model.KernelCPU || a.Window <= 0 {
		return
	}
	for _, c := range a.KernelCalls()[:min(4, len(a.KernelCalls()))] {
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in " + c.Name, Value: div(c.Time.Seconds(), a.Window.Seconds()), Unit: fact.Cores, Source: "kernel samples"})
	}
}
