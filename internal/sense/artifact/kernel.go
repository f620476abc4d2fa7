package artifact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

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
