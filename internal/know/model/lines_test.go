package model

import (
	"testing"
	"time"
)

// Every sample is of one line or of none, a line that calls itself counts once, and the
// names of generic functions are the same in all profiles.
func TestLines(t *testing.T) {
	var m Model
	at := func(function string, line int) Frame { return Frame{Func: function, File: "a.go", Line: line} }
	std := Frame{Func: "strings.Repeat", File: "strings.go", Line: 9}
	walk := at("main.walk", 5)
	generic, shape := at("example.com/set.Add[...]", 7), at("example.com/set.Add[go.shape.string]", 7)
	samples := func(types []ValueType, of ...[]Frame) *Profile {
		p := &Profile{Types: types}
		for i, frames := range of {
			values := make([]int64, len(types))
			for j := range values {
				values[j] = int64(i+1) * 10
			}
			p.Samples = append(p.Samples, Sample{Stack: m.Stacks.Add(frames), Values: values})
		}
		return p
	}
	m.CPU = samples([]ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		[]Frame{std, walk, walk, at("main.main", 1)},                       // 10
		[]Frame{generic, walk, at("main.main", 1)},                         // 20
		[]Frame{{Func: "runtime.gcBgMarkWorker", File: "mgc.go", Line: 1}}) // 30
	m.Heap = samples([]ValueType{{"inuse_objects", "count"}, {"alloc_objects", "count"}, {"alloc_space", "bytes"}},
		[]Frame{std, shape, walk})
	m.Heap.Samples[0].Values = []int64{7, 4, 50}
	list, all := m.Lines()
	want := []LineCost{
		{Line: generic, CPU: 20, Cum: 20, Objects: 4, Bytes: 50},
		{Line: walk, CPU: 10, Cum: 30},
		{Line: at("main.main", 1), Cum: 30},
	}
	if len(list) != len(want) {
		t.Fatalf("%d lines, want %d: %v", len(list), len(want), list)
	}
	var sum time.Duration
	for i, c := range list {
		if c != want[i] {
			t.Errorf("line %d is %+v, want %+v", i, c, want[i])
		}
		sum += c.CPU
	}
	if got, want := all, (LineCost{CPU: 60, Cum: 60, Objects: 4, Bytes: 50}); got != want {
		t.Errorf("all is %+v, want %+v", got, want)
	}
	if runtime := 30 * time.Nanosecond; sum+runtime != all.CPU {
		t.Errorf("the lines have %v and the runtime %v of %v", sum, runtime, all.CPU)
	}
}
