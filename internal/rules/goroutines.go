package rules

import (
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

// groupsOfStacks is the groups that stacks belong to; none without a trace to
// know groups from.
func groupsOfStacks(m *model.Model, stacks []model.Stack) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for _, s := range stacks {
		if name := root(m, s); group(m, name) != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// spawned reports whether the group is made of goroutines that come and go
// rather than of workers that stay: their number follows the load, and no
// worker count is there to be lowered.
func spawned(g *model.Group) bool { return g.Count > 2*g.Peak }

// profileCount is the sum of a profile's first column; 0 without one.
func profileCount(p *model.Profile) (n int64) {
	if p == nil {
		return 0
	}
	for i := range p.Samples {
		if v := p.Samples[i].Values; len(v) > 0 {
			n += v[0]
		}
	}
	return n
}

// goroutineMemory is how many goroutines were alive at the end and how large
// the stack of one is on average: by the runtime's metrics where they were
// recorded, else what oversubscribed's constant says.
func goroutineMemory(m *model.Model) (alive, each float64, from string) {
	each, from = goroutineBytes, "8 KiB, four times the smallest; stacks were not measured"
	if v, ok := m.Metrics.Last(metricGoroutines); ok && v > 0 {
		alive = v
		if s, ok := m.Metrics.Last("/memory/classes/heap/stacks:bytes"); ok && s > 0 {
			each, from = s/v, "runtime/metrics: stacks ÷ goroutines"
		}
		return alive, each, from
	}
	if m.Goroutines.End != nil {
		return float64(profileCount(m.Goroutines.End)), each, from
	}
	if m.Sched != nil {
		for i := range m.Sched.Groups {
			alive += float64(m.Sched.Groups[i].Alive())
		}
	}
	return alive, each, from
}

// group finds a goroutine group by name; nil when there is none.
func group(m *model.Model, name string) *model.Group {
	if m.Sched == nil {
		return nil
	}
	i := slices.IndexFunc(m.Sched.Groups, func(g model.Group) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Sched.Groups[i]
}

// groupsOf finds several, leaving out what is not known.
func groupsOf(m *model.Model, names []string) (gs []*model.Group) {
	for _, n := range names {
		if g := group(m, n); g != nil {
			gs = append(gs, g)
		}
	}
	return gs
}

// userWait reports whether a wait belongs to the program rather than to the
// runtime's own goroutines.
func userWait(m *model.Model, w *model.Wait) bool {
	g := group(m, w.Group)
	return g == nil || !g.System
}

// meanSlice is how long goroutines of the groups run at a stretch.
func meanSlice(gs []*model.Group) time.Duration {
	var run time.Duration
	var n int64
	for _, g := range gs {
		run += g.Times.Running
		n += g.Runs
	}
	if n == 0 {
		return 0
	}
	return run / time.Duration(n)
}

// groupName is how a sentence calls a goroutine group.
func groupName(name string) string {
	if name == "" {
		return "a group of unknown start function"
	}
	return name
}

// countRoots adds up wakers by their group.
func countRoots(m *model.Model, wakers map[model.Stack]int64) map[string]int64 {
	out := map[string]int64{}
	for s, n := range wakers {
		if name := root(m, s); s != 0 && name != "" {
			out[name] += n
		}
	}
	return out
}

// allGroups are the names of all groups.
func allGroups(m *model.Model) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for i := range m.Sched.Groups {
		names = append(names, m.Sched.Groups[i].Name)
	}
	return names
}

// goroutineBytes is what the stack of a goroutine takes at least: one that ran more
// than a trivial chain of calls was doubled twice, from 2 KiB to 8 KiB.
const goroutineBytes = 8 << 10

func leastStack() fact.Fact {
	return fact.Figure("stack of one, at least", goroutineBytes, fact.Bytes, "the runtime's smallest stack, doubled twice")
}
