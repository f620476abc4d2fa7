package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// frames makes a stack of names, leaf first.
func frames(names string) (fs []Frame) {
	for _, n := range strings.Fields(names) {
		fs = append(fs, Frame{Func: n})
	}
	return fs
}

func TestCPUPartOf(t *testing.T) {
	for _, c := range []struct {
		stack string
		want  CPUPart
		call  string // in the kernel
	}{
		{"main.work main.main runtime.main runtime.goexit", Application, ""},
		{"runtime.memmove main.copy main.main", Application, ""},
		{"internal/runtime/maps.h2 runtime.mapaccess1_fast64 main.f", Application, ""},
		{"internal/runtime/atomic.(*Uint32).Add sync.(*Mutex).Lock main.f", Application, ""},
		{"runtime.procyield runtime.lock2 runtime.lockWithRank runtime.lock runtime.chansend runtime.chansend1 main.f", Application, ""},
		{"runtime.selectgo main.loop", Application, ""},
		{"slices.SortFunc[go.shape.[]main.T,go.shape.struct { x/y.Z }] main.f", Application, ""},

		{"runtime.mallocgc runtime.newobject main.f", Allocating, ""},
		{"runtime.nextFreeFast runtime.mallocgcSmallNoScanSC4 runtime.growslice main.f", Allocating, ""},
		{"runtime.memclrNoHeapPointers runtime.mallocgcLarge runtime.mallocgc runtime.makeslice main.f", Allocating, ""},
		{"runtime.(*mheap).allocSpan runtime.(*mheap).alloc.func1 runtime.systemstack runtime.(*mheap).alloc runtime.(*mcache).refill runtime.mallocgc main.f", Allocating, ""},
		{"runtime.scanobject runtime.gcDrainN runtime.gcAssistAlloc1 runtime.gcAssistAlloc.func1 runtime.systemstack runtime.gcAssistAlloc runtime.mallocgc main.f", Collecting, ""},
		{"runtime.(*sweepLocked).sweep runtime.(*mcentral).cacheSpan runtime.(*mcache).refill runtime.mallocgc main.f", Collecting, ""},
		{"runtime.gcDrain runtime.gcBgMarkWorker.func2 runtime.systemstack runtime.gcBgMarkWorker runtime.goexit", Collecting, ""},
		{"internal/runtime/gc/scan.ScanSpanPackedAVX512 runtime.scanSpan runtime.gcDrain runtime.gcBgMarkWorker", Collecting, ""},
		{"runtime.wbBufFlush1 runtime.wbBufFlush.func1 runtime.systemstack runtime.wbBufFlush runtime.gcWriteBarrier2 main.f", Collecting, ""},
		{"runtime.copystack runtime.shrinkstack runtime.scanstack runtime.markroot.func1 runtime.markroot runtime.gcDrain", Collecting, ""},
		{"runtime.pcvalue runtime.(*unwinder).next runtime.copystack runtime.newstack runtime.morestack main.deep", StackGrowth, ""},
		{"runtime.(*mheap).allocManual runtime.stackalloc runtime.copystack runtime.newstack runtime.morestack main.deep", StackGrowth, ""},
		{"runtime.memmove runtime.copystack", StackGrowth, ""}, // cut short
		{"runtime.pcvalue runtime.(*unwinder).next runtime.Callers log.(*Logger).output main.f", Application, ""},
		{"runtime.runqgrab runtime.runqsteal runtime.stealWork runtime.findRunnable runtime.schedule runtime.park_m runtime.mcall", Scheduling, ""},
		{"runtime.execute runtime.schedule runtime.goschedImpl runtime.gopreempt_m runtime.newstack runtime.morestack main.f", Scheduling, ""},
		{"runtime.runqput runtime.newproc.func1 runtime.systemstack runtime.newproc main.f", Scheduling, ""},
		{"runtime.(*timers).run runtime.(*timers).check runtime.findRunnable runtime.schedule", Scheduling, ""},
		{"runtime.casgstatus runtime.exitsyscall syscall.Syscall syscall.read internal/poll.(*FD).Read", Scheduling, ""},
		{"gogo runtime.mcall", Scheduling, ""},
		{"runtime.sysmon runtime.mstart1 runtime.mstart0 runtime.mstart", Scheduling, ""},

		// The profile's own view of the kernel.
		{"internal/runtime/syscall.Syscall6 syscall.RawSyscall6 syscall.Syscall syscall.write syscall.Write internal/poll.(*FD).Write os.(*File).Write main.f", InKernel, "write"},
		{"internal/runtime/syscall/linux.Syscall6 syscall.RawSyscall6 syscall.Syscall6 syscall.accept4 syscall.Accept4 internal/poll.accept", InKernel, "accept4"},
		{"syscall.Syscall syscall.read internal/poll.(*FD).Read main.f", InKernel, "read"}, // Go 1.17
		{"internal/runtime/syscall.Syscall6 syscall.Syscall6 internal/syscall/unix.CopyFileRange internal/poll.CopyFileRange main.f", InKernel, "copy_file_range"},
		{"golang.org/x/sys/unix.Syscall6 golang.org/x/sys/unix.EpollCtl main.f", InKernel, "epoll_ctl"},
		{"internal/runtime/syscall.Syscall6 syscall.RawSyscall6 syscall.Syscall main.raw", InKernel, "system call"},
		{"internal/runtime/syscall.Syscall6 internal/runtime/syscall.EpollCtl runtime.netpollopen internal/poll.runtime_pollOpen internal/poll.(*pollDesc).init net.(*netFD).init", InKernel, "epoll_ctl"},
		{"internal/runtime/syscall.Syscall6 internal/runtime/syscall.EpollWait runtime.netpoll runtime.findRunnable runtime.schedule", Scheduling, "epoll_pwait"},
		{"do_syscall_64 entry_SYSCALL_64_after_hwframe internal/runtime/syscall/linux.Syscall6 runtime.netpoll runtime.findRunnable", Scheduling, "epoll_pwait"},
		{"runtime.epollwait runtime.netpoll runtime.findrunnable", Scheduling, "epoll_pwait"}, // Go 1.18
		{"runtime.futex runtime.futexwakeup runtime.notewakeup runtime.startm runtime.wakep runtime.ready runtime.goready.func1 runtime.systemstack runtime.goready runtime.send runtime.chansend main.f", Scheduling, "futex"},
		{"runtime.futex runtime.futexsleep runtime.lock2 runtime.(*mheap).alloc.func1 runtime.systemstack runtime.mallocgc main.f", Allocating, "futex"},
		{"runtime.futex runtime.futexsleep runtime.lock2 runtime.lock runtime.chansend main.f", Scheduling, "futex"},
		{"runtime.usleep runtime.sysmon runtime.mstart1", Scheduling, "nanosleep"},
		{"runtime.madvise runtime.sysUnusedOS runtime.sysUnused runtime.(*pageAlloc).scavengeOne runtime.bgscavenge", Collecting, "madvise"},
		{"runtime.tgkill runtime.signalM runtime.preemptM runtime.preemptone runtime.retake runtime.sysmon", Scheduling, "tgkill"},

		// Kernel frames.
		{"futex_wake __x64_sys_futex do_syscall_64 entry_SYSCALL_64_after_hwframe runtime.futex runtime.futexwakeup runtime.notewakeup runtime.startm runtime.wakep", Scheduling, "futex"},
		{"tcp_sendmsg __x64_sys_write do_syscall_64 entry_SYSCALL_64_after_hwframe internal/runtime/syscall.Syscall6 syscall.Syscall syscall.write net.(*conn).Write", InKernel, "write"},
		{"clear_page_erms handle_mm_fault exc_page_fault asm_exc_page_fault main.touch main.main", InKernel, "page fault"},
		{"clear_page_erms handle_mm_fault exc_page_fault asm_exc_page_fault runtime.memclrNoHeapPointers runtime.mallocgcLarge main.f", Allocating, "page fault"},
		{"net_rx_action_[k] asm_common_interrupt_[k] main.f", InKernel, "interrupt"},
		{"do_futex_[k] __x64_sys_futex_[k]", Scheduling, "futex"},
		{"schedule ret_from_fork", InKernel, "kernel"},
		{"gic_handle_irq el0t_64_irq_handler main.f", InKernel, "interrupt"},
		{"clear_page_erms asm_exc_page_fault main.f", InKernel, "page fault"},
		{"tick_sched_timer asm_sysvec_apic_timer_interrupt main.f", InKernel, "interrupt"},
		{"swapgs entry_SYSCALL_64 main.f", InKernel, "system call"},
		{"cmpbody", OtherCPU, ""},
		{"runtime.memmove", OtherCPU, ""},
		{"memcpy runtime.memmove", OtherCPU, ""},
		{"internal/runtime/gc/scan.ScanSpan", Collecting, ""}, // cut short
		{"runtime.sysAlloc runtime.futex runtime.rt0_go", Allocating, ""},
		{"runtime.copystack runtime.persistentalloc", StackGrowth, ""},

		{"runtime.asmcgocall runtime.cgocall main._Cfunc_work main.f", InCgo, ""},
		{"deflate compress2 runtime.asmcgocall runtime.cgocall main._Cfunc_compress2 main.f", InCgo, ""},
		{"deflate compress2 start_thread", InCgo, ""},
		{"main.goCallback runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallback c_work runtime.asmcgocall runtime.cgocall main.f", Application, ""},
		{"runtime._ExternalCode", InCgo, ""},
		{"runtime._GC", Collecting, ""},
		{"runtime._System", OtherCPU, ""},
		{"runtime._VDSO", OtherCPU, ""},
		{"[vdso] runtime.nanotime1 time.now main.f", Application, ""},
		{"[unknown]", OtherCPU, ""},
		{"", OtherCPU, ""},
	} {
		if got := CPUPartOf(frames(c.stack)); got != c.want {
			t.Errorf("CPUPartOf(%s) = %q, want %q", c.stack, got, c.want)
		}
		if call, ok := KernelCallOf(frames(c.stack), nil); call != c.call || ok != (c.call != "") {
			t.Errorf("%s: in the kernel for %q, want %q", c.stack, call, c.call)
		}
	}
}

// The kernel's frames begin a stack, up to the last of them before a function of Go.
func TestKernelDepth(t *testing.T) {
	for stack, want := range map[string]int{
		"main.f main.main": 0, "schedule ret_from_fork": 2, "apic_timer asm_sysvec_apic_timer_interrupt main.f": 2, "copy_page_[k] main.f": 1,
		"memcpy start_thread": 0, "main.f do_syscall_64": 0, "": 0, "futex_wake do_syscall_64 futex entry_SYSCALL_64 lll_lock main.f": 4,
	} {
		if got := KernelDepth(frames(stack)); got != want {
			t.Errorf("KernelDepth(%s) = %d, want %d", stack, got, want)
		}
	}
}

func TestIsGo(t *testing.T) {
	for name, want := range map[string]bool{
		"main.f": true, "net/http.(*conn).serve": true, "slices.Sort[go.shape.int]": true,
		"": false, "memcpy": false, "[vdso]": false, "[a.b].c": false,
		"a.b_[k]": false, "memcpy@GLIBC_2.2.5": false, ".text": false, "main.": false, "libc.so.6": false, "memcpy.part.0": false,
		"f.constprop.0": false, "f.isra.0": false, "f.cold": false,
	} {
		if got := isGo(name); got != want {
			t.Errorf("isGo(%s) = %v, want %v", name, got, want)
		}
	}
}

func TestNamedC(t *testing.T) {
	for stack, want := range map[string]bool{"memcpy": true, "[vdso]": false, "0x7f00": false, "?": false, "": false,
		"[heap] ? deflate": true} {
		if got := namedC(frames(stack)); got != want {
			t.Errorf("namedC(%s) = %v, want %v", stack, got, want)
		}
	}
	if namedC([]Frame{{File: "a.c"}}) {
		t.Error("namedC(a frame without a name) = true, want false")
	}
}

func TestEntersKernel(t *testing.T) {
	for fn, want := range map[string]bool{
		"syscall.Syscall": true, "syscall.rawVforkSyscall.abi0": true, "golang.org/x/sys/unix.RawSyscall": true,
		"runtime.futex": true, "runtime.mallocgc": false,
		"syscall.runtime_entersyscall": false, "syscall.read": false, "main.Syscall": false, "futex": false,
	} {
		if got := EntersKernel(fn); got != want {
			t.Errorf("EntersKernel(%s) = %v, want %v", fn, got, want)
		}
	}
}

func TestLabelsTellTheKernel(t *testing.T) {
	app := frames("main.f main.main")
	// On the way into a call, or out of it.
	if _, call, _ := classify(frames("internal/runtime/syscall.Syscall6 syscall.RawSyscall6 syscall.Syscall6 syscall.pread os.(*File).pread main.f"), map[string]string{"mode": "kernel", "syscall": someCall}); call != "pread64" {
		t.Errorf("classify(a call that its wrapper names) = %q, want pread64", call)
	}
	if p, call, _ := classify(app, map[string]string{"mode": "kernel", "syscall": "getpid"}); p != InKernel || call != "getpid" {
		t.Errorf("classify(getpid in kernel mode) = %q, %q; want the kernel in getpid", p, call)
	}
	if p, _, kernel := classify(frames("internal/runtime/syscall.Syscall6 syscall.read"), map[string]string{"mode": "user"}); p != Application || kernel {
		t.Errorf("classify(a sample of user mode) = %q, want %q", p, Application)
	}
	high := append([]Frame{{PC: 0xffffffff81000000, Func: "strange.name"}}, app...)
	if p, _, kernel := classify(high, nil); p != InKernel || !kernel {
		t.Errorf("classify(an address of the kernel) = %q, want %q in the kernel", p, InKernel)
	}
}

// A tally builds models with CPU samples.
type tally struct{ *Model }

func (b tally) profile(labels map[string]string, sums map[string]time.Duration) *Profile {
	p := &Profile{Types: []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}, Known: true, Duration: 10 * time.Second}
	names := make([]string, 0, len(sums))
	for s := range sums {
		names = append(names, s)
	}
	slices.Sort(names)
	for _, s := range names {
		d := sums[s]
		p.Samples = append(p.Samples, Sample{Stack: b.Stacks.Add(frames(s)), Values: []int64{int64(d / (10 * ms)), int64(d)}, Labels: labels})
	}
	return p
}

func counters(user, system time.Duration) *Process {
	return &Process{Samples: []ProcessSample{{At: 0, User: time.Second, System: time.Second},
		{At: 10 * time.Second, User: time.Second + user, System: time.Second + system}}}
}

func (b tally) want(t *testing.T, parts map[CPUPart]time.Duration) *CPUAccount {
	t.Helper()
	if err := b.Check(); err != nil {
		t.Error(err)
	}
	a := b.CPUAccount()
	for _, p := range CPUParts {
		if got := a.Part(p).Time; (got - parts[p]).Abs() > time.Microsecond {
			t.Errorf("%s has %v, want %v", p, got, parts[p])
		}
	}
	return a
}

const (
	appStack   = "main.f main.main"
	readStack  = "internal/runtime/syscall.Syscall6 syscall.read internal/poll.(*FD).Read main.f"
	futexStack = "runtime.futex runtime.notewakeup runtime.startm"
)

// 3 s + 2 s used; 4.8 s sampled: 2.9 s of it in user mode, 1.9 s in the kernel.
func TestCPUAccountOfProfile(t *testing.T) {
	b := tally{&Model{Process: counters(3*time.Second, 2*time.Second)}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 2900 * ms, readStack: 1500 * ms, futexStack: 400 * ms})
	a := b.want(t, map[CPUPart]time.Duration{Application: 2900 * ms, InKernel: 1500 * ms, Scheduling: 400 * ms, NotSampled: 200 * ms})
	if c, ok := a.Covered(); !ok || math.Abs(c-0.96) > 1e-9 || a.Believed != CPU || a.Why != "" {
		t.Errorf("coverage %v of %s, %q; want 0.96 of %s without a reason", c, a.Believed, a.Why, CPU)
	}
	if a.Window != 10*time.Second || a.Cores() != 0.5 || a.Kernel != 1900*ms {
		t.Errorf("account over %v, %v cores, kernel %v; want 10s, 0.5 and 1.9s", a.Window, a.Cores(), a.Kernel)
	}
	if calls := a.KernelCalls(); len(calls) != 2 || calls[0] != (CPUName{"read", 1500 * ms}) || calls[1] != (CPUName{"futex", 400 * ms}) {
		t.Errorf("KernelCalls() = %v, want 1.5s of read and 400ms of futex", calls)
	}
	if by := a.Part(NotSampled).By; !slices.Equal(by, []CPUName{{"kernel mode", 100 * ms}, {"user mode", 100 * ms}}) {
		t.Errorf("not sampled: %v, want 100ms in kernel mode and as much in user mode", by)
	}
}

func TestCPUAccountBelieves(t *testing.T) {
	kernel := func(b tally, userOnly bool, app, read time.Duration) *Kernel {
		p := b.profile(map[string]string{"mode": "user"}, map[string]time.Duration{appStack: app})
		if !userOnly {
			k := b.profile(map[string]string{"mode": "kernel", "syscall": "read"}, map[string]time.Duration{readStack: read})
			p.Samples = append(p.Samples, k.Samples...)
		}
		return &Kernel{CPU: p, UserOnly: userOnly}
	}
	for _, c := range []struct {
		name              string
		profile, app, sys time.Duration // sampled
		userOnly          bool
		lost              int64
		want              Source
		why               string
	}{
		{"the kernel sees more", 3000 * ms, 3000 * ms, 1900 * ms, false, 0, KernelCPU, "cover 98.0%"},
		{"alike", 4900 * ms, 3000 * ms, 1900 * ms, false, 0, KernelCPU, "alike"},
		{"user only", 4500 * ms, 3000 * ms, 0, true, 0, CPU, "user mode only"},
		{"lossy", 4500 * ms, 3000 * ms, 1900 * ms, false, 100, CPU, "lost 16.9% of its samples"},
		{"the kernel sees nothing", 4900 * ms, 0, 0, false, 0, CPU, "took no sample"},
		{"both see nothing", 0, 0, 0, false, 0, KernelCPU, "alike"},
		{"the kernel sees too much", 4900 * ms, 6000 * ms, 3000 * ms, false, 0, CPU, "covers 98.0%"},
	} {
		b := tally{&Model{Process: counters(3*time.Second, 2*time.Second)}}
		b.CPU = b.profile(nil, map[string]time.Duration{appStack: c.profile})
		b.Kernel = kernel(b, c.userOnly, c.app, c.sys)
		b.Kernel.Lost = c.lost
		if err := b.Check(); err != nil {
			t.Errorf("%s: Check() = %v, want nil", c.name, err)
		}
		a := b.CPUAccount()
		if a.Believed != c.want || !strings.Contains(a.Why, c.why) || len(a.Coverage) != 2 {
			t.Errorf("%s: %s because %q, coverage %v; want %s because of %q, and two coverages", c.name, a.Believed, a.Why, a.Coverage, c.want, c.why)
		}
	}
}

// What samples exceed the counters by is scaled away, and told.
func TestCPUAccountScales(t *testing.T) {
	b := tally{&Model{Process: counters(4*time.Second, 0)}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 3150 * ms, futexStack: 1050 * ms})
	a := b.want(t, map[CPUPart]time.Duration{Application: 3 * time.Second, Scheduling: time.Second})
	if math.Abs(a.Scale-4./4.2) > 1e-9 || a.Disagree || a.Why != "" {
		t.Errorf("scale %v, disagree %v, %q; want 4/4.2 without a doubt", a.Scale, a.Disagree, a.Why)
	}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 8 * time.Second})
	a = b.want(t, map[CPUPart]time.Duration{Application: 4 * time.Second})
	if !a.Disagree || !strings.Contains(a.Why, "samples of 8.00 s and rusage of 4.00 s") {
		t.Errorf("twice the counters: %v, %q", a.Disagree, a.Why)
	}
}

func TestCPUAccountOfPartOfTheRun(t *testing.T) {
	b := tally{&Model{Process: &Process{Samples: []ProcessSample{{At: 0}, {At: 4 * time.Second, User: 4 * time.Second}, {At: 10 * time.Second, User: 4 * time.Second}}}}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 1900 * ms})
	b.CPU.At, b.CPU.Duration = 2*time.Second, 4*time.Second
	// 2 s of the profile's 4 s were busy.
	a := b.want(t, map[CPUPart]time.Duration{Application: 1900 * ms, NotSampled: 100 * ms})
	if a.From != 2*time.Second || a.Window != 4*time.Second || a.Cores() != 0.5 {
		t.Errorf("account from %v, over %v, %v cores; want 2s, 4s and 0.5", a.From, a.Window, a.Cores())
	}
	// Of a profile that begins before the counters the account has their share.
	b.CPU.At = -time.Second
	a = b.want(t, map[CPUPart]time.Duration{Application: 1425 * ms, NotSampled: 1575 * ms})
	if a.From != 0 || a.Window != 3*time.Second || a.Samples != 143 {
		t.Errorf("account from %v, over %v, %d samples; want 0s, 3s and 143", a.From, a.Window, a.Samples)
	}
	// A profile that does not say when it was taken is compared with the mean.
	b.CPU.Known = false
	if a := b.CPUAccount(); a.Total != 1600*ms {
		t.Errorf("account of %v, want 4 s of each 10", a.Total)
	}
	// Counters of another time tell nothing.
	b.CPU.Known, b.CPU.At = true, 9*time.Second
	if a := b.CPUAccount(); a.Known || a.Total != 1900*ms || len(a.Coverage) != 0 {
		t.Errorf("known %v, total %v, coverage %v; want 1.9s that are not known, and no coverage", a.Known, a.Total, a.Coverage)
	}
}

func TestCPUAccountWithout(t *testing.T) {
	if (&Model{}).CPUAccount() != nil || (&Model{CPU: &Profile{Types: []ValueType{{"samples", "count"}}}}).CPUAccount() != nil {
		t.Error("an account without times")
	}
	b := tally{&Model{Process: counters(3*time.Second, time.Second)}}
	a := b.want(t, map[CPUPart]time.Duration{NotSampled: 4 * time.Second})
	if by := a.Part(NotSampled).By; len(by) != 2 || by[0] != (CPUName{"user mode", 3 * time.Second}) || by[1] != (CPUName{"kernel mode", time.Second}) {
		t.Errorf("not sampled: %v, want 3s in user mode and 1s in kernel mode", by)
	}
	b = tally{&Model{}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: time.Second})
	if a := b.want(t, map[CPUPart]time.Duration{Application: time.Second}); a.Known || a.Total != time.Second {
		t.Errorf("account %+v, want 1s that is not known", a)
	}
}

// An idle program that wakes all the time: the profile sees little, and the
// account says so.
func TestCPUAccountOfWakes(t *testing.T) {
	b := tally{&Model{Process: counters(600*ms, 900*ms)}}
	b.Process.Samples[1].Voluntary = 20_000
	b.CPU = b.profile(nil, map[string]time.Duration{futexStack: 200 * ms, appStack: 100 * ms})
	a := b.want(t, map[CPUPart]time.Duration{Scheduling: 200 * ms, Application: 100 * ms, NotSampled: 1200 * ms})
	for _, want := range []string{"believe rusage: 1.20 s are in no sample", "2,000 times a second", "75.0 µs", "of 900 ms in the kernel they show 200 ms"} {
		if !strings.Contains(a.Why, want) {
			t.Errorf("no %q in %q", want, a.Why)
		}
	}
	if n := strings.Count(a.Why, "times a second"); n != 1 {
		t.Errorf("the waits are told %d times in %q, want once", n, a.Why)
	}
	// Where the kernel's samples are believed, why the profile shows less is still said.
	b.Kernel = &Kernel{CPU: b.profile(map[string]string{"mode": "kernel"}, map[string]time.Duration{futexStack: 1470 * ms})}
	if a := b.CPUAccount(); a.Believed != KernelCPU || !strings.Contains(a.Why, "times a second") || strings.Contains(a.Why, "in no sample") {
		t.Errorf("believed is %s: %q, want %s, and how often a second", a.Believed, a.Why, KernelCPU)
	}
	b.Kernel = nil
	b.Process.Samples[1].Voluntary = 5
	if a := b.CPUAccount(); strings.Contains(a.Why, "times a second") {
		t.Errorf("why of five waits: %q, want no rate", a.Why)
	}
}

// Of many samples those cover better that cover two hundredths more, on either side of all.
func TestBelieve(t *testing.T) {
	for _, tt := range []struct {
		kernel, profile time.Duration // of 100 s
		want            Source
	}{
		{95 * time.Second, 96500 * ms, KernelCPU}, {95 * time.Second, 97500 * ms, CPU}, {97500 * ms, 95 * time.Second, KernelCPU},
		{110 * time.Second, 98 * time.Second, CPU}, {101 * time.Second, 99500 * ms, KernelCPU},
		{101 * time.Second, 90 * time.Second, KernelCPU},
	} {
		views := []cpuView{{source: KernelCPU, sampled: tt.kernel}, {source: CPU, sampled: tt.profile}}
		for i := range views {
			views[i].user, views[i].known, views[i].samples = 100*time.Second, true, 4_000_000
		}
		if v, why := believe(views); v.source != tt.want {
			t.Errorf("believe(%v of the kernel, %v of the profile) = %s because %q, want %s", tt.kernel, tt.profile, v.source, why, tt.want)
		}
	}
}

// Samples of less than nine tenths of what was used have a word on what is missing.
func TestCPUAccountIsThin(t *testing.T) {
	for sampled, want := range map[time.Duration]string{
		920 * ms: "", 880 * ms: "believe rusage: 120 ms are in no sample; 88 samples cover 64.7% to 111% by chance alone",
		600 * ms: "believe rusage: 400 ms are in no sample",
	} {
		b := tally{&Model{Process: counters(time.Second, 0)}}
		b.CPU = b.profile(nil, map[string]time.Duration{appStack: sampled})
		if a := b.CPUAccount(); a.Why != want {
			t.Errorf("CPUAccount() with %v of 1s sampled says %q, want %q", sampled, a.Why, want)
		}
	}
}

// A view that is not believed has its waits told only where it is the profile's.
func TestThinKernel(t *testing.T) {
	b := tally{&Model{Process: counters(500*ms, 500*ms)}}
	b.Process.Samples[1].Voluntary = 20_000
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 500 * ms, readStack: 480 * ms})
	b.Kernel = &Kernel{CPU: b.profile(map[string]string{"mode": "user"}, map[string]time.Duration{appStack: 500 * ms})}
	if a := b.CPUAccount(); a.Believed != CPU || strings.Contains(a.Why, "times a second") {
		t.Errorf("CPUAccount() believes %s: %q, want %s, and no word on waits", a.Believed, a.Why, CPU)
	}
}

// Counters that were first read after two seconds are of eight of ten.
func TestCPUAccountFrom(t *testing.T) {
	for _, tt := range []struct {
		name               string
		at, long           time.Duration
		known              bool
		from, window, used time.Duration
	}{
		{"no length", 0, 0, false, 2 * time.Second, 8 * time.Second, 4 * time.Second},
		{"a length, at any time", 0, 6 * time.Second, false, 0, 6 * time.Second, 3 * time.Second},
		{"from before", -2 * time.Second, 9 * time.Second, true, 2 * time.Second, 5 * time.Second, 2500 * ms},
		{"to later", 4 * time.Second, 10 * time.Second, true, 4 * time.Second, 6 * time.Second, 3 * time.Second},
		{"half of it", 6 * time.Second, 8 * time.Second, true, 6 * time.Second, 4 * time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tally{&Model{Process: counters(3*time.Second, time.Second)}}
			b.Process.Samples[0].At = 2 * time.Second
			b.CPU = b.profile(nil, map[string]time.Duration{appStack: time.Second})
			b.CPU.At, b.CPU.Duration, b.CPU.Known = tt.at, tt.long, tt.known
			if a := b.CPUAccount(); a.From != tt.from || a.Window != tt.window || a.Total != tt.used || !a.Known {
				t.Errorf("CPUAccount() is of %v from %v with %v used, want %v from %v with %v",
					a.Window, a.From, a.Total, tt.window, tt.from, tt.used)
			}
		})
	}
}

// Of a third of what was sampled the rounded parts lack a nanosecond, which the largest has.
func TestCPUAccountRounds(t *testing.T) {
	b := tally{&Model{Process: counters(100, 0)}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 70, futexStack: 91, readStack: 139})
	a := b.CPUAccount()
	for part, want := range map[CPUPart]time.Duration{Application: 23, Scheduling: 30, InKernel: 47, NotSampled: 0} {
		if got := a.Part(part).Time; got != want {
			t.Errorf("%s has %d, want %d", part, got, want)
		}
	}
	// What is not scaled is whole, however long it is.
	b = tally{&Model{}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 1<<53 + 1})
	if got := b.CPUAccount().Part(Application).Time; got != 1<<53+1 {
		t.Errorf("%s has %d, want %d", Application, got, 1<<53+1)
	}
}

// What may hide CPU time from samples is said where it is seen.
func TestMissing(t *testing.T) {
	limits := func(after, throttled time.Duration) *Limits {
		return &Limits{Samples: []LimitSample{{ThrottledTime: time.Second}, {At: after, ThrottledTime: throttled}}}
	}
	const unsampled = "believe rusage: 6.00 s are in no sample"
	for _, tt := range []struct {
		name   string
		v      cpuView
		limits *Limits
		want   []string
	}{
		{"nothing", cpuView{}, nil, nil},
		{"a quota", cpuView{}, limits(10*time.Second, 3*time.Second), []string{"a CPU quota stopped the process for 2.00 s"}},
		{"a quota that did not stop it", cpuView{}, limits(10*time.Second, time.Second), nil},
		{"a quota that was read at one moment", cpuView{}, limits(0, 3*time.Second), nil},
		{"losses", cpuView{lost: 0.02}, nil, []string{"2.0% of the kernel's samples were lost"}},
		{"few losses", cpuView{lost: 0.01}, nil, nil},
		{"the kernel", cpuView{system: 3100 * ms}, nil, []string{"of 3.10 s in the kernel they show 0 s"}},
		{"half in the kernel", cpuView{system: 3 * time.Second}, nil, nil},
		{"as many in the kernel as there are", cpuView{system: 7 * time.Second, kernel: 4 * time.Second}, nil, nil},
		{"user mode", cpuView{system: 3100 * ms, userOnly: true}, nil,
			[]string{"of 3.10 s in the kernel they show 0 s, for they are of user mode only"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.v.user, tt.v.sampled, tt.v.samples = 10*time.Second-tt.v.system, 4*time.Second, 400
			m := &Model{Limits: tt.limits}
			if got, want := tt.v.missing(m), append([]string{unsampled}, tt.want...); !slices.Equal(got, want) {
				t.Errorf("missing(…) = %q, want %q", got, want)
			}
		})
	}
}

// A profile without a length is of the run where the trace had it, and of the time in which the
// counters were read where there are some.
func TestCPUAccountWindow(t *testing.T) {
	for _, tt := range []struct {
		name      string
		long      time.Duration
		trace     bool
		counted   bool
		window    time.Duration
		perSecond float64 // cores
	}{
		{"a profile with its length", 5 * time.Second, false, false, 5 * time.Second, 0.2},
		{"a trace's with its length", 5 * time.Second, true, false, 5 * time.Second, 0.2},
		{"a trace's", 0, true, false, 20 * time.Second, 0.05},
		{"a profile", 0, false, false, 0, 0},
		{"a profile beside counters", 0, false, true, 10 * time.Second, 0.4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tally{&Model{Run: Run{Duration: 20 * time.Second}}}
			b.CPU = b.profile(nil, map[string]time.Duration{appStack: time.Second})
			b.CPU.Duration, b.CPU.FromTrace, b.CPU.Known = tt.long, tt.trace, false
			if tt.counted {
				b.Process = counters(3*time.Second, time.Second)
			}
			if a := b.CPUAccount(); a.Window != tt.window || a.Cores() != tt.perSecond {
				t.Errorf("CPUAccount() is over %v with %v cores, want %v and %v", a.Window, a.Cores(), tt.window, tt.perSecond)
			}
		})
	}
}

func TestColumns(t *testing.T) {
	for _, tt := range []struct {
		name         string
		types        []ValueType
		count, nanos int
	}{
		{"pprof's", []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}, 0, 1},
		{"the first of each", []ValueType{{"bytes", "bytes"}, {"wall", "nanoseconds"}, {"samples", "count"}, {"cpu", "nanoseconds"},
			{"calls", "count"}}, 2, 1},
		{"no count", []ValueType{{"bytes", "bytes"}, {"cpu", "nanoseconds"}}, -1, 1},
		{"no time", []ValueType{{"bytes", "bytes"}, {"calls", "count"}}, 1, -1},
		{"neither", nil, -1, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Profile{Types: tt.types}
			if count, nanos := p.Columns(); count != tt.count || nanos != tt.nanos {
				t.Errorf("Columns() = %d, %d, want %d, %d", count, nanos, tt.count, tt.nanos)
			}
			if got, want := p.Counted(), tt.count >= 0; got != want {
				t.Errorf("Counted() = %v, want %v", got, want)
			}
		})
	}
}

// Chance is two ticks of 10 ms, and two parts of the square root of the number of samples.
func TestNoise(t *testing.T) {
	for _, tt := range []struct {
		user, system time.Duration
		samples      int64
		want         float64
	}{{3 * time.Second, time.Second, 400, 0.105}, {time.Second, 0, 400, 0.12}, {0, 4 * time.Second, 0, 0.005}, {0, 0, 400, 0}} {
		v := &cpuView{user: tt.user, system: tt.system, samples: tt.samples}
		if got := v.noise(); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("noise() of %d samples of %v and %v = %v, want %v", tt.samples, tt.user, tt.system, got, tt.want)
		}
	}
}

// Runs are brief below a millisecond, where there are more than a hundred.
func TestBrief(t *testing.T) {
	for _, tt := range []struct {
		user, system time.Duration
		waits        int64
		rate         float64
		run          time.Duration
		ok           bool
	}{
		{500 * ms, 250 * ms, 1000, 100, 750 * time.Microsecond, true}, {800 * ms, 200 * ms, 1000, 100, ms, false},
		{50 * ms, 0, 150, 15, 333333, true}, {50 * ms, 0, 100, 10, 500 * time.Microsecond, false}, {time.Second, 0, 0, 0, 0, false},
	} {
		m := &Model{Process: counters(tt.user, tt.system)}
		m.Process.Samples[0].Voluntary, m.Process.Samples[1].Voluntary = 7, 7+tt.waits
		m.Process.Samples[0].User, m.Process.Samples[1].User = 0, tt.user
		if rate, run, ok := m.brief(); rate != tt.rate || run != tt.run || ok != tt.ok {
			t.Errorf("brief() of %d waits = %v, %v, %v; want %v, %v, %v", tt.waits, rate, run, ok, tt.rate, tt.run, tt.ok)
		}
	}
	if _, _, ok := new(Model).brief(); ok {
		t.Error("brief() of nothing = true, want false")
	}
}

func TestCPUShare(t *testing.T) {
	a := &CPUAccount{Total: 80, Parts: []CPUEntry{{Part: Application, Time: 60}, {Part: InCgo, Time: 20}}}
	for part, want := range map[CPUPart]float64{Application: 0.75, InCgo: 0.25, Collecting: 0} {
		if got := a.Share(part); got != want {
			t.Errorf("Share(%s) = %v, want %v", part, got, want)
		}
	}
	for _, total := range []time.Duration{0, -5} {
		if got := (&CPUAccount{Total: total, Parts: a.Parts}).Share(InCgo); got != 0 {
			t.Errorf("Share(cgo) of %v = %v, want 0", total, got)
		}
	}
}

// What no sample shows is split as the counters say, as far as there is something left.
func TestUnseen(t *testing.T) {
	for _, tt := range []struct {
		name           string
		system, kernel time.Duration
		gap            time.Duration
		want           []CPUName
	}{
		{"both modes", 50, 20, 100, []CPUName{{"user mode", 70}, {"kernel mode", 30}}},
		{"the kernel alone", 500, 20, 100, []CPUName{{"kernel mode", 100}}},
		{"more sampled in the kernel than was used", 20, 50, 100, []CPUName{{"user mode", 100}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &CPUAccount{Known: true, System: tt.system, Kernel: tt.kernel}
			if got := a.unseen(tt.gap); !slices.Equal(got, tt.want) {
				t.Errorf("unseen(%v) = %v, want %v", tt.gap, got, tt.want)
			}
			if a.Known = false; a.unseen(tt.gap) != nil {
				t.Errorf("unseen(%v) without counters = %v, want nil", tt.gap, a.unseen(tt.gap))
			}
		})
	}
}

// Whatever was sampled and counted, the parts add up.
func TestCPUAccountAlwaysAddsUp(t *testing.T) {
	names := strings.Fields(`main.f runtime.mallocgc runtime.gcDrain runtime.futex runtime.schedule runtime.newstack runtime.lock2
		internal/runtime/syscall.Syscall6 syscall.read runtime.cgocall deflate [unknown] runtime.systemstack asm_exc_page_fault
		entry_SYSCALL_64_after_hwframe runtime._System x/y.(*T[a/b.C]).M . .. a. .b [ / "" ksys_read_[k]`)
	r := rand.New(rand.NewPCG(3, 4))
	random := func(m *Model) *Profile {
		p := &Profile{Types: []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}, Known: r.IntN(2) == 0,
			At: time.Duration(r.Int64N(2e9)) - time.Second, Duration: time.Duration(r.Int64N(1e10))}
		for range r.IntN(30) {
			var fs []Frame
			for range r.IntN(8) {
				fs = append(fs, Frame{Func: names[r.IntN(len(names))], PC: uint64(r.IntN(2)) << 63})
			}
			s := Sample{Stack: m.Stacks.Add(fs), Values: []int64{int64(r.IntN(50)), r.Int64N(1e9)}}
			if r.IntN(2) == 0 {
				s.Labels = map[string]string{"mode": []string{"user", "kernel", ""}[r.IntN(3)], "syscall": []string{"read", ""}[r.IntN(2)]}
			}
			p.Samples = append(p.Samples, s)
		}
		return p
	}
	for i := range 2000 {
		m := &Model{}
		if r.IntN(4) > 0 {
			m.CPU = random(m)
		}
		if r.IntN(2) == 0 {
			m.Kernel = &Kernel{CPU: random(m), UserOnly: r.IntN(2) == 0, Lost: int64(r.IntN(100))}
		}
		if r.IntN(4) > 0 {
			m.Process = &Process{}
			var s ProcessSample
			for range 1 + r.IntN(4) {
				m.Process.Samples = append(m.Process.Samples, s)
				s.At += time.Duration(r.Int64N(4e9))
				s.User += time.Duration(r.Int64N(4e9))
				s.System += time.Duration(r.Int64N(2e9))
			}
		}
		if err := m.Check(); err != nil {
			t.Fatalf("account %d: Check() = %v, want nil\n%+v", i, err, m.CPUAccount())
		}
	}
}

func TestCPUClasses(t *testing.T) {
	two := func(v float64) Series { return Series{{0, 1}, {10 * time.Second, 1 + v}} }
	m := &Model{Process: counters(2*time.Second, time.Second), Metrics: &Metrics{Series: map[string]Series{
		"/cpu/classes/total:cpu-seconds": two(20), "/cpu/classes/idle:cpu-seconds": two(16.9), "/cpu/classes/gc/total:cpu-seconds": two(1)}}}
	c := m.CPUClasses()
	if c.GC != time.Second || c.Rusage != 3*time.Second || c.Exceeds {
		t.Errorf("CPUClasses() = %+v, want 1s of the collector, 3s by the kernel", c)
	}
	m.Metrics.Series["/cpu/classes/idle:cpu-seconds"] = two(10)
	if c := m.CPUClasses(); !c.Exceeds {
		t.Errorf("CPUClasses() of 10 s against 3 s by the kernel = %+v, want it to exceed", c)
	}
	// Of 3 s a tenth and a tick more are 3.31 s.
	for idle, want := range map[float64]bool{16.695: false, 16.685: true} {
		m.Metrics.Series["/cpu/classes/idle:cpu-seconds"] = two(idle)
		if c := m.CPUClasses(); c.Exceeds != want {
			t.Errorf("CPUClasses() with %v of 20 s idle exceeds 3 s: %v, want %v", idle, c.Exceeds, want)
		}
	}
	m.Metrics.Series["/cpu/classes/user:cpu-seconds"], m.Metrics.Series["/cpu/classes/scavenge/total:cpu-seconds"] = two(2), two(0.5)
	m.Metrics.Series["/cpu/classes/idle:cpu-seconds"], m.Process = two(4), nil
	want := CPUClasses{Window: 10 * time.Second, User: 2 * time.Second, GC: time.Second, Scavenge: 500 * ms,
		Idle: 4 * time.Second, Total: 20 * time.Second}
	if c := m.CPUClasses(); *c != want {
		t.Errorf("CPUClasses() without the kernel's = %+v, want %+v", c, want)
	}
	if (&Model{}).CPUClasses() != nil {
		t.Error("classes of nothing")
	}
}
