package diagnosis

import "github.com/gowhy/gowhy/internal/know/model"

// SourceName says in words what a source is, like "an execution trace".
func SourceName(s model.Source) string {
	if n, ok := sourceNames[s]; ok {
		return n
	}
	return string(s)
}

var sourceNames = map[model.Source]string{
	model.Trace:            "an execution trace",
	model.CPU:              "a CPU profile",
	model.Wall:             "a wall-clock profile",
	model.Heap:             "a heap or allocs profile",
	model.LiveHeap:         "a heap profile",
	model.Block:            "a block profile",
	model.Mutex:            "a mutex profile",
	model.GoroutineProfile: "a goroutine profile",
	model.ThreadCreate:     "a threadcreate profile",
	model.Leak:             "a goroutineleak profile",
	model.MetricsLog:       "the runtime's metrics over time",
	model.GCTrace:          "lines of gctrace",
	model.SchedTrace:       "lines of schedtrace",
	model.BuildInfo:        "build information",
	model.ProcFS:           "the process's counters",
	model.KernelCPU:        "the kernel's CPU samples",
	model.OffCPU:           "the kernel's context switches",
	model.SyscallLog:       "counts of system calls",
	model.LoadResult:       "the result of a load generator",
	model.Escape:           "the compiler's escape analysis",
	model.Printed:          "a profile as go tool pprof prints it",
	model.Counted:          "counts of perf stat, strace or inittrace",
	model.ShortageLog:      "a log that says what the kernel refused",
}

// HowToGet returns a command that records a source, to paste into a shell.
func HowToGet(s model.Source) string {
	switch s {
	case model.Heap:
		return "curl -o allocs.pprof http://localhost:6060/debug/pprof/allocs"
	case model.Wall:
		return "curl -o wall.pprof 'http://localhost:6060/debug/fgprof?seconds=10'   # served by github.com/felixge/fgprof"
	case model.ProcFS, model.BuildInfo:
		return "gowhy record -d 10s -o run.gowhy --pid PID"
	case model.KernelCPU, model.OffCPU, model.SyscallLog:
		return "gowhy doctor && gowhy record -d 10s -o run.gowhy --pid PID"
	case model.GCTrace, model.SchedTrace, model.ShortageLog:
		return "gowhy record -d 10s -o run.gowhy -- COMMAND"
	case model.Leak: // the runtime has it when it was built for it
		return "GOEXPERIMENT=goroutineleakprofile go build && gowhy record -d 10s -o run.gowhy --url http://localhost:6060"
	case model.MetricsLog:
		return "go get github.com/gowhy/gowhy/agent   # import it, then: gowhy record -d 10s -o run.gowhy --url http://localhost:6060"
	case model.LoadResult:
		return "gowhy diagnose run.gowhy load.txt   # the output of k6, vegeta, wrk, hey, dnsperf or go test -bench"
	case model.Printed:
		return "go tool pprof -top -cum http://localhost:6060/debug/pprof/profile > cpu.txt; gowhy diagnose cpu.txt"
	case model.Counted:
		return "perf stat -p PID -- sleep 10 2> stat.txt; gowhy diagnose stat.txt"
	case model.Escape:
		return "go build -gcflags=-m=2 ./... 2> escape.txt; gowhy diagnose run.gowhy escape.txt"
	default: // a recording holds them all, taken at the same time
		return "gowhy record -d 10s -o run.gowhy --url http://localhost:6060"
	}
}
