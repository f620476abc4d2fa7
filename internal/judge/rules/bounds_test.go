package rules

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A boundCase is a program in which goroutines wait for one thing, with and without that
// wait. Its customers are added first; each of their turns is one piece of work.
type boundCase struct {
	name  string
	ns    []int // numbers of customers, for several cases
	n     int
	hold  time.Duration
	procs int
	// alone is set where what they wait for is all there is: then the bound is no more than
	// twice the gain.
	alone   bool
	build   func(c *boundCase, s *simulation, healed bool)
	beside  func(c *boundCase, s *simulation) // adds others
	visited bool                              // by other goroutines at times
	slack   float64                           // of the gain: chance
}

func (c *boundCase) String() string {
	return fmt.Sprintf("%s: %d goroutines, %v, %d Ps", c.name, c.n, c.hold, c.procs)
}

const (
	simStep  = 2 * time.Microsecond // on a P around what is waited for
	anybody  = 1 << 30              // as many as there are
	simSleep = "time.Sleep main.ask main.worker"
)

func shortly() step { return work(exactly(simStep)) }

// gates of all kinds: the frames are those that the runtime and the library have.
func mutexGate() *turnstile {
	return &turnstile{free: 1, reason: "sync", wait: "sync.(*Mutex).Lock main.ask main.worker", give: "sync.(*Mutex).Unlock main.ask main.worker"}
}

// writersGate returns a read-write lock whose readers are few: writers queue at its own mutex.
func writersGate() *turnstile {
	return &turnstile{free: 1, reason: "sync", wait: "sync.(*Mutex).Lock sync.(*RWMutex).Lock main.ask main.worker",
		give: "sync.(*Mutex).Unlock sync.(*RWMutex).Unlock main.ask main.worker"}
}

func semaphoreGate(slots int) *turnstile {
	return &turnstile{free: slots, reason: "chan send", wait: "runtime.chansend1 main.ask main.worker", give: "runtime.chanrecv1 main.ask main.worker"}
}

func poolGate(slots int) *turnstile {
	const put = "runtime.chansend1 database/sql.(*DB).putConnDBLocked database/sql.(*DB).putConn database/sql.(*driverConn).releaseConn"
	return &turnstile{free: slots, reason: "select", wait: "runtime.selectgo database/sql.(*DB).conn database/sql.(*DB).query main.ask main.worker",
		give: put + " main.ask main.worker"}
}

func descriptorGate() *turnstile {
	const write = " internal/poll.(*FD).Write net.(*netFD).Write net.(*conn).Write main.ask main.worker"
	return &turnstile{free: 1, reason: "sync", wait: "internal/poll.runtime_Semacquire internal/poll.(*fdMutex).rwlock internal/poll.(*FD).writeLock" + write,
		give: "internal/poll.runtime_Semrelease internal/poll.(*fdMutex).rwunlock internal/poll.(*FD).writeUnlock" + write}
}

const simWrites = "internal/poll.runtime_pollWait internal/poll.(*pollDesc).wait internal/poll.(*pollDesc).waitWrite " +
	"internal/poll.(*FD).Write net.(*netFD).Write net.(*conn).Write main.ask main.worker"

// atGate builds customers that do before, pass a gate, do inside, and leave it.
func atGate(gate func() *turnstile, inside func(c *boundCase) step, before ...func(c *boundCase) step) func(c *boundCase, s *simulation, healed bool) {
	return func(c *boundCase, s *simulation, healed bool) {
		g := gate()
		if healed {
			g.free = anybody
		}
		steps := []step{shortly()}
		for _, b := range before {
			steps = append(steps, b(c))
		}
		s.add(c.n, append(steps, g.enter, inside(c), shortly(), g.leave)...)
		if c.visited {
			s.add(10*c.n, shortly(), pause(exactly(1000*c.hold), "sleep", "time.Sleep main.visitor"), func(s *simulation, a *actor) bool {
				return g.enterAs(s, a, "sync.(*Mutex).Lock main.ask main.visitor")
			}, shortly(), g.leave)
		}
	}
}

// throughChannel builds customers that do before and send to one receiver, which does
// there what it does for each; the healed program has as many receivers as it can use.
func throughChannel(buffer int, there func(c *boundCase, healed bool) step, before ...func(c *boundCase) step) func(c *boundCase, s *simulation, healed bool) {
	return func(c *boundCase, s *simulation, healed bool) {
		p := &pipe{buffer: buffer, send: "runtime.chansend1 main.ask main.worker", receive: "runtime.chanrecv1 main.collect"}
		steps := []step{shortly()}
		for _, b := range before {
			steps = append(steps, b(c))
		}
		s.add(c.n, append(steps, p.offer)...)
		receivers := 1
		if healed {
			receivers = max(2*c.procs, 50)
		}
		steps = []step{p.take, shortly(), there(c, healed)}
		if healed {
			steps = append(steps, yield("main.collect"))
		}
		s.add(receivers, steps...)
	}
}

// sleepsThere takes no time in the healed program, which is that of any number of receivers.
func sleepsThere(c *boundCase, healed bool) step {
	d := c.hold
	if healed {
		d = 0
	}
	return pause(exactly(d), "sleep", "time.Sleep main.collect")
}

func worksThere(c *boundCase, healed bool) step { return work(exactly(c.hold)) }

const simQueries = "internal/poll.runtime_pollWait internal/poll.(*pollDesc).wait internal/poll.(*FD).Read net.(*conn).Read " +
	"database/sql.(*DB).query main.ask main.worker"

// sleepers are of the customers' group and do nothing.
func sleepers(c *boundCase, s *simulation) {
	s.add(3*c.n, shortly(), pause(exactly(time.Hour), "sleep", "time.Sleep main.rest main.worker"))
}

const simReads = "internal/poll.runtime_pollWait internal/poll.(*pollDesc).wait internal/poll.(*FD).Read net.(*conn).Read "

// waitingForAnswers builds customers that fetch work for one goroutine, which waits for an
// answer to each piece.
func waitingForAnswers(c *boundCase, s *simulation, healed bool) {
	p := &pipe{buffer: 5, send: "runtime.chansend1 main.fetch main.worker", receive: "runtime.chanrecv1 main.consume"}
	s.add(c.n, shortly(), pause(exactly(c.hold/20), "network", simReads+"main.fetch main.worker"), p.offer)
	answer := c.hold
	if healed {
		answer = 0
	}
	s.add(1, p.take, shortly(), pause(exactly(answer), "network", simReads+"main.commit main.consume"), shortly())
}

// slowInTheMiddle builds a pipeline whose middle has one goroutine too few.
func slowInTheMiddle(c *boundCase, s *simulation, healed bool) {
	in := &pipe{buffer: 5, send: "runtime.chansend1 main.feed", receive: "runtime.chanrecv1 main.middle"}
	out := &pipe{buffer: 5, send: "runtime.chansend1 main.middle", receive: "runtime.chanrecv1 main.merge"}
	s.add(1, work(exactly(c.hold/20)), in.offer)
	n := 1
	if healed {
		n = 2 * c.procs
	}
	s.add(n, in.take, work(exactly(c.hold)), yield("main.middle"), out.offer)
	s.add(1, out.take, work(exactly(c.hold/30)))
}

const simSyncs = "syscall.Fsync internal/poll.(*FD).Fsync os.(*File).Sync main.ask main.worker"

// inCalls builds customers that are in the system each time.
func inCalls(stack string, before func(c *boundCase) step) func(c *boundCase, s *simulation, healed bool) {
	return func(c *boundCase, s *simulation, healed bool) {
		steps := []step{shortly(), before(c)}
		if healed {
			steps = append(steps, yield("main.ask main.worker"))
		} else {
			steps = append(steps, call(exactly(c.hold), stack))
		}
		s.add(c.n, steps...)
	}
}

// logsEach builds customers that log a line in each turn, and none in the healed program.
func logsEach(c *boundCase, s *simulation, healed bool) {
	const output = "log.(*Logger).output log.Println main.ask main.worker"
	gate := &turnstile{free: 1, reason: "sync", wait: "sync.(*Mutex).Lock " + output, give: "sync.(*Mutex).Unlock " + output}
	steps := []step{shortly(), sleeps(2)(c)}
	if !healed {
		steps = append(steps, gate.enter, call(exactly(c.hold), "syscall.write internal/poll.(*FD).Write os.(*File).Write "+output), gate.leave)
	}
	s.add(c.n, steps...)
}

// burner computes all the time for something else.
func burner(c *boundCase, s *simulation) {
	s.add(1, work(exactly(c.hold)), pause(exactly(c.hold/100), "sleep", "time.Sleep main.burn"))
}

func sleepsAbout(times float64) func(c *boundCase) step {
	return func(c *boundCase) step { return pause(about(scaled(c.hold, times)), "sleep", simSleep) }
}

func worksAbout(times float64) func(c *boundCase) step {
	return func(c *boundCase) step { return work(about(scaled(c.hold, times))) }
}

func sleeps(times float64) func(c *boundCase) step {
	return func(c *boundCase) step { return pause(exactly(scaled(c.hold, times)), "sleep", simSleep) }
}

func works(times float64) func(c *boundCase) step {
	return func(c *boundCase) step { return work(exactly(scaled(c.hold, times))) }
}

func asks(stack string) func(c *boundCase) step {
	return func(c *boundCase) step { return pause(exactly(c.hold), "network", stack) }
}

func scaled(d time.Duration, times float64) time.Duration { return time.Duration(float64(d) * times) }

// throughput returns the turns a second of the customers in balance.
func (c *boundCase) throughput(s *simulation) float64 {
	first := s.turns
	s.run(func() bool { return s.turns > first })
	first++
	from, more := s.now, 4*c.n*max(1, 100/c.n)
	if c.slack > 0 {
		more *= 10
	}
	s.run(func() bool { return s.turns >= first+more })
	return float64(s.turns-first) / (s.now - from).Seconds()
}

func (c *boundCase) balanced(healed bool) *simulation {
	s := newSimulation(c.procs)
	c.build(c, s, healed)
	if c.beside != nil {
		c.beside(c, s)
	}
	s.run(func() bool { return s.turns >= 6*c.n })
	return s
}

// check compares what findings promise in windows of many lengths with the gain.
func (c *boundCase) check(t *testing.T) (bounds int) {
	t.Helper()
	gain := c.throughput(c.balanced(true)) / c.throughput(c.balanced(false))
	s := c.balanced(false)
	begun := s.now
	for i, times := range windowTimes {
		window := scaled(c.hold, times)
		if window < 100*time.Microsecond || window > 2*time.Minute {
			continue
		}
		s.runFor(begun + window + c.hold - s.now)
		from := begun + scaled(c.hold, []float64{0.05, 0.6}[(i+c.n)%2])
		m := c.read(t, s.trace(t, from, from+window), evidence.Window{}, window)
		d := diagnosis.Run(m, All, diagnosis.Options{})
		n := c.judge(t, d, gain, window)
		if bounds += n; n == 0 && c.alone && gain < queueing.Endless && c.n > 2 && times > 5 && window > 2*time.Second {
			t.Errorf("%v: nothing has a bound in %v: %s", c, window, d.Summary)
		}
	}
	return bounds
}

// windowTimes is how many times as long as a hold windows are: no whole numbers, for of
// these each cuts off as much at its end as it has too much at its begin.
var windowTimes = []float64{0.1, 0.5, 1.3, 3.02, 5.5, 12.4, 40.7, 100.3, 2000.7}

func (c *boundCase) judge(t *testing.T, d *diagnosis.Diagnosis, gain float64, window time.Duration) (bounds int) {
	t.Helper()
	for i := range d.Findings {
		f := &d.Findings[i]
		limited := f.Bound.Kind == diagnosis.IsLimit && f.Bound.Goal == diagnosis.Throughput
		if limited || f.Bound.Kind == diagnosis.IsOpen || f.Bound.Kind == diagnosis.IsRelease {
			bounds++
		}
		if !limited {
			continue
		}
		part := f.Bound.Value / gain
		if part < 1-1e-3-c.slack {
			t.Errorf("%v: in %v %s says at most %.4g×, and the gain is %.4g×", c, window, f.Rule, f.Bound.Value, gain)
		}
		if c.alone && part > 2+c.slack {
			t.Errorf("%v: in %v %s says at most %.4g×, more than twice the gain, %.4g×", c, window, f.Rule, f.Bound.Value, gain)
		}
	}
	return bounds
}

func (c *boundCase) read(t *testing.T, trace []byte, part evidence.Window, window time.Duration) *model.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, trace, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := evidence.Load(t.Context(), []string{path}, evidence.Options{Window: part})
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	if d := m.Run.Duration.Seconds() / window.Seconds(); math.Abs(d-1) > 0.01 || m.Run.Coverage.Forced > 0 {
		t.Fatalf("%v: %v read as %v with %d events that do not fit: %v", c, window, m.Run.Duration, m.Run.Coverage.Forced, m.Run.Coverage.Notes)
	}
	return m
}

// The most that a finding promises is no less than what the change brings, whatever part of
// the waits began or ended in the window, and whatever else the program does.
func TestBoundsOfSimulations(t *testing.T) {
	kinds := []boundCase{
		{name: "lock", procs: 2, alone: true, build: atGate(mutexGate, sleeps(1))},
		{name: "lock, by chance", procs: 2, alone: true, slack: 0.02, build: atGate(mutexGate, sleepsAbout(1))},
		{name: "lock, sleeping elsewhere", procs: 2, build: atGate(mutexGate, sleeps(1), sleeps(0.7))},
		{name: "lock, sleeping long elsewhere", procs: 2, build: atGate(mutexGate, sleeps(1), sleeps(5))},
		{name: "lock, working elsewhere", procs: 2, build: atGate(mutexGate, sleeps(1), works(0.05))},
		{name: "lock, working elsewhere on many Ps", procs: 16, build: atGate(mutexGate, sleeps(1), works(0.05))},
		{name: "lock, working under it", procs: 8, build: atGate(mutexGate, works(1))},
		{name: "lock, working under it by chance", procs: 8, slack: 0.02, build: atGate(mutexGate, worksAbout(1))},
		{name: "lock, beside sleepers of the group", procs: 2, build: atGate(mutexGate, sleeps(1)), beside: sleepers},
		{name: "lock, beside a worker", procs: 2, build: atGate(mutexGate, sleeps(1)), beside: burner},
		{name: "lock, taken by others now and then", procs: 2, build: atGate(mutexGate, sleeps(1)), visited: true},
		{name: "writers", procs: 2, alone: true, build: atGate(writersGate, sleeps(1))},
		{name: "writers, working under it and elsewhere", procs: 8, build: atGate(writersGate, works(1), works(0.05))},
		{name: "semaphore", procs: 2, alone: true, build: atGate(func() *turnstile { return semaphoreGate(1) }, sleeps(1))},
		{name: "semaphore of 4", procs: 2, alone: true, build: atGate(func() *turnstile { return semaphoreGate(4) }, sleeps(1))},
		{name: "pool of 4", procs: 2, alone: true, build: atGate(func() *turnstile { return poolGate(4) }, asks(simQueries))},
		{name: "pool of 4, working elsewhere", procs: 4, build: atGate(func() *turnstile { return poolGate(4) }, asks(simQueries), works(0.02))},
		{name: "connection", procs: 2, alone: true, build: atGate(descriptorGate, asks(simWrites))},
		{name: "connection, sleeping elsewhere", procs: 2, build: atGate(descriptorGate, asks(simWrites), sleeps(0.7))},
		{name: "channel", procs: 2, alone: true, build: throughChannel(0, sleepsThere)},
		{name: "channel with a buffer", procs: 2, alone: true, build: throughChannel(10, sleepsThere)},
		{name: "channel, sleeping elsewhere", procs: 2, build: throughChannel(0, sleepsThere, sleeps(0.7))},
		{name: "channel, receiver at work", procs: 8, slack: 0.02, build: throughChannel(0, worksThere)},
		{name: "answers", procs: 4, ns: []int{1, 8}, build: waitingForAnswers},
		{name: "stage", procs: 8, ns: []int{1}, slack: 0.02, build: slowInTheMiddle},
		{name: "stage on many Ps", procs: 64, ns: []int{1}, slack: 0.02, build: slowInTheMiddle},
		{name: "syncs", procs: 16, ns: []int{2, 8}, build: inCalls(simSyncs, works(0.2))},
		{name: "calls", procs: 4, ns: []int{2, 8}, build: inCalls("syscall.Stat os.Stat main.ask main.worker", works(0.2))},
		{name: "log", procs: 4, hold: 100 * time.Microsecond, ns: []int{8, 40}, build: logsEach},
		{name: "channel, receiver at work, sleeping elsewhere", procs: 8, slack: 0.02, build: throughChannel(3, worksThere, sleeps(5))},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			bounds := 0
			switch {
			case testing.Short(): // as often as faults are planted in the rules
				k.ns = []int{8}
			case k.ns != nil:
			case attempt.All(t):
				k.ns = []int{2, 8, 40, 200}
			case k.alone:
				k.ns = []int{8, 200}
			default:
				k.ns = []int{8}
			}
			for _, n := range k.ns {
				holds := []time.Duration{25 * time.Millisecond, time.Second, time.Millisecond}
				switch {
				case testing.Short():
					holds = holds[:1]
				case !attempt.All(t):
					holds = holds[:2]
				}
				if k.hold > 0 {
					holds = []time.Duration{k.hold}
				}
				for _, hold := range holds {
					c := k
					c.n, c.hold = n, hold
					bounds += c.check(t)
				}
			}
			if least := len(k.ns); bounds < least {
				t.Errorf("findings with a bound = %d, want %d or more", bounds, least)
			}
		})
	}
}

// The same holds for windows that are cut out of a longer trace when it is read.
func TestBoundsOfCutWindows(t *testing.T) {
	for _, k := range []boundCase{
		{name: "lock", procs: 2, build: atGate(mutexGate, sleeps(1))},
		{name: "semaphore of 4", procs: 2, build: atGate(func() *turnstile { return semaphoreGate(4) }, sleeps(1), works(0.3))},
		{name: "channel", procs: 2, build: throughChannel(0, sleepsThere, sleeps(0.7))},
		{name: "syncs", procs: 16, build: inCalls(simSyncs, works(0.2))},
	} {
		t.Run(k.name, func(t *testing.T) {
			c := k
			c.n, c.hold = 8, 25*time.Millisecond
			gain := c.throughput(c.balanced(true)) / c.throughput(c.balanced(false))
			s, bounds := c.balanced(false), 0
			begun := s.now
			s.runFor(7 * time.Second)
			trace := s.trace(t, begun, begun+6*time.Second)
			for i := range 12 {
				window := scaled(c.hold, 1.3*math.Pow(1.4, float64(i)))
				from := time.Second + scaled(c.hold, 0.17*float64(i))
				d := diagnosis.Run(c.read(t, trace, evidence.Window{From: from, To: from + window}, window), All, diagnosis.Options{})
				bounds += c.judge(t, d, gain, window)
			}
			if bounds == 0 {
				t.Error("nothing has a bound")
			}
		})
	}
}
