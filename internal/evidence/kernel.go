package evidence

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/kernel"
	"github.com/gowhy/gowhy/internal/model"
)

// kernelHz is the rate of on-CPU samples for each CPU. A sample takes 15 µs on
// a virtual machine, nearly all of it the timer's interrupt: one that is thrown
// away costs the same. So this is 0.3 % of a CPU, and a program that uses a
// twentieth of one gets 10 samples a second. It is prime: at a round rate the
// samples of a program that does things every 10 ms would all fall on the same
// thing, and so they would beside the runtime's profiler and the scheduler's
// tick.
const kernelHz = 199

// What the profiles of kernel evidence say of themselves: the first comment
// is the kind, others hold what the samples do not.
const (
	kernelCPUComment = "gowhy kernel samples"
	offCPUComment    = "gowhy context switches"
	userOnlyComment  = "user only"
	lostComment      = "lost %d"
	watchedComment   = "watched %f" // the share of the time, where it is not all of it
)

// kernelProfiles writes what the kernel saw in pprof's format.
func kernelProfiles(res *kernel.Result) (cpu, off *profile.Profile) {
	b := newPprofBuilder(res, "cpu", "samples", kernelCPUComment)
	b.p.Period = 1e9 / int64(max(1, res.Hz))
	if res.UserOnly {
		b.p.Comments = append(b.p.Comments, userOnlyComment)
	}
	for _, s := range res.CPU {
		mode := "user"
		if s.Kernel {
			mode = "kernel"
		}
		b.add(s, "mode", mode, "thread", s.Thread, "syscall", s.Syscall)
	}
	cpu = b.p
	b = newPprofBuilder(res, "offcpu", "switches", offCPUComment)
	b.p.Period = 1
	if res.OffShare > 0 && res.OffShare < 1 {
		b.p.Comments = append(b.p.Comments, fmt.Sprintf(watchedComment, res.OffShare))
	}
	for _, s := range res.Off {
		preempted := ""
		if s.Preempted {
			preempted = "true"
		}
		b.add(s, "preempted", preempted, "thread", s.Thread, "syscall", s.Syscall)
	}
	return cpu, b.p
}

// A pprofBuilder makes a profile, with each function and frame once.
type pprofBuilder struct {
	p         *profile.Profile
	functions map[[2]string]*profile.Function
	locations map[kernel.Frame]*profile.Location
}

func newPprofBuilder(res *kernel.Result, what, count, comment string) *pprofBuilder {
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: count, Unit: "count"}, {Type: what, Unit: "nanoseconds"}},
		PeriodType:        &profile.ValueType{Type: what, Unit: "nanoseconds"},
		DefaultSampleType: what,
		TimeNanos:         res.Begin.UnixNano(),
		DurationNanos:     int64(res.End.Sub(res.Begin)),
		Comments:          []string{comment},
	}
	if res.Lost > 0 {
		p.Comments = append(p.Comments, fmt.Sprintf(lostComment, res.Lost))
	}
	return &pprofBuilder{p, map[[2]string]*profile.Function{}, map[kernel.Frame]*profile.Location{}}
}

// add adds a sample with those of the labels that have a value.
func (b *pprofBuilder) add(s kernel.Sample, labels ...string) {
	sample := &profile.Sample{Value: []int64{s.Count, int64(s.Time)}}
	for i := 0; i < len(labels); i += 2 {
		if labels[i+1] != "" {
			if sample.Label == nil {
				sample.Label = map[string][]string{}
			}
			sample.Label[labels[i]] = []string{labels[i+1]}
		}
	}
	for _, f := range s.Stack {
		sample.Location = append(sample.Location, b.location(f))
	}
	b.p.Sample = append(b.p.Sample, sample)
}

func (b *pprofBuilder) location(f kernel.Frame) *profile.Location {
	if l, ok := b.locations[f]; ok {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Address: f.PC}
	if f.Func != "" {
		l.Line = []profile.Line{{Function: b.function(f), Line: int64(f.Line)}}
	}
	b.p.Location = append(b.p.Location, l)
	b.locations[f] = l
	return l
}

func (b *pprofBuilder) function(f kernel.Frame) *profile.Function {
	key := [2]string{f.Func, f.File}
	if fn, ok := b.functions[key]; ok {
		return fn
	}
	fn := &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.Func, SystemName: f.Func, Filename: f.File}
	b.p.Function = append(b.p.Function, fn)
	b.functions[key] = fn
	return fn
}

// keepKernel writes the members that were asked for.
func (r *recorder) keepKernel(res *kernel.Result) {
	cpu, off := kernelProfiles(res)
	// What was refused may have been refused in part; without a sample it is
	// not known that nothing happened.
	if r.wants("kernel") && (len(cpu.Sample) > 0 || !r.refusedMember(recording.KernelMember)) {
		r.keep(recording.KernelMember, cpu, nil)
		r.keepTimes(res)
	}
	if r.wants("offcpu") && (len(off.Sample) > 0 || !r.refusedMember(recording.OffCPUMember)) {
		r.keep(recording.OffCPUMember, off, nil)
	}
	if r.wants("syscalls") && !r.refusedMember(recording.SyscallsMember) {
		if err := os.WriteFile(r.w.Path(recording.SyscallsMember), syscallsJSON(res), 0o600); err != nil {
			r.refuse(recording.SyscallsMember, Refusal{Why: err.Error()})
		}
	}
}

// kernelMember is the member that a refusal of package kernel is about.
func kernelMember(what string) string {
	switch what {
	case "cpu":
		return recording.KernelMember
	case "offcpu":
		return recording.OffCPUMember
	case "syscalls":
		return recording.SyscallsMember
	}
	return what
}

func isKernelCPU(p *profile.Profile) bool { return firstComment(p) == kernelCPUComment }

func isOffCPU(p *profile.Profile) bool { return hasType("offcpu")(p) }

func firstComment(p *profile.Profile) string {
	if len(p.Comments) == 0 {
		return ""
	}
	return p.Comments[0]
}

func (l *loader) foldKernelCPU(f format, p *pprofFile) error {
	return l.foldKernel(f, p, func(k *model.Kernel, m *model.Profile) {
		k.CPU = m
		k.UserOnly = slices.Contains(p.Comments, userOnlyComment)
	})
}

func (l *loader) foldOffCPU(f format, p *pprofFile) error {
	return l.foldKernel(f, p, func(k *model.Kernel, m *model.Profile) {
		k.Off, k.OffShare = m, watchedIn(p.Comments)
	})
}

func (l *loader) foldKernel(f format, p *pprofFile, set func(*model.Kernel, *model.Profile)) error {
	if err := l.take(f.source, f.what, p.name); err != nil {
		return err
	}
	m, err := l.convert(p)
	if err != nil {
		return err
	}
	if l.m.Kernel == nil {
		l.m.Kernel = &model.Kernel{}
	}
	set(l.m.Kernel, m)
	l.m.Kernel.Lost = max(l.m.Kernel.Lost, lostIn(p.Comments))
	return nil
}

// watchedIn reads in which share of the time switches were watched; 0 is not said.
func watchedIn(comments []string) (share float64) {
	for _, c := range comments {
		if strings.HasPrefix(c, "watched ") {
			fmt.Sscanf(c, watchedComment, &share)
		}
	}
	if !(share > 0 && share < 1) {
		return 0
	}
	return share
}

// lostIn reads how many samples are missing. Both profiles of a recording tell
// the same number.
func lostIn(comments []string) (n int64) {
	for _, c := range comments {
		if strings.HasPrefix(c, "lost ") {
			fmt.Sscanf(c, lostComment, &n)
		}
	}
	return max(0, n)
}
