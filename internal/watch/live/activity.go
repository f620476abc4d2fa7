package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// An Activity is what a program did in the last piece of time, by the kernel's samples. It is
// empty where the kernel does not allow it.
type Activity struct {
	Time  time.Duration `json:"time_ns"` // how long that was
	CPU   []Spot        `json:"cpu,omitempty"`
	Off   []Spot        `json:"off_cpu,omitempty"`
	Calls []Calls       `json:"system_calls,omitempty"`
}

// A Spot is a function with the time in it.
type Spot struct {
	Function string `json:"function"`
	Kernel   bool   `json:"kernel,omitempty"`
	// Under is the program's own function that called it, when it is not that itself.
	Under string  `json:"under,omitempty"`
	Cores float64 `json:"cores"` // seconds a second: of all threads, so more than 1 is possible
}

// Calls are system calls of one name.
type Calls struct {
	Name string  `json:"name"`
	Rate float64 `json:"per_second"`
}

// maxSpots bounds each of them.
const maxSpots = 20

func activity(m *model.Model, d time.Duration) Activity {
	a := Activity{Time: d}
	if k := m.Kernel; k != nil {
		a.CPU, a.Off = spots(m, k.CPU, d, spot), spots(m, k.Off, d, pause)
	}
	if s := m.Syscalls; s != nil && s.Window > 0 {
		for _, c := range s.Calls {
			a.Calls = append(a.Calls, Calls{c.Name, float64(c.Count) / s.Window.Seconds()})
		}
		slices.SortStableFunc(a.Calls, func(x, y Calls) int { return cmp.Compare(y.Rate, x.Rate) })
		a.Calls = a.Calls[:min(len(a.Calls), maxSpots)]
	}
	return a
}

// spots sums a profile by what of says of each stack; nothing leaves one out.
func spots(m *model.Model, p *model.Profile, d time.Duration, of func([]model.Frame) Spot) (list []Spot) {
	if p == nil || d <= 0 {
		return nil
	}
	_, nanos := p.Columns()
	at := map[Spot]int{}
	for i := range p.Samples {
		s := &p.Samples[i]
		k := of(m.Stacks.Frames(s.Stack))
		if k.Function == "" {
			continue
		}
		n, ok := at[k]
		if !ok {
			n = len(list)
			at[k] = n
			list = append(list, k)
		}
		list[n].Cores += s.Value(nanos) / 1e9 / d.Seconds()
	}
	slices.SortStableFunc(list, func(a, b Spot) int { return cmp.Compare(b.Cores, a.Cores) })
	return list[:min(len(list), maxSpots)]
}

// spot returns the innermost function of a stack that tells something. The kernel's
// are without a file of the program.
func spot(stack []model.Frame) (s Spot) {
	for _, f := range stack {
		if f.Func == "" || strings.HasPrefix(f.Func, "bpf_prog_") { // that is gowhy counting
			continue
		}
		if s.Function == "" {
			s.Function, s.Kernel = f.Func, !strings.HasSuffix(f.File, ".go") && !strings.HasSuffix(f.File, ".s")
		}
		if !program(f.Func) {
			continue
		}
		if f.Func != s.Function {
			s.Under = f.Func
		}
		return s
	}
	return s
}

// program tells a function of the program, or of what it imports, from those that
// carry it.
func program(function string) bool {
	return strings.Contains(function, ".") && !strings.HasPrefix(function, "runtime.") && !strings.HasPrefix(function, "internal/") &&
		!strings.HasPrefix(function, "syscall.") && !strings.HasPrefix(function, "golang.org/x/sys/")
}

// pause names what a thread waits for off the CPU, by its stack: the system call, or that it
// was preempted, and the program's function that it is under. Threads of the runtime that
// have nothing to do wait under none, and are left out.
func pause(stack []model.Frame) (s Spot) {
	const call = "__x64_sys_"
	for _, f := range stack {
		switch {
		case s.Function == "" && (strings.HasPrefix(f.Func, call) || strings.HasPrefix(f.Func, "__arm64_sys_")):
			s.Function, s.Kernel = strings.TrimPrefix(strings.TrimPrefix(f.Func, call), "__arm64_sys_"), true
		case program(f.Func):
			s.Under = f.Func
			if s.Function == "" {
				s.Function = "taken off the CPU"
			}
			return s
		}
	}
	return Spot{}
}
