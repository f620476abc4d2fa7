package rules

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A share of all or of nothing promises nothing.
func TestPromised(t *testing.T) {
	for best, want := range map[float64]int{0: 0, 0.001: 1, 0.999: 1, 1: 0} {
		if got := metricPromise(diagnosis.AllocsOp, best, "Amdahl"); len(got) != want {
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
	if onLine, below := sumUnder(m, profile, 1, line, usesValues); onLine != 50 || below != 400 {
		t.Errorf("under() = %v, %v, want 50, 400", onLine, below)
	}
	line.Line = 8
	if onLine, below := sumUnder(m, profile, 1, line, usesValues); onLine != 0 || below != 0 {
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

// A rule fires with a finding, and speaks with a remark, too.
func TestFires(t *testing.T) {
	p := &diagnosis.Pass{Meter: fact.Meter{Model: &model.Model{}}}
	for what, c := range map[string]struct {
		reports       []diagnosis.Finding
		fires, speaks bool
	}{
		"nothing":                   {},
		"a remark":                  {[]diagnosis.Finding{{Remark: true}}, false, true},
		"a finding":                 {[]diagnosis.Finding{{}}, true, true},
		"what stands still":         {[]diagnosis.Finding{{Waits: true}}, true, true},
		"a finding before a remark": {[]diagnosis.Finding{{}, {Remark: true}}, true, true},
	} {
		rule := &diagnosis.Rule{Check: func(p *diagnosis.Pass) {
			for _, f := range c.reports {
				p.Report(f)
			}
		}}
		if fires(p, rule) != c.fires || speaks(p, rule) != c.speaks {
			t.Errorf("%s: fires %v and speaks %v, want %v and %v", what, !c.fires, !c.speaks, c.fires, c.speaks)
		}
	}
}
