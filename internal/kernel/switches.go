package kernel

import (
	"slices"
	"time"
)

// A switching joins the records of one context switch, which come through the
// rings of different CPUs: the stack at switch-out, the switch-out with its
// flag, and, later and often on another CPU, the switch-in.
type switching struct {
	table   *chainTable
	threads map[uint32]*offThread
	queue   []switchEvent
	lost    int64 // switches without a place in the queue
}

// maxQueue bounds how many switches wait for those of other CPUs. One round
// of reading brings at most a ring for each CPU.
const maxQueue = 1 << 20

// maxThreads bounds how many threads are known, the dead included.
const maxThreads = 1 << 16

type switchEvent struct {
	time uint64
	tid  uint32
	kind uint8
	cell *cell // of eventStack
}

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

func newSwitching(t *chainTable) *switching {
	return &switching{table: t, threads: make(map[uint32]*offThread)}
}

func (s *switching) add(e switchEvent) {
	if len(s.queue) >= maxQueue {
		s.lost++
		return
	}
	s.queue = append(s.queue, e)
}

// advance handles what happened before horizon, in order. What is younger
// waits: an older event of another CPU may still come.
func (s *switching) advance(horizon uint64) {
	slices.SortStableFunc(s.queue, func(a, b switchEvent) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	n := 0
	for ; n < len(s.queue) && s.queue[n].time < horizon; n++ {
		s.handle(s.queue[n])
	}
	s.queue = append(s.queue[:0], s.queue[n:]...)
}

func (s *switching) handle(e switchEvent) {
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
func (s *switching) place(stack *cell, tid uint32, preempted bool) *cell {
	var chain []byte
	if stack != nil {
		if stack.preempted == preempted {
			return stack
		}
		chain = []byte(stack.chain)
	}
	return s.table.cell(chain, tid, preempted)
}

func (s *switching) end(t *offThread, at uint64) {
	if t.off && at > t.since {
		t.cell.count++
		t.cell.time += time.Duration(at - t.since)
	}
	t.off = false
}

// finish ends the waits that go on. A thread that is gone waits for nothing.
func (s *switching) finish(now uint64, alive func(tid uint32) bool) {
	s.advance(^uint64(0))
	for tid, t := range s.threads {
		if t.off && alive(tid) {
			s.end(t, now)
		}
	}
}
