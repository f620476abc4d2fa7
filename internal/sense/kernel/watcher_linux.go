//go:build amd64 || arm64

package kernel

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// A watcher attaches the programs of a source for the share of the time that
// its duty allows. The spans in which events count are kept by the programs
// themselves, to the nanosecond: a watcher that runs late attaches too long,
// but nothing that happens then counts.
type watcher struct {
	pid    int
	hooks  []*hook
	gate   *ebpf.Map
	source source
	duty   duty

	cpu        cpuClock
	began      uint64
	ended      uint64
	watched    uint64 // ns in which events counted
	quit, done chan struct{}
}

// A source is what a watcher's programs sum.
type source interface {
	// seen is how many events counted so far.
	seen() uint64
	// counters are the kernel's own of the events of each thread, watched or not;
	// nil where it has none.
	counters() map[int]uint64
	// begin is called before a slice: what is known of threads is old.
	begin(at uint64)
	// end is called after a slice: what goes on in it counts until its end.
	end(s span)
	// collect takes what was summed since the last time: numbers and times,
	// each times a factor.
	collect(count, wall float64)
}

// start watches everything from now on, and keeps to the duty as soon as it
// knows the rate.
func (w *watcher) start() error {
	w.cpu.start(w.pid)
	if err := attach(w.hooks); err != nil {
		return err
	}
	w.began = monotonic()
	if err := w.open(span{w.began, forever, weightUnit}, 1); err != nil {
		detach(w.hooks)
		return err
	}
	w.quit, w.done = make(chan struct{}), make(chan struct{})
	go w.run()
	return nil
}

// stop ends the watching. It may be called again.
func (w *watcher) stop() {
	if w.ended == 0 {
		// Before the programs are detached: that takes milliseconds, in which
		// nothing is left out that should be scaled for.
		w.ended = monotonic()
		close(w.quit)
		<-w.done
	}
}

// share returns the part of the time in which events counted. Call stop first.
func (w *watcher) share() float64 {
	if w.ended <= w.began {
		return 1
	}
	return min(1, float64(w.watched)/float64(w.ended-w.began))
}

// open lets the programs count in a span, and take stacks of a share of what
// they count.
func (w *watcher) open(s span, stacks float64) error {
	return w.gate.Put(uint32(0), [4]uint64{s.from, s.until, s.weight, uint64(stacks * (1 << 32))})
}

// shut ends a span, now if it goes on.
func (w *watcher) shut(s span) span {
	_ = w.gate.Put(uint32(0), [4]uint64{}) // an array's entry is always there
	s.until = max(s.from, min(s.until, monotonic()))
	w.watched += s.until - s.from
	return s
}

// sleep waits until a time and reports whether the watching goes on.
func (w *watcher) sleep(until uint64) bool {
	t := time.NewTimer(time.Duration(int64(until) - int64(monotonic())))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.quit:
		return false
	}
}

func (w *watcher) run() {
	defer close(w.done)
	share, stacks, ok := w.watchAll(firstLook)
	for ok {
		if share, stacks, ok = w.slices(share, stacks); !ok {
			return
		}
		if attach(w.hooks) != nil {
			continue // a slice's length later it may be possible
		}
		now := monotonic()
		w.source.begin(now)
		if w.open(span{now, forever, weightUnit}, stacks) != nil {
			detach(w.hooks)
			return
		}
		share, stacks, ok = w.watchAll(w.duty.look())
	}
}

// watchAll watches everything until that is too dear; the programs do already.
func (w *watcher) watchAll(look time.Duration) (share, stacks float64, ok bool) {
	s := span{monotonic(), forever, weightUnit}
	if w.watched == 0 {
		s.from = w.began
	}
	at, seen, used := s.from, w.source.seen(), w.cpu.read()
	for share, stacks = 1, 1; share == 1; look = w.duty.look() {
		if ok = w.sleep(at + uint64(look)); !ok {
			break
		}
		now, n, cpu := monotonic(), w.source.seen(), w.cpu.read()
		over := float64(now-at) / 1e9
		share, stacks = w.duty.plan(float64(n-seen)/over, (cpu-used).Seconds()/over)
		at, seen, used = now, n, cpu
		if share == 1 {
			_ = w.open(s, stacks) // it was possible before
		}
	}
	s = w.shut(s)
	detach(w.hooks)
	w.source.end(s)
	w.source.collect(1./weightUnit, 1./weightUnit)
	return share, stacks, ok
}

// slices watches for a share of the time, until everything can be watched
// again. What was seen is scaled to the time that this took.
func (w *watcher) slices(share, stacks float64) (float64, float64, bool) {
	e := episode{event: w.duty.event}
	began, used, before := monotonic(), w.cpu.read(), w.source.counters()
	usual := w.duty.meanCycle()
	end, mean, ok := began, usual/2, true
	for ok && share < 1 {
		var s span
		s, end = w.duty.cycle(end, share, mean)
		mean = usual
		var n uint64
		var cpu time.Duration
		var attached uint64
		if s, n, cpu, attached, ok = w.slice(s, stacks); s.until > s.from {
			e.add(s, n, cpu, stacks*w.duty.stack.Seconds())
			// The CPU time is a mean over all cycles: one has too few ticks.
			over := float64(monotonic()-began) / 1e9
			// Events cost the program as long as the programs are attached.
			rate, cpu := float64(n)*float64(attached)/float64(s.until-s.from)/(float64(s.until-s.from)/1e9), (w.cpu.read()-used).Seconds()/over
			if share, stacks = w.duty.plan(rate, cpu); share == 1 {
				// Only for good: to take the sums out at each change costs, too.
				share, _ = w.duty.plan(steady*rate, cpu)
			}
		}
		if ok {
			end = max(end, monotonic())
			ok = w.sleep(end)
		}
	}
	count, wall := e.factors(float64(monotonic()-began)/1e9, (w.cpu.read() - used).Seconds(), since(before, w.source.counters()))
	w.source.collect(count/weightUnit, wall/weightUnit)
	return share, stacks, ok
}

// slice attaches the programs around one slice. One that comes late is not
// shorter. It returns the slice as it was, the events in it, the CPU time that
// the program used meanwhile, and for how many nanoseconds it was attached.
func (w *watcher) slice(s span, stacks float64) (was span, events uint64, used time.Duration, attached uint64, ok bool) {
	if !w.sleep(s.from) {
		return span{}, 0, 0, 0, false
	}
	if attach(w.hooks) != nil {
		return span{}, 0, 0, 0, true // the next may succeed
	}
	began := monotonic()
	w.source.begin(s.from)
	seen, cpu := w.source.seen(), w.cpu.read()
	if now := monotonic(); now > s.from {
		s = span{now, now + s.until - s.from, s.weight}
	}
	_ = w.open(s, stacks) // it was possible before
	ok = w.sleep(s.until)
	used = w.cpu.read() - cpu
	late := monotonic()
	s = w.shut(s)
	detach(w.hooks)
	attached = max(s.until-s.from, monotonic()-began)
	if late > s.until { // used is of this time
		used = time.Duration(float64(used) * float64(s.until-s.from) / float64(late-s.from))
	}
	w.source.end(s)
	return s, w.source.seen() - seen, used, attached, ok
}

// steady is how much a rate must be below the one that can be watched wholly,
// before it is.
const steady = 1.5

// since returns what was counted between two times, 0 where that is not known: a thread that
// ended took its number with it.
func since(before, after map[int]uint64) (n uint64) {
	for thread, count := range before {
		if after[thread] < count {
			return 0
		}
	}
	for thread, count := range after {
		n += count - before[thread]
	}
	return n
}

// pace returns how long n calls of the kernel that do nothing take here, measured once: what
// the programs cost goes with it from machine to machine.
func pace(calls float64) time.Duration { return time.Duration(calls * float64(emptyCall())) }

var emptyCall = sync.OnceValue(func() time.Duration {
	const batch = 256
	quickest := time.Microsecond // more is a call that was interrupted
	for range 8 {
		begin := monotonic()
		for range batch {
			_, _, _ = unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
		}
		quickest = min(quickest, time.Duration(monotonic()-begin)/batch)
	}
	return quickest
})

// eachEntry calls f with the entries of a map that is a hash, in as few calls
// of the kernel as it allows.
func eachEntry[K comparable, V any](m *ebpf.Map, f func(K, V)) {
	const portion = 1024
	keys, values := make([]K, portion), make([]V, portion)
	var at ebpf.MapBatchCursor
	for first := true; ; first = false {
		n, err := m.BatchLookup(&at, keys, values, nil)
		if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			if first { // before 5.6 there is no such call
				break
			}
			return
		}
		for i := range n {
			f(keys[i], values[i])
		}
		if err != nil {
			return
		}
	}
	var key K
	var value V
	for it := m.Iterate(); it.Next(&key, &value); {
		f(key, value)
	}
}

// counted adds up one value of all CPUs.
func counted[T any](m *ebpf.Map, value func(T) uint64) (n uint64) {
	var cpus []T
	if m.Lookup(uint32(0), &cpus) != nil {
		return 0
	}
	for _, c := range cpus {
		n += value(c)
	}
	return n
}

// A callSource sums system calls.
type callSource struct {
	maps    callMaps
	pid     int
	foreign bool // threads have other numbers here
	// last is what the maps said the last time.
	last  map[int64]callCount
	calls map[int64]*callSum
	going map[int64]uint64 // weighed time of calls that went on at a slice's end
}

// A callSum is all of one call, scaled to the time of the session.
type callSum struct {
	count, bytes, time float64
	errors             map[int]float64
}

func newCallSource(pid int, foreign bool, m callMaps) *callSource {
	return &callSource{maps: m, pid: pid, foreign: foreign, last: map[int64]callCount{}, calls: map[int64]*callSum{}, going: map[int64]uint64{}}
}

func (c *callSource) seen() uint64 {
	return counted(c.maps.seen, func(n uint64) uint64 { return n })
}

func (c *callSource) counters() map[int]uint64 { return nil }

func (c *callSource) begin(uint64) {} // the programs see by the times which calls are old

// end counts the calls that go on. A thread that neither entered a call nor
// left one in the slice was in the same all the time, or in none: which, only
// the thread itself can tell, for much may have happened before the slice.
func (c *callSource) end(s span) {
	var gone []uint64
	type state struct{ Event, Call, ID uint64 }
	eachEntry(c.maps.threads, func(thread uint64, v state) {
		number, since := int64(v.Call), max(v.Event, s.from)
		if v.Event < s.from && !c.foreign {
			now, ok := callOf(c.pid, int(v.ID))
			switch {
			case ok:
				number = now
			case !threadAlive(c.pid, int(v.ID)):
				gone = append(gone, thread)
				return
			}
		}
		if number >= 0 && s.until > since {
			c.going[min(number, maxCall)] += (s.until - since) * s.weight
		}
	})
	for _, thread := range gone {
		_ = c.maps.threads.Delete(thread) // it may have gone by itself
	}
}

func (c *callSource) sum(number int64) *callSum {
	s := c.calls[number]
	if s == nil {
		s = &callSum{errors: map[int]float64{}}
		c.calls[number] = s
	}
	return s
}

func (c *callSource) collect(count, wall float64) {
	scaled := func(now, before int64) float64 { return float64(now-before) * count }
	for number := range int64(maxCall + 1) {
		var cpus []struct{ Count, Time, Bytes uint64 }
		if c.maps.calls.Lookup(uint32(number), &cpus) != nil {
			continue
		}
		var now callCount
		for _, c := range cpus {
			now.count += int64(c.Count)
			now.time += time.Duration(c.Time)
			now.bytes += int64(c.Bytes)
		}
		before := c.last[number]
		if now.count == before.count {
			continue
		}
		s := c.sum(number)
		s.count += scaled(now.count, before.count)
		s.bytes += scaled(now.bytes, before.bytes)
		s.time += float64(now.time-before.time) * wall
		now.errors = before.errors
		c.last[number] = now
	}
	type failure struct{ Number, Errno uint32 }
	eachEntry(c.maps.errors, func(key failure, n uint64) {
		number, errno := int64(key.Number), int(key.Errno)
		before := c.last[number]
		if before.errors == nil {
			before.errors = map[int]int64{}
		}
		c.sum(number).errors[errno] += scaled(int64(n), before.errors[errno])
		before.errors[errno] = int64(n)
		c.last[number] = before
	})
	for number, weighed := range c.going {
		c.sum(number).time += float64(weighed) * wall
	}
	clear(c.going)
}

// totals returns the sums in whole numbers.
func (c *callSource) totals() map[int64]*callCount {
	all := make(map[int64]*callCount, len(c.calls))
	for number, s := range c.calls {
		n := &callCount{count: round(s.count), bytes: round(s.bytes), time: time.Duration(s.time)}
		for errno, count := range s.errors {
			if k := round(count); k > 0 {
				n.fail(errno, k)
			}
		}
		if n.count > 0 || n.time > 0 {
			all[number] = n
		}
	}
	return all
}

func round(f float64) int64 { return int64(f + 0.5) }

// threadFile reads a small file of a thread into a buffer; nil when it cannot
// be read.
func threadFile(pid, tid int, name string, buf []byte) []byte {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/task/"+strconv.Itoa(tid)+"/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil || n <= 0 {
		return nil
	}
	return buf[:n]
}

// callOf returns the number of the call that a thread is in, -1 when it is in none.
func callOf(pid, tid int) (number int64, ok bool) {
	var buf [128]byte
	text := string(threadFile(pid, tid, "syscall", buf[:]))
	if text == "" {
		return 0, false
	}
	if n, _ := fmt.Sscanf(text, "%d", &number); n == 1 {
		return number, true
	}
	return outOfCall, true // "running"
}

func threadAlive(pid, tid int) bool {
	var buf [64]byte
	return threadFile(pid, tid, "comm", buf[:]) != nil
}

// runsOf returns how often a thread came onto a CPU so far.
func runsOf(pid, tid int) (runs uint64, ok bool) {
	var buf [128]byte
	var cpu, wait uint64
	n, _ := fmt.Sscan(string(threadFile(pid, tid, "schedstat", buf[:])), &cpu, &wait, &runs)
	return runs, n == 3
}
