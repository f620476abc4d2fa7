package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/model"
)

// enoughKernelSamples reports whether shares can be taken from the kernel's samples.
func enoughKernelSamples(m *model.Model) bool {
	_, n := kernelSamples(m, nil)
	return n >= diagnosis.ThinSamples
}

// onSocket recognises calls on sockets by the Go code above them, or by the
// kernel's functions where a stack begins in the kernel. Pipes carry messages
// too, but only the kernel's functions tell them from files.
func onSocket(m *model.Model, s model.Stack) bool {
	return slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool {
		return slices.ContainsFunc(socketFuncs, func(prefix string) bool { return strings.HasPrefix(f.Func, prefix) })
	})
}

// callSites are the lines that make system calls with such stacks, those of
// the most calls first, and the time inside those calls.
func callSites(p *diagnosis.Pass, match func(model.Stack) bool) (places []diagnosis.Place, stacks []model.Stack, inside time.Duration) {
	byStack := map[model.Stack]int64{}
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; w.Kind == model.SyscallWait && match(w.Stack) {
			byStack[w.Stack] += w.Count
			inside += w.Total
		}
	}
	var whole int64
	for _, n := range byStack {
		whole += n
	}
	stacks = largest(byStack)
	for _, s := range stacks {
		if place, ok := p.UserPlace(s); ok && len(places) < mostSites && float64(byStack[s]) >= siteShare*float64(whole) {
			places = append(places, place)
		}
	}
	return where(places...), stacks, inside
}

func systemPackage(function string) bool {
	for _, prefix := range []string{"syscall.", "internal/", "os.", "os/", "net.", "runtime.", "golang.org/x/sys/"} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// An op is one kind of call in one group, like os.(*File).Write.
type op struct {
	name   string
	count  int64
	total  time.Duration
	stacks map[model.Stack]time.Duration
}

func (o *op) mean() time.Duration { return o.total / time.Duration(max(1, o.count)) }

func (o *op) place(p *diagnosis.Pass) diagnosis.Place {
	for _, s := range largest(o.stacks) {
		if place, ok := p.UserPlace(s); ok {
			return place
		}
	}
	return diagnosis.Place{}
}

// calls is how often a second any of the named system calls was made, failed
// ones included.
func calls(s *model.Syscalls, names ...string) float64 {
	var n int64
	for _, name := range names {
		n += s.Call(name).Count
	}
	return div(float64(n), s.Window.Seconds())
}

// howCounted says how the system calls were counted, and how sure their numbers
// alone are: what was scaled up from a part of the time is an estimate.
func howCounted(s *model.Syscalls) (how string, sure diagnosis.Confidence) {
	if s.Exact() {
		return "every call is counted", diagnosis.Medium
	}
	return fmt.Sprintf("calls were counted in %s of the time and scaled up", pct(s.Share)), diagnosis.Low
}

// kernelSamples adds up the kernel's samples of the process's CPU time for
// which match holds; nil matches all. Zero without such samples.
func kernelSamples(m *model.Model, match func(*model.Sample) bool) (d time.Duration, n int64) {
	eachKernelSample(m, func(s *model.Sample, count int64, t time.Duration) {
		if match == nil || match(s) {
			d, n = d+t, n+count
		}
	})
	return d, n
}

// eachKernelSample calls f with each sample's number and time.
func eachKernelSample(m *model.Model, f func(s *model.Sample, count int64, t time.Duration)) {
	if m.Kernel == nil || m.Kernel.CPU == nil {
		return
	}
	count, nanos := m.Kernel.CPU.Columns()
	for i := range m.Kernel.CPU.Samples {
		s := &m.Kernel.CPU.Samples[i]
		n, t := int64(1), time.Duration(0)
		if count >= 0 && count < len(s.Values) {
			n = s.Values[count]
		}
		if nanos >= 0 && nanos < len(s.Values) {
			t = time.Duration(s.Values[nanos])
		}
		f(s, n, t)
	}
}

// inSyscall matches samples inside one of the named system calls.
func inSyscall(names ...string) func(*model.Sample) bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return func(s *model.Sample) bool { return set[s.Labels["syscall"]] }
}

// kernelCores is the CPU that matching samples stand for, in cores, their
// share of all samples, and how many there were. The shares are the samples',
// the whole is what the kernel's counters say where they were read.
func kernelCores(m *model.Model, match func(*model.Sample) bool) (cores, share float64, n int64) {
	all, _ := kernelSamples(m, nil)
	part, n := kernelSamples(m, match)
	share = div(part.Seconds(), all.Seconds())
	if u, ok := rusage(m); ok {
		return share * u.cores(), share, n
	}
	if m.Kernel == nil || m.Kernel.CPU == nil {
		return 0, 0, 0
	}
	return div(part.Seconds(), m.Kernel.CPU.Duration.Seconds()), share, n
}

// kernelSites are the user's lines under matching samples, the most time
// first.
func kernelSites(p *diagnosis.Pass, match func(*model.Sample) bool) (places []diagnosis.Place) {
	spent, first := map[string]time.Duration{}, map[string]model.Stack{}
	eachKernelSample(p.Model, func(s *model.Sample, _ int64, t time.Duration) {
		if !match(s) {
			return
		}
		if place, ok := p.UserPlace(s.Stack); ok {
			key := place.Function + "\x00" + place.File + "\x00" + strconv.Itoa(place.Line)
			spent[key] += t
			if _, dup := first[key]; !dup {
				first[key] = s.Stack
			}
		}
	})
	var whole time.Duration
	for _, d := range spent {
		whole += d
	}
	for _, key := range largest(spent) {
		if place, _ := p.UserPlace(first[key]); len(places) < mostSites && float64(spent[key]) >= siteShare*float64(whole) {
			places = append(places, place)
		}
	}
	return places
}
