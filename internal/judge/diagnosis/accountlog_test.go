package diagnosis

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// collected is n collections of 12 Ps, each of the same price, that find live more alive
// every time.
func collected(n int, live, by uint64, assist time.Duration) *model.Model {
	m := &model.Model{}
	for i := range n {
		now := live + uint64(i)*by
		m.GCLog = append(m.GCLog, model.GCLine{Cycle: i + 1, At: 4*time.Second + time.Duration(i)*100*time.Millisecond, Procs: 12, Live: now * mib, Goal: 2 * now * mib,
			CPUAssist: assist, CPUBackground: 150 * time.Millisecond, MarkTerm: 100 * time.Microsecond})
	}
	return m
}

// Lines of gctrace say how often, at what price, who marks and what grows; what was loaded
// at the start, or what somebody cut, is no growth and no price.
func TestAccountOfCollections(t *testing.T) {
	log := func(m *model.Model, words ...string) {
		t.Helper()
		expectAccounts(t, m, map[model.Source][]string{model.GCTrace: words})
	}
	log(collected(11, 45, 10, 250*time.Millisecond), "11 collections in 1.00 s, 10/s, take 33.3% of 12 Ps, 62.5% of the marking in assists; "+
		"the live heap grew from 45 MiB to 145 MiB, by 100 MiB/s, goal 290 MiB.",
		"marking by goroutines that allocate (assists) 2.50 s", "stopping the world 0 s for 100 µs at most")
	log(collected(11, 45, 1, 0), "take 12.5% of 12 Ps; 55 MiB alive, goal 110 MiB.")
	started := collected(11, 45, 0, 0)
	started.GCLog[0].Live = mib
	log(started, "; 45 MiB alive")
	cut := collected(11, 45, 10, 0)
	cut.GCLog[3].Elided = true
	log(cut, "11 collections in 1.00 s, 10/s; the live heap grew")
	if got := accountsOf(collected(1, 45, 0, 0)); len(got) > 0 {
		t.Errorf("accountsOf() of one collection = %+v, want none", got)
	}
}

// Lines of schedtrace say how often all Ps were busy and how many waited for one, whether
// work is spread, and of what was cut that it is not known.
func TestAccountOfScheduler(t *testing.T) {
	lines := func(l ...model.SchedLine) *model.Model {
		m := &model.Model{SchedLog: l}
		for i := range l {
			l[i].At = time.Duration(i) * 100 * time.Millisecond
		}
		return m
	}
	busy := func(queue, threads int) model.SchedLine {
		return model.SchedLine{Procs: 4, RunQueue: queue, Threads: threads, Local: []int{0, 9, 0, 1}}
	}
	idle := func(n int, local ...int) model.SchedLine {
		return model.SchedLine{Procs: 4, IdleProcs: n, Threads: 9, Local: local}
	}
	cut := idle(-1, 40, 0, 0, 2)
	cut.Threads = -1
	for want, m := range map[string]*model.Model{
		"4 Ps, all busy in 2 of 3 lines; in 200 ms those ready and waiting for one became 110 from 0. Threads grew from 9 to 20.": lines(idle(3, 0, 0, 0, 0), busy(50, 15), busy(100, 20)),
		"all busy in 2 of 2 lines; 13 to 14 goroutines ready and waiting for one, 13.5 on average.":                               lines(busy(4, 9), busy(3, 9)),
		"In 1 line one P had up to 30 in its queue and another none":                                                              lines(idle(1, 30, 0, 1, 1), idle(4, 0, 0, 0, 0)),
		"In 1 line Ps were idle beside as many ready goroutines":                                                                  lines(idle(2, 3, 1, 3, 1), idle(2, 1, 1, 1, 1)),
		"The lines were shortened":                   lines(cut, cut),
		"; 12 goroutines ready and waiting for one.": lines(busy(2, 9)),
	} {
		expectAccounts(t, m, map[model.Source][]string{model.SchedTrace: {want}})
	}
	detailed := busy(1, 9)
	detailed.Goroutines = map[string]int{"chan receive": 6, "running": 2}
	expectAccounts(t, lines(detailed), map[model.Source][]string{model.SchedTrace: {"goroutines: chan receive 6 "}})
}
