package rules

import (
	_ "embed"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed throttled.md
var throttledPage string

var throttled = &diagnosis.Rule{
	Name:       "throttled",
	Title:      "The CPU quota stops the process",
	Doc:        throttledPage,
	Needs:      []model.Source{model.ProcFS},
	Explains:   []string{"starved", "schedlatency", "slowstop", "gcassist"},
	Disturbing: true,
	Whole:      true,
	Check:      checkThrottled,
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
	// throttledOwn is the part of the group's CPU below which it is others in the
	// same container who use up the quota.
	throttledOwn = 0.5
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
	t, ok := cpu.Throttling(p)
	if !ok {
		p.Unchecked("whether the CPU quota stops the process", "the counters of its control group were not read twice", "grep -H . /sys/fs/cgroup/cpu.stat")
		return
	}
	if t.Throttled.Value < throttledLeast || t.Share.Value < throttledTime && t.Often.Value < throttledPeriods {
		p.Fine(fact.Sentence("CPU quota of %s: used up in %s of %s periods", t.Quota, t.Throttled, t.Periods))
		return
	}
	p.Report(throttledFinding(p, &t))
}

func throttledFinding(p *diagnosis.Pass, t *cpu.Throttle) diagnosis.Finding {
	f := diagnosis.Finding{
		Evidence:   t.Facts(),
		Cost:       diagnosis.CostOf(t.Share, t.Share.Value),
		Bound:      t.Bound(""),
		Confidence: diagnosis.High,
		Reasons:    []string{"the kernel counts every stop; nothing is sampled"},
		RuledOut: []string{
			fact.Sentence("a burst at the start: %s stops in %s", t.Throttled, t.Window),
			"neighbours on the machine: only the group's own quota stops it in this way",
		},
		Remedy: throttledRemedy(t),
		Prove: fact.Sentence("The quota is set outside the program, so that both arms of a comparison would have it. "+
			"nr_throttled in `/sys/fs/cgroup/cpu.stat` is a count: it rises by %s in %s now, and must not rise after, "+
			"with the larger quota or the smaller burst. Record then, and compare the tail of the latency that "+
			"clients see.", t.Throttled, t.Window),
	}
	f.Say("The quota of %s was used up in %s of %s periods, and each time the kernel stopped the process until the "+
		"next one: "+
		"for up to %s, %s of the window.", t.Quota, t.Throttled, t.Periods, t.Mean, t.Share)
	if used, ok := cpu.ProcessCPU(p); ok && t.Usage.Value > 0 {
		part := fact.Fraction.Of("share of the process in the group's CPU", fact.Ratio, used, t.Usage)
		f.Rest(part)
		if part.Value < throttledOwn {
			f.Reasons = append(f.Reasons, fact.Sentence("the process itself used only %s of the group's CPU: "+
				"others in the same container use up the quota", part))
		} else {
			f.RuledOut = append(f.RuledOut, fact.Sentence("other processes of the group: this one used %s of its CPU", part))
		}
	}
	return f
}

func throttledRemedy(t *cpu.Throttle) diagnosis.Remedy {
	used := fact.Quotient.Of("part of the quota in use", fact.Ratio, t.Usage, t.Quota)
	if used.Value > 0 && used.Value < throttledBursts {
		return diagnosis.Remedy{Text: "Let fewer threads run at once (GOMAXPROCS no larger than the quota), spread what happens in bursts, " +
			"or let the group save up unused quota (cpu.max.burst, Linux 5.14). " +
			fact.Sentence("On average only %s of the quota is used: it is bursts that hit it. ", used) +
			"A larger quota helps too and costs nothing where it is not used."}
	}
	return diagnosis.Remedy{
		Text: "Raise the limit (resources.limits.cpu in " +
			"Kubernetes, --cpus in Docker, " +
			"CPUQuota in systemd), run more replicas, or spend less CPU for each operation; " +
			"until then keep GOMAXPROCS no larger than the quota, so that a stop does not hit all threads in the " +
			"middle of their work.",
	}
}
