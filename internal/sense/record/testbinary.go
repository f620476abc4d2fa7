package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// testBinary reports whether a program is what `go test -c` makes, by the
// name that the go command gives it.
func testBinary(name string) bool {
	return strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".test.exe")
}

// The rates at which a test's delays are sampled. Every delay would be too
// many: a benchmark of a channel would measure its own profile.
const (
	testBlockRate     = 10_000 // ns
	testMutexFraction = 100
)

// testProfiles are the flags with which a test binary records itself.
var testProfiles = []struct {
	source, flag, member, rate string
	value                      int // of the rate
}{
	{source: "trace", flag: "test.trace", member: recording.TraceMember},
	{source: "cpu", flag: "test.cpuprofile", member: recording.CPUMember},
	{source: "allocs", flag: "test.memprofile", member: recording.AllocsMember},
	{source: "block", flag: "test.blockprofile", member: recording.BlockMember, rate: "test.blockprofilerate", value: testBlockRate},
	{source: "mutex", flag: "test.mutexprofile", member: recording.MutexMember, rate: "test.mutexprofilefraction", value: testMutexFraction},
}

// test runs a test binary with the flags that make it record itself.
func (r *recorder) test(ctx context.Context, argv []string) (code int, err error) {
	args := slices.Clone(argv[1:])
	pipe, err := r.tracePipe(args)
	if err != nil {
		return 0, err
	}
	own, theirs := r.testFlags(args, pipe)
	p, err := r.start(argv[0], append(own, args...), false, pipe.files()...)
	if err != nil {
		pipe.close()
		return 0, err
	}
	pipe.started()
	endHolders := r.holders().follow(ctx, p)
	select {
	case <-p.exited:
	case <-ctx.Done():
	}
	endHolders()
	code = r.finishProcess(ctx, p)
	r.man.End = r.clock.now()
	pipe.close()
	dir, _ := flagValue(args, "test.outputdir")
	for member, path := range theirs {
		r.copyIn(path, dir, member)
	}
	return code, nil
}

// testFlags returns the flags to add to the user's, and the files, by member,
// that the user asks the test for already.
func (r *recorder) testFlags(args []string, pipe *tracePipe) (own []string, theirs map[string]string) {
	rates := recording.Rates{BlockNS: -1, Mutex: -1, MemBytes: -1}
	theirs = map[string]string{}
	for _, f := range testProfiles {
		if path, given := flagValue(args, f.flag); given {
			theirs[f.member] = path
			continue
		}
		if !r.wants(f.source) {
			continue
		}
		path := r.w.Path(f.member)
		if f.source == "trace" && pipe != nil {
			path = pipe.name
		}
		own = append(own, "-"+f.flag+"="+path)
		if f.rate == "" {
			continue
		}
		if _, set := flagValue(args, f.rate); set {
			continue
		}
		own = append(own, "-"+f.rate+"="+strconv.Itoa(f.value))
		if f.source == "block" {
			rates.BlockNS = f.value
		} else {
			rates.Mutex = f.value
		}
	}
	r.man.Rates = &rates
	return own, theirs
}

// flagValue returns the value of a flag as package flag would take it.
func flagValue(args []string, name string) (value string, ok bool) {
	for i, a := range args {
		switch {
		case a == "--" || !strings.HasPrefix(a, "-"):
			// Values of flags stand alone too; only "--" surely ends them.
			if a == "--" {
				return value, ok
			}
		case strings.TrimLeft(a, "-") == name && i+1 < len(args):
			value, ok = args[i+1], true
		case strings.HasPrefix(strings.TrimLeft(a, "-"), name+"="):
			_, value, _ = strings.Cut(a, "=")
			ok = true
		}
	}
	return value, ok
}

// copyIn takes a file into the recording that the user had asked the test for.
func (r *recorder) copyIn(path, dir, member string) {
	if dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	from, err := os.Open(path)
	if err == nil {
		defer from.Close()
		_, err = r.fill(member, from, r.limit(member))
	}
	if err != nil {
		r.refuse(member, artifact.Refusal{Why: err.Error()})
	}
}

// A tracePipe takes a test's trace, so that it can stop at its limit. A nil one
// does nothing.
type tracePipe struct {
	name     string // for the test
	to, from *os.File
	done     chan struct{}
}

// tracePipe makes the pipe that will be the test's file 3. It is nil when the
// user has a trace written somewhere, when none is wanted, and where a file
// cannot be named by its number.
func (r *recorder) tracePipe(args []string) (*tracePipe, error) {
	const name = "/dev/fd/3"
	_, given := flagValue(args, "test.trace")
	if _, err := os.Stat("/dev/fd"); err != nil || given || !r.wants("trace") {
		return nil, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &tracePipe{name: name, to: to, from: from, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		limit := r.o.TraceLimit
		n, err := r.fill(recording.TraceMember, from, limit)
		if err == nil && n == limit {
			r.refuse(recording.TraceMember, artifact.Refusal{Why: fmt.Sprintf("it reached its limit of %s and is not whole", figures.Bytes(limit)), How: "--trace-limit raises it, --without trace goes without it"})
			io.Copy(io.Discard, from) // the test must not stop for it
		} else if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			r.refuse(recording.TraceMember, artifact.Refusal{Why: err.Error()})
		}
	}()
	return p, nil
}

// files returns the files that the test gets beside the standard streams.
func (p *tracePipe) files() []*os.File {
	if p == nil {
		return nil
	}
	return []*os.File{p.to}
}

// started closes our copy of the test's end.
func (p *tracePipe) started() {
	if p != nil {
		p.to.Close()
	}
}

// close waits for the last of the trace. What the test started and left behind
// may hold the pipe open.
func (p *tracePipe) close() {
	if p == nil {
		return
	}
	p.to.Close()
	p.from.SetReadDeadline(time.Now().Add(time.Second))
	<-p.done
	p.from.Close()
}

func (r *recorder) limit(member string) int64 {
	if member == recording.TraceMember {
		return r.o.TraceLimit
	}
	return maxProfileFetch
}
