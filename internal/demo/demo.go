// Package demo records sick programs that are part of the binary, so that
// gowhy can be seen at work with nothing but itself.
//
// It hides the programs, and how the running binary starts itself again to
// run one of them under the tracer and the profiler. Its type is [Case]; its
// functions are [Cases], [Record] and, in the process that Record starts,
// [Run].
//
// demo uses no network, and no file outside its temporary directory and the
// recording. It knows nothing of diagnosis: what gowhy says about a case is
// what it found.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// A Case is a program with a known illness.
type Case struct {
	Name  string // the illness, or "healed"
	Story string // what the program does, in a sentence or two
	run   func(ctx context.Context, dir string) error
}

// Duration is how long a case is recorded: some collections, some full
// lifetimes of the leaked timers, and far from anybody's patience.
const Duration = 3 * time.Second

// maxProcs keeps a case the same illness on a large machine: the figures of a
// thousand workers on 64 cores tell another story.
const maxProcs = 4

var cases = []Case{
	{"oversubscribed", fmt.Sprintf("A pool of %d workers takes small jobs from a channel; each writes a file of %d KiB, reads it back, "+
		"deletes it and computes a little.",
		manyWorkers, fileSize>>10), oversubscribed},
	{"allocchurn", fmt.Sprintf("The same pool with as many workers as processors, but each job makes two buffers of %d MiB and drops them.", churnSize>>20), allocChurn},
	{"leakedtimers", "Each of thousands of requests a second makes a context with a timeout and never cancels it when it is done.", leakedTimers},
	{"hotmutex", "All workers put their results into one map behind one mutex, and compute while they hold it.", hotMutex},
	{"funnelchannel", "Hundreds of producers hand their messages to a single goroutine over one channel.", funnel},
	{"healed", "The pool of the case \"oversubscribed\" with as many workers as processors, each with buffers of its own.", healed},
}

// Cases returns all cases; the first is the default.
func Cases() []Case { return slices.Clone(cases) }

// Find returns the case of a name.
func Find(name string) (Case, bool) {
	i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == name })
	if i < 0 {
		return Case{}, false
	}
	return cases[i], true
}

// Record runs a case in a process of its own and leaves the recording at
// out. The process is this binary, started with the arguments that args makes
// of the directory into which [Run] is to write.
func Record(ctx context.Context, c Case, out string, args func(dir string) []string, stderr io.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(scratch(), "gowhy-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w, err := recording.Create(out)
	if err != nil {
		return err
	}
	start := time.Now()
	cmd := exec.CommandContext(ctx, self, args(dir)...)
	cmd.Stderr = stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("the program of the demonstration failed: %w", err), w.Discard())
	}
	for _, m := range []string{recording.TraceMember, recording.CPUMember} {
		if err := move(filepath.Join(dir, m), w.Path(m)); err != nil {
			return errors.Join(err, w.Discard())
		}
	}
	// No command line: the directory that it names is gone, so that nobody can
	// run it once more.
	return w.Finish(recording.Manifest{Start: start, End: time.Now(), Go: runtime.Version(), Procs: procs()})
}

// move renames a file, or copies it where the two are on different disks.
func move(from, to string) error {
	if os.Rename(from, to) == nil {
		return nil
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

func procs() int { return min(runtime.NumCPU(), maxProcs) }

// Run runs a case in this process and writes its trace and CPU profile into
// dir, until [Duration] has passed or ctx is cancelled.
func Run(ctx context.Context, c Case, dir string) (err error) {
	runtime.GOMAXPROCS(procs())
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o700); err != nil {
		return err
	}
	traceFile, err := os.Create(filepath.Join(dir, recording.TraceMember))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, traceFile.Close()) }()
	cpuFile, err := os.Create(filepath.Join(dir, recording.CPUMember))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cpuFile.Close()) }()
	if err := trace.Start(traceFile); err != nil {
		return err
	}
	defer trace.Stop()
	if err := pprof.StartCPUProfile(cpuFile); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	ctx, cancel := context.WithTimeout(ctx, Duration)
	defer cancel()
	return c.run(ctx, files)
}
