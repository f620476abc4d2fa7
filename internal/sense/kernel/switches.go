package kernel

import "time"

// A switchJoiner joins the records of one context switch, which come through the
// rings of different CPUs: the stack at switch-out, the switch-out with its
// flag, and, later and often on another CPU, the switch-in.
type switchJoiner struct {
	table   *chainTable
	threads map[uint32]*offThread
	queue   queue[switchEvent]
	lost    int64 // switches without a place in the queue
}

// maxThreads bounds how many threads are known, the dead included.
const maxThreads = 1 << 16

type switchEvent struct {
	time uint64
	tid  uint32
	kind uint8
	cell *cell // of eventStack
}

func (e switchEvent) at() uint64 { return e.time }

const (
	eventStack = iota
	eventOut
	eventOutPreempted
	eventIn
)

// An offThread is a thread's state: whether it is off the CPU, since when, and
// where it was.
type offThread struct {
	off   bool
	since uint64
	stack *cell
	cell  *cell
}

func newSwitching(t *chainTable) *switchJoiner {
	return &switchJoiner{table: t, threads: make(map[uint32]*offThread)}
}

func (s *switchJoiner) add(e switchEvent) {
	if !s.queue.add(e) {
		s.lost++
	}
}

func (s *switchJoiner) advance(horizon uint64) { s.queue.advance(horizon, s.handle) }

func (s *switchJoiner) handle(e switchEvent) {
	t := s.threads[e.tid]
	if t == nil {
		if len(s.threads) >= maxThreads {
			s.lost++
			return
		}
		t = new(offThread)
		s.threads[e.tid] = t
	}
	switch e.kind {
	case eventStack:
		t.stack = e.cell
	case eventOut, eventOutPreempted:
		t.off, t.since = true, e.time
		t.cell = s.place(t.stack, e.tid, e.kind == eventOutPreempted)
		t.stack = nil
	case eventIn:
		s.end(t, e.time)
	}
}

// place returns the cell for a switch-out: that of its stack, with the flag
// that only the switch record tells.
func (s *switchJoiner) place(stack *cell, tid uint32, preempted bool) *cell {
	var chain []byte
	if stack != nil {
		if stack.preempted == preempted {
			return stack
		}
		chain = []byte(stack.chain)
	}
	return s.table.cell(chain, tid, preempted)
}

func (s *switchJoiner) end(t *offThread, at uint64) {
	if t.off && at > t.since {
		t.cell.count++
		t.cell.time += time.Duration(at - t.since)
	}
	t.off = false
}

// finish ends the waits that go on. A thread that is gone waits for nothing.
func (s *switchJoiner) finish(now uint64, alive func(tid uint32) bool) {
	s.advance(^uint64(0))
	for tid, t := range s.threads {
		if t.off && alive(tid) {
			s.end(t, now)
		}
	}
}
