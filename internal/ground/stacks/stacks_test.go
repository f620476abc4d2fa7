package stacks

import (
	"testing"

	"github.com/google/pprof/profile"
)

// TestWriter holds that the profile is valid, with each function and place once.
func TestWriter(t *testing.T) {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	w := NewWriter(p)
	frames := []Frame{{Func: "main.f", File: "a.go", Line: 1}, {Func: "main.f", File: "a.go", Line: 2}, {PC: 7}, {Func: "main.f", File: "b.go", Line: 1}}
	for range 2 {
		s := &profile.Sample{Value: []int64{1}}
		for _, f := range frames {
			s.Location = append(s.Location, w.Location(f))
		}
		p.Sample = append(p.Sample, s)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	if len(p.Location) != 4 || len(p.Function) != 2 {
		t.Errorf("%d locations of %d functions, want 4 of 2", len(p.Location), len(p.Function))
	}
	if l := w.Location(frames[2]); l.Address != 7 || len(l.Line) != 0 {
		t.Errorf("a frame without a function is %+v, want its address alone", l)
	}
}
