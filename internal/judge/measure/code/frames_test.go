package code

import (
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A site is the line above what only carries out the waiting, else the innermost function.
func TestSite(t *testing.T) {
	m := &model.Model{}
	for _, c := range []struct {
		frames []model.Frame
		want   string
	}{
		{[]model.Frame{{Func: "runtime.gopark", Line: 1}, {Func: "main.take", Line: 7}, {Func: "main.main", Line: 3}}, "main.take:7"},
		{[]model.Frame{{Func: "runtime.gopark", Line: 1}, {Func: "runtime.bgsweep", Line: 7}}, "runtime.gopark"},
		{nil, ""},
	} {
		m.Stacks.Add([]model.Frame{{Func: "main.other", Line: 1}})
		if got := Site(m, m.Stacks.Add(c.frames)); got != c.want {
			t.Errorf("Site() of %v = %q, want %q", c.frames, got, c.want)
		}
	}
}

// The same code was built elsewhere: its files have other names. Other functions
// or lines are other code.
func TestWithText(t *testing.T) {
	m := &model.Model{}
	stack := func(function, file string, line int) model.Stack {
		return m.Stacks.Add([]model.Frame{{Func: function, File: file, Line: line}, {Func: "main.main"}})
	}
	match := MatchText(m, stack("main.a", "/src/a.go", 7))
	for _, c := range []struct {
		stack model.Stack
		want  bool
	}{
		{stack("main.a", "/build/a.go", 7), true},
		{stack("main.b", "/src/a.go", 7), false},
		{stack("main.a", "/src/a.go", 8), false},
	} {
		if got := match(&model.Sample{Stack: c.stack}); got != c.want {
			t.Errorf("%v: %v, want %v", m.Stacks.Frames(c.stack), got, c.want)
		}
	}
}

// The runtime's functions at both ends of a stack are in no text, and tell nothing.
func TestPlaceText(t *testing.T) {
	m := &model.Model{}
	parked := m.Stacks.Add([]model.Frame{{Func: "runtime.gopark", Line: 1}, {Func: "main.a", File: "runtime.go", Line: 7}, {Func: "runtime.main", Line: 3}})
	alone := m.Stacks.Add([]model.Frame{{Func: "runtime.gopark", File: "proc.go", Line: 1}})
	if got, want := PlaceText(m, parked), "main.a:7\n"; got != want {
		t.Errorf("PlaceText() = %q, want %q", got, want)
	}
	if got, want := PlaceText(m, alone), "runtime.gopark:1\n"; got != want {
		t.Errorf("PlaceText() of the runtime alone = %q, want %q", got, want)
	}
}

// Names match by their beginning or as a whole, anywhere in a stack.
func TestThrough(t *testing.T) {
	frames := []model.Frame{{Func: "runtime.gopark"}, {Func: "sync.(*Mutex).lockSlow"}, {Func: "main.take"}}
	for _, c := range []struct {
		what string
		got  bool
		want bool
	}{
		{"the beginning of a name", ContainsPrefix(frames, []string{"net.", "sync.(*Mutex)."}), true},
		{"what no name begins with", ContainsPrefix(frames, []string{"take", "Mutex"}), false},
		{"a whole name", ContainsAny(frames, []string{"main.take"}), true},
		{"a beginning where a whole name is meant", ContainsAny(frames, []string{"main."}), false},
		{"a lock", ContainsFunc(frames, IsMutex), true},
		{"no lock", ContainsFunc(frames[2:], IsMutex), false},
		{"machinery", IsMachinery("internal/poll.(*fdMutex).rwlock"), true},
		{"the program", IsMachinery("main.take"), false},
		{"a package that calls the system", IsSystem("os.(*File).Read"), true},
		{"a package named like one", IsSystem("osmosis.Read"), false},
		{"an init function", RunsOnce("main.init.0"), true},
		{"a function named so", RunsOnce("main.initialize"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}
