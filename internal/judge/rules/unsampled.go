package rules

import (
	_ "embed"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed unsampled.md
var unsampledPage string

// unsampled speaks about the recording, not the program: it makes no finding.
// What a profile did not see is nobody's problem until something has seen it.
var unsampled = &diagnosis.Rule{
	Name:  "unsampled",
	Title: "The CPU profile saw only a part of the CPU",
	Doc:   unsampledPage,
	Needs: []model.Source{model.CPU},
	Check: checkUnsampled,
}

const (
	// unsampledCoverage is profile ÷ rusage below which shares of the profile
	// are shares of something else. Programs that compute or make system calls
	// are at 0.95 to 1.0; idle ones that are often woken at 0.32 to 0.8.
	unsampledCoverage = 0.8
	// unsampledCPU is the least CPU to judge by: a second is a hundred samples.
	// Below a tenth of one, the quotient was anything from 0.40 to 0.83 by chance.
	unsampledCPU = time.Second
)

func checkUnsampled(p *diagnosis.Pass) {
	a := p.Model.CPUAccount()
	if a == nil {
		return
	}
	used := p.Statistic(fact.Account, "CPU time used", "CPU time used", (a.User + a.System).Seconds(), fact.Seconds)
	_, sampled := a.Coverage[model.CPU]
	seen := coverage(p, a, model.CPU)
	switch {
	case !sampled || used.Value < unsampledCPU.Seconds():
	case seen.Value >= unsampledCoverage:
		p.Fine(fact.Sentence("CPU profile: covers %s of the CPU time used", atMostAll(seen)))
	case a.Coverage[model.KernelCPU] >= unsampledCoverage:
		p.Fine(fact.Sentence("CPU: the profile covers %s of the CPU time used, the kernel's samples %s; %s",
			seen, atMostAll(coverage(p, a, model.KernelCPU)), fact.Name(missedParts(p, a))))
	default:
		cores := p.CPUInUse()
		p.Unchecked(
			fact.Sentence("where %s of %s of CPU went", fact.Idle.Of("", fact.Cores, cores, seen).Number(), cores),
			fact.Sentence("the CPU profile covers %s of the %s of CPU time used, and does not say what it missed%s", seen, used, fact.Name(kernelToo(p, a))),
			p.HowToGet(model.KernelCPU))
	}
}

// coverage measures what some samples saw of the CPU time used.
func coverage(p *diagnosis.Pass, a *model.CPUAccount, by model.Source) fact.Fact {
	return p.Statistic(fact.Account, "coverage", "coverage of "+by.Words(), a.Coverage[by], fact.Ratio).From(by)
}

// atMostAll returns a coverage for people: samples may come to a little more than all.
func atMostAll(coverage fact.Fact) fact.Part {
	return fact.Name(fact.Ratio.Format(min(1, coverage.Value)))
}

// kernelToo says why the kernel's samples do not help, where there are some.
func kernelToo(p *diagnosis.Pass, a *model.CPUAccount) string {
	if !p.Model.Has(model.KernelCPU) {
		return ""
	}
	why := fact.Sentence("; the kernel's samples saw %s", coverage(p, a, model.KernelCPU))
	if lost := p.Model.Kernel.Lost; lost > 0 {
		why += fact.Sentence(" and lost %s", p.Statistic(fact.Account, "lost samples", "lost samples", float64(lost), fact.Count).From(model.KernelCPU))
	}
	return why
}

// missedParts names the parts of the account in which the kernel's samples saw
// more than the profile, the largest difference first.
func missedParts(p *diagnosis.Pass, a *model.CPUAccount) string {
	m := p.Model
	profile, kernel := sumParts(m, m.CPU), sumParts(m, m.Kernel.CPU)
	// Both are brought to the time that their own coverage says they saw.
	total, of := seenTime(profile), seenTime(kernel)
	more := map[model.CPUPart]float64{}
	for part, d := range kernel {
		share := statistics.Quotient(d.Seconds(), of.Seconds())*a.Coverage[model.KernelCPU] - statistics.Quotient(profile[part].Seconds(), total.Seconds())*a.Coverage[model.CPU]
		if share > 0 {
			more[part] = share
		}
	}
	parts := statistics.Largest(more)
	if len(parts) == 0 {
		return "both see the same parts"
	}
	cores := fact.Product.Of("CPU that the profile missed", fact.Cores, p.CPUInUse(),
		p.Statistic(fact.Account, "what one of two profiles saw", "part that the profile missed", more[parts[0]], fact.Ratio))
	return fact.Sentence("what the profile missed is most of all %s, %s", fact.Name(parts[0]), cores)
}

func seenTime(parts map[model.CPUPart]time.Duration) (d time.Duration) {
	for _, part := range parts {
		d += part
	}
	return d
}

// sumParts returns the time of a profile's samples by part of the account.
func sumParts(m *model.Model, p *model.Profile) map[model.CPUPart]time.Duration {
	nanos, sum := p.Column("cpu"), map[model.CPUPart]time.Duration{}
	for i := range p.Samples {
		s := &p.Samples[i]
		sum[model.CPUPartOf(m.Stacks.Frames(s.Stack))] += time.Duration(s.Value(nanos))
	}
	return sum
}
