package rules

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
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
		if got := site(m, m.Stacks.Add(c.frames)); got != c.want {
			t.Errorf("site() of %v = %q, want %q", c.frames, got, c.want)
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
	match := withText(m, stack("main.a", "/src/a.go", 7))
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
		if got := root(m, m.Stacks.Add(c.frames)); got != c.want {
			t.Errorf("root() of %v = %q, want %q", c.frames, got, c.want)
		}
	}
}

// A share of all or of nothing promises nothing.
func TestPromised(t *testing.T) {
	for best, want := range map[float64]int{0: 0, 0.001: 1, 0.999: 1, 1: 0} {
		if got := promised(diagnosis.AllocsOp, best, "Amdahl"); len(got) != want {
			t.Errorf("promised(%v) = %v, want %d", best, got, want)
		}
	}
}

// What is on a line and what is below it are sums of the column that is asked for.
func TestUnder(t *testing.T) {
	m := &model.Model{}
	add := func(values []int64, functions ...string) model.Sample {
		var frames []model.Frame
		for _, f := range functions {
			frames = append(frames, model.Frame{Func: f})
		}
		return model.Sample{Stack: m.Stacks.Add(append(frames, model.Frame{Func: "main.log", File: "log.go", Line: 9})), Values: values}
	}
	profile := &model.Profile{Samples: []model.Sample{
		add([]int64{1, 20, 3}),
		add([]int64{1, 30, 3}, "runtime.mallocgc", "runtime.convT"),
		add([]int64{1, 400, 3}, "runtime.mallocgc", "fmt.Sprintf"),
		add([]int64{1, 5000, 3}, "main.discard"),
	}}
	line := diagnosis.Place{Function: "main.log", File: "log.go", Line: 9}
	if onLine, below := under(m, profile, 1, line, usesValues); onLine != 50 || below != 400 {
		t.Errorf("under() = %v, %v, want 50, 400", onLine, below)
	}
	line.Line = 8
	if onLine, below := under(m, profile, 1, line, usesValues); onLine != 0 || below != 0 {
		t.Errorf("under() = %v, %v of another line, want 0", onLine, below)
	}
}

// Pools stand in the order of the objects that they made, wherever the profile counts those.
func TestPoolPlacesInOrder(t *testing.T) {
	m := &model.Model{}
	sample := func(function string, values ...int64) model.Sample {
		return model.Sample{Values: values, Stack: m.Stacks.Add([]model.Frame{{Func: "sync.(*Pool).Get"}, {Func: function, File: "main.go", Line: 1}})}
	}
	m.Heap = &model.Profile{
		Types:   []model.ValueType{{Name: "inuse_objects"}, {Name: "alloc_objects"}, {Name: "alloc_space"}},
		Samples: []model.Sample{sample("main.few", 9, 10, 9000), sample("main.many", 1, 90, 1000)},
	}
	places, _ := poolPlaces(&diagnosis.Pass{Meter: fact.Meter{Model: m}})
	if len(places) != 2 || places[0].Function != "main.many" || places[1].Function != "main.few" {
		t.Errorf("poolPlaces() = %v, want main.many and main.few", places)
	}
}
