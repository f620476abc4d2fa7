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
	if by := a.Part(NotSampled).By; len(by) != 2 || by[0] != (CPUName{"kernel mode", 100 * ms}) && by[0] != (CPUName{"user mode", 100 * ms}) {
		t.Errorf("not sampled: %v", by)
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
		{"lossy", 4500 * ms, 3000 * ms, 1900 * ms, false, 100, CPU, "lost"},
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
	if a := b.want(t, map[CPUPart]time.Duration{Application: 4 * time.Second}); !a.Disagree || !strings.Contains(a.Why, "disagrees") {
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
	if (&Model{}).CPUClasses() != nil {
		t.Error("classes of nothing")
	}
}
