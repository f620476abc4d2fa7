package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

// What the profiles of kernel evidence say of themselves: the first comment
// is the kind, others hold what the samples do not.
const (
	kernelCPUComment = "gowhy kernel samples"
	offCPUComment    = "gowhy context switches"
	userOnlyComment  = "user only"
	lostComment      = "lost %d"
	watchedComment   = "watched %f" // the share of the time, where it is not all of it
)

// KernelProfiles writes what the kernel saw in pprof's format.
func KernelProfiles(res *kernel.Result) (cpu, off *profile.Profile) {
	cpu = newProfile(res, "cpu", "samples", kernelCPUComment)
	cpu.Period = 1e9 / int64(max(1, res.Hz))
	if res.UserOnly {
		cpu.Comments = append(cpu.Comments, userOnlyComment)
	}
	w := stacks.NewWriter(cpu)
	for _, s := range res.CPU {
		mode := "user"
		if s.Kernel {
			mode = "kernel"
		}
		addSample(w, s, "mode", mode, "thread", s.Thread, "syscall", s.Syscall)
	}
	off = newProfile(res, "offcpu", "switches", offCPUComment)
	off.Period = 1
	if res.OffShare > 0 && res.OffShare < 1 {
		off.Comments = append(off.Comments, fmt.Sprintf(watchedComment, res.OffShare))
	}
	w = stacks.NewWriter(off)
	for _, s := range res.Off {
		preempted := ""
		if s.Preempted {
			preempted = "true"
		}
		addSample(w, s, "preempted", preempted, "thread", s.Thread, "syscall", s.Syscall)
	}
	return cpu, off
}

// newProfile returns a profile without samples.
func newProfile(res *kernel.Result, what, count, comment string) *profile.Profile {
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
	return p
}

// addSample adds a sample with those of the labels that have a value.
func addSample(w *stacks.Writer, s kernel.Sample, labels ...string) {
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
		sample.Location = append(sample.Location, w.Location(stacks.Frame{PC: f.PC, Func: f.Func, File: f.File, Line: f.Line}))
	}
	w.Profile.Sample = append(w.Profile.Sample, sample)
}

// IsKernelCPU reports whether a profile is the kernel's and not the runtime's.
func IsKernelCPU(p *profile.Profile) bool { return firstComment(p) == kernelCPUComment }

func firstComment(p *profile.Profile) string {
	if len(p.Comments) == 0 {
		return ""
	}
	return p.Comments[0]
}

// WatchedShare reads in which share of the time switches were watched; 0 is not said.
func WatchedShare(comments []string) (share float64) {
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

// LostSamples reads how many samples are missing. Both profiles of a recording tell
// the same number.
func LostSamples(comments []string) (n int64) {
	for _, c := range comments {
		if strings.HasPrefix(c, "lost ") {
			fmt.Sscanf(c, lostComment, &n)
		}
	}
	return max(0, n)
}

// UserOnly reports whether the kernel was not allowed to see itself.
func UserOnly(p *profile.Profile) bool { return slices.Contains(p.Comments, userOnlyComment) }
