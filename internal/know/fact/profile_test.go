package fact

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Profiles that only count have one column, which is called as they are.
func TestCounts(t *testing.T) {
	profile := func(name string, at time.Duration, n int64) *model.Profile {
		return &model.Profile{
			Types: []model.ValueType{{Name: name, Unit: "count"}}, At: at, Known: true,
			Samples: []model.Sample{{Values: []int64{n}}},
		}
	}
	m := &model.Model{Run: model.Run{Duration: 9 * time.Second}, Leaks: profile("goroutineleak", 0, 3), ThreadCreate: profile("threadcreate", 0, 5)}
	m.Goroutines.Start, m.Goroutines.End = profile("goroutine", time.Second, 7), profile("goroutine", 5*time.Second, 11)
	p := Meter{Model: m}
	for _, c := range []struct {
		f    Fact
		want float64
	}{
		{p.Samples("", "goroutineleak", nil), 3}, {p.Samples("", "threadcreate", nil), 5}, {p.Samples("", "goroutine", nil), 11},
		{p.SamplesAtStart("", "goroutine", nil), 7}, {p.ProfileLength("goroutine"), 4}, {p.ProfileLength("goroutineleak"), 9},
	} {
		if c.f.Value != c.want {
			t.Errorf("%s: %v, want %v", c.f.Origin, c.f.Value, c.want)
		}
	}
	m.Goroutines.Start.Known = false
	if w := p.ProfileLength("goroutine"); w.Value != 9 {
		t.Errorf("between profiles of unknown time: %v", w.Value)
	}
}
