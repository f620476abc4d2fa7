package code

import (
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Group finds a goroutine group by name; nil when there is none.
func Group(m *model.Model, name string) *model.Group {
	if m.Sched == nil {
		return nil
	}
	i := slices.IndexFunc(m.Sched.Groups, func(g model.Group) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Sched.Groups[i]
}

// Groups finds several, leaving out what is not known.
func Groups(m *model.Model, names []string) (gs []*model.Group) {
	for _, n := range names {
		if g := Group(m, n); g != nil {
			gs = append(gs, g)
		}
	}
	return gs
}

// Root returns the group that a stack's goroutine belongs to: its start function.
// The main goroutine goes by either of two names, for some stacks end at
// runtime.main and some below it; the kernel's go on to who called that.
func Root(m *model.Model, s model.Stack) string {
	f := m.Stacks.Frames(s)
	if n := len(f); n > 1 && f[n-1].Func == "runtime.goexit" {
		f = f[:n-1]
	}
	if len(f) == 0 {
		return ""
	}
	name := f[len(f)-1].Func
	if i := slices.Index(MainGroups, name); i >= 0 && Group(m, name) == nil {
		return MainGroups[1-i]
	}
	return name
}

// Coroutines is the start function of the goroutines in which iter.Pull runs a sequence.
const Coroutines = "runtime.corostart"

// MainGroups are both names that the group of the main goroutine goes by.
var MainGroups = []string{"main.main", "runtime.main"}

// GroupsOfStacks returns the groups that stacks belong to; none without a trace to
// know groups from.
func GroupsOfStacks(m *model.Model, stacks []model.Stack) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for _, s := range stacks {
		if name := Root(m, s); Group(m, name) != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// GroupName returns how a sentence calls a goroutine group.
func GroupName(name string) string {
	switch name {
	case "":
		return "a group of unknown start function"
	case Coroutines:
		return "coroutines of iter.Pull"
	}
	return name
}

// IsSystemGroup reports whether a group of that name is of the runtime itself.
func IsSystemGroup(m *model.Model, name string) bool {
	g := Group(m, name)
	return g != nil && g.System
}

// IsUserWait reports whether a wait belongs to the program rather than to the
// runtime's own goroutines.
func IsUserWait(m *model.Model, w *model.Wait) bool {
	g := Group(m, w.Group)
	return g == nil || !g.System
}

// CountRoots adds up wakers by their group.
func CountRoots(m *model.Model, wakers map[model.Stack]int64) map[string]int64 {
	out := map[string]int64{}
	for s, n := range wakers {
		if name := Root(m, s); name != "" {
			out[name] += n
		}
	}
	return out
}

// AllGroups returns the names of all groups.
func AllGroups(m *model.Model) (names []string) {
	if m.Sched == nil {
		return nil
	}
	for i := range m.Sched.Groups {
		names = append(names, m.Sched.Groups[i].Name)
	}
	return names
}

// UserGroups returns the names of the program's groups.
func UserGroups(m *model.Model) (names []string) {
	for i := range m.Sched.Groups {
		if !m.Sched.Groups[i].System {
			names = append(names, m.Sched.Groups[i].Name)
		}
	}
	return names
}
