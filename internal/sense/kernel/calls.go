package kernel

import "time"

// A callCounter counts system calls from records of their enters and exits,
// where no program in the kernel may do it. Like switches, both ends may come
// through the rings of different CPUs.
type callCounter struct {
	queue queue[callEvent]
	open  map[uint32]callEvent // by thread
	calls map[int64]*callCount
	lost  int64
}

type callEvent struct {
	time   uint64
	tid    uint32
	exit   bool
	number int64
	result int64
}

func (e callEvent) at() uint64 { return e.time }

// A callCount is what is known of one number.
type callCount struct {
	count, bytes int64
	time         time.Duration
	errors       map[int]int64 // by errno
}

// maxErrno is the largest error a call returns: results from -maxErrno to -1
// are errors.
const maxErrno = 4095

// maxCall bounds the numbers that are told apart.
const maxCall = 512

func newCallCounter() *callCounter {
	return &callCounter{open: make(map[uint32]callEvent), calls: make(map[int64]*callCount)}
}

func (c *callCounter) add(e callEvent) {
	if !c.queue.add(e) {
		c.lost++
	}
}

func (c *callCounter) advance(horizon uint64) { c.queue.advance(horizon, c.handle) }

func (c *callCounter) handle(e callEvent) {
	if !e.exit {
		if len(c.open) >= maxThreads {
			c.lost++
			return
		}
		c.open[e.tid] = e
		return
	}
	enter, ok := c.open[e.tid]
	delete(c.open, e.tid)
	if !ok || enter.number != e.number || e.time < enter.time {
		return // it began before the window
	}
	c.count(e.number).add(1, time.Duration(e.time-enter.time), e.result)
}

func (c *callCounter) count(number int64) *callCount {
	if number < 0 || number >= maxCall {
		number = maxCall
	}
	n := c.calls[number]
	if n == nil {
		n = new(callCount)
		c.calls[number] = n
	}
	return n
}

// add counts calls that took a time and ended with a result.
func (n *callCount) add(calls int64, took time.Duration, result int64) {
	n.count += calls
	n.time += took
	switch {
	case result > 0:
		n.bytes += result
	case result < 0 && result >= -maxErrno:
		n.fail(int(-result), calls)
	}
}

func (n *callCount) fail(errno int, calls int64) {
	if n.errors == nil {
		n.errors = make(map[int]int64)
	}
	n.errors[errno] += calls
}
