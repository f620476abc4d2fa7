package flame

import (
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/model"
)

// words says how a tree was measured.
func (k *kind) words(m *model.Model, w weights) string {
	note := k.note(m, k.profile(m))
	if w.below > 0 {
		note += fmt.Sprintf(" %d stacks whose values add up to less than 0 are left out.", w.below)
	}
	return note
}

func says(words string) func(*model.Model, *model.Profile) string {
	return func(*model.Model, *model.Profile) string { return words }
}

func cpuNote(m *model.Model, p *model.Profile) string {
	count, nanos := p.Columns()
	if nanos < 0 {
		return "Samples of CPU time; the file does not say how long each stands for."
	}
	by := "the runtime's profiler"
	if p.FromTrace {
		by = "the runtime's profiler, carried by the execution trace"
	}
	return fmt.Sprintf("CPU time by %s of %s.%s", samples(p, count), by, covered(m, model.CPU))
}

func wallNote(m *model.Model, p *model.Profile) string {
	count, _ := p.Columns()
	return fmt.Sprintf("Time of all goroutines, running or waiting, by %s of a wall-clock profiler. It exceeds the clock's.", samples(p, count))
}

func kernelNote(m *model.Model, p *model.Profile) string {
	count, _ := p.Columns()
	note := fmt.Sprintf("CPU time by %s of the kernel.%s", samples(p, count), covered(m, model.KernelCPU))
	if m.Kernel.UserOnly {
		note += " Its own frames were not permitted."
	}
	if m.Kernel.Lost > 0 {
		note += fmt.Sprintf(" %d samples were lost.", m.Kernel.Lost)
	}
	return note
}

func offNote(m *model.Model, _ *model.Profile) string {
	note := "Time from a thread's loss of the CPU until it had one again, by where it lost it; idle threads of the " +
		"runtime are among them."
	if s := m.Kernel.OffShare; s > 0 && s < 1 {
		note += fmt.Sprintf(" Switches were watched in %s of the time, and values are scaled up from it.", figures.Percent(s))
	}
	return note
}

// samples counts those of a profile.
func samples(p *model.Profile, column int) string {
	var n int64
	for i := range p.Samples {
		if v := p.Samples[i].Values; column >= 0 && column < len(v) {
			n = addUp(n, v[column])
		} else {
			n++
		}
	}
	return figures.Plural(n, "sample")
}

func covered(m *model.Model, s model.Source) string {
	a := m.CPUAccount()
	if a == nil {
		return ""
	}
	c, ok := a.Coverage[s]
	if !ok {
		return ""
	}
	return fmt.Sprintf(" They cover %s of the CPU time that the system counted.", figures.Percent(c))
}

func allocNote(m *model.Model, p *model.Profile) string {
	note := "Allocated since the program's start"
	if p.Duration > 0 {
		note = fmt.Sprintf("Allocated in %s", figures.Duration(p.Duration))
	}
	return note + sampledHeap(m)
}

func inuseNote(m *model.Model, _ *model.Profile) string {
	return "In use at the end, as the last finished collection left it" + sampledHeap(m)
}

func sampledHeap(m *model.Model) string {
	if m.Run.Rates == nil || m.Run.Rates.Mem < 0 {
		return "; sampled and scaled up."
	}
	if m.Run.Rates.Mem == 1 {
		return "; every allocation."
	}
	return fmt.Sprintf("; about one allocation in %d bytes was sampled, and values are scaled up.", m.Run.Rates.Mem)
}

func blockNote(m *model.Model, p *model.Profile) string {
	note := "Time blocked on channels, mutexes and conditions, by the runtime's block profile" + since(p)
	if r := m.Run.Rates; r != nil && r.Block > 1 {
		note += fmt.Sprintf(" Shorter blocks than %s were sampled.", figures.Duration(r.Block))
	}
	return note
}

func mutexNote(m *model.Model, p *model.Profile) string {
	note := "Time for which others had to wait, at the unlock that ended it, by the runtime's mutex profile" + since(p)
	if r := m.Run.Rates; r != nil && r.Mutex > 1 {
		note += fmt.Sprintf(" One of %d was sampled, and values are scaled up.", r.Mutex)
	}
	return note
}

func since(p *model.Profile) string {
	if p.Duration > 0 {
		return fmt.Sprintf(", in %s.", figures.Duration(p.Duration))
	}
	return ", since the program's start."
}

// The words of [Tree.PerWhat].
const (
	perOperation = "operation"
	perSecond    = "second"
)

// ratio returns the factor that makes values of a base run those of as many operations as
// this run did, where both are known, else of as many seconds; 1 and "" for what is of one
// moment, or does not say how long it took.
func (k *kind) ratio(m, base *model.Model) (ratio float64, per string) {
	mine, other := k.seconds(m), k.seconds(base)
	if mine <= 0 || other <= 0 {
		return 1, ""
	}
	a := m.Operations().PerSecond(m.Run.Duration)
	b := base.Operations().PerSecond(base.Run.Duration)
	if a > 0 && b > 0 {
		return mine * a / (other * b), perOperation
	}
	return mine / other, perSecond
}

// seconds returns how long values were added up; 0 when that is not known, or they are of one
// moment.
func (k *kind) seconds(m *model.Model) float64 {
	if k.moment {
		return 0
	}
	if k.stacks != nil {
		return m.Run.Duration.Seconds()
	}
	p := k.profile(m)
	if p.Duration == 0 && p.FromTrace {
		return m.Run.Duration.Seconds()
	}
	return p.Duration.Seconds()
}

// comparability says what a reader of a comparison must know.
func (k *kind) comparability(m, base *model.Model, per string) string {
	var say []string
	if mine, other := k.unit(m), k.unit(base); mine != other {
		say = append(say, fmt.Sprintf("Values are %s here and %s in the base run.", mine, other))
	}
	switch {
	case per == perOperation:
		a, b := m.Operations(), base.Operations()
		if a.Name != b.Name {
			say = append(say, fmt.Sprintf("Operations are %s here and %s in the base run.", clip(a.Name, 80), clip(b.Name, 80)))
		}
	case per == perSecond:
		say = append(say, "Operations are not known for both runs: one that did more work used more.")
	case !k.moment:
		say = append(say, "The base run's values are as they were measured: how long that took is not known for both.")
	}
	return strings.Join(say, " ")
}
