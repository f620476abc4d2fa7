package cpu

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Places of the same cost keep an order that does not depend on a map's.
func TestComparePlaces(t *testing.T) {
	place := func(share float64, function, file string, line int) Line {
		return Line{Place: diagnosis.Place{Function: function, File: file, Line: line}, Share: share}
	}
	sorted := []Line{place(0.5, "b", "b.go", 9), place(0.2, "a", "a.go", 7), place(0.2, "a", "b.go", 3), place(0.2, "a", "b.go", 4), place(0.2, "b", "a.go", 1)}
	for i := range sorted {
		for j := range sorted {
			got, want := compareLines(sorted[i], sorted[j]), i-j
			if got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Errorf("compareLines(%+v, %+v) = %d, want the sign of %d", sorted[i], sorted[j], got, want)
			}
		}
	}
	shuffled := []Line{sorted[3], sorted[1], sorted[4], sorted[0], sorted[2]}
	slices.SortFunc(shuffled, compareLines)
	if !slices.EqualFunc(shuffled, sorted, func(a, b Line) bool { return a.Place == b.Place }) {
		t.Errorf("sorted places %+v, want %+v", shuffled, sorted)
	}
}

// a model of samples: functions with samples of 10 ms each, and the process's own count.
func sampled(user time.Duration, samples map[string]int64) *model.Model {
	m := &model.Model{Run: model.Run{Duration: time.Second, Procs: 2}, Process: &model.Process{Samples: []model.ProcessSample{{}, {At: time.Second, User: user}}}}
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Duration: time.Second}
	for _, stack := range slices.Sorted(maps.Keys(samples)) {
		var frames []model.Frame
		for i, f := range strings.Fields(stack) {
			frames = append(frames, model.Frame{Func: f, File: "main.go", Line: i + 1})
		}
		n := samples[stack]
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: m.Stacks.Add(frames), Values: []int64{n, n * 10e6}})
	}
	return m
}

// Shares are of the CPU that the kernel counted, of which samples may show a part only, and few
// samples are no account.
func TestUseOf(t *testing.T) {
	under := func(frames []model.Frame) bool { return frames[len(frames)-1].Func == "main.a" }
	m := sampled(1600*time.Millisecond, map[string]int64{"runtime.mallocgc main.a": 40, "main.a": 40, "main.b": 80})
	s, ok := UseOf(&diagnosis.Pass{Meter: fact.Meter{Model: m}})
	if !ok || s.Tree != "cpu" || math.Abs(s.InUse().Value-1.6) > 1e-9 {
		t.Fatalf("UseOf() = %v of tree %q, %v; want 1.6 cores of tree cpu", s.InUse().Value, s.Tree, ok)
	}
	if got := s.ShareIn("CPU in a", under); math.Abs(got.Value-0.5) > 1e-9 {
		t.Errorf("ShareIn() = %v, want 0.5", got.Value)
	}
	lines := s.Functions(m, under)
	if len(lines) != 1 || lines[0].Function != "main.a" || math.Abs(lines[0].Share-0.5) > 1e-9 || len(Stacks(lines, MostNamed)) != 2 {
		t.Errorf("Functions() = %v, want both stacks of main.a with half", lines)
	}
	if got := s.CoresOf(s.ShareAt("CPU in it", lines...)); math.Abs(got.Value-0.8) > 1e-9 {
		t.Errorf("CoresOf() = %v, want 0.8", got.Value)
	}
	if _, ok := UseOf(&diagnosis.Pass{Meter: fact.Meter{Model: sampled(time.Second, map[string]int64{"main.a": 3})}}); ok {
		t.Error("UseOf() takes shares from three samples")
	}
	if _, ok := UseOf(&diagnosis.Pass{Meter: fact.Meter{Model: &model.Model{}}}); ok {
		t.Error("UseOf() of nothing is something")
	}
}

// An estimate says what more there is under a function that can be called less.
func TestBeyond(t *testing.T) {
	m := sampled(1600*time.Millisecond, map[string]int64{"runtime.mallocgc main.a main.main": 40, "main.a main.main": 80, "main.main": 40})
	s, ok := UseOf(&diagnosis.Pass{Meter: fact.Meter{Model: m}})
	if !ok {
		t.Fatal("UseOf() has nothing")
	}
	share := s.ShareIn("allocating", func(frames []model.Frame) bool { return frames[0].Func == "runtime.mallocgc" })
	b := EstimateOf(share, s.InUse(), Repairs{0.5, 1.5}, "")
	for function, want := range map[string]bool{"main.a": true, "main.main": false, "main.none": false} {
		got := s.ExtendBound(b, function)
		if says := strings.Contains(got.Along, "75.0% of the CPU is under main.a"); says != want || got.High != b.High || got.Low != b.Low {
			t.Errorf("Beyond(%s) = %g to %g, %q; want %g to %g, and more said: %v", function, got.Low, got.High, got.Along, b.Low, b.High, want)
		}
	}
	b.High = 1.5 // as much as all of it
	if got := s.ExtendBound(b, "main.a"); got.Along != "" {
		t.Errorf("Beyond() of an estimate that has all of it says %q", got.Along)
	}
}

// What the program does is a benchmark when most of its CPU is under one.
func TestBenchmarks(t *testing.T) {
	for under, want := range map[int64]bool{70: false, 90: true} {
		m := sampled(1600*time.Millisecond, map[string]int64{"main.a testing.(*B).runN": under, "main.b": 160 - under})
		if got := Benchmarks(&diagnosis.Pass{Meter: fact.Meter{Model: m}}); got != want {
			t.Errorf("Benchmarks() with %d of 160 samples = %v, want %v", under, got, want)
		}
	}
}
