//go:build amd64 || arm64

package kernel

import (
	"fmt"
	"os"
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
	return target{pid: int32(inner), namespace: true, dev: dev, ino: its.Ino}, nil
}

func namespaceOf(dir string) (st unix.Stat_t, err error) {
	path := "/proc/" + dir + "/ns/pid"
	if err := unix.Stat(path, &st); err != nil {
		return st, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return st, nil
}

// innermostPID is the number of a process in its own namespace.
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
// registers 0 to 5.
func (t target) only(stack int16, otherwise string) asm.Instructions {
	if !t.namespace {
		return asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
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

// syscallEnter notes when a thread entered which call. The entry of a thread
// stays, as making one is the dear part, and goes with the thread.
func syscallEnter(t target, threads, lost *ebpf.Map) (*ebpf.Program, error) {
	return load("gowhy_enter", ebpf.RawTracepoint,
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)},
		t.only(-8, "end"),
		asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R10, -8, asm.R0, asm.DWord),
			asm.LoadMem(asm.R7, asm.R6, 8, asm.DWord), // args[1]: the number
			asm.JEq.Imm(asm.R7, unix.SYS_EXIT, "gone"),
		},
		find(threads, -8, 16, "have"),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "full"),
			asm.Mov.Reg(asm.R8, asm.R0),
			asm.StoreMem(asm.R8, 8, asm.R7, asm.DWord),
			asm.FnKtimeGetNs.Call(),
			asm.StoreMem(asm.R8, 0, asm.R0, asm.DWord),
		},
		exit("end", 0),
		asm.Instructions{asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("gone")},
		remove(threads, -8),
		asm.Instructions{asm.Ja.Label("end")},
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("full")},
		count(lost, 0),
		exit("", 0),
	)
}

// Offsets in the value of an entry of calls.
const (
	callCountAt = 0
	callTimeAt  = 8
	callBytesAt = 16
	callSize    = 24
)

// syscallExit adds a call that ended to the sums of its number, which each CPU
// has of its own.
func syscallExit(t target, threads, calls, errors, lost *ebpf.Map) (*ebpf.Program, error) {
	return load("gowhy_exit", ebpf.RawTracepoint,
		asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)},
		t.only(-8, "end"),
		asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.StoreMem(asm.R10, -8, asm.R0, asm.DWord),
		},
		lookup(threads, -8),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "end"),
			asm.LoadMem(asm.R7, asm.R0, 0, asm.DWord),
			asm.JEq.Imm(asm.R7, 0, "end"), // the call began before the window
			asm.LoadMem(asm.R8, asm.R0, 8, asm.DWord),
			asm.Mov.Imm(asm.R1, 0),
			asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
			asm.JLT.Imm(asm.R8, maxCall, "known"),
			asm.Mov.Imm(asm.R8, maxCall),
			asm.StoreMem(asm.R10, -8, asm.R8, asm.Word).WithSymbol("known"),
		},
		lookup(calls, -8),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "end"),
			asm.Mov.Reg(asm.R9, asm.R0),
			asm.FnKtimeGetNs.Call(),
			asm.Sub.Reg(asm.R0, asm.R7),
			asm.LoadMem(asm.R1, asm.R9, callTimeAt, asm.DWord),
			asm.Add.Reg(asm.R1, asm.R0),
			asm.StoreMem(asm.R9, callTimeAt, asm.R1, asm.DWord),
			asm.LoadMem(asm.R1, asm.R9, callCountAt, asm.DWord),
			asm.Add.Imm(asm.R1, 1),
			asm.StoreMem(asm.R9, callCountAt, asm.R1, asm.DWord),
			asm.LoadMem(asm.R7, asm.R6, 8, asm.DWord), // args[1]: the result
			asm.JSLT.Imm(asm.R7, 0, "negative"),
			asm.LoadMem(asm.R1, asm.R9, callBytesAt, asm.DWord),
			asm.Add.Reg(asm.R1, asm.R7),
			asm.StoreMem(asm.R9, callBytesAt, asm.R1, asm.DWord),
		},
		exit("end", 0),
		asm.Instructions{
			asm.JSLT.Imm(asm.R7, -maxErrno, "end").WithSymbol("negative"),
			// The key: number and errno, 4 bytes each.
			asm.StoreMem(asm.R10, -8, asm.R8, asm.Word),
			asm.Neg.Imm(asm.R7, 0),
			asm.StoreMem(asm.R10, -4, asm.R7, asm.Word),
		},
		find(errors, -8, 8, "found"),
		asm.Instructions{
			asm.JEq.Imm(asm.R0, 0, "full"),
			asm.Mov.Imm(asm.R1, 1),
			asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		},
		exit("", 0),
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("full")},
		count(lost, 1),
		exit("", 0),
	)
}

// Offsets in the value of an entry of waits, what a thread off the CPU waits
// since and where; from waitKeyAt on it is a key of sums.
const (
	waitSinceAt     = 0
	waitKeyAt       = 8
	waitKernelAt    = 8  // stack numbers, negative when there is none
	waitUserAt      = 12 //
	waitNameAt      = 16 // 16 bytes
	waitPreemptedAt = 32
	waitSize        = 40
	sumKeySize      = waitSize - waitKeyAt
)

// taskDead is the state of a thread that never comes back.
const taskDead = 0x80

// userStack asks for the stack of the program instead of the kernel's.
const userStack = 1 << 8

// switchMaps are what sched_switch works on.
type switchMaps struct {
	waits, sums         *ebpf.Map
	kernelStacks, users *ebpf.Map
	lost                *ebpf.Map
	threads             *ebpf.Map // of syscallEnter, where calls are counted too; else nil
	budget              *ebpf.Map // for each CPU: when the window began, and switches since
}

// stackBudget is how many switches on one CPU get stacks in a window. A switch
// with stacks costs 2 or 3 µs, without 0.4 µs: so stacks take at most 3 % of a
// CPU, however often threads switch. The time of the others is shared out; see
// shareOut.
const (
	stackBudget       = 100
	stackBudgetWindow = 10_000_000 // ns
)

// noStack stands for a stack that was not taken for the budget.
const noStack = -maxErrno

// inCallBase is where the numbers of system calls begin, downwards, in place
// of a kernel stack's number. Errors are above it.
const inCallBase = -maxErrno - 1

// schedSwitch ends the wait of the thread that comes and begins that of the
// thread that goes. The wait of a thread that comes is found by its task's
// address, as a program cannot ask for the number of another thread.
func schedSwitch(t target, m switchMaps) (*ebpf.Program, error) {
	return load("gowhy_switch", ebpf.RawTracepoint,
		asm.Instructions{
			asm.Mov.Reg(asm.R6, asm.R1),
			asm.LoadMem(asm.R1, asm.R6, 16, asm.DWord), // args[2]: the task that comes
			asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord),
		},
		lookup(m.waits, -8),
		endWait(m),
		asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol("goes")},
		t.only(-8, "end"),
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
		asm.FnKtimeGetNs.Call(),
		asm.Sub.Reg(asm.R0, asm.R9),
		asm.Mov.Reg(asm.R9, asm.R0),
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
		asm.Mov.Imm(asm.R1, 1).WithSymbol("add"),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.AddAtomic.Mem(asm.R0, asm.R9, asm.DWord, 8),
	)
}

// spendBudget counts the switch and leaves for "over" when its CPU has had
// enough of them with stacks. Which switches of a window get stacks has nothing
// to do with how long they will last.
func spendBudget(budget *ebpf.Map) asm.Instructions {
	p := asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R10, -8, asm.R1, asm.DWord),
	}
	p = append(p, lookup(budget, -8)...)
	return append(p,
		asm.JEq.Imm(asm.R0, 0, "within"),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMem(asm.R1, asm.R9, 0, asm.DWord),
		asm.Mov.Reg(asm.R2, asm.R0),
		asm.Sub.Reg(asm.R2, asm.R1),
		asm.LoadMem(asm.R1, asm.R9, 8, asm.DWord),
		asm.JLT.Imm(asm.R2, stackBudgetWindow, "same"),
		asm.StoreMem(asm.R9, 0, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R1, 0),
		asm.Add.Imm(asm.R1, 1).WithSymbol("same"),
		asm.StoreMem(asm.R9, 8, asm.R1, asm.DWord),
		asm.JGT.Imm(asm.R1, stackBudget, "over"),
		asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("within"),
	)
}

// callInstead notes the system call that the thread is in and spares the
// kernel's stack: walking that takes 1.7 µs of the 3.1 that a switch costs with
// both stacks, and it tells little more.
// When there is none it goes on at its end.
func callInstead(threads *ebpf.Map, none, found string) asm.Instructions {
	p := asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(),
		asm.StoreMem(asm.R10, -8, asm.R0, asm.DWord),
	}
	p = append(p, lookup(threads, -8)...)
	return append(p,
		asm.JEq.Imm(asm.R0, 0, none),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, none), // in no call
		asm.LoadMem(asm.R2, asm.R0, 8, asm.DWord),
		asm.Mov.Imm(asm.R1, inCallBase),
		asm.Sub.Reg(asm.R1, asm.R2),
		asm.StoreMem(asm.R8, waitKernelAt, asm.R1, asm.Word),
		asm.Ja.Label(found),
		asm.Mov.Reg(asm.R0, asm.R0).WithSymbol(none),
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
	if m.threads != nil {
		p = append(p, callInstead(m.threads, "kernel", "user")...)
	}
	p = append(p, stack(m.kernelStacks, 0, waitKernelAt)...)
	p = append(p, asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("user"))
	p = append(p, stack(m.users, userStack, waitUserAt)...)
	p = append(p,
		asm.Ja.Label("name"),
		asm.Mov.Imm(asm.R1, noStack).WithSymbol("over"),
		asm.StoreMem(asm.R8, waitUserAt, asm.R1, asm.Word),
		asm.StoreMem(asm.R8, waitKernelAt, asm.R1, asm.Word),
	)
	if m.threads != nil {
		p = append(p, callInstead(m.threads, "unknown", "name")...)
	}
	return append(p,
		asm.Mov.Reg(asm.R0, asm.R0).WithSymbol("name"),
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Add.Imm(asm.R1, waitNameAt),
		asm.Mov.Imm(asm.R2, 16),
		asm.FnGetCurrentComm.Call(),
		asm.Mov.Imm(asm.R1, 1),
		asm.JEq.Imm(asm.R7, 0, "preempted"),       // still runnable
		asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord), // args[0]: preempted in the kernel
		asm.And.Imm(asm.R1, 1),
		asm.StoreMem(asm.R8, waitPreemptedAt, asm.R1, asm.Word).WithSymbol("preempted"),
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.R8, waitSinceAt, asm.R0, asm.DWord),
	)
}
