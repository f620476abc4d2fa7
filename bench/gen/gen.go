// Package gen makes the execution traces that the benchmarks read.
//
// It hides the programs that are traced. Its type is [Kind]: one sort of
// program, whose [Kind.Write] runs it inside this process until the trace is as
// large as asked.
//
// It needs no network but the loopback interface, and writes no file but
// those of the kind that is about files, in a temporary directory.
package gen

import (
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sync/atomic"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// Revision changes when the traces do, so that kept ones are made anew.
const Revision = 2

// procs is GOMAXPROCS of the traced programs. It is not the machine's, for
// traces to be alike everywhere.
const procs = 4

// A Kind is one sort of traced program.
type Kind struct {
	Name string
	Doc  string // what the program does, in a few words
	// Fixed is set when the program has an end of its own: the trace is as large as it gets.
	Fixed bool
	write func(w io.Writer, size int64) error
}

// Kinds are all kinds of trace.
var Kinds = []Kind{
	{Name: "channels", Doc: "pipelines of goroutines over channels, select and a mutex", write: traced(100, channels)},
	{Name: "http", Doc: "net/http server and 32 clients over loopback", write: traced(100, serveHTTP)},
	{Name: "spawn", Doc: "short goroutines started by the thousand", write: traced(100, spawn)},
	{Name: "pool", Doc: "2 million goroutines, up to 100,000 alive", Fixed: true, write: traced(100, pool)},
	{Name: "gc", Doc: "allocation of trees under GOGC=10", write: traced(10, collect)},
	{Name: "files", Doc: "64 goroutines that write, read and delete small files", write: traced(100, files)},
	{Name: "tasks", Doc: "user tasks, regions and logs", write: traced(100, tasks)},
	{Name: "coroutines", Doc: "iter.Pull", write: traced(100, coroutines)},
	{Name: "ms64", Doc: "simulated: 64 threads, 5 % of wake-ups cross", write: simulated(64)},
	{Name: "ms256", Doc: "simulated: 256 threads, 5 % of wake-ups cross", write: simulated(256)},
	{Name: "ms1024", Doc: "simulated: 1024 threads, 5 % of wake-ups cross", write: simulated(1024)},
}

// Find returns the kind of that name.
func Find(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Write writes a trace of about size bytes to w. It takes over the process:
// GOMAXPROCS and the collector's settings are changed, and nothing else should
// run or be traced meanwhile.
func (k Kind) Write(w io.Writer, size int64) error { return k.write(w, size) }

// traced makes a writer of traces of a program that works until full says
// that its trace is large enough.
func traced(gogc int, work func(full func() bool) error) func(io.Writer, int64) error {
	return func(w io.Writer, size int64) error {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(gogc)
		m := &meter{w: w}
		if err := trace.Start(m); err != nil {
			return err
		}
		err := work(func() bool { return m.written.Load() >= size })
		trace.Stop()
		return errors.Join(err, m.err)
	}
}

// bytesPerEvent is what the simulation's events take on average.
const bytesPerEvent = 5

// simulated makes a writer of traces of a machine with many threads: no
// machine at hand has a thousand Ps.
func simulated(threads int) func(io.Writer, int64) error {
	return func(w io.Writer, size int64) error {
		return corpus.Synthetic(w, corpus.Shape{
			Threads: threads, Events: int(size / bytesPerEvent), Cross: 5, Seed: Revision,
		})
	}
}

// A meter counts what goes through it. err is to be read after the last Write.
type meter struct {
	w       io.Writer
	written atomic.Int64
	err     error
}

// Write implements [io.Writer]. After an error it swallows the rest, as
// runtime/trace takes no notice of errors, but goes on counting so that the program ends.
func (m *meter) Write(b []byte) (int, error) {
	if m.err == nil {
		_, m.err = m.w.Write(b)
	}
	m.written.Add(int64(len(b)))
	return len(b), nil
}
