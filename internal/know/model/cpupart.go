package model

import (
	"strings"
	"unicode"
)

// A sample of CPU time belongs to the part that the code nearest to its leaf
// was working for: an assist inside an allocation is the collector's, the
// wake-up of a thread inside a channel operation is the scheduler's. Most of
// the runtime decides nothing (memmove, maps, channels, atomics, locks): there
// the search goes on towards the root, and what ends at the program's own
// function is the program's.
//
// Kernel time of the runtime's own doing (futex and epoll of the scheduler,
// madvise of the scavenger, page faults of a fresh span) stays with the part
// that caused it, by name; all other kernel time is InKernel.

// CPUPartOf says which part of a process's CPU time a stack, leaf first, is
// of. A stack in the kernel is known by its kernel frames or by the function
// of the runtime or of package syscall at its leaf that enters it.
func CPUPartOf(frames []Frame) CPUPart {
	p, _, _ := classify(frames, nil)
	return p
}

// KernelCallOf says what a stack, leaf first, does in the kernel: a system
// call's name as in syscall(2)'s tables, "page fault", "interrupt", or
// "system call" for one that nothing names. False when it is not there.
// Labels are those of [Kernel.CPU], nil for a profile without.
func KernelCallOf(frames []Frame, labels map[string]string) (name string, ok bool) {
	_, name, ok = classify(frames, labels)
	return name, ok
}

// The names of kernel time that is no system call's, and of a call without a name.
const (
	pageFault  = "page fault"
	interrupt  = "interrupt"
	someCall   = "system call"
	someKernel = "kernel"
)

func classify(frames []Frame, labels map[string]string) (part CPUPart, call string, kernel bool) {
	n := KernelDepth(frames)
	user := frames[n:]
	switch labels["mode"] {
	case "kernel":
		kernel = true
	case "user":
	default:
		kernel = n > 0 || len(user) > 0 && EntersKernel(user[0].Func)
	}
	if kernel {
		call = kernelCall(frames[:n], user, labels["syscall"])
	}
	part = userPart(user)
	switch {
	case !kernel:
	case part == Application && schedulerCalls[call] && len(user) > 0 && strings.HasPrefix(user[0].Func, "runtime."):
		part = Scheduling // a lock of the runtime's, inside an operation on a channel or a map
	case part == Application || part == InCgo:
		part = InKernel
	case part == OtherCPU && schedulerCalls[call]:
		// In a Go program the runtime alone makes these, and a thread that
		// has just been taken off its goroutine has no stack to tell.
		part = Scheduling
	case part == OtherCPU:
		part = InKernel
	}
	return part, call, kernel
}

// schedulerCalls are system calls that are the scheduler's where no stack
// says whose they are.
var schedulerCalls = map[string]bool{
	"futex": true, "epoll_pwait": true, "epoll_wait": true, "epoll_pwait2": true, "sched_yield": true,
	"nanosleep": true, "tgkill": true, "clone": true, "clone3": true,
}

// kernelEntries are where the kernel is entered: the last of its frames.
var kernelEntries = map[string]bool{
	"entry_SYSCALL_64_after_hwframe": true, "entry_SYSCALL_64": true, "entry_SYSCALL_64_safe_stack": true,
	"el0t_64_sync": true, "el0t_64_sync_handler": true, "el0_svc": true, "el0t_64_irq": true, "el0t_64_irq_handler": true,
	"do_syscall_64": true, "ret_from_fork": true, "ret_from_fork_asm": true, "syscall_return_via_sysret": true,
	"asm_exc_page_fault": true, "asm_common_interrupt": true, "page_fault": true, "swapgs_restore_regs_and_return_to_usermode": true,
}

// perfKernel is what folded stacks of perf mark kernel frames with.
const perfKernel = "_[k]"

// KernelDepth returns how many frames of a stack, leaf first, are the kernel's: they begin
// it.
func KernelDepth(frames []Frame) (n int) {
	for i, f := range frames {
		switch {
		// Addresses of the upper half are the kernel's wherever Linux runs.
		case f.PC>>63 == 1, strings.HasSuffix(f.Func, perfKernel), kernelEntries[f.Func], strings.HasPrefix(f.Func, "asm_sysvec_"):
			n = i + 1
		case isGo(f.Func):
			return n
		}
	}
	return n
}

// kernelCall names what the kernel does: as it said itself, else by its own
// functions, else by the wrapper in the program.
func kernelCall(kernel, user []Frame, said string) string {
	// On the way into and out of a call the kernel cannot tell which: the
	// program's wrapper can.
	if said != "" && said != someCall {
		return said
	}
	irq, call := false, false
	for _, f := range kernel {
		name := strings.TrimSuffix(f.Func, perfKernel)
		switch {
		case strings.Contains(name, "page_fault"), name == "handle_mm_fault", name == "el0_da", name == "el0_ia":
			if !call {
				return pageFault
			}
		case strings.HasPrefix(name, "asm_sysvec_"), name == "asm_common_interrupt", strings.HasPrefix(name, "el0t_64_irq"):
			irq = true
		case strings.HasPrefix(name, "entry_SYSCALL"), name == "do_syscall_64", name == "el0_svc":
			call = true
		default:
			for _, prefix := range []string{"__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_"} {
				if c, ok := strings.CutPrefix(name, prefix); ok {
					return kernelName(c)
				}
			}
		}
	}
	switch name := wrapperCall(user); {
	case name != "":
		return name
	case irq:
		return interrupt
	case call || len(kernel) == 0:
		return someCall
	}
	return someKernel
}

// kernelName brings the few calls whose function in the kernel is named
// otherwise to their name in the tables.
func kernelName(function string) string {
	if n, ok := map[string]string{"newfstat": "fstat", "newstat": "stat", "newlstat": "lstat", "newuname": "uname", "sendfile64": "sendfile"}[function]; ok {
		return n
	}
	return function
}

// isGo reports whether a name is one of a Go function: a package and a dot.
func isGo(name string) bool {
	if strings.HasSuffix(name, perfKernel) || strings.ContainsRune(name, '@') {
		return false // the kernel's, or a C symbol with its version
	}
	pkg, rest := splitFunc(name) // neither of a mapping, like [vdso]
	// C names may carry versions and parts: "memcpy.part.0", "lib.so.6".
	return pkg != "" && rest != "" && !strings.HasPrefix(rest, "so") && rest != "part.0" && rest != "constprop.0" && rest != "isra.0" && rest != "cold"
}

// splitFunc cuts a symbol after its import path: "net/http", "(*conn).serve".
func splitFunc(name string) (pkg, rest string) {
	head, _, _ := strings.Cut(name, "[") // type arguments hold slashes and dots of their own
	slash := strings.LastIndexByte(head, '/') + 1
	dot := strings.IndexByte(head[slash:], '.')
	if dot < 0 {
		return "", ""
	}
	return head[:slash+dot], name[slash+dot+1:]
}

// isRuntime reports whether a package is a piece of the runtime that works on
// behalf of whoever calls it.
func isRuntime(pkg string) bool {
	switch pkg {
	case "runtime", "sync/atomic", "internal/bytealg", "internal/cpu", "internal/abi", "internal/chacha8rand", "internal/goarch", "internal/byteorder":
		return true
	}
	return strings.HasPrefix(pkg, "internal/runtime/") || strings.HasPrefix(pkg, "runtime/internal/")
}

// userPart decides by frames of user mode.
func userPart(frames []Frame) CPUPart {
	weak, goSeen := CPUPart(""), false
	for _, f := range frames {
		pkg, rest := splitFunc(f.Func)
		if !isGo(f.Func) {
			if p := symbols[f.Func]; p != "" && weak == "" {
				weak = p
			}
			continue
		}
		goSeen = true
		if !isRuntime(pkg) {
			return Application
		}
		if strings.HasSuffix(pkg, "/gc/scan") {
			return Collecting
		}
		if pkg != "runtime" {
			continue
		}
		part, sure := runtimePart(rest)
		switch {
		case sure:
			return part
		case part != "" && weak == "":
			weak = part
		}
	}
	switch {
	case weak != "":
		return weak
	case !goSeen && namedC(frames):
		return InCgo
	}
	return OtherCPU
}

// symbols are assembly of the runtime without a package's name.
var symbols = map[string]CPUPart{"gogo": Scheduling, "gosave_systemstack_switch": Scheduling, "callRet": OtherCPU, "aeshashbody": OtherCPU,
	"memeqbody": OtherCPU, "cmpbody": OtherCPU, "indexbytebody": OtherCPU, "countbody": OtherCPU}

// namedC reports whether any frame has a C function's name: an address or a
// mapping says nothing about whose code it is.
func namedC(frames []Frame) bool {
	for _, f := range frames {
		if f.Func != "" && !strings.HasPrefix(f.Func, "[") && !strings.HasPrefix(f.Func, "0x") && f.Func != "?" {
			return true
		}
	}
	return false
}

// runtimePart returns the part of a function of package runtime, and whether it
// decides or only hints, for stacks where nothing decides.
func runtimePart(fn string) (part CPUPart, sure bool) {
	fn, _, _ = strings.Cut(fn, ".func") // what runs on the system stack for it
	fn, _, _ = strings.Cut(fn, "[")
	fn = strings.TrimSuffix(fn, ".abi0")
	if d, ok := runtimeFuncs[fn]; ok {
		return d.part, d.certain
	}
	for _, p := range runtimePrefixes {
		if strings.HasPrefix(fn, p.prefix) {
			return p.part, p.certain
		}
	}
	return "", false
}

type decision struct {
	part    CPUPart
	certain bool
}

// runtimeFuncs and runtimePrefixes name what decides, with the names of Go
// 1.13 to 1.26. What allocates spans works for stacks and for the collector
// too, and locks and sleeps for everybody: those only hint.
var (
	runtimeFuncs = func() map[string]decision {
		m := map[string]decision{}
		add := func(part CPUPart, sure bool, names string) {
			for _, n := range strings.Fields(names) {
				m[n] = decision{part, sure}
			}
		}
		add(Scheduling, true, `schedule findRunnable findrunnable park_m gopark goparkunlock goready ready readyWithTime wakep startm stopm
			handoffp mstart mstart0 mstart1 mPark stoplockedm startlockedm gcstopm execute resetspinning injectglist
			runqget runqput runqputslow runqputbatch runqsteal runqgrab runqempty runqdrain globrunqget globrunqgetbatch globrunqput globrunqputbatch
			stealWork checkTimers runtimer runOneTimer checkTimersNoP checkRunqsNoP checkIdleGCNoP adjusttimers cleantimers moveTimers
			addtimer deltimer modtimer resettimer stopTimer resetTimer newTimer doaddtimer dodeltimer timeSleep
			netpoll netpollBreak netpollready netpollgoready wakeNetPoller wakeNetpoll netpollblock netpollunblock netpollAnyWaiters netpollAdjustWaiters
			sysmon retake preemptone preemptM preemptall signalM doSigPreempt asyncPreempt2 preemptPark
			Gosched gosched_m goschedImpl gopreempt_m goschedguarded goschedguarded_m goyield goyield_m
			goexit0 goexit1 gdestroy newproc newproc1 gfget gfput gfpurge malg acquirep releasep pidleget pidleput pidlegetSpinning
			mget mput newm newm1 newosproc allocm startTemplateThread templateThread casgstatus dropg
			entersyscall entersyscallblock entersyscall_sysmon entersyscall_gcwait entersyscallHandleGCWait entersyscallWakeSysmon
			reentersyscall exitsyscall exitsyscall0 exitsyscallfast exitsyscallfast_pidle exitsyscallfast_reacquired exitsyscallNoP exitsyscallTryGetP
			checkdead mspinning becomeSpinning`)
		// asyncPreempt decides nothing: a signal of the profiler that is delivered
		// together with that of preemption finds it at the leaf, whatever was running.
		add(Scheduling, false, `futex futexsleep futexwakeup futexsleep1 semasleep semawakeup osyield usleep usleep_no_g osyield_no_g procyield procyieldAsm
			lock lock2 lockWithRank unlock unlock2 unlock2Wake unlockWithRank mcall gosave gosave_systemstack_switch gogo
			notesleep notewakeup notetsleep notetsleepg notetsleep_internal epollwait epollctl kevent clone
			pthread_cond_wait pthread_cond_signal pthread_cond_timedwait_relative_np pthread_mutex_lock pthread_mutex_unlock`)
		add(Collecting, true, `scanobject scanObject scanblock scanstack scanSpan scanObjectSmall scanObjectsSmall scanConservative scanframeworker
			greyobject shade markroot markrootBlock markrootSpans markrootFreeGStacks tryDeferToSpanScan spanSetScans
			bgsweep sweepone deductSweepCredit bgscavenge scavengeOne finishsweep_m clearpools freeSomeWbufs prepareFreeWorkbufs freeStackSpans
			forcegchelper stopTheWorldGC startTheWorldGC shrinkstack wbBufFlush wbBufFlush1 bulkBarrierPreWrite bulkBarrierPreWriteSrcOnly
			bulkBarrierBitmap wbZero wbMove getempty putempty trygetfull putfull handoff nextMarkBitArenaEpoch setGCPhase
			addb subtractb scavengeStartGen _GC`)
		add(Allocating, true, `newobject newarray mProf_Malloc profilealloc nextFreeFast`)
		add(Allocating, false, `persistentalloc sysAlloc sysMap sysReserve heapSetType heapBitsSetType`)
		add(StackGrowth, true, `newstack`)
		add(StackGrowth, false, `morestack morestack_noctxt copystack adjustframe adjustframes adjustpointers stackalloc stackfree stackpoolalloc stackcacherefill`)
		add(InCgo, true, `cgocall asmcgocall asmcgocall_no_g asmcgocall_landingpad cgocallbackg1 _ExternalCode _LostExternalCode`)
		add(OtherCPU, true, `_System _VDSO _LostSIGPROFDuringAtomic64 _LostContendedRuntimeLock sigprof sigprofNonGo sigprofNonGoWrapper`)
		add(OtherCPU, false, `sigtramp sigtrampgo sighandler sigreturn sigreturn__sigaction sigfwdgo`)
		// Those that begin like the collector's and are not.
		add("", false, `gcd gcallers gcount gcinit mallocinit`)
		return m
	}()
	runtimePrefixes = []struct {
		prefix string
		decision
	}{
		{"(*gcWork)", decision{Collecting, true}},
		{"(*gcControllerState)", decision{Collecting, true}},
		{"(*gcCPULimiterState)", decision{Collecting, true}},
		{"gcTrigger.test", decision{Collecting, true}},
		{"gc", decision{Collecting, true}}, // gcDrain, gcAssistAlloc, gcWriteBarrier, gcSweep, …
		{"(*sweepLocked)", decision{Collecting, true}},
		{"(*sweepLocker)", decision{Collecting, true}},
		{"(*activeSweep)", decision{Collecting, true}},
		{"(*mspan).sweep", decision{Collecting, true}},
		{"(*scavengerState)", decision{Collecting, true}},
		{"(*scavengeIndex)", decision{Collecting, true}},
		{"(*pageAlloc).scavenge", decision{Collecting, true}},
		{"(*mheap).scavenge", decision{Collecting, true}},
		{"(*mheap).reclaim", decision{Collecting, true}},
		{"(*spanInlineMarkBits)", decision{Collecting, true}},
		{"(*spanQueue)", decision{Collecting, true}},
		{"(*spanSPMC)", decision{Collecting, true}},
		{"(*workbuf)", decision{Collecting, true}},
		{"malloc", decision{Allocating, true}},
		{"(*mcache)", decision{Allocating, false}},
		{"(*mcentral)", decision{Allocating, false}},
		{"(*mheap)", decision{Allocating, false}},
		{"(*pageAlloc)", decision{Allocating, false}},
		{"(*timers)", decision{Scheduling, true}},
		{"(*timer)", decision{Scheduling, true}},
	}
)

// entries are functions that enter the kernel, by package: their leaf samples
// were taken as the call returned.
var entries = map[string]map[string]string{
	"syscall": {"Syscall": "", "Syscall6": "", "Syscall9": "", "RawSyscall": "", "RawSyscall6": "", "rawSyscallNoError": "", "rawVforkSyscall": "clone",
		"runtime_entersyscall": "", "runtime_exitsyscall": "", "rawSyscall": "", "syscall": "", "syscall6": "", "syscallX": "", "syscallPtr": ""},
	"golang.org/x/sys/unix":          {"Syscall": "", "Syscall6": "", "RawSyscall": "", "RawSyscall6": "", "SyscallNoError": "", "RawSyscallNoError": ""},
	"internal/runtime/syscall":       {"Syscall6": ""},
	"internal/runtime/syscall/linux": {"Syscall6": ""},
	"runtime/internal/syscall":       {"Syscall6": ""},
	"runtime": {
		"futex": "futex", "epollwait": "epoll_pwait", "epollctl": "epoll_ctl", "madvise": "madvise", "mmap": "mmap", "sysMmap": "mmap",
		"munmap": "munmap", "sysMunmap": "munmap", "usleep": "nanosleep", "osyield": "sched_yield", "tgkill": "tgkill", "clone": "clone",
		"rtsigprocmask": "rt_sigprocmask", "sigaltstack": "sigaltstack", "write1": "write", "read": "read", "open": "openat", "closefd": "close",
		"setitimer": "setitimer", "timer_settime": "timer_settime", "timer_create": "timer_create", "timer_delete": "timer_delete",
		"mincore": "mincore", "sched_getaffinity": "sched_getaffinity", "rt_sigaction": "rt_sigaction", "exitThread": "exit", "pipe2": "pipe2",
		"kevent": "kevent", "pthread_cond_wait": "pthread_cond_wait", "pthread_cond_signal": "pthread_cond_signal",
		"pthread_cond_timedwait_relative_np": "pthread_cond_timedwait",
	},
}

// EntersKernel reports whether a function is one that makes a system call.
func EntersKernel(fn string) bool {
	pkg, rest := splitFunc(fn)
	if pkg == "syscall" && strings.HasPrefix(rest, "runtime_") {
		return false
	}
	_, ok := entries[pkg][strings.TrimSuffix(rest, ".abi0")]
	return ok
}

// wrapperCall names a system call by the functions that made it: the entry
// itself, or the first above it that is a call's wrapper.
func wrapperCall(user []Frame) string {
	for _, f := range user {
		pkg, rest := splitFunc(f.Func)
		rest = strings.TrimSuffix(rest, ".abi0")
		if name, ok := entries[pkg][rest]; ok {
			if name != "" {
				return name
			}
			continue
		}
		switch pkg {
		case "runtime": // its own wrappers are inlined where frames come from the kernel
			return runtimeCalls[rest]
		case "syscall", "golang.org/x/sys/unix", "internal/syscall/unix", "internal/runtime/syscall", "internal/runtime/syscall/linux", "runtime/internal/syscall":
			return wrapperName(rest)
		}
		return ""
	}
	return ""
}

// runtimeCalls are functions of the runtime that make a system call.
var runtimeCalls = map[string]string{"netpoll": "epoll_pwait", "netpollopen": "epoll_ctl", "netpollclose": "epoll_ctl", "netpollBreak": "write",
	"netpollinit": "epoll_create1", "mmap.func1": "mmap", "munmap.func1": "munmap", "sysUnusedOS": "madvise", "sysHugePageOS": "madvise"}

// wrapperNames are wrappers that are named otherwise than their call.
var wrapperNames = map[string]string{
	"EpollWait": "epoll_pwait", "epollwait": "epoll_pwait", "Eventfd": "eventfd2", "EpollCreate1": "epoll_create1",
	"pread": "pread64", "Pread": "pread64", "pwrite": "pwrite64", "Pwrite": "pwrite64", "preadv2": "preadv2",
	"open": "openat", "Open": "openat", "Openat": "openat", "fstatat": "newfstatat", "Fstatat": "newfstatat", "Stat": "newfstatat", "Lstat": "newfstatat",
	"ReadDirent": "getdents64", "Getdents": "getdents64", "GetRandom": "getrandom", "Getrandom": "getrandom", "Seek": "lseek",
	"recvmsgRaw": "recvmsg", "recvmsg": "recvmsg", "sendmsgN": "sendmsg", "sendmsg": "sendmsg", "Sendto": "sendto", "Recvfrom": "recvfrom",
	"accept": "accept4", "Accept": "accept4", "setsockopt": "setsockopt", "SetsockoptInt": "setsockopt", "GetsockoptInt": "getsockopt",
	"forkAndExecInChild": "clone", "forkAndExecInChild1": "clone", "forkExec": "clone", "Dup3": "dup3", "CloseOnExec": "fcntl", "Fcntl": "fcntl",
	"SetNonblock": "fcntl", "PidFDSendSignal": "pidfd_send_signal", "PidFDOpen": "pidfd_open", "Waitid": "waitid", "WaitStatus": "wait4",
	"writev": "writev", "readlen": "read", "writelen": "write", "Unlink": "unlinkat", "Rename": "renameat", "Mkdir": "mkdirat",
}

// wrapperName returns the call of a wrapper: spelled alike but for case and
// underlines, CopyFileRange for copy_file_range.
func wrapperName(fn string) string {
	fn, _, _ = strings.Cut(fn, ".")
	if n, ok := wrapperNames[fn]; ok {
		return n
	}
	var b strings.Builder
	for i, r := range fn {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
