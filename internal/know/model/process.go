package model

import "time"

// A Process is what the operating system says of the process.
type Process struct {
	PID     int
	Samples []ProcessSample // in time order, at least one
	Threads []Thread        // by CPU time, most first
	Maps    *Maps           // of its memory, as read last; nil when it was not
}

// A ProcessSample is the state of the process's counters at one moment.
// Counters count since its start; take differences.
type ProcessSample struct {
	At                     time.Duration
	User, System           time.Duration // CPU time in user mode and in the kernel, as rusage has it
	MinorFaults            int64
	MajorFaults            int64         // page faults that waited for a disk
	Voluntary, Involuntary int64         // context switches of all threads alive: waited, was taken off the CPU
	RunQueue               time.Duration // all threads: ready and waiting for a CPU; 0 where the kernel does not count it
	Threads, FDs           int           // FDs is -1 when not permitted
	RSS, Swap              uint64        // bytes
	ReadCalls, WriteCalls  int64         // system calls that read and wrote; -1 when not permitted
	ReadBytes, WriteBytes  int64         // by those calls; -1 when not permitted
	// The context switches and RunQueue, or the four of the calls, are those of
	// an earlier sample: they were not read at this moment.
	OldSwitches, OldCalls bool
}

// A Thread is one OS thread's share of the window.
type Thread struct {
	ID                     int
	Name                   string
	User, System           time.Duration
	RunQueue               time.Duration
	Voluntary, Involuntary int64
}

// A Machine is what happened on the machine meanwhile, this process included.
type Machine struct {
	CPUs    int // online
	Samples []MachineSample
}

// A MachineSample is the state of the machine's counters at one moment, the
// sum over all CPUs. Counters count since boot; take differences.
type MachineSample struct {
	At                 time.Duration
	Busy, Idle, IOWait time.Duration
	Steal              time.Duration // taken by the hypervisor
	// Stalls are the totals of pressure stall information: time in which at
	// least one task waited for the resource. Negative when the kernel has none.
	CPUStall, MemoryStall, IOStall time.Duration
	Load                           float64 // 1-minute load average
	Available                      uint64  // memory, bytes
}

// Limits are what the process may use.
type Limits struct {
	CPUs   int     // by affinity; 0 when unknown
	Quota  float64 // cores by control group; 0 when there is none
	Period time.Duration
	Memory uint64 // bytes by control group; 0 when there is none
	// MemoryHigh is over how many bytes the control group is slowed down; 0 when it is not.
	MemoryHigh uint64
	Files      uint64 // descriptors that the process may have; 0 when unknown
	// Samples are the control group's counters, empty when it has none.
	Samples []LimitSample
}

// A LimitSample is the state of a control group's counters at one moment.
type LimitSample struct {
	At                 time.Duration
	Usage              time.Duration // CPU
	Periods, Throttled int64         // quota periods, and those in which the group was stopped
	ThrottledTime      time.Duration
	Memory             uint64 // bytes
	// Cache is the part of Memory that is pages of files, Droppable what of that would be given
	// up first; 0 when not read at this moment.
	Cache, Droppable uint64
}

// Usable returns how many cores the limits and the machine allow; 0 when unknown.
func (m *Model) Usable() float64 {
	var cores float64
	if m.Machine != nil {
		cores = float64(m.Machine.CPUs)
	}
	if m.Limits != nil {
		if n := float64(m.Limits.CPUs); n > 0 && (cores == 0 || n < cores) {
			cores = n
		}
		if q := m.Limits.Quota; q > 0 && (cores == 0 || q < cores) {
			cores = q
		}
	}
	return cores
}

// A Build is what a program was built from and how.
type Build struct {
	Path     string            // of the main package
	Module   string            // of the main package
	Version  string            // of that module
	Go       string            // of the toolchain, like "go1.26.1"
	Settings map[string]string // as debug/buildinfo names them: "-race", "-gcflags", "DefaultGODEBUG", …
	// GODEBUG, GOGC, GOMAXPROCS and GOMEMLIMIT of the environment, as far as
	// they were set and known.
	Environment map[string]string
}
