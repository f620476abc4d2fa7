package artifact

import (
	"slices"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Member is a piece that a recording can have.
type Member struct {
	Name   string
	Source model.Source // that it is evidence of; "" for what only goes with others
	Words  string       // what it is, for who reads a list of them
}

// Members are all pieces of a recording but its manifest, in the order of reports.
var Members = []Member{
	{recording.TraceMember, model.Trace, "the execution trace: what every goroutine and P did, event by event"},
	{recording.CPUMember, model.CPU, "CPU profile: where CPU time was used, 100 samples a second of each thread"},
	{recording.HeapStartMember, model.LiveHeap, "what was in use on the heap when the recording began"},
	{recording.HeapEndMember, model.LiveHeap, "what was in use on the heap when it ended"},
	{recording.HeapCourseMember, model.LiveHeap, "what was in use at moments between, which tells what goes on growing"},
	{recording.AllocsMember, model.Heap, "allocations since the program's start, sampled by size"},
	{recording.BlockMember, model.Block, "where goroutines waited for each other"},
	{recording.MutexMember, model.Mutex, "who kept others waiting at locks"},
	{recording.GoroutineStartMember, model.GoroutineProfile, "the stacks of all goroutines when the recording began"},
	{recording.GoroutineEndMember, model.GoroutineProfile, "the stacks of all goroutines when it ended"},
	{recording.WallMember, model.Wall, "what all goroutines did with their time, running or waiting"},
	{recording.ThreadCreateMember, model.ThreadCreate, "where threads were created"},
	{recording.LeakMember, model.Leak, "goroutines that nothing can wake any more"},
	{recording.MetricsMember, model.MetricsLog, "the runtime's own metrics over time"},
	{recording.GCTraceMember, model.GCTrace, "a line for each collection, as GODEBUG=gctrace=1 tells it"},
	{recording.SchedTraceMember, model.SchedTrace, "run queues over time, as GODEBUG=schedtrace tells them"},
	{recording.BuildMember, model.BuildInfo, "what the program was built from, and how"},
	{recording.ProcMember, model.ProcFS, "the process's and the machine's counters over time, from /proc"},
	{recording.KernelMember, model.KernelCPU, "CPU samples taken by the kernel, its own functions among them"},
	{recording.KernelTimesMember, "", "when each of the kernel's CPU samples was taken, on which CPU, of which thread"},
	{recording.OffCPUMember, model.OffCPU, "where threads lost the CPU, by the kernel's context switches"},
	{recording.SyscallsMember, model.SyscallLog, "system calls, counted by the kernel"},
	{recording.HoldersMember, model.Holders, "who held the heap, by types, names and sizes"},
	{recording.LoadMember, model.LoadResult, "what the load generator measured"},
	{recording.StdoutMember, "", "what the program printed"},
	{recording.StderrMember, "", "what the program printed as errors"},
}

// SourceNames returns what the sources of these are called where they are chosen from.
func SourceNames() (names []string) {
	for _, s := range model.Sources() {
		if name := s.Recorded(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// MemberNamed returns the member of a name, the manifest among them; one without words where no
// recording has any of it.
func MemberNamed(name string) Member {
	if i := slices.IndexFunc(Members, func(m Member) bool { return m.Name == name }); i >= 0 {
		return Members[i]
	}
	switch name {
	case recording.ManifestMember:
		return Member{name, "", "what was requested, when, and what was refused"}
	case EndpointMember:
		return Member{name, model.Trace, "all that a program tells of itself"}
	}
	return Member{Name: name}
}
