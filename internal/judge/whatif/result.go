package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Result is what a replay says.
type Result struct {
	Edits []string `json:"edits"` // as the command line takes them
	Kind  Kind     `json:"kind,omitempty"`
	// Elapsed is how long the same work takes in the replay.
	Elapsed time.Duration `json:"elapsed_ns"`
	// Ratio is Elapsed by that of the replay without edits: 0.5 is twice as
	// fast. Work done in a given time changes by its inverse.
	Ratio float64 `json:"ratio"`
	// CPU is the time on cores, the collector and the scheduler included, and
	// CPURatio by how much it changes.
	CPU      time.Duration `json:"cpu_ns"`
	CPURatio float64       `json:"cpu_ratio"`
	Procs    int           `json:"procs"`
	Use      float64       `json:"procs_in_use"` // on average, of Procs
	// Lives are the groups whose goroutines came and went, by their number.
	Lives []Life   `json:"lives"`
	Notes []string `json:"notes,omitempty"`
	// Forced is the number of waits that nothing would have ended.
	Forced int `json:"forced_waits,omitempty"`
}

// A Life is how long a goroutine of a group exists on average: for a goroutine
// for each request, its latency.
type Life struct {
	Group string        `json:"group"`
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean_ns"`
	Ratio float64       `json:"ratio"` // to the replay without edits
}

// Effect returns the change of the elapsed time as a share: -0.3 is 30% less.
func (r *Result) Effect() float64 { return r.Ratio - 1 }

// Run replays the program with edits. The same edits give the same result. Its
// errors are of type [*problem.Error].
func (p *Program) Run(list ...Edit) (Result, error) {
	e, err := p.combine(list)
	if err != nil {
		return Result{}, err
	}
	res, gs := p.run(e)
	res.Ratio = float64(res.Elapsed) / float64(p.base.Elapsed)
	res.CPURatio = float64(res.CPU) / float64(max(1, p.base.CPU))
	for _, one := range list {
		res.Edits = append(res.Edits, one.text)
		res.Kind = one.kind
	}
	if len(list) > 1 {
		res.Kind = Composite
	}
	p.lives(&res, gs)
	p.notes(&res, e)
	return res, nil
}

func (r *replay) result() Result {
	res := Result{Elapsed: time.Duration(r.now), CPU: time.Duration(r.spent), Procs: len(r.ps), Forced: r.forced}
	if r.now > 0 {
		res.Use = r.onP / r.now
	}
	return res
}

// lifetimes sums up, by group, how long goroutines existed that came and went.
func (p *Program) lifetimes(gs []replayG) (sums []float64, counts []int) {
	sums, counts = make([]float64, len(p.Groups)), make([]int, len(p.Groups))
	for i := range gs {
		if g := p.gs[i].group; gs[i].state == ended && p.gs[i].start < 0 && !p.Groups[g].System {
			sums[g] += gs[i].endAt - gs[i].startAt
			counts[g]++
		}
	}
	return sums, counts
}

// lives compares how long goroutines existed with the replay without edits.
func (p *Program) lives(res *Result, gs []replayG) {
	sums, counts := p.lifetimes(gs)
	for g, n := range counts {
		if n == 0 || p.baseCounts[g] == 0 {
			continue
		}
		l := Life{Group: p.Groups[g].Name, Count: n, Mean: time.Duration(sums[g] / float64(n)), Ratio: 1}
		if base := p.baseLives[g] / float64(p.baseCounts[g]); base > 0 {
			l.Ratio = sums[g] / float64(n) / base
		}
		res.Lives = append(res.Lives, l)
	}
	slices.SortStableFunc(res.Lives, func(a, b Life) int { return cmp.Compare(b.Count, a.Count) })
}

// notes lists what a reader of the result has to know.
func (p *Program) notes(res *Result, e edits) {
	note := func(format string, args ...any) { res.Notes = append(res.Notes, fmt.Sprintf(format, args...)) }
	if e.procs > p.Procs {
		switch {
		case p.Cores == 0:
			note("how many cores the machine has is not known: each of the %d Ps is taken to have one", e.procs)
		case e.procs > p.Cores:
			note("the machine has %d cores: %d Ps share them", p.Cores, e.procs)
		}
		if len(p.Locks) > 0 || p.Procs == 1 {
			note("more Ps can make goroutines wait for locks that they never waited for in this trace; the replay cannot know of these")
		}
	}
	if res.Forced > 0 {
		note("%d waits had to be ended by force: with this change nothing of the trace ends them", res.Forced)
	}
	if e.locks == nil {
		return
	}
	for i, l := range e.locks {
		if (l.removed || l.shards > 1 || l.hold != 1) && (p.traced || p.locks[i].traced) {
			note("%s is replayed in the order of the trace: %s", p.Locks[i].Site, p.whyTraced(i))
		}
	}
}

func (p *Program) whyTraced(lock int) string {
	if p.locks[lock].traced {
		return "its lines take several locks, or one that readers share"
	}
	return "that comes nearer to what happened"
}

// worstLocks returns the locks by the time that was waited for them.
func (p *Program) worstLocks() []Lock {
	list := slices.Clone(p.Locks)
	slices.SortStableFunc(list, func(a, b Lock) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), strings.Compare(a.Site, b.Site))
	})
	return slices.DeleteFunc(list, func(l Lock) bool { return l.Wait == 0 })
}
