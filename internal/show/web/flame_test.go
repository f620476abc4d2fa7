package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// flameView returns a run with CPU samples of functions, of so many nanoseconds each.
func flameView(samples map[string]int64) *View {
	m := &model.Model{Run: model.Run{Duration: time.Second}}
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Duration: time.Second}
	for name, v := range samples {
		s := m.Stacks.Add([]model.Frame{{Func: name, File: "/src/f.go", Line: 7}, {Func: "main.main"}})
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: s, Values: []int64{1, v}})
	}
	return &View{Model: m.Frozen()}
}

func TestFlame(t *testing.T) {
	v, base := flameView(map[string]int64{"main.a": 5, "runtime.b": 2}), flameView(map[string]int64{"main.a": 4})
	p := &page{}
	p.addView(v, nil)
	p.addView(base, nil)
	ask := func(query string) (*Flame, error) {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		a, err := v.flame(q)
		if err != nil {
			return nil, err
		}
		return a.(*Flame), nil
	}
	f, err := ask("")
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != "cpu" || f.Total != 7 || !slices.Equal(f.Names, []string{"main.main", "main.a", "runtime.b"}) || !slices.Equal(f.Sum, []int64{7, 7, 5, 2}) ||
		!slices.Equal(f.Parent, []int32{-1, 0, 1, 1}) || !slices.Equal(f.Line, []int32{0, 0, 7, 7}) || f.Base != nil ||
		FrameKinds[f.FuncKinds[1]] != "own" || FrameKinds[f.FuncKinds[2]] != "runtime" || len(f.Kinds) != 1 || f.Kinds[0] != (FlameKind{"cpu", "nanoseconds", 7}) {
		t.Errorf("flame = %+v, want 7 ns of cpu in 4 nodes: main.main, main.a and two lines of runtime.b", f)
	}
	if f, err = ask("kind=cpu&base=1&limit=3"); err != nil || !slices.Equal(f.Base, []int64{4, 4, 4}) || f.LeftNodes != 1 || f.PerWhat != "second" {
		t.Errorf("flame against base 1 = %+v, %v; want a base of [4 4 4], 1 node left out, per second", f, err)
	}
	for query, status := range map[string]int{
		"kind=nonsense": http.StatusBadRequest, "min=2": http.StatusBadRequest, "min=NaN": http.StatusBadRequest, "limit=0": http.StatusBadRequest,
		"base=7": http.StatusBadRequest, "kind=net": http.StatusNotFound, "group=main.other": http.StatusNotFound,
	} {
		_, err := ask(query)
		if _, got := explain(err); got != status {
			t.Errorf("flame(%s): status %d, want %d: %v", query, got, status, err)
		}
	}
	var none *problem.Error
	if _, err := (&View{Model: (&model.Model{}).Frozen()}).flame(nil); !errors.As(err, &none) || none.Hint == "" {
		t.Errorf("of a run without stacks: %v", err)
	}
}

// The page's list of owners is the one that functions are numbered by.
func TestFrameKinds(t *testing.T) {
	for i, k := range FrameKinds {
		if flame.Owner(i).String() != k {
			t.Errorf("kind %d is %s here, want %v", i, k, flame.Owner(i))
		}
	}
}
