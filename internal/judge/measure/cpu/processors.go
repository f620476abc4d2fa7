package cpu

import (
	"strconv"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// BusyPs returns the Ps that did the program's work on average: goroutines running, the
// collector, and system calls that hold their P. Threads that look for work are
// not working.
func BusyPs(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("busy Ps", fact.Cores, p.Processors("time of Ps at work", "user", "gc", "syscall"), p.WindowLength())
}

// BusyWithout returns the Ps that are busy beside those that something frees.
func BusyWithout(p *diagnosis.Pass, freed ...fact.Fact) fact.Fact {
	busy := BusyPs(p)
	for _, f := range freed {
		busy = fact.Difference.Of("busy Ps without it", fact.Cores, busy, f)
	}
	return busy
}

// Procs returns the number of Ps.
func Procs(p *diagnosis.Pass) fact.Fact {
	return p.Setting("Ps", "GOMAXPROCS", float64(p.Procs()), fact.Count)
}

// KnownProcs returns the number of Ps where evidence tells it, else 0.
func KnownProcs(p *diagnosis.Pass) fact.Fact {
	return p.Setting("Ps", "GOMAXPROCS", float64(ProcsCount(p.Model)), fact.Count)
}

// ProcsCount is GOMAXPROCS where evidence tells it, else 0.
func ProcsCount(m *model.Model) int {
	switch {
	case m.Run.Procs > 0:
		return m.Run.Procs
	case m.Sched != nil && len(m.Sched.Procs) > 0:
		return len(m.Sched.Procs)
	}
	if v, ok := m.Metrics.Last("/sched/gomaxprocs:threads"); ok && v >= 1 {
		return int(v)
	}
	if n := len(m.SchedLog); n > 0 {
		return m.SchedLog[n-1].Procs
	}
	return 0
}

// UsableCores returns the cores that the program can use: its Ps, or what the machine
// and its limits allow, if that is less.
func UsableCores(p *diagnosis.Pass) fact.Fact {
	ps := p.Setting("Ps", "GOMAXPROCS", float64(p.Procs()), fact.Cores)
	if u := p.Model.Usable(); u > 0 && u < ps.Value {
		return p.Setting("cores that the process may use", "affinity, quota and CPUs online", u, fact.Cores)
	}
	return ps
}

// IdlePs returns the Ps that did none of the program's work on average.
func IdlePs(p *diagnosis.Pass) fact.Fact {
	return fact.Difference.Of("idle Ps", fact.Cores, Procs(p), BusyPs(p))
}

// ActivePs returns how many Ps had a thread on average, looking for work included.
func ActivePs(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("Ps held", fact.Cores,
		p.Processors("time of Ps held", "user", "gc", "syscall", "scheduler"), p.WindowLength())
}

// Cores returns the CPU that the process used, by its counters, else by its Ps, else
// by samples; nothing without any of them.
func Cores(p *diagnosis.Pass) fact.Fact {
	if used, ok := ProcessCPU(p); ok {
		return used
	}
	if s := p.Model.Sched; s != nil && len(s.Procs) > 0 && p.Seconds() > 0 {
		return ActivePs(p)
	}
	return p.CPUInUse()
}

// FullMachine returns an explanation that was ruled out: that no P had time for more.
func FullMachine(p *diagnosis.Pass) string {
	return fact.Sentence("a full machine: %s of %s Ps are busy", BusyPs(p).Number(), Procs(p))
}

// ProcsKnob sets the number of Ps.
func ProcsKnob(n int) string { return "GOMAXPROCS=" + strconv.Itoa(n) }
