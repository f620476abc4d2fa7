package web

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A run that is one profile has a flame graph, whichever profile it is.
func TestScreensOfOneProfile(t *testing.T) {
	types := []model.ValueType{{Name: "count", Unit: "count"}, {Name: "time", Unit: "nanoseconds"}}
	for name, set := range map[string]func(*model.Model, *model.Profile){
		"cpu":  func(m *model.Model, p *model.Profile) { m.CPU = p },
		"wall": func(m *model.Model, p *model.Profile) { m.Wall = p },
		"leak": func(m *model.Model, p *model.Profile) { m.Leaks = p },
	} {
		m := &model.Model{}
		set(m, &model.Profile{Types: types, Samples: []model.Sample{{Stack: m.Stacks.Add([]model.Frame{{Func: "main.main"}}), Values: []int64{1, 1}}}})
		if got := (&View{Model: m}).screens(); !slices.Contains(got, "flame") {
			t.Errorf("screens() of a %s profile = %q, want flame in them", name, got)
		}
	}
	if got := (&View{Model: &model.Model{}}).screens(); slices.Contains(got, "flame") {
		t.Errorf("screens() of nothing = %q, want no flame graph", got)
	}
}
