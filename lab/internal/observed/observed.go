// Package observed lets a case leave evidence of a run behind: an execution
// trace, a CPU profile, a profile of all allocations, as any program with the
// usual flags does; a whole recording under `gowhy record -- CASE`, by the
// one line that it takes; and net/http/pprof while it runs, for the commands that
// the stories use.
//
// It hides which of them begin before the work and which are taken after it,
// and that what was begun is ended when another cannot begin. Its type is
// [Evidence].
package observed

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	httppprof "net/http/pprof"
	"net/netip"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"time"

	"github.com/gowhy/gowhy/agent"
)

// Evidence names the files that a run leaves behind; empty ones are not written.
type Evidence struct{ trace, cpu, mem, serve string }

// Flags adds the usual flags and returns what they will set.
func Flags(f *flag.FlagSet) *Evidence {
	e := &Evidence{}
	f.StringVar(&e.trace, "trace", "", "write an execution trace to `FILE`")
	f.StringVar(&e.cpu, "cpuprofile", "", "write a CPU profile to `FILE`")
	f.StringVar(&e.mem, "memprofile", "", "write a profile of all allocations to `FILE`")
	f.StringVar(&e.serve, "pprof", "", "serve net/http/pprof at this loopback `ADDRESS`, like 127.0.0.1:6060")
	return e
}

// listen serves the handlers of net/http/pprof until stop is called.
func (e *Evidence) listen() (stop func() error, err error) {
	at, err := netip.ParseAddrPort(e.serve)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("-pprof %q is no loopback address\nhint: -pprof 127.0.0.1:6060", e.serve)
	}
	l, err := net.Listen("tcp", e.serve)
	if err != nil {
		return nil, fmt.Errorf("-pprof: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", httppprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", httppprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", httppprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", httppprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", httppprof.Trace)
	s := &http.Server{Handler: mux}
	go s.Serve(l)
	fmt.Fprintf(os.Stderr, "net/http/pprof at http://%s/debug/pprof/\n", l.Addr())
	return s.Close, nil
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
	if e.serve != "" {
		end, err := e.listen()
		if err != nil {
			return nil, err
		}
		stops = append(stops, end)
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
