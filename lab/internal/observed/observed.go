// Package observed lets a case leave evidence of a run behind: an execution
// trace, a CPU profile, a profile of all allocations, as any program with the
// usual flags does; and a whole recording under `gowhy record -- CASE`, by the
// one line that it takes.
//
// It hides which of them begin before the work and which are taken after it,
// and that what was begun is ended when another cannot begin. Its type is
// [Evidence].
package observed

import (
	"errors"
	"flag"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"time"

	"github.com/gowhy/gowhy/agent"
)

// Evidence names the files that a run leaves behind; empty ones are not written.
type Evidence struct{ trace, cpu, mem string }

// Flags adds the usual flags and returns what they will set.
func Flags(f *flag.FlagSet) *Evidence {
	e := &Evidence{}
	f.StringVar(&e.trace, "trace", "", "write an execution trace to `FILE`")
	f.StringVar(&e.cpu, "cpuprofile", "", "write a CPU profile to `FILE`")
	f.StringVar(&e.mem, "memprofile", "", "write a profile of all allocations to `FILE`")
	return e
}

// Run calls f with the evidence being recorded, and returns the time that f took.
func (e *Evidence) Run(f func() error) (elapsed time.Duration, err error) {
	stop, err := e.start()
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	err = f()
	elapsed = time.Since(begin)
	err = errors.Join(err, stop(), e.writeAllocs())
	agent.Finish() // under gowhy record, the recording has the end as well
	return elapsed, err
}

// start begins the trace and the CPU profile; stop ends them and closes their files.
func (e *Evidence) start() (stop func() error, err error) {
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	begin := func(path string, start func(io.Writer) error, end func()) error {
		if path == "" {
			return nil
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := start(f); err != nil {
			f.Close()
			return err
		}
		stops = append(stops, func() error { end(); return f.Close() })
		return nil
	}
	if err := begin(e.cpu, pprof.StartCPUProfile, pprof.StopCPUProfile); err != nil {
		return nil, errors.Join(err, stop())
	}
	if err := begin(e.trace, trace.Start, trace.Stop); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// writeAllocs writes the profile of all allocations since the program's start.
func (e *Evidence) writeAllocs() error {
	if e.mem == "" {
		return nil
	}
	f, err := os.Create(e.mem)
	if err != nil {
		return err
	}
	runtime.GC() // the profile lags behind until a collection publishes it
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
