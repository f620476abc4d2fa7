package compare

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What is left of profiles as text is compared by function, and counts by the second.
func TestRunsOfText(t *testing.T) {
	side := func(under, calls float64, window time.Duration) Reading {
		return Reading{Name: "x", Model: &model.Model{
			Tables: []*model.Table{model.NewTable(model.Table{Source: model.CPU, Type: model.ValueType{Name: "cpu", Unit: "nanoseconds"}, Total: 10,
				Functions: []model.TableFunction{{Func: "main.f", Cum: under}}})},
			Counts: []*model.Counts{{Window: window, Calls: []model.Count{{Name: "futex", N: calls}}}},
		}}
	}
	c, err := Runs(side(5, 100, 10*time.Second), side(1, 100, 20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]float64{}
	for _, r := range c.Ledger {
		got[r.Name] = [2]float64{*r.A, *r.B}
	}
	if got["CPU under main.f"] != [2]float64{0.5, 0.1} || got["calls of futex"] != [2]float64{10, 5} {
		t.Errorf("ledger %v; want half and a tenth under main.f, 10 and 5 futex calls a second", got)
	}
}
