package rules

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Somebody is stuck after a minute at one place, or a second in which it was watched and made no step.
func TestStuck(t *testing.T) {
	for _, c := range []struct {
		waited, watched time.Duration
		still           int64
		want            bool
	}{
		{time.Minute, 0, 0, true}, {time.Minute - 1, 0, 0, false},
		{0, time.Second, 2, true}, {0, time.Second, 1, false}, {0, time.Second - 1, 2, false},
	} {
		if got := stuck(&model.Moment{Watched: c.watched}, &model.Standing{Count: 2, Waited: c.waited, Still: c.still}); got != c.want {
			t.Errorf("stuck() after %v, %d of two still in %v = %v, want %v", c.waited, c.still, c.watched, got, c.want)
		}
	}
	if stuck(&model.Moment{}) {
		t.Error("stuck() of nobody, want false")
	}
}

// The stacks of a mutex profile are in the order of the delays behind them; one without any is left out.
func TestMutexStacks(t *testing.T) {
	m := &model.Model{Mutex: &model.Profile{Types: []model.ValueType{{Name: "contentions"}, {Name: "delay"}}}}
	add := func(function string, delay int64) model.Stack {
		stack := m.Stacks.Add([]model.Frame{{Func: function, File: "main.go", Line: 3}})
		m.Mutex.Samples = append(m.Mutex.Samples, model.Sample{Stack: stack, Values: []int64{9, delay}})
		return stack
	}
	short, long := add("main.short", 10), add("main.long", 30)
	add("main.never", 0)
	if got := mutexStacks(&diagnosis.Pass{Meter: fact.Meter{Model: m}}); len(got) != 2 || got[0] != long || got[1] != short {
		t.Errorf("mutexStacks() = %v, want %v and %v", got, long, short)
	}
}
