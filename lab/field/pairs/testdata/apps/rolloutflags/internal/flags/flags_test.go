package flags

import "testing"

func TestOn(t *testing.T) {
	for _, shared := range []bool{false, true} {
		s := NewSet(shared)
		s.Turn("all", Rollout{Percent: 100})
		s.Turn("none", Rollout{Percent: 0})
		if !s.On("all", "ada") || s.On("none", "ada") || s.On("unknown", "ada") {
			t.Errorf("shared %v: all %v, none %v, unknown %v", shared, s.On("all", "ada"), s.On("none", "ada"), s.On("unknown", "ada"))
		}
		before := s.View()
		s.Turn("none", Rollout{Percent: 100})
		if before["none"].Percent != 0 || !s.On("none", "ada") {
			t.Errorf("shared %v: a view changed, or a flag did not", shared)
		}
	}
}
