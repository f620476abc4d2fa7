package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// What every goroutine stands at, at one moment: the dump on a screen.
//
// A dump of 100,000 goroutines may have as many stacks. What is sent is the largest
// groups of those that stand alike, all that the largest locks are about, and the sums
// of all; a filter is applied here, before the cut.

// Limits of what is sent of a moment.
const (
	maxStandings     = 400 // groups
	maxLocks         = 40
	maxLockWaiters   = 3 // groups that wait for a lock, beside the sum of all
	maxLockHolders   = 3
	maxStandingStack = 48 // frames
)

// standing answers api/standing: q is a part of a function, of a state or of a label.
func (v *View) standing(q url.Values) (any, error) {
	m := v.Model.Moment
	if m == nil {
		return nil, missing("nothing here says what goroutines stand at", "give a goroutine dump: kill -QUIT PID writes one, /debug/pprof/goroutine?debug=2 another")
	}
	s := &Standings{Source: string(m.Source), AtNS: -1, WatchedNS: int64(m.Watched), Dead: m.Dead, States: []StandingState{}, Groups: []StandingGroup{}, Locks: []StandingLock{}}
	if m.Known {
		s.AtNS = int64(m.At)
	}
	s.count(m)
	locks, involved := v.locksOf(m)
	s.LeftLocks = len(locks) - min(len(locks), maxLocks)
	s.Locks = append(s.Locks, locks[:min(len(locks), maxLocks)]...)
	text, labels := strings.ToLower(q.Get("q")), v.labelsByStack()
	for i := range m.Goroutines {
		g := &m.Goroutines[i]
		switch {
		case text != "" && !v.stands(g, labels[g.Stack], text):
		case len(s.Groups) < maxStandings || text == "" && involved[i]:
			s.Groups = append(s.Groups, v.standingGroup(i, g, labels[g.Stack]))
		default:
			s.Left++
		}
	}
	return s, nil
}

// count sums the goroutines by state, the most first.
func (s *Standings) count(m *model.Moment) {
	at := map[string]int{}
	for i := range m.Goroutines {
		g := &m.Goroutines[i]
		s.Total += g.Count
		k, ok := at[g.State]
		if !ok {
			k = len(s.States)
			at[g.State] = k
			s.States = append(s.States, StandingState{State: name(g.State)})
		}
		s.States[k].Count += g.Count
	}
	slices.SortStableFunc(s.States, func(a, b StandingState) int { return cmp.Compare(b.Count, a.Count) })
}

// stands reports whether a text is in the state, in a label or in a function of the stack.
func (v *View) stands(g *model.Standing, labels map[string]int, text string) bool {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return has(g.State) || slices.ContainsFunc(slices.Collect(maps.Keys(labels)), has) ||
		slices.ContainsFunc(v.Model.Stacks.Frames(g.Stack), func(f model.Frame) bool { return has(f.Func) })
}

// labelsByStack counts the goroutines of each stack by the labels that the program gave
// them, as far as a profile or dump has these.
func (v *View) labelsByStack() map[model.Stack]map[string]int {
	by := map[model.Stack]map[string]int{}
	if v.Model.Goroutines.End == nil {
		return by
	}
	for i := range v.Model.Goroutines.End.Samples {
		s := &v.Model.Goroutines.End.Samples[i]
		if len(s.Labels) == 0 {
			continue
		}
		if by[s.Stack] == nil {
			by[s.Stack] = map[string]int{}
		}
		words := make([]string, 0, len(s.Labels))
		for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
			words = append(words, key+"="+s.Labels[key])
		}
		by[s.Stack][strings.Join(words, " ")] += int(s.Value(0))
	}
	return by
}

func (v *View) standingGroup(id int, g *model.Standing, labels map[string]int) StandingGroup {
	frames := v.Model.Stacks.Frames(g.Stack)
	at := placeIn(frames)
	out := StandingGroup{ID: id, Count: g.Count, State: name(g.State), WaitedNS: int64(g.Waited), Goroutine: g.Goroutine,
		Function: name(at.Func), Place: name(fileLine(at)), Wants: g.Wants, Holds: []int{}, Stack: []string{},
		Labels: labelWords(live.MostLabels(labels), len(labels))}
	if len(frames) > 0 {
		out.Root = name(frames[len(frames)-1].Func)
	}
	for _, h := range g.Holds {
		if !slices.Contains(out.Holds, h.Lock) {
			out.Holds = append(out.Holds, h.Lock)
		}
	}
	for i, f := range frames {
		if i == maxStandingStack {
			out.Stack = append(out.Stack, fmt.Sprintf("… and %d more", len(frames)-i))
			break
		}
		out.Stack = append(out.Stack, name(f.Func)+"  "+name(fileLine(f)))
	}
	return out
}

// placeIn returns the program's line on a stack, or its leaf.
func placeIn(frames []model.Frame) model.Frame {
	if f, ok := model.UserFrame(frames); ok || len(frames) == 0 {
		return f
	}
	return frames[0]
}

// locksOf returns the locks that somebody waits for, those of cycles first, then by how many
// wait; and which groups those that are sent are about.
func (v *View) locksOf(m *model.Moment) (list []StandingLock, involved map[int]bool) {
	list = make([]StandingLock, len(m.Locks))
	about := make([][]int, len(m.Locks))
	for i := range m.Locks {
		l := &m.Locks[i]
		list[i] = StandingLock{ID: i + 1, Name: name(l.Name), Naming: string(l.Naming), Waiters: []StandingWaiter{}, Holders: []StandingHolder{}}
		if l.Address != 0 {
			list[i].Address = fmt.Sprintf("%#x", l.Address)
		}
	}
	for i := range m.Goroutines {
		g := &m.Goroutines[i]
		if g.Wants > 0 && g.Wants <= len(list) {
			l := &list[g.Wants-1]
			l.Waiting += g.Count
			l.LongestNS = max(l.LongestNS, int64(g.Waited))
			if l.Kinds++; len(l.Waiters) < maxLockWaiters { // the most come first
				l.Waiters = append(l.Waiters, StandingWaiter{i, g.Count, name(placeIn(v.Model.Stacks.Frames(g.Stack)).Func), name(g.State), int64(g.Waited)})
				about[g.Wants-1] = append(about[g.Wants-1], i)
			}
		}
		for _, h := range g.Holds {
			if h.Lock < 1 || h.Lock > len(list) {
				continue
			}
			if l := &list[h.Lock-1]; len(l.Holders) < maxLockHolders {
				l.Holders = append(l.Holders, v.holder(i, g, &h))
				about[h.Lock-1] = append(about[h.Lock-1], i)
			}
		}
	}
	markCycles(list, m)
	slices.SortStableFunc(list, func(a, b StandingLock) int {
		if (a.Cycle > 0) != (b.Cycle > 0) {
			return cmp.Compare(b.Cycle, a.Cycle)
		}
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(b.Waiting, a.Waiting))
	})
	involved = map[int]bool{}
	for _, l := range list[:min(len(list), maxLocks)] {
		for _, i := range about[l.ID-1] {
			involved[i] = true
		}
	}
	return list, involved
}

func (v *View) holder(id int, g *model.Standing, h *model.Holding) StandingHolder {
	at := placeIn(v.Model.Stacks.Frames(g.Stack))
	return StandingHolder{Group: id, Count: g.Count, State: name(g.State), Function: name(at.Func), Place: name(fileLine(at)), WaitedNS: int64(g.Waited),
		Taken: name(fileLine(h.Taken)), Wants: g.Wants, Shared: h.Shared, Sure: h.Sure}
}

// markCycles numbers the cycles of locks of which each is held by who waits for the next.
// What leads into a cycle is not part of it.
func markCycles(list []StandingLock, m *model.Moment) {
	next := make([]int, len(list)+1) // of each lock the one that a holder waits for
	for i := range m.Goroutines {
		g := &m.Goroutines[i]
		for _, h := range g.Holds {
			if g.Wants > 0 && g.Wants <= len(list) && h.Lock > 0 && h.Lock <= len(list) && next[h.Lock] == 0 {
				next[h.Lock] = g.Wants
			}
		}
	}
	walk := make([]int, len(list)+1) // in which walk a lock was met first
	cycles := 0
	for start := 1; start <= len(list); start++ {
		at := start
		for at > 0 && walk[at] == 0 {
			walk[at] = start
			at = next[at]
		}
		if at == 0 || walk[at] != start {
			continue // it ends, or runs into what another walk has met
		}
		cycles++
		for list[at-1].Cycle == 0 {
			list[at-1].Cycle = cycles
			at = next[at]
		}
	}
}
