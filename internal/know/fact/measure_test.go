package fact

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

func TestFolds(t *testing.T) {
	s := model.Series{{At: 0, Value: 4}, {At: time.Second, Value: 7}, {At: 2 * time.Second, Value: 1}, {At: 4 * time.Second, Value: 6}}
	for fold, want := range map[Fold]float64{First: 4, Last: 6, Least: 1, Most: 7, Change: 2, Growth: 8, Rate: 0.5} {
		if v, ok := fold.apply(s); !ok || v != want {
			t.Errorf("%s of the series = %v, %v; want %v", fold, v, ok, want)
		}
	}
	for _, fold := range []Fold{Change, Growth, Rate, Trend} {
		if v, ok := fold.apply(s[:1]); ok {
			t.Errorf("%s of one point = %v, want none", fold, v)
		}
	}
}

// Each kind of evidence has its own length.
func TestLengths(t *testing.T) {
	m := &model.Model{
		Run:      model.Run{Duration: time.Second},
		CPU:      &model.Profile{Duration: 2 * time.Second},
		Syscalls: &model.Syscalls{Window: 3 * time.Second},
		Process:  &model.Process{Samples: []model.ProcessSample{{At: time.Second}, {At: 5 * time.Second}}},
	}
	p := Meter{Model: m}
	for _, c := range []struct {
		f    Fact
		want float64
	}{
		{p.WindowLength(), 1}, {p.ProfileLength("cpu"), 2}, {p.SyscallWindow(), 3}, {p.Process("time", "time", Change), 4},
		{p.ProfileLength("kernel"), 1}, {Meter{Model: &model.Model{Run: m.Run}}.SyscallWindow(), 0},
	} {
		if c.f.Value != c.want || c.f.Unit != Seconds {
			t.Errorf("%s: %v %s, want %v", c.f.Name, c.f.Value, c.f.Unit, c.want)
		}
	}
}

func TestSentenceOfAll(t *testing.T) {
	f := Smallest.Of("least", Count, Figure("a", 3, Count, ""), Figure("b", 2, Count, ""))
	if f.Value != 2 || f.Origin.Text != "the least of a, b" {
		t.Errorf("%+v, want 2, the least of a, b", f)
	}
}

// What is nothing is no part of a sum, and a sum of one is no sum.
func TestSumOf(t *testing.T) {
	nothing, two, three := Fact{}, Figure("two", 2, Count, ""), Figure("three", 3, Count, "")
	for _, c := range []struct {
		parts []Fact
		want  float64
		kind  Kind
	}{
		{[]Fact{nothing, two, three}, 5, Computed},
		{[]Fact{nothing, two}, 2, two.Origin.Kind},
		{nil, 0, Computed},
	} {
		if f := SumOf("all", Count, c.parts...); f.Value != c.want || f.Name != "all" || f.Origin.Kind != c.kind {
			t.Errorf("SumOf() of %d parts = %s %v of kind %v, want all %v of kind %v", len(c.parts), f.Name, f.Value, f.Origin.Kind, c.want, c.kind)
		}
	}
}

// What nobody was allowed to count is no reading of a counter.
func TestUnknownFiles(t *testing.T) {
	m := &model.Model{Process: &model.Process{Samples: []model.ProcessSample{{FDs: 9}, {At: 1, FDs: -1}, {At: 2, FDs: 12}}}}
	if least, most := (Meter{m}).Process("least", "files", Least), (Meter{m}).Process("most", "files", Most); least.Value != 9 || most.Value != 12 {
		t.Errorf("%v to %v, want 9 to 12", least.Value, most.Value)
	}
}

// Samples are counted as the account counts them, and part of them by their stacks.
func TestSampleCount(t *testing.T) {
	m := &model.Model{CPU: &model.Profile{
		Types:    []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Duration: time.Second,
	}}
	a, b := m.Stacks.Add([]model.Frame{{Func: "main.a"}}), m.Stacks.Add([]model.Frame{{Func: "main.b"}})
	m.CPU.Samples = []model.Sample{{Stack: a, Values: []int64{3, 30}}, {Stack: b, Values: []int64{4, 40}}}
	p := Meter{m}
	some := p.SampleCount("some", "cpu", p.Frames(func(f []model.Frame) bool { return f[0].Func == "main.b" }))
	if all := p.CPUSamples(); some.Value != 4 || all.Value != 7 || all.Unit != Count || some.Unit != Count {
		t.Errorf("%+v of %+v, want a count of 4 of 7", some, all)
	}
}

// The origin of what processes sent over hours says in words what was counted.
func TestOverSeriesOrigin(t *testing.T) {
	for of, want := range map[string]string{
		"memory:inuse_space:bytes:space:bytes": "over time: inuse_space of memory profiles, 3 processes",
		"inuse_space":                          "over time: inuse_space, 3 processes",
	} {
		if got := OverSeries("growth", of, 3, 1, Bytes).Origin.String(); got != want {
			t.Errorf("origin of %s = %q, want %q", of, got, want)
		}
	}
}
