package rules

import (
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

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

// root is the group that a stack's goroutine belongs to: its start function.
// The main goroutine goes by either of two names, for some stacks end at
// runtime.main and some below it; the kernel's go on to who called that.
func root(m *model.Model, s model.Stack) string {
	f := m.Stacks.Frames(s)
	if n := len(f); n > 1 && f[n-1].Func == "runtime.goexit" {
		f = f[:n-1]
	}
	if len(f) == 0 {
		return ""
	}
	name := f[len(f)-1].Func
	if i := slices.Index(mainGroups, name); i >= 0 && group(m, name) == nil {
		return mainGroups[1-i]
	}
	return name
}

var mainGroups = []string{"main.main", "runtime.main"}

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

// groupName returns how a sentence calls a goroutine group.
func groupName(name string) string {
	if name == "" {
		return "a group of unknown start function"
	}
	return name
}

func isSystem(m *model.Model, name string) bool {
	g := group(m, name)
	return g != nil && g.System
}

// userWait reports whether a wait belongs to the program rather than to the
// runtime's own goroutines.
func userWait(m *model.Model, w *model.Wait) bool {
	g := group(m, w.Group)
	return g == nil || !g.System
}

// countRoots adds up wakers by their group.
func countRoots(m *model.Model, wakers map[model.Stack]int64) map[string]int64 {
	out := map[string]int64{}
	for s, n := range wakers {
		if name := root(m, s); name != "" {
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

// userGroups are the names of the program's groups.
func userGroups(m *model.Model) (names []string) {
	for i := range m.Sched.Groups {
		if !m.Sched.Groups[i].System {
			names = append(names, m.Sched.Groups[i].Name)
		}
	}
	return names
}
