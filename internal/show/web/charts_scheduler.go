package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

func goroutinesOfMetrics(p plot) *Chart {
	return p.chart("goroutines", "count", fromMetrics, false,
		gauge("alive", p.metric("/sched/goroutines:goroutines")), gauge("running", p.metric("/sched/goroutines/running:goroutines")),
		gauge("runnable", p.metric("/sched/goroutines/runnable:goroutines")), gauge("waiting", p.metric("/sched/goroutines/waiting:goroutines")),
		gauge("syscall", p.metric("/sched/goroutines/not-in-go:goroutines")))
}

// goroutinesOfTrace counts births and ends, which is all of them only when every
// goroutine was kept.
func goroutinesOfTrace(p plot) *Chart {
	if p.Sched == nil || !p.Sched.AllKept || len(p.Sched.Goroutines) == 0 {
		return nil
	}
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	alive := 0
	for i := range p.Sched.Goroutines {
		g := &p.Sched.Goroutines[i]
		if g.Created < 0 {
			alive++
		} else {
			changes = append(changes, change{g.Created, 1})
		}
		if g.Ended >= 0 {
			changes = append(changes, change{g.Ended, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	l := line{name: "alive"}
	l.add(0, float64(alive))
	for _, c := range changes {
		alive += c.by
		l.add(c.at, float64(alive))
	}
	l.add(p.Run.Duration, float64(alive))
	return p.chart("goroutines", "count", fromTrace, false, l)
}

func procsOfTrace(p plot) *Chart {
	if p.Sched == nil {
		return nil
	}
	running, held, idle := line{name: "running"}, line{name: "held"}, line{name: "idle"}
	for _, b := range p.Sched.Timeline {
		at := b.Start + b.Width/2
		running.add(at, b.Running)
		held.add(at, max(0, b.Held-b.Running))
		if p.Run.Procs > 0 {
			idle.add(at, max(0, float64(p.Run.Procs)-max(b.Held, b.Running)))
		}
	}
	return p.chart("procs", "count", fromTrace, true, running, held, idle)
}

func procsOfLog(p plot) *Chart {
	held, idle := line{name: "held"}, line{name: "idle"}
	for _, s := range alignedSched(p.Model) {
		if s.IdleProcs < 0 {
			continue // a line of which it was left out
		}
		held.add(s.At, float64(s.Procs-s.IdleProcs))
		idle.add(s.At, float64(s.IdleProcs))
	}
	return p.chart("procs", "count", fromSchLog, true, held, idle)
}

func queueOfTrace(p plot) *Chart {
	if p.Sched == nil {
		return nil
	}
	l := line{name: "runnable"}
	for _, b := range p.Sched.Timeline {
		l.add(b.Start+b.Width/2, b.Runnable)
	}
	return p.chart("runqueue", "count", fromTrace, false, l)
}

func queueOfMetrics(p plot) *Chart {
	return p.chart("runqueue", "count", fromMetrics, false, gauge("runnable", p.metric("/sched/goroutines/runnable:goroutines")))
}

func queueOfLog(p plot) *Chart {
	global, local := line{name: "global"}, line{name: "local"}
	for _, s := range alignedSched(p.Model) {
		sum := 0
		for _, n := range s.Local {
			sum += n
		}
		global.add(s.At, float64(s.RunQueue))
		local.add(s.At, float64(sum))
	}
	return p.chart("runqueue", "count", fromSchLog, true, global, local)
}

func threadsOfProcess(p plot) *Chart {
	return p.chart("threads", "count", fromProc, false,
		gauge("threads", p.counter(func(s *model.ProcessSample) float64 { return float64(s.Threads) })),
		gauge("files", p.counter(func(s *model.ProcessSample) float64 { return float64(s.FDs) })))
}

func threadsOfLog(p plot) *Chart {
	threads, spinning, idle := line{name: "threads"}, line{name: "spinning"}, line{name: "idle"}
	for _, s := range alignedSched(p.Model) {
		if s.Threads < 0 {
			continue
		}
		threads.add(s.At, float64(s.Threads))
		spinning.add(s.At, float64(s.SpinningThreads))
		idle.add(s.At, float64(s.IdleThreads))
	}
	if c := p.chart("threads", "count", fromSchLog, false, threads, spinning, idle); c != nil {
		return c
	}
	return p.chart("threads", "count", fromMetrics, false, gauge("threads", p.metric("/sched/threads/total:threads")))
}
