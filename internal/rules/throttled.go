package rules

import (
	_ "embed"
	"fmt"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed throttled.md
var throttledPage string

var throttled = &diagnosis.Rule{
	Name:     "throttled",
	Title:    "The CPU quota stops the process",
	Doc:      throttledPage,
	Needs:    []model.Source{model.ProcFS},
	Explains: []string{"starved", "schedlatency", "slowstop", "gcassist"},
	Untimed:  true,
	Check:    checkThrottled,
}

const (
	// throttledTime is the part of the window that the group must have been
	// stopped. Two threads that compute on half a core of quota are stopped
	// for 0.75 of it, one thread on a quota of two cores never.
	throttledTime = 0.05
	// throttledPeriods is the part of the quota periods that must have ended
	// in a stop, however short: each is felt by whoever asks in it.
	throttledPeriods = 0.10
	// throttledLeast is how many stops are no accident: the start of a
	// program, or the recording's own, uses up one or two periods.
	throttledLeast = 5
	// throttledBursts is the use of the quota, on average, below which what
	// is too small is not the quota but its period: the program needs less
	// than it has, only not evenly.
	throttledBursts = 0.8
)

func checkThrottled(p *diagnosis.Pass) {
	l := p.Model.Limits
	if l == nil {
		p.Unchecked("whether a CPU quota stops the process", "its control group could not be read", "grep -H . /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu.stat")
		return
	}
	if l.Quota <= 0 {
		p.Fine("CPU quota: the process has none")
		return
	}
	t, ok := throttling(p.Model)
	if !ok {
		p.Unchecked("whether the CPU quota stops the process", "the counters of its control group were not read twice", "grep -H . /sys/fs/cgroup/cpu.stat")
		return
	}
	if t.throttled < throttledLeast || t.share() < throttledTime && t.often() < throttledPeriods {
		p.Fine(fmt.Sprintf("CPU quota of %s: used up in %s of %s periods", many(t.quota, "core"), num(t.throttled), num(t.periods)))
		return
	}
	p.Report(throttledFinding(p, t))
}

func throttledFinding(p *diagnosis.Pass, t throttle) diagnosis.Finding {
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("The quota of %s was used up in %s of %s periods, and each time the kernel stopped the process until the next one: for up to %s, %s of the window.",
			many(t.quota, "core"), num(t.throttled), num(t.periods), dur(t.mean()), pct(t.share())),
		Evidence: t.facts(),
		Cost: diagnosis.Cost{
			Value: t.share(), Unit: fact.Ratio, Share: t.share(), What: "part of the window in which threads that wanted to run were stopped, at most",
		},
		Bound: diagnosis.Bound{
			Value: t.mean().Seconds(), Unit: fact.Seconds, Goal: diagnosis.Latency, Share: t.share(),
			Method: "0 to the mean stop, for a request that falls into one: the kernel's throttled time, which it adds up over CPUs, cut off at the longest stop that each period can have had, ÷ their number",
		},
		Confidence: diagnosis.High,
		Reasons:    []string{"the kernel counts every stop; nothing is sampled"},
		RuledOut: []string{
			fmt.Sprintf("a burst at the start: %s stops in %s", num(t.throttled), dur(t.window)),
			"neighbours on the machine: only the group's own quota stops it in this way",
		},
		Prove: fmt.Sprintf("The quota is set outside the program, so that both arms of a comparison would have it. nr_throttled in `/sys/fs/cgroup/cpu.stat` is a count: it rises by %s in %s now, and must not rise after, with the larger quota or the smaller burst. Record then, and compare the 99th percentile that clients see.", num(t.throttled), dur(t.window)),
	}
	f.Remedy = throttledRemedy(t)
	if u, ok := rusage(p.Model); ok && t.usage > 0 {
		own := min(1, div(u.cores(), div(t.usage.Seconds(), t.window.Seconds())))
		f.Evidence = append(f.Evidence, fact.Fact{Name: "share of the process in the group's CPU", Value: own, Unit: fact.Ratio, Source: "/proc: CPU time ÷ control group: cpu.stat"})
		if own < 0.5 {
			f.Reasons = append(f.Reasons, fmt.Sprintf("the process itself used only %s of the group's CPU: others in the same container use up the quota", pct(own)))
		} else {
			f.RuledOut = append(f.RuledOut, fmt.Sprintf("other processes of the group: this one used %s of its CPU", pct(own)))
		}
	}
	return f
}

func throttledRemedy(t throttle) diagnosis.Remedy {
	used := div(t.usage.Seconds(), t.window.Seconds()*t.quota)
	if t.usage > 0 && used < throttledBursts {
		return diagnosis.Remedy{
			Text: fmt.Sprintf("On average only %s of the quota is used: it is bursts that hit it. Let fewer threads run at once (GOMAXPROCS no larger than the quota), spread what happens in bursts, or let the group save up unused quota (cpu.max.burst, Linux 5.14). A larger quota helps too and costs nothing where it is not used.", pct(used)),
		}
	}
	return diagnosis.Remedy{
		Text: "The work needs more CPU than the group may use. Raise the limit (resources.limits.cpu in Kubernetes, --cpus in Docker, CPUQuota in systemd), run more replicas, or spend less CPU for each operation; until then keep GOMAXPROCS no larger than the quota, so that a stop does not hit all threads in the middle of their work.",
	}
}
