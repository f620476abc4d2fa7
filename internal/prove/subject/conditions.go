package subject

import (
	"os"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

const (
	// machineTick is the unit of the machine's counters, and so what they may be
	// wrong by, at either end and more than once: a run that is not much longer
	// must not look disturbed because of it.
	machineTick = 10 * time.Millisecond
	// shortRun is what is shorter than these counters can judge. How busy the
	// machine was is then said of the run and what came before it, the other
	// runs of the experiment as a rule.
	shortRun = 300 * time.Millisecond
	// longestPast is how far back that may reach.
	longestPast = 3 * time.Second
)

// unmeasured are the conditions where nothing tells them.
var unmeasured = experiment.Conditions{Others: -1, Steal: -1, Pressure: -1, RunQueue: -1}

// A moment is what the machine and we had used at one time.
type moment struct {
	machine proc.Machine
	self    time.Duration // CPU time of this process
	waited  time.Duration // of all children that were waited for
}

// past are the beginnings of the last runs, of whichever subject.
var past struct {
	sync.Mutex
	list []moment
}

// pastRuns is how many are kept: shorter runs than this divides longestPast
// into have enough in a part of it.
const pastRuns = 64

func remember(m moment) {
	past.Lock()
	defer past.Unlock()
	if len(past.list) == pastRuns {
		past.list = append(past.list[:0], past.list[1:]...)
	}
	past.list = append(past.list, m)
}

// before returns the last remembered moment that is long enough before an end.
func before(end time.Time) (m moment, ok bool) {
	past.Lock()
	defer past.Unlock()
	for i := len(past.list) - 1; i >= 0; i-- {
		age := end.Sub(past.list[i].machine.Time)
		if age >= shortRun {
			return past.list[i], age <= longestPast
		}
	}
	return m, false
}

// A meter measures how busy the machine is during a run.
type meter struct {
	self  *proc.Process // nil on other systems
	first moment
}

func beginMeter() *meter {
	p, err := proc.Open(os.Getpid())
	if err != nil {
		return &meter{}
	}
	m := &meter{self: p}
	var ok bool
	if m.first, ok = m.now(); !ok {
		p.Close()
		return &meter{}
	}
	remember(m.first)
	return m
}

func (m *meter) now() (moment, bool) {
	s, err := m.self.Sample(true)
	if err != nil {
		return moment{}, false
	}
	return moment{machine: s.Machine, self: s.Process.User + s.Process.System, waited: childrenCPU()}, true
}

// end returns the conditions since the beginning. running is the CPU time,
// since then, of processes of ours that still run.
func (m *meter) end(running time.Duration, runQueue float64) experiment.Conditions {
	if m.self == nil {
		return unmeasured
	}
	defer m.self.Close()
	first := m.first
	last, ok := m.now()
	if !ok {
		return unmeasured
	}
	// Of what still runs it is not known what it used before.
	if last.machine.Time.Sub(first.machine.Time) < shortRun && running == 0 {
		if earlier, ok := before(last.machine.Time); ok {
			first = earlier
		}
	}
	return conditions(first, last, running, runQueue)
}

// conditions compares two moments.
func conditions(a, b moment, running time.Duration, runQueue float64) experiment.Conditions {
	c := unmeasured
	c.RunQueue = runQueue
	wall := b.machine.Time.Sub(a.machine.Time)
	capacity := wall * time.Duration(b.machine.CPUs)
	if capacity <= 0 {
		return c
	}
	share := func(d time.Duration, slack int) float64 {
		return min(max(0, (d-time.Duration(slack)*machineTick).Seconds()/capacity.Seconds()), 1)
	}
	ours := b.self - a.self + b.waited - a.waited + running
	c.Others = share(b.machine.Busy-a.machine.Busy-ours, 2)
	c.Steal = share(b.machine.Steal-a.machine.Steal, 1)
	if a.machine.CPUStall >= 0 && b.machine.CPUStall >= 0 {
		c.Pressure = min(max(0, (b.machine.CPUStall-a.machine.CPUStall).Seconds()/wall.Seconds()), 1)
	}
	return c
}
