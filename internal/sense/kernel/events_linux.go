//go:build amd64 || arm64

package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An eventKind is what an event samples.
type eventKind uint8

const (
	kindCPU eventKind = iota
	kindSwitch
	kindEnter // of a system call
	kindExit
)

// ringPages is the size of one CPU's ring in pages of data: with its first
// page just what kernel.perf_event_mlock_kb allows a user by default.
const ringPages = 128

// maxEvents bounds the events of a sampler that watches threads: each is a
// file. 4096 are 256 threads on 16 CPUs.
const maxEvents = 4096

// callerRegister is the register that callerOf wants, by the kernel's number:
// the link register, or the stack pointer where only the stack matters.
var callerRegister = map[bool]int{true: 30, false: 7}[returnRegister]

// A plan is which events to open and how.
type plan struct {
	kinds    []eventKind
	period   time.Duration // of kindCPU
	wide     bool          // whole CPUs, not threads; needs CAP_PERFMON
	userOnly bool
	enter    uint64 // tracepoint identifiers, of kindEnter and kindExit
	exit     uint64
	filter   int // a program that drops the samples of other processes; 0 is none
}

// attr returns the kernel's description of an event.
func (p plan) attr(k eventKind) unix.PerfEventAttr {
	a := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_SOFTWARE,
		Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_CALLCHAIN,
		Bits:        unix.PerfBitSampleIDAll | unix.PerfBitUseClockID | unix.PerfBitWatermark | unix.PerfBitExcludeHv,
		Wakeup:      uint32(ringPages * unix.Getpagesize() / 4),
		Clockid:     unix.CLOCK_MONOTONIC,
		Sample:      1,
	}
	a.Size = uint32(unsafe.Sizeof(a))
	if k == kindCPU || k == kindSwitch {
		a.Sample_type |= unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER
		a.Sample_regs_user, a.Sample_stack_user = 1<<callerRegister, 8
	}
	switch k {
	case kindCPU:
		a.Config, a.Sample = unix.PERF_COUNT_SW_CPU_CLOCK, uint64(p.period)
	case kindSwitch:
		a.Config = unix.PERF_COUNT_SW_CONTEXT_SWITCHES
		a.Bits |= unix.PerfBitContextSwitch
	case kindEnter, kindExit:
		a.Type, a.Config = unix.PERF_TYPE_TRACEPOINT, p.enter
		if k == kindExit {
			a.Config = p.exit
		}
		a.Sample_type = a.Sample_type&^unix.PERF_SAMPLE_CALLCHAIN | unix.PERF_SAMPLE_RAW
	}
	if p.wide {
		a.Bits |= unix.PerfBitExcludeIdle
	} else {
		a.Bits |= unix.PerfBitInherit | unix.PerfBitTask
	}
	if p.userOnly {
		a.Bits |= unix.PerfBitExcludeKernel
	}
	return a
}

// events are the open events of a sampler, and one ring for each CPU.
type events struct {
	plan
	pid    int
	cpus   []int
	rings  []*ring // by index into cpus; nil where the CPU is gone
	fds    []int
	kindOf map[uint64]eventKind
	// forked are threads that inherited their events; threads those that were
	// given some.
	forked  map[uint32]bool
	threads map[int]bool
	left    int // threads without events, for the bound
}

// openEvents opens what a plan says for a process.
func openEvents(pid int, p plan) (*events, error) {
	e := &events{plan: p, pid: pid, kindOf: map[uint64]eventKind{}, forked: map[uint32]bool{}, threads: map[int]bool{}}
	e.cpus = onlineCPUs()
	e.rings = make([]*ring, len(e.cpus))
	var err error
	if p.wide {
		err = e.open(-1)
	} else {
		err = e.openThreads()
	}
	if err == nil && e.count() == 0 {
		err = unix.ESRCH
	}
	if err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *events) count() int { return len(e.fds) }

// openThreads gives events to all threads. A thread's children inherit them,
// so only threads that were made while this goes on can be missed: it lists
// again until there are no new ones. A new one may be the child of a thread
// that had its events already; a fork record tells, and it must not be counted
// twice.
func (e *events) openThreads() error {
	const rounds = 16
	for range rounds {
		tids, err := threadsOf(e.pid)
		if err != nil {
			return err
		}
		fresh := 0
		for _, tid := range tids {
			if e.threads[tid] || e.forked[uint32(tid)] {
				continue
			}
			fresh++
			if err := e.openThread(tid); err != nil {
				return err
			}
		}
		if fresh == 0 {
			return nil
		}
		// The record of a fork comes after the thread is listed: give it time.
		time.Sleep(time.Millisecond)
		e.peekForks()
	}
	return nil
}

func (e *events) openThread(tid int) error {
	e.threads[tid] = true
	if e.count()+len(e.kinds)*len(e.cpus) > maxEvents {
		e.left++
		return nil
	}
	err := e.open(tid)
	switch {
	case errors.Is(err, unix.ESRCH): // gone meanwhile
		return nil
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		e.left++
		return nil
	}
	return err
}

// open opens all kinds on all CPUs, for a thread or for whole CPUs.
func (e *events) open(tid int) error {
	for i, cpu := range e.cpus {
		for _, k := range e.kinds {
			err := e.openOne(tid, i, cpu, k)
			if errors.Is(err, unix.ENODEV) || (errors.Is(err, unix.ENXIO)) { // the CPU went off line
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *events) openOne(tid, index, cpu int, k eventKind) error {
	a := e.attr(k)
	if k != e.kinds[0] {
		a.Bits &^= unix.PerfBitTask // one fork record is enough
	}
	fd, err := unix.PerfEventOpen(&a, tid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	e.fds = append(e.fds, fd)
	var id uint64
	if err := ioctlPointer(fd, unix.PERF_EVENT_IOC_ID, unsafe.Pointer(&id)); err != nil {
		return fmt.Errorf("event id: %w", err)
	}
	e.kindOf[id] = k
	if e.filter > 0 {
		// Only an economy: the reader drops what is not the process's anyway.
		_ = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, e.filter)
	}
	if r := e.rings[index]; r != nil {
		return unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fd)
	}
	e.rings[index], err = mapRing(fd, ringPages)
	return err
}

func ioctlPointer(fd int, request uint, p unsafe.Pointer) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(p))
	if errno != 0 {
		return errno
	}
	return nil
}

// peekForks learns of inherited threads without taking records out.
func (e *events) peekForks() {
	for _, r := range e.rings {
		if r == nil {
			continue
		}
		r.peek(func(b []byte) {
			if rec, ok := decodeRecord(b, e.hasRaw); ok && rec.kind == recordFork {
				e.forked[rec.child] = true
			}
		})
	}
}

func (e *events) hasRaw(id uint64) bool {
	k := e.kindOf[id]
	return k == kindEnter || k == kindExit
}

func (e *events) close() {
	for _, r := range e.rings {
		if r != nil {
			r.close()
		}
	}
	for _, fd := range e.fds {
		unix.Close(fd)
	}
	e.rings, e.fds = nil, nil
}

// threadsOf lists the threads of a process.
func threadsOf(pid int) ([]int, error) {
	dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxThreads)
	if err != nil {
		return nil, err
	}
	tids := make([]int, 0, len(names))
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}

// onlineCPUs reads the list of CPUs like "0-3,6".
func onlineCPUs() []int {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		b = []byte("0")
	}
	return parseCPUs(string(b))
}

func parseCPUs(s string) []int {
	const most = 8192
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(s), ",") {
		first, last, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if err == nil && isRange {
			hi, err = strconv.Atoi(last)
		}
		if err != nil || lo < 0 || hi >= most {
			continue
		}
		for n := lo; n <= hi; n++ {
			cpus = append(cpus, n)
		}
	}
	return cpus
}

// monotonic is now on the clock of the records, in nanoseconds.
func monotonic() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return uint64(ts.Nano())
}

// rawSyscall reads a raw_syscalls tracepoint's data: 8 bytes that all
// tracepoints have, the call's number, and, at exit, its result.
func rawSyscall(raw []byte) (number, result int64, ok bool) {
	if len(raw) < 24 {
		return 0, 0, false
	}
	return int64(binary.NativeEndian.Uint64(raw[8:])), int64(binary.NativeEndian.Uint64(raw[16:])), true
}
