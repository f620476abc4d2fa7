package rules

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed unsampled.md
var unsampledPage string

// unsampled speaks about the recording, not the program: it makes no finding.
// What a profile did not see is nobody's illness until something has seen it.
var unsampled = &diagnosis.Rule{
	Name:    "unsampled",
	Title:   "The CPU profile saw only a part of the CPU",
	Doc:     unsampledPage,
	Needs:   []model.Source{model.CPU},
	Untimed: true,
	Check:   checkUnsampled,
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
	if a == nil || !a.Known || a.Window <= 0 {
		return
	}
	used := a.User + a.System
	seen, ok := a.Coverage[model.CPU]
	switch {
	case !ok || used < unsampledCPU:
	case seen >= unsampledCoverage:
		p.Fine(fmt.Sprintf("CPU profile: it saw %s of the CPU that the system charged", pct(min(1, seen))))
	case a.Coverage[model.KernelCPU] >= unsampledCoverage:
		p.Fine(fmt.Sprintf("CPU: the profile saw %s of what the system charged, the kernel's samples %s; %s",
			pct(seen), pct(min(1, a.Coverage[model.KernelCPU])), missed(p.Model, a)))
	default:
		p.Unchecked(
			fmt.Sprintf("where %s of %s cores of CPU went", num(coresOf(used, a)*(1-seen)), num(coresOf(used, a))),
			fmt.Sprintf("the CPU profile saw %s of the %s that the system charged, and a profile does not say what it missed%s", pct(seen), dur(used), kernelToo(p.Model, a)),
			diagnosis.HowToGet(model.KernelCPU))
	}
}

func coresOf(d time.Duration, a *model.CPUAccount) float64 {
	return div(d.Seconds(), a.Window.Seconds())
}

// kernelToo says why the kernel's samples do not help, where there are some.
func kernelToo(m *model.Model, a *model.CPUAccount) string {
	if !m.Has(model.KernelCPU) {
		return ""
	}
	why := fmt.Sprintf("; the kernel's samples saw %s", pct(a.Coverage[model.KernelCPU]))
	if m.Kernel.Lost > 0 {
		why += fmt.Sprintf(" and lost %s", num(m.Kernel.Lost))
	}
	return why
}

// missed names the parts of the account in which the kernel's samples saw
// more than the profile, the largest difference first.
func missed(m *model.Model, a *model.CPUAccount) string {
	profile, kernel := sumParts(m, m.CPU), sumParts(m, m.Kernel.CPU)
	// Both are brought to the time that their own coverage says they saw.
	total, of := seenTime(profile), seenTime(kernel)
	more := map[model.CPUPart]time.Duration{}
	for part, d := range kernel {
		share := div(d.Seconds(), of.Seconds())*a.Coverage[model.KernelCPU] - div(profile[part].Seconds(), total.Seconds())*a.Coverage[model.CPU]
		if share > 0 {
			more[part] = time.Duration(share * float64(a.User+a.System))
		}
	}
	parts := largest(more)
	if len(parts) == 0 {
		return "both see the same parts"
	}
	return fmt.Sprintf("what the profile missed is most of all %s, %s cores", parts[0], num(coresOf(more[parts[0]], a)))
}

func seenTime(parts map[model.CPUPart]time.Duration) (d time.Duration) {
	for _, part := range parts {
		d += part
	}
	return d
}
