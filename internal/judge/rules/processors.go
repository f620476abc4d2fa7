package rules

import (
	"strconv"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// busyPs is the Ps that did the program's work on average: goroutines running, the
// collector, and system calls that hold their P. Threads that look for work are
// not working.
func busyPs(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("busy Ps", fact.Cores, p.Processors("time of Ps at work", "user", "gc", "syscall"), p.WindowLength())
}

// busyWithout is the Ps that are busy beside those that something frees.
func busyWithout(p *diagnosis.Pass, freed ...fact.Fact) fact.Fact {
	busy := busyPs(p)
	for _, f := range freed {
		busy = fact.Difference.Of("busy Ps without it", fact.Cores, busy, f)
	}
	return busy
}

// gomaxprocs is the number of Ps.
func gomaxprocs(p *diagnosis.Pass) fact.Fact {
	return p.Setting("Ps", "GOMAXPROCS", float64(p.Procs()), fact.Count)
}

// knownPs is the number of Ps where evidence tells it, else 0.
func knownPs(p *diagnosis.Pass) fact.Fact {
	return p.Setting("Ps", "GOMAXPROCS", float64(psCount(p.Model)), fact.Count)
}

// psCount is GOMAXPROCS where evidence tells it, else 0.
func psCount(m *model.Model) int {
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

// usableCores is the cores that the program can use: its Ps, or what the machine
// and its limits allow, if that is less.
func usableCores(p *diagnosis.Pass) fact.Fact {
	ps := p.Setting("Ps", "GOMAXPROCS", float64(p.Procs()), fact.Cores)
	if u := p.Model.Usable(); u > 0 && u < ps.Value {
		return p.Setting("cores that the process may use", "affinity, quota and CPUs online", u, fact.Cores)
	}
	return ps
}

// idlePs is the Ps that did none of the program's work on average.
func idlePs(p *diagnosis.Pass) fact.Fact {
	return fact.Difference.Of("idle Ps", fact.Cores, gomaxprocs(p), busyPs(p))
}

// psInUse returns how many Ps had a thread on average, looking for work included.
func psInUse(p *diagnosis.Pass) fact.Fact {
	return fact.Quotient.Of("Ps held", fact.Cores,
		p.Processors("time of Ps held", "user", "gc", "syscall", "scheduler"), p.WindowLength())
}

// coresInUse is the CPU that the process used, by its counters, else by its Ps, else
// by samples; nothing without any of them.
func coresInUse(p *diagnosis.Pass) fact.Fact {
	if used, ok := processCPU(p); ok {
		return used
	}
	if s := p.Model.Sched; s != nil && len(s.Procs) > 0 && p.Seconds() > 0 {
		return psInUse(p)
	}
	return p.CPUInUse()
}

// fullMachine is an explanation that was ruled out: that no P had time for more.
func fullMachine(p *diagnosis.Pass) string {
	return fact.Sentence("a full machine: %s of %s Ps are busy", busyPs(p).Number(), gomaxprocs(p))
}

// gomaxprocsKnob sets the number of Ps.
func gomaxprocsKnob(n int) string { return "GOMAXPROCS=" + strconv.Itoa(n) }
