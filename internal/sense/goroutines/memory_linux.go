package goroutines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A process is the memory of one, which is read and never stopped.
//
// process_vm_readv takes a number, which may mean another program by now: the
// process executed one, or ended and its number was given away. The open file
// stays with the memory that it was opened for, and tells when that is gone.
type process struct {
	pid   int
	file  *os.File     // /proc/PID/mem
	calls atomic.Int64 // of whoever opens another beside a reader, too
	// refused is that a sandbox does not let process_vm_readv through, which the file needs not.
	refused atomic.Bool
}

// A request is what one call reads, and where it is put.
type request struct {
	local  [1]unix.Iovec
	remote [maxSpans]unix.RemoteIovec
}

// requests are those that are not in use: one for each process would be 5 MB of 300.
var requests = sync.Pool{New: func() any { return new(request) }}

func openProcess(pid int) (memory, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/mem")
	if err != nil {
		if errors.Is(err, unix.ESRCH) && !ended(pid) {
			return nil, unsure("it is a part of the kernel")
		}
		return nil, readError(pid, err)
	}
	return &process{pid: pid, file: f}, nil
}

// gatherByFile reads the spans one by one, until nothing is at one.
func (p *process) gatherByFile(b []byte, spans []span) (int, error) {
	done := 0
	for _, s := range spans {
		if s.size > len(b)-done {
			return done, errors.New("no place for what is read")
		}
		p.calls.Add(1)
		got, err := p.file.ReadAt(b[done:][:s.size], int64(s.at))
		done += got
		switch {
		case got == s.size:
		case errors.Is(err, unix.EIO), errors.Is(err, io.EOF): // nothing is there, or no memory any more: see same
			return done, nil
		default:
			return done, readError(p.pid, err)
		}
	}
	return done, nil
}

// ended tells whether a process is one that only waits to be collected.
func ended(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return err != nil || !ok || len(state) == 0 || bytes.IndexByte([]byte("ZXx"), state[0]) >= 0
}

func (p *process) gather(b []byte, spans []span) (int, error) {
	if p.refused.Load() {
		return p.gatherByFile(b, spans)
	}
	done := 0
	r := requests.Get().(*request)
	defer requests.Put(r)
	defer func() { r.local[0].Base = nil }() // the buffer is not its own
	for len(spans) > 0 {
		n := min(len(spans), maxSpans)
		size := 0
		for i, s := range spans[:n] {
			r.remote[i] = unix.RemoteIovec{Base: uintptr(s.at), Len: s.size}
			size += s.size
		}
		if size == 0 || size > len(b) {
			return done, errors.New("no place for what is read")
		}
		r.local[0] = unix.Iovec{Base: &b[0], Len: uint64(size)}
		first := p.calls.Add(1) == 1
		got, err := unix.ProcessVMReadv(p.pid, r.local[:], r.remote[:n], 0)
		if errors.Is(err, unix.EFAULT) { // nothing is at the first
			return done, nil
		}
		if first && (errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM)) { // later rights were lost
			p.refused.Store(true)
			return p.gatherByFile(b, spans)
		}
		if err != nil {
			return done, readError(p.pid, err)
		}
		done += got
		if got < size {
			return done, nil
		}
		b, spans = b[size:], spans[n:]
	}
	return done, nil
}

func (p *process) same(at uint64) error {
	var b [1]byte
	p.calls.Add(1)
	switch _, err := p.file.ReadAt(b[:], int64(at)); {
	case !errors.Is(err, io.EOF):
		return nil
	case ended(p.pid):
		return readError(p.pid, unix.ESRCH)
	}
	return fmt.Errorf("process %d: %w, and another program has its number", p.pid, ErrGone)
}

func (p *process) another() (memory, error) { return openProcess(p.pid) }

func (p *process) used() int64 { return p.calls.Load() }

func (p *process) now() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

func (p *process) close() { p.file.Close() }
