package diagnosis

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// One benchmark has an account of its operation, whose lines are parts of it; several have
// none, and what is no benchmark neither.
func TestOperationOf(t *testing.T) {
	var m model.Model
	stack := func(function string, line int) model.Stack {
		return m.Stacks.Add([]model.Frame{{Func: function, File: "a.go", Line: line}})
	}
	m.Run.Duration = time.Second
	cpu := []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}
	m.CPU = &model.Profile{Types: cpu, Known: true, Duration: time.Second, Samples: []model.Sample{
		{Stack: stack("main.parse", 7), Values: []int64{75, 750e6}}, {Stack: stack("main.read", 3), Values: []int64{24, 240e6}},
		{Stack: stack("main.rare", 4), Values: []int64{1, 10e6}}}}
	if o := operationOf(&m); o != nil {
		t.Errorf("operationOf() without a benchmark = %+v, want nil", o)
	}
	bench := func(name string, ns, allocs float64) model.Benchmark {
		return model.Benchmark{Name: name, N: 1, Values: map[string]float64{"ns/op": ns, "allocs/op": allocs, "B/op": 64 * allocs}}
	}
	m.Load = &model.Load{Benchmarks: []model.Benchmark{bench("BenchmarkA-2", 900, 2), bench("BenchmarkA-2", 1100, 4)}}
	o := operationOf(&m)
	if o == nil || o.Benchmark != "BenchmarkA-2" || o.CPUNS != 1000 || o.Objects != 3 || o.Bytes != 192 {
		t.Fatalf("operation %+v, want 1000 ns with 3 objects of 192 bytes of BenchmarkA-2", o)
	}
	if len(o.Lines) != 2 || o.Lines[0].Where.Function != "main.parse" || o.Lines[0].CPUNS != 750 || o.Lines[1].CPUNS != 240 {
		t.Errorf("lines %+v, want main.parse with 750 ns and main.read with 240 ns", o.Lines)
	}
	m.Load.Benchmarks[1].Name = "BenchmarkB-2"
	if o := operationOf(&m); o != nil {
		t.Errorf("operationOf() of two benchmarks = %+v, want nil", o)
	}
}

// TestOperationLines has what a line costs by itself and with what it calls, and what it
// allocates; small ones and those beyond the first five are left out.
func TestOperationLines(t *testing.T) {
	var m model.Model
	m.Run.Duration = time.Second
	m.CPU = profileOf(&m, cpuTypes, part{"main.leaf@leaf.go:3 main.root@root.go:7", []int64{40, 400e6}}, part{"main.root@root.go:7", []int64{1, 10e6}}, part{"strings.Index main.two@two.go:2", []int64{20, 200e6}},
		part{"main.three@three.go:1", []int64{10, 100e6}}, part{"main.four@four.go:1", []int64{9, 90e6}}, part{"main.five@five.go:1", []int64{5, 50e6}}, part{"main.six@six.go:1", []int64{4, 40e6}},
		part{"runtime.gcBgMarkWorker", []int64{11, 110e6}})
	m.CPU.Duration, m.CPU.Known = time.Second, true
	m.Heap = profileOf(&m, heapTypes, part{"main.leaf@leaf.go:3", []int64{3000, 96000, 1, 1}}, part{"runtime.mallocgc main.two@two.go:2", []int64{2000, 32000, 1, 1}})
	m.Load = &model.Load{Benchmarks: []model.Benchmark{{Name: "BenchmarkA-2", N: 1000, Values: map[string]float64{"ns/op": 1e6}}}}
	want := &Operation{Benchmark: "BenchmarkA-2", CPUNS: 1e6, Objects: 5, Bytes: 128, Lines: []OperationLine{
		{Where: Place{"main.leaf", "leaf.go", 3}, CPUNS: 400_000, CumNS: 400_000, Objects: 3, Bytes: 96},
		{Where: Place{"main.two", "two.go", 2}, CPUNS: 200_000, CumNS: 200_000, Objects: 2, Bytes: 32},
		{Where: Place{"main.three", "three.go", 1}, CPUNS: 100_000, CumNS: 100_000},
		{Where: Place{"main.four", "four.go", 1}, CPUNS: 90_000, CumNS: 90_000},
		{Where: Place{"main.five", "five.go", 1}, CPUNS: 50_000, CumNS: 50_000},
	}}
	if got := rounded(operationOf(&m)); !reflect.DeepEqual(got, want) {
		t.Errorf("operationOf() = %+v, want %+v", got, want)
	}
	// Three in a hundred are a line, and one in a hundred is none, whatever it calls. The benchmark's
	// own count goes before the profile's.
	m.CPU.Samples = profileOf(&m, cpuTypes, part{"main.leaf@leaf.go:3 main.root@root.go:7", []int64{96, 960e6}}, part{"main.root@root.go:7", []int64{1, 10e6}}, part{"main.six@six.go:1 main.leaf@leaf.go:3", []int64{3, 30e6}}).Samples
	m.Load.Benchmarks[0].Values["allocs/op"], m.Load.Benchmarks[0].Values["B/op"] = 7, 0
	want = &Operation{Benchmark: "BenchmarkA-2", CPUNS: 1e6, Objects: 7, Lines: []OperationLine{
		{Where: Place{"main.leaf", "leaf.go", 3}, CPUNS: 960_000, CumNS: 990_000, Objects: 3, Bytes: 96},
		{Where: Place{"main.six", "six.go", 1}, CPUNS: 30_000, CumNS: 30_000},
	}}
	if got := rounded(operationOf(&m)); !reflect.DeepEqual(got, want) {
		t.Errorf("operationOf() = %+v, want %+v", got, want)
	}
}

// rounded drops what floating-point sums are off by.
func rounded(o *Operation) *Operation {
	for i := range o.Lines {
		l := &o.Lines[i]
		l.CPUNS, l.CumNS, l.Objects, l.Bytes = math.Round(l.CPUNS), math.Round(l.CumNS), math.Round(l.Objects), math.Round(l.Bytes)
	}
	return o
}
