// Command corpus runs work under the execution tracer. Each program of the
// corpus is this file and one with its work.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync/atomic"
	"time"
)

// record traces f; a program may put its own recorder here.
var record = func(w *output, f func()) error {
	if err := trace.Start(w); err != nil {
		return err
	}
	f()
	trace.Stop()
	return nil
}

// before runs ahead of the trace.
var before = func(size int) {}

// output is the trace file; it ends the work when it has grown enough.
type output struct {
	*os.File
	limit, written int64
	full           context.CancelFunc
}

func (o *output) Write(p []byte) (int, error) {
	if n := atomic.AddInt64(&o.written, int64(len(p))); o.limit > 0 && n >= o.limit {
		o.full()
	}
	return o.File.Write(p)
}

func main() {
	path := flag.String("o", "trace.out", "trace file")
	d := flag.Duration("d", time.Second, "how long to work")
	limit := flag.Int64("bytes", 0, "stop when the trace is this large")
	size := flag.Int("size", 8, "how much to do at once")
	procs := flag.Int("procs", 0, "GOMAXPROCS")
	profile := flag.Bool("cpuprofile", false, "take a CPU profile at the same time")
	flag.Parse()
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	if err := run(*path, *d, *limit, *size, *profile); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string, d time.Duration, limit int64, size int, profile bool) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if profile {
		null, err := os.Create(os.DevNull)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(null); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	before(size)
	defer func() { fmt.Println(starved()) }()
	if err := record(&output{File: f, limit: limit, full: cancel}, func() { work(ctx, size) }); err != nil {
		return err
	}
	return f.Close()
}

// starved is how long the threads have waited for a processor.
func starved() (sum time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat") // the pattern is right
	for _, name := range files {
		var ran, waited time.Duration
		if text, err := os.ReadFile(name); err == nil {
			fmt.Sscan(string(text), &ran, &waited)
		}
		sum += waited
	}
	return sum
}

// stopped gives a flag that is cheaper to ask than the context.
func stopped(ctx context.Context) *atomic.Bool {
	var b atomic.Bool
	context.AfterFunc(ctx, func() { b.Store(true) })
	return &b
}
