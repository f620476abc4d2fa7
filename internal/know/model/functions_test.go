package model

import (
	"reflect"
	"testing"
	"time"
)

// pieces makes a profile of stacks, given by names, whose second column has the values.
func pieces(m *Model, types []ValueType, column int, stacks ...any) *Profile {
	p := &Profile{Types: types}
	for i := 0; i < len(stacks); i += 2 {
		values := make([]int64, len(types))
		values[column] = int64(stacks[i+1].(int))
		var fs []Frame
		for _, f := range frames(stacks[i].(string)) {
			fs = append(fs, Frame{Func: f.Func, File: "x.go", Line: 3})
		}
		p.Samples = append(p.Samples, Sample{Stack: m.Stacks.Add(fs), Values: values})
	}
	return p
}

// Each function has what was sampled in it and what was under it, once for each sample, however
// often it is on the stack; and what has most comes first.
func TestFunctions(t *testing.T) {
	m := &Model{}
	m.CPU = pieces(m, []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}, 1,
		"f.a[int] m.r m.r m.x m.main", 50, "m.r m.main", 40, "f.a[string] m.main", 10, "f.c m.y m.main", 45, "f.d m.y m.main", 35)
	m.Heap = pieces(m, []ValueType{{"alloc_objects", "count"}, {"alloc_space", "bytes"}}, 1,
		"h.a h.r h.r h.u", 700, "h.b h.v", 600, "h.b h.w", 650, "h.d h.t", 500, "h.c h.t", 500)
	m.Heap.Duration = time.Second
	m.LiveHeap.End = pieces(m, []ValueType{{"inuse_objects", "count"}, {"inuse_space", "bytes"}}, 1,
		"i.a i.r i.r", 8000, "i.b i.r", 9000)
	want := []FunctionCost{
		{Name: "f.a[...]", CPU: 60, CumCPU: 60}, {Name: "f.c", CPU: 45, CumCPU: 45}, {Name: "m.r", CPU: 40, CumCPU: 90},
		{Name: "f.d", CPU: 35, CumCPU: 35}, {Name: "m.main", CumCPU: 180}, {Name: "m.y", CumCPU: 80}, {Name: "m.x", CumCPU: 50},
		{Name: "i.b", InUse: 9000, CumInUse: 9000}, {Name: "i.a", InUse: 8000, CumInUse: 8000},
		{Name: "h.b", Bytes: 1250, CumBytes: 1250}, {Name: "h.a", Bytes: 700, CumBytes: 700}, {Name: "h.c", Bytes: 500, CumBytes: 500},
		{Name: "h.d", Bytes: 500, CumBytes: 500}, {Name: "h.t", CumBytes: 1000}, {Name: "h.r", CumBytes: 700}, {Name: "h.u", CumBytes: 700},
		{Name: "h.w", CumBytes: 650}, {Name: "h.v", CumBytes: 600}, {Name: "i.r", CumInUse: 17000},
	}
	for range 5 { // the functions come from a map, in any order
		got, all := m.Functions()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Functions() =\n%+v, want\n%+v", got, want)
		}
		if want := (FunctionCost{CPU: 180, CumCPU: 180, Bytes: 2950, CumBytes: 2950, InUse: 17000, CumInUse: 17000}); all != want {
			t.Errorf("Functions() has %+v in all, want %+v", all, want)
		}
	}
	if got, all := new(Model).Functions(); got != nil || all != (FunctionCost{}) {
		t.Errorf("Functions() without samples = %v, %v, want none", got, all)
	}
}

// Functions of as much CPU are told apart by what is under them, and by what they hold, before
// by what they allocated.
func TestFunctionsInOrder(t *testing.T) {
	m := &Model{}
	m.CPU = pieces(m, []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}, 1,
		"a m.q", 10, "b m.q", 10, "c m.q", 10, "d", 10, "a", 0, "leaf c", 3, "leaf d", 4, "leaf e", 3)
	m.Heap = pieces(m, []ValueType{{"alloc_objects", "count"}, {"alloc_space", "bytes"}}, 1, "a", 70, "b", 40, "z d", 90, "z e", 95, "z a", 90)
	m.Heap.Duration = time.Second
	m.LiveHeap.End = pieces(m, []ValueType{{"inuse_objects", "count"}, {"inuse_space", "bytes"}}, 1, "b", 5, "w a", 20, "w c", 50)
	want := "d c b a leaf m.q e w z"
	for range 5 {
		list, _ := m.Functions()
		got := ""
		for _, c := range list {
			got += " " + c.Name
		}
		if got != " "+want {
			t.Fatalf("Functions() are%s, want %s", got, want)
		}
	}
}

func TestLinesInOrder(t *testing.T) {
	m := &Model{}
	at := func(function, file string, line int) Frame {
		return Frame{Func: "main." + function, File: file, Line: line}
	}
	add := func(p *Profile, objects, value int64, fs ...Frame) {
		p.Samples = append(p.Samples, Sample{Stack: m.Stacks.Add(fs), Values: []int64{objects, value}})
	}
	m.CPU = &Profile{Types: []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}}
	m.Heap = &Profile{Types: []ValueType{{"alloc_objects", "count"}, {"alloc_space", "bytes"}}}
	add(m.CPU, 9, 40, at("z", "z.go", 1))
	add(m.CPU, 1, 35, at("y", "y.go", 1), at("over", "o.go", 8))
	add(m.CPU, 1, 30, at("x", "x.go", 1), at("above", "o.go", 9))
	add(m.CPU, 1, 30, at("w", "w.go", 1), at("above", "o.go", 9))
	add(m.CPU, 1, 2, at("leaf", "l.go", 1), at("w", "w.go", 1))
	add(m.Heap, 900, 20, at("p", "c.go", 1))
	add(m.Heap, 3, 30, at("q", "b.go", 1))
	add(m.Heap, 50, 20, at("r", "a.go", 1))
	add(m.Heap, 30, 5, at("r", "a.go", 1))
	for _, f := range []Frame{at("s", "a.go", 12), at("s", "b.go", 11), at("s", "a.go", 11), at("s", "b.go", 10), at("t", "a.go", 5),
		at("s", "c.go", 6)} {
		add(m.Heap, 1, 4, f)
	}
	want := []LineCost{
		{Line: at("z", "z.go", 1), CPU: 40, Cum: 40}, {Line: at("y", "y.go", 1), CPU: 35, Cum: 35}, {Line: at("w", "w.go", 1), CPU: 30, Cum: 32},
		{Line: at("x", "x.go", 1), CPU: 30, Cum: 30}, {Line: at("leaf", "l.go", 1), CPU: 2, Cum: 2},
		{Line: at("above", "o.go", 9), Cum: 60}, {Line: at("over", "o.go", 8), Cum: 35},
		{Line: at("q", "b.go", 1), Objects: 3, Bytes: 30}, {Line: at("r", "a.go", 1), Objects: 80, Bytes: 25}, {Line: at("p", "c.go", 1), Objects: 900, Bytes: 20},
		{Line: at("s", "c.go", 6), Objects: 1, Bytes: 4}, {Line: at("s", "b.go", 10), Objects: 1, Bytes: 4}, {Line: at("s", "a.go", 11), Objects: 1, Bytes: 4},
		{Line: at("s", "b.go", 11), Objects: 1, Bytes: 4}, {Line: at("s", "a.go", 12), Objects: 1, Bytes: 4},
		{Line: at("t", "a.go", 5), Objects: 1, Bytes: 4},
	}
	for range 5 { // the lines come from a map, in any order
		got, all := m.Lines()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("Lines() =\n%+v, want\n%+v", got, want)
		}
		if want := (LineCost{CPU: 137, Cum: 137, Objects: 989, Bytes: 99}); all != want {
			t.Errorf("Lines() has %+v in all, want %+v", all, want)
		}
	}
}

// Each function has the line that asks for most, the first of equal ones.
func TestWorks(t *testing.T) {
	m := &Model{}
	m.CPU = &Profile{Types: []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}}
	add := inFunction(m)
	add(30, "main.a", "a.go", 5)
	add(20, "main.a", "a.go", 4)
	add(15, "main.a", "a.go", 4)
	add(30, "main.b", "b.go", 7)
	add(30, "main.b", "b.go", 6)
	add(17, "main.c", "d.go", 2)
	add(17, "main.c", "c.go", 9)
	add(17, "main.c", "c.go", 10)
	add(28, "main.d", "a.go", 1)
	add(28, "main.d", "b.go", 1, "fmt.Sprint")
	add(28, "main.d", "b.go", 1, "sort.Ints")
	add(28, "main.cc", "a.go", 3, "sort.Ints")
	add(50, "main.e", "e.go", 1, "sort.Ints")
	m.CPU.Samples = append(m.CPU.Samples, Sample{Stack: m.Stacks.Add(frames("runtime.gcBgMarkWorker")), Values: []int64{1, 1000}},
		Sample{Stack: m.CPU.Samples[0].Stack, Values: []int64{1}})
	want := []WorkEntry{
		{Computing, Frame{Func: "main.a", File: "a.go", Line: 4}, 65}, {Computing, Frame{Func: "main.b", File: "b.go", Line: 6}, 60},
		{Computing, Frame{Func: "main.c", File: "c.go", Line: 9}, 51}, {Sorting, Frame{Func: "main.e", File: "e.go", Line: 1}, 50},
		{Sorting, Frame{Func: "main.cc", File: "a.go", Line: 3}, 28},
		{Computing, Frame{Func: "main.d", File: "a.go", Line: 1}, 28}, {Formatting, Frame{Func: "main.d", File: "b.go", Line: 1}, 28},
		{Sorting, Frame{Func: "main.d", File: "b.go", Line: 1}, 28},
	}
	for range 5 { // they come from a map, in any order
		got, all := m.Works()
		if !reflect.DeepEqual(got, want) || all != 1338 {
			t.Fatalf("Works() = %d of\n%+v, want 1338 of\n%+v", all, got, want)
		}
	}
	m.CPU.Types = []ValueType{{"alloc_space", "bytes"}}
	if got, all := m.Works(); got != nil || all != 0 {
		t.Errorf("Works() without CPU time = %v, %v, want none", got, all)
	}
	if got, all := new(Model).Works(); got != nil || all != 0 {
		t.Errorf("Works() without samples = %v, %v, want none", got, all)
	}
}

// The account's samples are those of its source, and of no profile of what waits.
func TestBelievedCPU(t *testing.T) {
	b := tally{&Model{}}
	if got := b.BelievedCPU(); got != nil {
		t.Errorf("BelievedCPU() of nothing = %p, want nil", got)
	}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: time.Second})
	if got := b.BelievedCPU(); got != b.CPU {
		t.Errorf("BelievedCPU() = %p, want the profile %p", got, b.CPU)
	}
	b.Kernel = &Kernel{CPU: b.profile(nil, map[string]time.Duration{appStack: time.Second}), Off: &Profile{}}
	if got := b.BelievedCPU(); got != b.Kernel.CPU {
		t.Errorf("BelievedCPU() = %p, want the kernel's %p", got, b.Kernel.CPU)
	}
}

// inFunction returns what adds a sample of a line of the program to a model, below which what it
// calls may be.
func inFunction(m *Model) func(nanos int64, name, file string, line int, below ...string) {
	return func(nanos int64, name, file string, line int, below ...string) {
		var fs []Frame
		for _, f := range below {
			fs = append(fs, Frame{Func: f, PC: 9})
		}
		fs = append(fs, Frame{Func: name, File: file, Line: line, PC: uint64(len(m.CPU.Samples))})
		m.CPU.Samples = append(m.CPU.Samples, Sample{Stack: m.Stacks.Add(fs), Values: []int64{1, nanos}})
	}
}
