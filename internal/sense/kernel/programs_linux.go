//go:build amd64 || arm64

package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// The programs are put together instruction by instruction, which needs no
// compiler and no type information of the kernel: they use only helpers and
// the arguments of raw tracepoints, and take a task's address for its name.

// programLicense is what the kernel wants to hear before a program may take
// stacks.
const programLicense = "Dual MIT/GPL"

// A target is how a program knows the process. Programs see the machine's own
// process numbers; inside a container these are not ours, and the kernel is
// asked for the number in the namespace of the process.
type target struct {
	pid       int32
	namespace bool
	foreign   bool // its threads have other numbers in our /proc
	dev, ino  uint64
}

// initNamespace is the inode of the machine's own namespace of processes; the
// kernel fixes it.
const initNamespace = 0xEFFFFFFC

func targetOf(pid int) (target, error) {
	own, err := namespaceOf("self")
	if err != nil {
		return target{}, err
	}
	if own.Ino == initNamespace {
		return target{pid: int32(pid)}, nil
	}
	dir := strconv.Itoa(pid)
	its, err := namespaceOf(dir)
	if err != nil {
		return target{}, err
	}
	inner, err := innermostPID(dir)
	if err != nil {
		return target{}, err
	}
	// The kernel's own form of a device number, not that of stat(2).
	dev := uint64(unix.Major(its.Dev))<<20 | uint64(unix.Minor(its.Dev))
	foreign := its.Ino != own.Ino || its.Dev != own.Dev
	return target{pid: int32(inner), namespace: true, foreign: foreign, dev: dev, ino: its.Ino}, nil
}

func namespaceOf(dir string) (st unix.Stat_t, err error) {
	path := "/proc/" + dir + "/ns/pid"
	if err := unix.Stat(path, &st); err != nil {
		return st, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return st, nil
}

// innermostPID returns the number of a process in its own namespace.
func innermostPID(dir string) (int, error) {
	b, err := os.ReadFile("/proc/" + dir + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(numbers)
			if len(fields) > 0 {
				return strconv.Atoi(fields[len(fields)-1])
			}
		}
	}
	return strconv.Atoi(dir)
}

// only leaves a program for the label when the current thread is not of the
// process. It uses 16 bytes below the given place of the stack and the
// registers 0 to 5, and leaves the thread's number, as the process itself
// knows it, in the 4 bytes that begin 8 below the place.
func (t target) only(stack int16, otherwise string) asm.Instructions {
	if !t.namespace {
		return asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R10, stack-8, asm.R0, asm.Word),
			asm.RSh.Imm(asm.R0, 32),
			asm.JNE.Imm(asm.R0, t.pid, otherwise),
		}
	}
	return asm.Instructions{
		asm.LoadImm(asm.R1, int64(t.dev), asm.DWord),
		asm.LoadImm(asm.R2, int64(t.ino), asm.DWord),
		asm.Mov.Reg(asm.R3, asm.R10),
		asm.Add.Imm(asm.R3, int32(stack)-8),
		asm.Mov.Imm(asm.R4, 8),
		asm.FnGetNsCurrentPidTgid.Call(),
		asm.JNE.Imm(asm.R0, 0, otherwise),
		// struct bpf_pidns_info: thread, process.
		asm.LoadMem(asm.R0, asm.R10, stack-4, asm.Word),
		asm.JNE.Imm(asm.R0, t.pid, otherwise),
	}
}

// lookup, update and remove call the helpers that work on a map. Key and value
// are places on the stack.
func lookup(m *ebpf.Map, key int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, int32(key)),
		asm.FnMapLookupElem.Call(),
	}
}

func update(m *ebpf.Map, key, value int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, int32(key)),
		asm.Mov.Reg(asm.R3, asm.R10),
		asm.Add.Imm(asm.R3, int32(value)),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	}
}

func remove(m *ebpf.Map, key int16) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Reg(asm.R2, asm.R10),
		asm.Add.Imm(asm.R2, int32(key)),
		asm.FnMapDeleteElem.Call(),
	}
}

// find leaves in register 0 the entry of a key, made of zeros when there was
// none, or 0 when the map is full. It uses size bytes below the key's place.
func find(m *ebpf.Map, key int16, size int, label string) asm.Instructions {
	p := append(lookup(m, key), asm.JNE.Imm(asm.R0, 0, label))
	p = append(p, asm.Mov.Imm(asm.R1, 0))
	for at := 8; at <= size; at += 8 {
		p = append(p, asm.StoreMem(asm.R10, key-int16(at), asm.R1, asm.DWord))
	}
	p = append(p, update(m, key, key-int16(size))...)
	p = append(p, lookup(m, key)...)
	return append(p, asm.Mov.Reg(asm.R0, asm.R0).WithSymbol(label))
}

// count adds 1 to an entry of an array of counters.
func count(m *ebpf.Map, index int32) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapValue(asm.R1, m.FD(), uint32(index)*8),
		asm.Mov.Imm(asm.R2, 1),
		asm.AddAtomic.Mem(asm.R1, asm.R2, asm.DWord, 0),
	}
}

// exit ends a program at a label.
func exit(label string, result int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R0, result).WithSymbol(label),
		asm.Return(),
	}
}

func load(name string, kind ebpf.ProgramType, parts ...asm.Instructions) (*ebpf.Program, error) {
	var all asm.Instructions
	for _, p := range parts {
		all = append(all, p...)
	}
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: kind, License: programLicense, Instructions: all})
	if err != nil {
		return nil, fmt.Errorf("eBPF program %s: %w", name, err)
	}
	return p, nil
}

// loadFilter makes a program that lets through only the samples of a process.
func loadFilter(t target) (*ebpf.Program, error) {
	return load("gowhy_only", ebpf.PerfEvent,
		t.only(-8, "drop"),
		exit("keep", 1),
		exit("drop", 0),
	)
}

// Offsets in the gate, which says when events count and for how much.
const (
	gateFromAt   = 0
	gateUntilAt  = 8
	gateWeightAt = 16
	gateStacksAt = 24 // of 1<<32 events, how many get stacks
	gateSize     = 32
)

// Places on the stack of what a program knows from its gate on.
const (
	nowAt    = -72
	fromAt   = -80
	weightAt = -88
	stacksAt = -96
	tidAt    = -104
)

// pass leaves for the label when events do not count now. It changes the
// registers 0 to 5.
func pass(gate *ebpf.Map, otherwise string) asm.Instructions {
	get := func(at, to int16) asm.Instructions {
		return asm.Instructions{
			asm.LoadMem(asm.R2, asm.R1, at, asm.DWord),
			asm.StoreMem(asm.R10, to, asm.R2, asm.DWord),
		}
	}
	p := asm.Instructions{
		asm.LoadMapValue(asm.R1, gate.FD(), 0),
		asm.LoadMem(asm.R2, asm.R1, gateUntilAt, asm.DWord),
		asm.JEq.Imm(asm.R2, 0, otherwise), // spares the clock
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.R10, nowAt, asm.R0, asm.DWord),
		asm.LoadMapValue(asm.R1, gate.FD(), 0),
		asm.LoadMem(asm.R2, asm.R1, gateUntilAt, asm.DWord),
		asm.JGE.Reg(asm.R0, asm.R2, otherwise),
		asm.LoadMem(asm.R2, asm.R1, gateFromAt, asm.DWord),
		asm.JLT.Reg(asm.R0, asm.R2, otherwise),
		asm.StoreMem(asm.R10, fromAt, asm.R2, asm.DWord),
	}
	p = append(p, get(gateWeightAt, weightAt)...)
	return append(p, get(gateStacksAt, stacksAt)...)
}

// Offsets in what is known of a thread: its last enter or exit, the number of
// the call that it is in, or outOfCall, and its own number.
const (
	threadEventAt = 0
	threadCallAt  = 8
	threadIDAt    = 16
	threadSize    = 24
	outOfCall     = -1
)

// syscallEnter notes when a thread entered which call. The entry of a thread
// stays, as making one is the dear part, and goes with the thread.
func syscallEnter(t target, m callMaps) (*ebpf.Program, error) {
	return load("gowhy_enter", ebpf.RawTracepoint,
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)},
		t.only(-8, "end"),
		threadID(),
		pass(m.gate, "end"),
		asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R10, -8, asm.R0, asm.DWord),
			asm.LoadMem(asm.R7, asm.R6, 8, asm.DWord), // args[1]: the number
			asm.JEq.Imm(asm.R7, unix.SYS_EXIT, "gone"),
		},
		find(m.threads, -8, threadSize, "have"),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "full"),
			asm.StoreMem(asm.R0, threadCallAt, asm.R7, asm.DWord),
		},
		stamp(asm.R0),
		exit("end", 0),
		asm.Instructions{asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("gone")},
		remove(m.threads, -8),
		asm.Instructions{asm.Ja.Label("end")},
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("full")},
		count(m.lost, 0),
		exit("", 0),
	)
}

// threadID keeps the number that only leaves.
func threadID() asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R0, asm.R10, -16, asm.Word),
		asm.StoreMem(asm.R10, tidAt, asm.R0, asm.DWord),
	}
}

// stamp notes in a thread's entry when this is, and which thread it is.
func stamp(entry asm.Register) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R10, nowAt, asm.DWord),
		asm.StoreMem(entry, threadEventAt, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R10, tidAt, asm.DWord),
		asm.StoreMem(entry, threadIDAt, asm.R1, asm.DWord),
	}
}

// Offsets in the value of an entry of calls.
const (
	callCountAt = 0
	callTimeAt  = 8
	callBytesAt = 16
	callSize    = 24
)

// numberAt is where a thread's saved registers, the first argument of
// sys_exit, hold the number of the call: orig_ax, or syscallno.
var numberAt = map[string]int32{"amd64": 120, "arm64": 280}[runtime.GOARCH]

// syscallExit adds a call that ended to the sums of its number, which each CPU
// has of its own. Of a call that began when nothing counted, the time since
// then counts.
func syscallExit(t target, m callMaps) (*ebpf.Program, error) {
	add := func(at int16, value asm.Register) asm.Instructions {
		return asm.Instructions{
			asm.LoadMem(asm.R2, asm.R10, weightAt, asm.DWord),
			asm.Mul.Reg(value, asm.R2),
			asm.LoadMem(asm.R3, asm.R9, at, asm.DWord),
			asm.Add.Reg(asm.R3, value),
			asm.StoreMem(asm.R9, at, asm.R3, asm.DWord),
		}
	}
	return load("gowhy_exit", ebpf.RawTracepoint,
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)},
		t.only(-8, "end"),
		threadID(),
		pass(m.gate, "end"),
		asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.StoreMem(asm.R10, -8, asm.R0, asm.Word)},
		lookup(m.seen, -8),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "end"),
			asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
			asm.Add.Imm(asm.R1, 1),
			asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R10, -8, asm.R0, asm.DWord),
		},
		find(m.threads, -8, threadSize, "have"),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "full"),
			asm.LoadMem(asm.R7, asm.R0, threadEventAt, asm.DWord),
			asm.LoadMem(asm.R8, asm.R0, threadCallAt, asm.DWord),
			asm.Mov.Imm(asm.R1, outOfCall),
			asm.StoreMem(asm.R0, threadCallAt, asm.R1, asm.DWord),
		},
		stamp(asm.R0),
		asm.Instructions{
			asm.LoadMem(asm.R1, asm.R10, fromAt, asm.DWord),
			asm.JLT.Reg(asm.R7, asm.R1, "unseen"),
			asm.JSLT.Imm(asm.R8, 0, "unseen"),
			asm.JLT.Imm(asm.R8, maxCall, "known").WithSymbol("number"),
			asm.Mov.Imm(asm.R8, maxCall),
			asm.StoreMem(asm.R10, -8, asm.R8, asm.Word).WithSymbol("known"),
		},
		lookup(m.calls, -8),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "end"),
			asm.Mov.Reg(asm.R9, asm.R0),
			asm.LoadMem(asm.R0, asm.R10, nowAt, asm.DWord),
			asm.Sub.Reg(asm.R0, asm.R7),
		},
		add(callTimeAt, asm.R0),
		asm.Instructions{asm.Mov.Imm(asm.R0, 1)},
		add(callCountAt, asm.R0),
		asm.Instructions{
			asm.LoadMem(asm.R7, asm.R6, 8, asm.DWord), // args[1]: the result
			asm.JSLT.Imm(asm.R7, 0, "negative"),
		},
		add(callBytesAt, asm.R7),
		exit("end", 0),
		asm.Instructions{
			asm.JSLT.Imm(asm.R7, -maxErrno, "end").WithSymbol("negative"),
			// The key: number and errno, 4 bytes each.
			asm.StoreMem(asm.R10, -8, asm.R8, asm.Word),
			asm.Neg.Imm(asm.R7, 0),
			asm.StoreMem(asm.R10, -4, asm.R7, asm.Word),
		},
		find(m.errors, -8, 8, "found"),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "full"),
			asm.LoadMem(asm.R1, asm.R10, weightAt, asm.DWord),
			asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		},
		exit("", 0),
		// A signal's return has no number any more: the registers are those of
		// before the signal.
		asm.Instructions{
			asm.LoadMem(asm.R7, asm.R10, fromAt, asm.DWord).WithSymbol("unseen"),
			asm.Mov.Reg(asm.R1, asm.R10),
			asm.Add.Imm(asm.R1, -8),
			asm.Mov.Imm(asm.R2, 4),
			asm.LoadMem(asm.R3, asm.R6, 0, asm.DWord), // args[0]: the registers
			asm.Add.Imm(asm.R3, numberAt),
			asm.FnProbeReadKernel.Call(),
			asm.JNE.Imm(asm.R0, 0, "end"),
			asm.LoadMem(asm.R8, asm.R10, -8, asm.Word),
			asm.LSh.Imm(asm.R8, 32),
			asm.ArSh.Imm(asm.R8, 32),
			asm.JSGE.Imm(asm.R8, 0, "number"),
			asm.Mov.Imm(asm.R8, unix.SYS_RT_SIGRETURN),
			asm.Ja.Label("number"),
		},
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("full")},
		count(m.lost, 1),
		exit("", 0),
	)
}

// Offsets in the value of an entry of waits, what a thread off the CPU waits
// since and where; from waitKeyAt on it is a key of sums.
const (
	waitSinceAt  = 0
	waitKeyAt    = 8
	waitKernelAt = 8  // stack numbers, negative when there is none
	waitUserAt   = 12 //
	waitNameAt   = 16 // 16 bytes
	waitFlagsAt  = 32
	waitThreadAt = 40 // the thread's number
	waitSize     = 48
	sumKeySize   = waitThreadAt - waitKeyAt
)

// Flags of a wait.
const (
	waitPreempted = 1
	waitCarried   = 2 // it went on when the slice began; see switchSource
)

// taskDead is the state of a thread that never comes back.
const taskDead = 0x80

// userStack asks for the stack of the program instead of the kernel's.
const userStack = 1 << 8

// switchMaps are what sched_switch works on.
type switchMaps struct {
	gate, lost          *ebpf.Map
	waits, sums         *ebpf.Map
	kernelStacks, users *ebpf.Map
	budget              *ebpf.Map // for each CPU; see the offsets below
}

// Offsets in a CPU's budget: when its window began, the switches with stacks
// since, and all switches that counted.
const (
	budgetBeginAt = 0
	budgetSpentAt = 8
	budgetSeenAt  = 16
	budgetSize    = 24
)

// stackBudget is how many switches on one CPU get stacks in a window at most,
// whatever the gate says, which knows the rate of a while ago.
const (
	stackBudget       = 100
	stackBudgetWindow = 10_000_000 // ns
)

// noStack stands for a stack that was not taken.
const noStack = -maxErrno

// schedSwitch ends the wait of the thread that comes and begins that of the
// thread that goes. The wait of a thread that comes is found by its task's
// address, as a program cannot ask for the number of another thread.
func schedSwitch(t target, m switchMaps) (*ebpf.Program, error) {
	return load("gowhy_switch", ebpf.RawTracepoint,
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)},
		pass(m.gate, "end"),
		asm.Instructions{
			asm.LoadMem(asm.R1, asm.R6, 16, asm.DWord), // args[2]: the task that comes
			asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord),
		},
		lookup(m.waits, -8),
		endWait(m),
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("goes")},
		t.only(-8, "end"),
		threadID(),
		beginWait(m),
		exit("end", 0),
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("gone")},
		remove(m.waits, -8),
		exit("", 0),
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("full")},
		count(m.lost, 2),
		exit("", 0),
	)
}

func endWait(m switchMaps) asm.Instructions {
	p := asm.Instructions{
		asm.JEq.Imm(asm.R0, 0, "goes"),
		asm.Mov.Reg(asm.R8, asm.R0),
		asm.LoadMem(asm.R9, asm.R8, waitSinceAt, asm.DWord),
		asm.JEq.Imm(asm.R9, 0, "goes"),
		asm.LoadMem(asm.R0, asm.R10, nowAt, asm.DWord),
		asm.Sub.Reg(asm.R0, asm.R9),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.LoadMem(asm.R1, asm.R10, weightAt, asm.DWord),
		asm.Mul.Reg(asm.R9, asm.R1),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R8, waitSinceAt, asm.R1, asm.DWord),
	}
	sum := asm.Instructions{
		asm.LoadMapPtr(asm.R1, m.sums.FD()),
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.Add.Imm(asm.R2, waitKeyAt),
		asm.FnMapLookupElem.Call(),
	}
	p = append(p, sum...)
	p = append(p,
		asm.JNE.Imm(asm.R0, 0, "add"),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R10, -24, asm.R1, asm.DWord),
		asm.StoreMem(asm.R10, -16, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.sums.FD()),
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.Add.Imm(asm.R2, waitKeyAt),
		asm.Mov.Reg(asm.R3, asm.R10),
		asm.Add.Imm(asm.R3, -24),
		asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)),
		asm.FnMapUpdateElem.Call(),
	)
	p = append(p, sum...)
	p = append(p,
		asm.JNE.Imm(asm.R0, 0, "add"),
	)
	p = append(p, count(m.lost, 2)...)
	return append(p,
		asm.Ja.Label("goes"),
		asm.LoadMem(asm.R1, asm.R10, weightAt, asm.DWord).WithSymbol("add"),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.AddAtomic.Mem(asm.R0, asm.R9, asm.DWord, 8),
	)
}

// spendBudget counts the switch and leaves for "over" when it gets no stacks:
// by lot, or when its CPU has had enough of them. Neither has anything to do
// with how long the wait will last.
func spendBudget(budget *ebpf.Map) asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord),
	}
	p = append(p, lookup(budget, -8)...)
	return append(p,
		asm.JEq.Imm(asm.R0, 0, "over"),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.LoadMem(asm.R1, asm.R9, budgetSeenAt, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R9, budgetSeenAt, asm.R1, asm.DWord),
		asm.FnGetPrandomU32.Call(),
		asm.LoadMem(asm.R1, asm.R10, stacksAt, asm.DWord),
		asm.JGE.Reg(asm.R0, asm.R1, "over"),
		asm.LoadMem(asm.R0, asm.R10, nowAt, asm.DWord),
		asm.LoadMem(asm.R1, asm.R9, budgetBeginAt, asm.DWord),
		asm.Mov.Reg(asm.R2, asm.R0),
		asm.Sub.Reg(asm.R2, asm.R1),
		asm.LoadMem(asm.R1, asm.R9, budgetSpentAt, asm.DWord),
		asm.JLT.Imm(asm.R2, stackBudgetWindow, "same"),
		asm.StoreMem(asm.R9, budgetBeginAt, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R1, 0),
		asm.Add.Imm(asm.R1, 1).WithSymbol("same"),
		asm.StoreMem(asm.R9, budgetSpentAt, asm.R1, asm.DWord),
		asm.JGT.Imm(asm.R1, stackBudget, "over"),
	)
}

func beginWait(m switchMaps) asm.Instructions {
	stack := func(stacks *ebpf.Map, flags int32, at int16) asm.Instructions {
		return asm.Instructions{
			asm.Mov.Reg(asm.R1, asm.R6),
			asm.LoadMapPtr(asm.R2, stacks.FD()),
			asm.Mov.Imm(asm.R3, flags),
			asm.FnGetStackid.Call(),
			asm.StoreMem(asm.R8, at, asm.R0, asm.Word),
		}
	}
	p := asm.Instructions{
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), // args[1]: the task that goes
		asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord),
		asm.LoadMem(asm.R7, asm.R6, 24, asm.DWord), // args[3]: its state
		asm.Mov.Reg32(asm.R7, asm.R7),
		asm.Mov.Reg(asm.R1, asm.R7),
		asm.And.Imm(asm.R1, taskDead),
		asm.JNE.Imm(asm.R1, 0, "gone"),
	}
	p = append(p, find(m.waits, -8, waitSize, "found")...)
	p = append(p, asm.JEq.Imm(asm.R0, 0, "full"), asm.Mov.Reg(asm.R8, asm.R0))
	p = append(p, spendBudget(m.budget)...)
	p = append(p, stack(m.kernelStacks, 0, waitKernelAt)...)
	p = append(p, stack(m.users, userStack, waitUserAt)...)
	return append(p,
		asm.Ja.Label("name"),
		asm.Mov.Imm(asm.R1, noStack).WithSymbol("over"),
		asm.StoreMem(asm.R8, waitUserAt, asm.R1, asm.Word),
		asm.StoreMem(asm.R8, waitKernelAt, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("name"),
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Add.Imm(asm.R1, waitNameAt),
		asm.Mov.Imm(asm.R2, 16),
		asm.FnGetCurrentComm.Call(),
		asm.Mov.Imm(asm.R1, waitPreempted),
		asm.JEq.Imm(asm.R7, 0, "preempted"),       // still runnable
		asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord), // args[0]: preempted in the kernel
		asm.And.Imm(asm.R1, waitPreempted),
		asm.StoreMem(asm.R8, waitFlagsAt, asm.R1, asm.Word).WithSymbol("preempted"),
		asm.LoadMem(asm.R1, asm.R10, tidAt, asm.DWord),
		asm.StoreMem(asm.R8, waitThreadAt, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R10, nowAt, asm.DWord),
		asm.StoreMem(asm.R8, waitSinceAt, asm.R1, asm.DWord),
	)
}
