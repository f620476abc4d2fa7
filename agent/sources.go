package agent

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// The rates for the time of a recording.
const (
	// A wait of this many nanoseconds or more is always recorded, a shorter
	// one with a chance in proportion. At 10 µs nearly all of the cost is that
	// the clock is read at each wait: two goroutines that do nothing but hand
	// a value to and fro took 0.43 µs instead of 0.29 (BenchmarkBlockRate),
	// and no less with a rate of 100 µs. A ration keeps that within bounds.
	defaultBlockRate = 10_000
	// One in this many contentions is recorded. Recording costs about a
	// microsecond, when a goroutine had to wait for a lock, which costs more;
	// of a lock that two threads fight for all the time no difference was
	// measured, whatever the fraction (BenchmarkMutexFraction). A thousand
	// contentions then leave a hundred records, enough to tell who holds it.
	defaultMutexFraction = 10
)

// options are what a request asks for.
type options struct {
	d             time.Duration
	limit         int64 // bytes of trace
	blockRate     int   // ns
	blockWhole    bool  // the rate was asked for, and so whatever it costs
	mutexFraction int
	redact        bool
	collect       bool     // before heap profiles
	sources       []string // nil for all
}

// blockWindow returns the window in which the block profile keeps to its budget; 0 when
// it need not.
func (o options) blockWindow() time.Duration {
	if o.blockWhole {
		return 0
	}
	return o.d
}

// A windowSource counts or samples for the time of a window.
type windowSource interface {
	start() error
	// stop ends it, puts everything back, and returns what came of it. It is
	// called once, after a start without error.
	stop() ([]byte, error)
}

// cpu is the CPU profile.
type cpu struct {
	redact  bool
	buf     bytes.Buffer
	release func()
}

func (c *cpu) start() (err error) {
	if c.release, err = front.claim("the CPU profile"); err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(&c.buf); err != nil {
		c.release()
		return errors.New("the program already takes a CPU profile itself")
	}
	return nil
}

func (c *cpu) stop() ([]byte, error) {
	defer c.release()
	pprof.StopCPUProfile()
	if c.redact {
		return rewriteProfile(c.buf.Bytes(), withoutLabels)
	}
	return c.buf.Bytes(), nil
}

func rewriteProfile(file []byte, f func([]byte) ([]byte, error)) ([]byte, error) {
	raw, err := unpack(file)
	if err == nil {
		raw, err = f(raw)
	}
	if err != nil {
		return nil, err
	}
	return pack(raw)
}

// A delta is what a profile that counts since the program's start counted in
// the window. Profiles of memory are those of the last collection that ended.
type delta struct {
	name    string // runtime/pprof's
	redact  bool
	collect bool // before each snapshot
	before  *tally
	began   time.Time
	release func()

	goroutines int    // at the beginning
	comment    string // for who reads the profile
}

func (d *delta) start() error { return d.startWith(func() {}, func() {}) }

// startWith has prepare called when nobody else has the source, and undo when
// it could not be had all the same.
func (d *delta) startWith(prepare, undo func()) (err error) {
	if d.release, err = front.claim("the " + d.name + " profile"); err != nil {
		return err
	}
	prepare()
	if err := d.begin(); err != nil {
		undo()
		d.release()
		return err
	}
	return nil
}

func (d *delta) begin() error {
	if d.collect {
		runtime.GC()
	}
	d.began, d.goroutines = time.Now(), runtime.NumGoroutine()
	file, err := snapshot(d.name, false)
	if err != nil {
		return err
	}
	raw, err := unpack(file)
	if err != nil {
		return err
	}
	if d.before, err = tallyOf(raw); err != nil {
		return err
	}
	d.before.forget()
	return nil
}

func (d *delta) stop() ([]byte, error) { return d.stopWith(nil) }

func (d *delta) stopWith(possible func([]int64, time.Duration) bool) ([]byte, error) {
	defer d.release()
	if d.collect {
		runtime.GC()
	}
	length := time.Since(d.began)
	file, err := snapshot(d.name, d.redact)
	if err != nil {
		return nil, err
	}
	return rewriteProfile(file, func(raw []byte) ([]byte, error) {
		raw, err := profileSince(d.before, raw, d.began.UnixNano(), int64(length), func(values []int64) bool {
			return possible == nil || possible(values, length)
		})
		if err != nil || d.comment == "" {
			return raw, err
		}
		return withComment(raw, d.comment)
	})
}

// snapshot returns a profile of this moment.
func snapshot(name string, redact bool) ([]byte, error) {
	p := pprof.Lookup(name)
	if p == nil {
		return nil, fmt.Errorf("this program has no %s profile", name)
	}
	var b bytes.Buffer
	if err := p.WriteTo(&b, 0); err != nil {
		return nil, err
	}
	if redact {
		return rewriteProfile(b.Bytes(), withoutLabels)
	}
	return b.Bytes(), nil
}

// probeTime is how long blockProfiled blocks: any rate that somebody would
// choose, up to 2 ms, then records it for sure.
const probeTime = 2 * time.Millisecond

// blockProfiled reports whether the program has set a block profile rate. The
// runtime does not tell, so it is tried.
func blockProfiled() bool {
	before := probesRecorded()
	c := make(chan struct{})
	time.AfterFunc(probeTime+probeTime/4, func() { close(c) })
	blockProbe(c)
	return probesRecorded() > before
}

//go:noinline
func blockProbe(c chan struct{}) { <-c }

// probesRecorded returns how many waits in blockProbe the block profile has.
func probesRecorded() (count int64) {
	var records []runtime.BlockProfileRecord
	n, ok := runtime.BlockProfile(nil)
	for !ok { // others add stacks meanwhile
		records = make([]runtime.BlockProfileRecord, n+100)
		n, ok = runtime.BlockProfile(records)
	}
	for i := range records[:n] {
		if ofProbe(records[i].Stack()) {
			count += records[i].Count
		}
	}
	return count
}

// ofProbe reports whether a stack is that of a wait in blockProbe, which then
// is right under the runtime's own: a program may have a hundred thousand deep
// stacks, too many to look up every name.
func ofProbe(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack[:min(len(stack), probeDepth)])
	for {
		f, more := frames.Next()
		if f.Function == probeName || !more {
			return f.Function == probeName
		}
	}
}

const (
	probeName  = "github.com/gowhy/gowhy/agent.blockProbe"
	probeDepth = 4 // it is the second, below runtime.chanrecv1
)

// mutex is the mutex profile with its fraction set for the window.
type mutex struct {
	delta
	fraction     int
	ownsFraction bool // the fraction is ours, and the program had none
	dropped      int  // stacks

	waited   time.Duration // for all locks, as runtime/metrics has it
	recorded time.Duration // of it, by the profile
}

func (m *mutex) start() error {
	return m.startWith(func() {
		if theirs := runtime.SetMutexProfileFraction(-1); theirs > 0 {
			m.fraction = theirs
			return
		}
		m.ownsFraction = true
		runtime.SetMutexProfileFraction(m.fraction)
		time.Sleep(settleTime)
		m.waited = -lockWait()
	}, m.restore)
}

// lockWait returns how long goroutines have waited for locks since the program's start,
// estimated by the runtime from one goroutine in eight.
func lockWait() time.Duration {
	s := []metrics.Sample{{Name: "/sync/mutex/wait/total:seconds"}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return time.Duration(s[0].Value.Float64() * float64(time.Second))
}

// settleTime lets the goroutines pass that were waiting when the mutex profile
// was switched on. The runtime notes for a waiter when it began to wait only
// while the profile is on, and where such waiters stand in the queue of a lock
// it takes 0 for that: it then charges the lock with the time since the machine
// was started. What is charged before the window's first snapshot does no harm.
//
// A lock that always has a waiter keeps that 0 for as long as it has: such a
// lock, the worst there is, is not charged at all. Then note tells of it.
const settleTime = 20 * time.Millisecond

func (m *mutex) restore() {
	if m.ownsFraction && runtime.SetMutexProfileFraction(-1) == m.fraction { // nobody else set it meanwhile
		runtime.SetMutexProfileFraction(0)
	}
}

func (m *mutex) stop() ([]byte, error) {
	m.waited += lockWait()
	m.restore()
	return m.stopWith(m.possible)
}

// possible reports whether a stack can have delayed others for so long: all
// goroutines, by twice their number at either end of the window, for all of it,
// and as many times too much as one record stands for. More is what is left
// of the runtime's mistake that settleTime tells of.
func (m *mutex) possible(values []int64, length time.Duration) bool {
	goroutines := 2 * max(m.goroutines, runtime.NumGoroutine())
	most := length.Seconds() * float64(goroutines) * float64(max(m.fraction, 1))
	if len(values) == 2 && time.Duration(values[1]).Seconds() > most {
		m.dropped++
		return false
	}
	if len(values) == 2 {
		m.recorded += time.Duration(values[1])
	}
	return true
}

// unrecorded is how long goroutines must have waited for locks, to a tenth recorded at most,
// before it is reported: both figures are estimates.
const unrecorded = 50 * time.Millisecond

func (m *mutex) note() string {
	switch {
	case m.dropped > 0:
		return fmt.Sprintf("%d of its stacks left out: the runtime charged them with the time since the machine was started", m.dropped)
	case m.ownsFraction && m.waited >= unrecorded && m.recorded < m.waited/10:
		return fmt.Sprintf("goroutines waited %v for locks, and the runtime recorded %v of it: it counts one unlock in %d, and passes "+
			"over a lock that has had a waiter all the time since before the recording; the block profile has who "+
			"waits for it",
			m.waited.Round(time.Millisecond), m.recorded.Round(time.Millisecond), m.fraction)
	}
	return ""
}

// meter is runtime/metrics, held in memory.
type meter struct {
	history *history // nil outside of Watch
	from    time.Time
	buf     bytes.Buffer
	end     chan struct{}
	done    chan struct{}
	err     error
}

func (m *meter) start() error {
	m.end, m.done = make(chan struct{}), make(chan struct{})
	c := startClock()
	lines := m.history.appendSince(nil, m.from, c)
	go func() {
		defer close(m.done)
		m.err = sampleTo(&m.buf, c, lines, m.end)
	}()
	return nil
}

func (m *meter) stop() ([]byte, error) {
	close(m.end)
	<-m.done
	return m.buf.Bytes(), m.err
}

// A tracer takes the execution trace. The runtime never waits for what reads
// it: what the reader is behind is kept, as far as there is room.
type tracer struct {
	limit   int64 // bytes, after which the trace ends
	release func()
	began   time.Time
	once    sync.Once
	stopped chan struct{} // closed when nothing is written any more

	quit  chan struct{} // closed when it should end early
	close sync.Once

	mu     sync.Mutex
	more   sync.Cond
	queue  [][]byte
	queued int
	free   [][]byte
	total  int64
	ended  bool
	cut    string // why it ends early
	full   bool   // nothing more is kept
}

const (
	// maxQueue is how far behind a reader may be: at the 20 to 50 MB that a
	// very busy program writes in a second, one second.
	maxQueue = 32 << 20 // bytes
	// At its limit a trace is ended, which makes the runtime write what it
	// has of the last second. It is kept, so that the trace is whole, up to
	// a quarter more and this.
	traceTail = 16 << 20 // bytes
)

func (t *tracer) start() (err error) {
	if t.release, err = front.claim("the execution trace"); err != nil {
		return err
	}
	t.more.L = &t.mu
	t.quit, t.stopped = make(chan struct{}), make(chan struct{})
	t.began = time.Now()
	if err := trace.Start(t); err != nil {
		t.release()
		return errors.New("the program already traces itself")
	}
	return nil
}

// Write takes what the runtime has written.
func (t *tracer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total += int64(len(p))
	switch {
	case t.full:
		return len(p), nil
	case t.total > t.limit+t.limit/4+traceTail:
		t.full = true
		return len(p), nil
	case t.queued+len(p) > maxQueue:
		t.full = true
		t.early("it was read too slowly")
		return len(p), nil
	case t.total > t.limit:
		t.early(fmt.Sprintf("it reached its limit of %d MiB", t.limit>>20))
	}
	var b []byte
	if n := len(t.free); n > 0 {
		b, t.free = t.free[n-1][:0], t.free[:n-1]
	}
	t.queue = append(t.queue, append(b, p...))
	t.queued += len(p)
	t.more.Signal()
	return len(p), nil
}

func (t *tracer) early(why string) {
	t.close.Do(func() {
		t.cut = fmt.Sprintf("%s after %.1f s and ends there", why, time.Since(t.began).Seconds())
		close(t.quit)
	})
}

// end ends the trace. It returns when the runtime has written all of it.
func (t *tracer) end() {
	t.once.Do(func() {
		trace.Stop()
		t.mu.Lock()
		t.ended = true
		t.more.Signal()
		t.mu.Unlock()
		t.release()
		close(t.stopped)
	})
	<-t.stopped
}

// next returns a piece of the trace, until there is none any more. It waits.
func (t *tracer) next(used []byte) (piece []byte, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if used != nil && len(t.free) < 8 {
		t.free = append(t.free, used)
	}
	for len(t.queue) == 0 && !t.ended {
		t.more.Wait()
	}
	if len(t.queue) == 0 {
		return nil, false
	}
	piece = t.queue[0]
	t.queue[0] = nil
	t.queue = t.queue[1:]
	t.queued -= len(piece)
	return piece, true
}

// endReason says why the trace ended early, or nothing.
func (t *tracer) endReason() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cut
}

// rates returns the sampling rates that are in force in a recording.
func rates(b *block, m *mutex) *recording.Rates {
	r := &recording.Rates{BlockNS: -1, Mutex: runtime.SetMutexProfileFraction(-1), MemBytes: runtime.MemProfileRate}
	if b != nil && !b.unknown {
		r.BlockNS = b.rate
	}
	return r
}
