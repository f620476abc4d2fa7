package count

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Who runs what is hot is known from enough samples, all of one goroutine.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name        string
		main, other int64 // samples
		want        bool
	}{
		{"all of main", 20, 0, true},
		{"too few", 19, 0, false},
		{"none", 0, 0, false},
		{"another goroutine", 500, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &model.Model{CPU: &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Duration: time.Second}}
			find := model.Frame{Func: "main.find"}
			for n, frames := range map[int64][]model.Frame{
				c.main:  {find, {Func: "main.main"}, {Func: "runtime.main"}},
				c.other: {find, {Func: "main.fill.func1"}},
			} {
				if n > 0 {
					m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: m.Stacks.Add(frames), Values: []int64{n, n * 1e7}})
				}
			}
			if got := singleGoroutine(m, "main", []string{"main"}); got != c.want {
				t.Errorf("alone(%d of main, %d of another) = %v, want %v", c.main, c.other, got, c.want)
			}
		})
	}
}
