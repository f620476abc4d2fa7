package diagnosis

import (
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
		t.Errorf("without a benchmark there is an operation: %+v", o)
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
		t.Errorf("of two benchmarks there is an operation: %+v", o)
	}
}
