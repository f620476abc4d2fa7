package diagnosis

import (
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// fold hangs every finding that another one explains under that one and
// returns the causes. Where rules explain each other the finding of the
// smaller benefit is the symptom, so there is always a cause left.
func (r *runner) fold(goal Goal) []tree {
	order := make([]int, len(r.found))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return compare(tree{found: &r.found[a]}, tree{found: &r.found[b]}, goal)
	})
	// Smallest first: in a circle it is the largest that finds every way to a
	// cause already leading back to itself, and stays.
	for _, i := range slices.Backward(order) {
		for _, j := range order {
			if i != j && r.found[j].explains(&r.found[i]) && !r.under(j, i) {
				r.found[i].parent = j
				break
			}
		}
	}
	return r.children(-1)
}

// under reports whether finding i already hangs somewhere under root.
func (r *runner) under(i, root int) bool {
	for ; i >= 0; i = r.found[i].parent {
		if i == root {
			return true
		}
	}
	return false
}

func (r *runner) children(of int) (ts []tree) {
	for i := range r.found {
		if r.found[i].parent == of {
			ts = append(ts, tree{&r.found[i], r.children(i)})
		}
	}
	return ts
}

// queueMaker is the part of the CPU from which what takes it needlessly makes the queue before the processors: a tenth is
// what accuses work, and a queue before processors that are 99% in use is a tenth as long at 89%.
const queueMaker = 0.1

// explains reports whether f names s's rule as a symptom and both are about
// the same part of the program: goroutines, stacks, or a line that both name, as stacks of
// the processor's samples are others than those of who waits there. Whatever takes busy
// processors needlessly explains the queue before them.
func (f *found) explains(s *found) bool {
	if s.Queues && f.Bound.Goal == CPUGoal && !f.Remark && f.Cost.Share >= queueMaker {
		return true
	}
	if f.Rule == s.Rule || !slices.Contains(f.Explains, s.Rule) {
		return false
	}
	whole := func(x *found) bool { return len(x.Groups) == 0 && len(x.Stacks) == 0 }
	return whole(f) || whole(s) || meet(f.groups, s.groups) || meet(f.stacks, s.stacks) ||
		slices.ContainsFunc(f.Where, func(p Place) bool { return p.Line > 0 && slices.Contains(s.Where, p) })
}

func meet[K comparable](a, b map[K]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// about returns the groups and stacks of a finding. One that names only
// stacks is also about the groups that waited there, so that it can be
// compared with one that names only groups.
func (r *runner) about(f *Finding) (map[string]bool, map[model.Stack]bool) {
	groups, stacks := map[string]bool{}, map[model.Stack]bool{}
	for _, g := range f.Groups {
		groups[g] = true
	}
	for _, s := range f.Stacks {
		stacks[s] = true
	}
	if len(groups) == 0 && len(stacks) > 0 && r.m.Sched != nil {
		for i := range r.m.Sched.Waits {
			if w := &r.m.Sched.Waits[i]; stacks[w.Stack] {
				groups[w.Group] = true
			}
		}
	}
	return groups, stacks
}
