package fact

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/model"
)

func TestFolds(t *testing.T) {
	s := model.Series{{At: 0, Value: 4}, {At: time.Second, Value: 7}, {At: 2 * time.Second, Value: 1}, {At: 4 * time.Second, Value: 6}}
	for fold, want := range map[Fold]float64{First: 4, Last: 6, Least: 1, Most: 7, Change: 2, Growth: 8, Rate: 0.5} {
		if v, ok := fold.of(s); !ok || v != want {
			t.Errorf("%s: %v, %v, want %v", fold, v, ok, want)
		}
	}
	for _, fold := range []Fold{Change, Growth, Rate, Trend} {
		if v, ok := fold.of(s[:1]); ok {
			t.Errorf("%s of one point: %v", fold, v)
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
		{p.ProfileLength("kernel"), 0}, {Meter{Model: &model.Model{Run: m.Run}}.SyscallWindow(), 0},
	} {
		if c.f.Value != c.want || c.f.Unit != Seconds {
			t.Errorf("%s: %v %s, want %v", c.f.Name, c.f.Value, c.f.Unit, c.want)
		}
	}
}

func TestSentenceOfAll(t *testing.T) {
	f := Smallest.Of("least", Count, Figure("a", 3, Count, ""), Figure("b", 2, Count, ""))
	if f.Value != 2 || f.Origin.Text != "the least of a, b" {
		t.Errorf("%+v", f)
	}
}
