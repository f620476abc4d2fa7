package code

import (
	"maps"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The group of a stack is its outermost function, beside the frame that all end in.
func TestRoot(t *testing.T) {
	m := &model.Model{}
	for _, c := range []struct {
		frames []model.Frame
		want   string
	}{
		{[]model.Frame{{Func: "main.a"}, {Func: "main.work"}, {Func: "runtime.goexit"}}, "main.work"},
		{[]model.Frame{{Func: "main.a"}, {Func: "main.work"}}, "main.work"},
		{[]model.Frame{{Func: "runtime.goexit"}}, "runtime.goexit"},
		{nil, ""},
	} {
		if got := Root(m, m.Stacks.Add(c.frames)); got != c.want {
			t.Errorf("Root() of %v = %q, want %q", c.frames, got, c.want)
		}
	}
}

// The stack of a goroutine that was there tells its group, with and without the
// frame that every goroutine ends in.
func TestGroupsOfStacks(t *testing.T) {
	m := &model.Model{Sched: &model.Sched{Groups: []model.Group{{Name: "main.serve"}, {Name: "main.work"}}}}
	stack := func(functions ...string) model.Stack {
		var frames []model.Frame
		for _, f := range functions {
			frames = append(frames, model.Frame{Func: f})
		}
		return m.Stacks.Add(frames)
	}
	foreign := stack("strings.Index", "main.other")
	work := stack("strings.Index", "main.work", "runtime.goexit")
	serve := stack("main.serve")
	if got, want := GroupsOfStacks(m, []model.Stack{foreign, work, serve, work}), []string{"main.work", "main.serve"}; !slices.Equal(got, want) {
		t.Errorf("GroupsOfStacks() = %q, want %q", got, want)
	}
	m.Sched = nil
	if got := GroupsOfStacks(m, []model.Stack{work}); got != nil {
		t.Errorf("GroupsOfStacks() = %q without a trace, want none", got)
	}
}

// Wakers count for the groups that they are of, as often as they woke.
func TestCountRoots(t *testing.T) {
	m := &model.Model{}
	stack := func(functions ...string) model.Stack {
		var frames []model.Frame
		for _, f := range functions {
			frames = append(frames, model.Frame{Func: f})
		}
		return m.Stacks.Add(frames)
	}
	wakers := map[model.Stack]int64{0: 9, stack("main.a", "main.work"): 2, stack("main.b", "main.work"): 3, stack("main.serve"): 4}
	if got, want := CountRoots(m, wakers), map[string]int64{"main.work": 5, "main.serve": 4}; !maps.Equal(got, want) {
		t.Errorf("CountRoots() = %v, want %v", got, want)
	}
}

// Groups are found by name; the runtime's are none of the program's.
func TestGroups(t *testing.T) {
	m := &model.Model{}
	if Group(m, "main.work") != nil || AllGroups(m) != nil {
		t.Error("a group of a model without a trace")
	}
	m.Sched = &model.Sched{Groups: []model.Group{{Name: "main.work"}, {Name: "runtime.gcBgMarkWorker", System: true}}}
	if g := Group(m, "main.work"); g != &m.Sched.Groups[0] {
		t.Errorf("Group(main.work) = %v, want the first", g)
	}
	if got := Groups(m, []string{"main.gone", "main.work"}); len(got) != 1 || got[0].Name != "main.work" {
		t.Errorf("Groups() = %v, want that of main.work", got)
	}
	if got, want := UserGroups(m), []string{"main.work"}; !slices.Equal(got, want) {
		t.Errorf("UserGroups() = %q, want %q", got, want)
	}
	if got, want := AllGroups(m), []string{"main.work", "runtime.gcBgMarkWorker"}; !slices.Equal(got, want) {
		t.Errorf("AllGroups() = %q, want %q", got, want)
	}
	for group, want := range map[string]bool{"main.work": true, "runtime.gcBgMarkWorker": false, "main.gone": true} {
		if got := IsUserWait(m, &model.Wait{Group: group}); got != want {
			t.Errorf("IsUserWait() of %s = %v, want %v", group, got, want)
		}
	}
}

// Stacks of the main goroutine end at either of two functions; its group is the one that is there.
func TestRootOfMain(t *testing.T) {
	m := &model.Model{Sched: &model.Sched{Groups: []model.Group{{Name: "main.main"}}}}
	for _, last := range []string{"main.main", "runtime.main"} {
		if got := Root(m, m.Stacks.Add([]model.Frame{{Func: "main.a"}, {Func: last}})); got != "main.main" {
			t.Errorf("Root() of a stack below %s = %q, want main.main", last, got)
		}
	}
}
