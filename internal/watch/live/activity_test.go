package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// stackOf reads a stack, leaf first; functions of the program have files of Go.
func stackOf(functions string) (frames []model.Frame) {
	for _, f := range strings.Fields(functions) {
		function, file, _ := strings.Cut(f, "@")
		frames = append(frames, model.Frame{Func: function, File: file})
	}
	return frames
}

func TestSpot(t *testing.T) {
	for _, c := range []struct {
		name, stack string
		want        Spot
	}{
		{"the program's own", "main.work@main.go main.main@main.go", Spot{Function: "main.work"}},
		{"the runtime, for the program", "runtime.mallocgc@malloc.go main.work@main.go", Spot{Function: "runtime.mallocgc", Under: "main.work"}},
		{"assembly", "runtime.memmove@memmove_amd64.s main.work@main.go", Spot{Function: "runtime.memmove", Under: "main.work"}},
		{"the kernel, for the program", "copy_user do_read internal/runtime/syscall.Syscall6@asm.s os.(*File).Read@file.go main.load@main.go",
			Spot{Function: "copy_user", Kernel: true, Under: "os.(*File).Read"}},
		{"the runtime alone", "runtime.findRunnable@proc.go runtime.mcall@asm.s", Spot{Function: "runtime.findRunnable"}},
		{"gowhy's own counting", "bpf_prog_1234_count sys_enter main.work@main.go", Spot{Function: "sys_enter", Kernel: true, Under: "main.work"}},
		{"nothing known", "", Spot{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spot(stackOf(c.stack)); got != c.want {
				t.Errorf("spot(%s) = %v, want %v", c.stack, got, c.want)
			}
		})
	}
}

func TestPause(t *testing.T) {
	for _, c := range []struct {
		name, stack string
		want        Spot
	}{
		{"a call", "schedule futex_wait __x64_sys_fsync os.(*File).Sync@file.go main.save@main.go", Spot{Function: "fsync", Kernel: true, Under: "os.(*File).Sync"}},
		{"a call on another machine", "schedule __arm64_sys_read main.load@main.go", Spot{Function: "read", Kernel: true, Under: "main.load"}},
		{"preempted", "schedule irqentry_exit main.work@main.go", Spot{Function: "taken off the CPU", Under: "main.work"}},
		{"a thread of the runtime", "schedule __x64_sys_futex runtime.futex@os.go runtime.mstart@proc.go", Spot{}},
		{"nothing known", "", Spot{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pause(stackOf(c.stack)); got != c.want {
				t.Errorf("pause(%s) = %v, want %v", c.stack, got, c.want)
			}
		})
	}
}

// An activity has the largest first, in cores and calls a second, and no more than fit.
func TestActivity(t *testing.T) {
	m := &model.Model{Kernel: &model.Kernel{}, Syscalls: &model.Syscalls{Window: 2 * time.Second}}
	types := []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}
	m.Kernel.CPU = &model.Profile{Types: types}
	sample := func(functions string, d time.Duration) {
		m.Kernel.CPU.Samples = append(m.Kernel.CPU.Samples, model.Sample{Stack: m.Stacks.Add(stackOf(functions)), Values: []int64{1, int64(d)}})
	}
	sample("main.small@main.go", 100*time.Millisecond)
	sample("main.large@main.go main.a@main.go", 500*time.Millisecond)
	sample("main.large@main.go main.b@main.go", 500*time.Millisecond)
	sample("bpf_prog_1", time.Second)
	for i := range maxSpots {
		sample(fmt.Sprintf("main.tiny%d@main.go", i), time.Millisecond)
		m.Syscalls.Calls = append(m.Syscalls.Calls, model.Syscall{Name: fmt.Sprint("call", i), Count: int64(i)})
	}
	m.Syscalls.Calls = append(m.Syscalls.Calls, model.Syscall{Name: "read", Count: 3000})

	a := activity(m, 2*time.Second)
	if len(a.CPU) != maxSpots || a.CPU[0] != (Spot{Function: "main.large", Cores: 0.5}) || a.CPU[1] != (Spot{Function: "main.small", Cores: 0.05}) {
		t.Errorf("activity().CPU = %d with %v first, want %d, of main.large 0.5 cores and of main.small 0.05", len(a.CPU), a.CPU[:2], maxSpots)
	}
	if len(a.Calls) != maxSpots || a.Calls[0] != (Calls{"read", 1500}) {
		t.Errorf("activity().Calls = %d with %v first, want %d and 1,500 reads a second", len(a.Calls), a.Calls[0], maxSpots)
	}
	if none := activity(&model.Model{}, time.Second); none.CPU != nil || none.Off != nil || none.Calls != nil {
		t.Errorf("activity() of nothing = %v, want nothing", none)
	}
	if got := spots(m, m.Kernel.CPU, 0, spot); got != nil {
		t.Errorf("spots() in no time = %v, want none", got)
	}
}
