//go:build amd64 || arm64

package kernel

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A sampler reads the rings of its events and sums what they say.
type sampler struct {
	events *events
	pid    int
	wake   int // an eventfd that ends the reader
	done   chan struct{}

	// Written by the reader until done is closed.
	cpu      *chainTable
	moments  moments // of cpu
	reading  uint16  // the CPU whose ring is being read
	off      *chainTable
	switches *switchJoiner
	calls    *callCounter
	names    *threadNames
	memory   *symbols.Process
	scratch  []byte
	lost     int64
}

// slack is how late, in nanoseconds, a record with an older time may still
// appear in its ring: its time is taken before it is written.
const slack = 1e6

func startSampler(e *events, names *threadNames, m *symbols.Process) (*sampler, error) {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		e.close()
		return nil, err
	}
	s := &sampler{events: e, pid: e.pid, wake: wake, done: make(chan struct{}), names: names, memory: m}
	s.cpu, s.off = newChainTable(), newChainTable()
	s.switches = newSwitching(s.off)
	s.calls = newCallCounter()
	go s.run()
	return s, nil
}

// run reads whenever a ring is a quarter full, and now and then, so that names
// of threads are read before these are gone.
func (s *sampler) run() {
	defer close(s.done)
	const timeout = 500 * time.Millisecond
	fds := []unix.PollFd{{Fd: int32(s.wake), Events: unix.POLLIN}}
	for _, r := range s.events.rings {
		if r != nil {
			fds = append(fds, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
		}
	}
	for {
		_, err := unix.Poll(fds, int(beat.UntilNext(timeout).Milliseconds())+1)
		s.drain()
		if err != nil && err != unix.EINTR || fds[0].Revents != 0 {
			return
		}
		for i := range fds {
			// The thread of that event is gone, and the file stays ready for
			// ever: leave it to the timeout.
			if fds[i].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				fds[i].Fd = -1
			}
		}
	}
}

func (s *sampler) drain() {
	now := monotonic()
	for i, r := range s.events.rings {
		if r != nil {
			s.reading = uint16(s.events.cpus[i]) // parseCPUs bounds it
			r.drain(s.take)
		}
	}
	if now > slack {
		s.switches.advance(now - slack)
		s.calls.advance(now - slack)
	}
}

// take sums one record.
func (s *sampler) take(b []byte) {
	r, ok := decodeRecord(b, s.events.hasRaw)
	if !ok {
		s.lost++
		return
	}
	if r.kind == recordLost || r.kind == recordLostSamples {
		s.lost += int64(r.lost)
		return
	}
	if int(r.pid) != s.pid {
		return
	}
	switch r.kind {
	case recordSample:
		s.sample(r)
	case recordSwitch:
		kind := uint8(eventIn)
		if r.misc&miscSwitchOut != 0 {
			kind = eventOut
			if r.misc&miscSwitchOutPreempt != 0 {
				kind = eventOutPreempted
			}
		}
		s.names.see(r.tid)
		s.switches.add(switchEvent{time: r.time, tid: r.tid, kind: kind})
	}
}

func (s *sampler) sample(r record) {
	kind, ok := s.events.kindOf[r.id]
	if !ok {
		s.lost++
		return
	}
	switch kind {
	case kindCPU:
		s.names.see(r.tid)
		c := s.cpu.cell(s.completeChain(r), r.tid, false)
		c.count++
		s.moments.add(moment{time: r.time, cell: c.index, cpu: s.reading})
	case kindSwitch:
		s.switches.add(switchEvent{time: r.time, tid: r.tid, kind: eventStack, cell: s.off.cell(s.completeChain(r), r.tid, false)})
	case kindEnter, kindExit:
		if number, result, ok := rawSyscall(r.raw); ok {
			s.calls.add(callEvent{time: r.time, tid: r.tid, exit: kind == kindExit, number: number, result: result})
		}
	}
}

// completeChain returns the chain of a sample with the caller that frame pointers miss: a
// function without a frame, as most small Go functions are, leaves no pointer,
// and the kernel passes over its caller.
func (s *sampler) completeChain(r record) []byte {
	at := userStart(r.chain)
	if r.caller == 0 || at == 0 {
		return r.chain
	}
	if n, ok := s.memory.PushedBytes(binary.NativeEndian.Uint64(r.chain[at:])); !ok || n > 0 {
		return r.chain
	}
	s.scratch = append(s.scratch[:0], r.chain[:at+8]...)
	s.scratch = binary.NativeEndian.AppendUint64(s.scratch, r.caller)
	s.scratch = append(s.scratch, r.chain[at+8:]...)
	return s.scratch
}

// stop ends the reader, reads what is left, and ends waits that go on.
func (s *sampler) stop() {
	unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-s.done
	now := monotonic()
	s.drain()
	s.switches.finish(now, func(tid uint32) bool {
		_, err := os.Stat(s.names.dir + strconv.Itoa(int(tid)))
		return err == nil
	})
	s.calls.advance(^uint64(0))
	s.events.close()
	unix.Close(s.wake)
}

// threadNames are the names of threads, read when they are first seen: later
// they may be gone.
type threadNames struct {
	dir     string
	process string
	names   map[uint32]string
}

func newThreadNames(pid int) *threadNames {
	t := &threadNames{dir: "/proc/" + strconv.Itoa(pid) + "/task/", names: make(map[uint32]string)}
	t.process = t.read(uint32(pid))
	return t
}

func (t *threadNames) see(tid uint32) {
	if _, ok := t.names[tid]; ok || len(t.names) >= maxThreads {
		return
	}
	name := t.read(tid)
	if name == "" {
		name = t.process
	}
	t.names[tid] = name
}

func (t *threadNames) read(tid uint32) string {
	b, err := os.ReadFile(t.dir + strconv.Itoa(int(tid)) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

func (t *threadNames) name(tid uint32) string {
	if name, ok := t.names[tid]; ok {
		return name
	}
	return t.process
}
