package model

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestTableShares(t *testing.T) {
	table := NewTable(Table{Total: 200, Functions: []TableFunction{
		{Func: "main.b", File: "b.go", Flat: 10, Cum: 60}, {Func: "main.a", File: "a.go", Flat: 30, Cum: 60}, {Func: "main.main", Cum: 150},
	}})
	for _, tt := range []struct{ part, want float64 }{{50, 0.25}, {200, 1}, {500, 1}, {-5, 0}} {
		if got := table.Share(tt.part); got != tt.want {
			t.Errorf("Share(%v) = %v, want %v", tt.part, got, tt.want)
		}
	}
	if got := new(Table).Share(5); got != 0 {
		t.Errorf("Share(5) of no total = %v, want 0", got)
	}
	if got := (&Table{Total: -4}).Share(-2); got != 0 {
		t.Errorf("Share(-2) of a total below 0 = %v, want 0", got)
	}
	if got := table.Shown(); got != 0.2 {
		t.Errorf("Shown() = %v, want 0.2: 40 of 200", got)
	}
	if got := table.Most(func(f string) bool { return f != "main.main" }); got == nil || got.Func != "main.a" {
		t.Errorf("Most(not main.main) = %+v, want main.a", got)
	}
	if got := table.Most(func(f string) bool { return f == "a.go" }); got != nil {
		t.Errorf("Most(a.go) = %+v, want nil: it is no function", got)
	}
}

// Functions with most under them come first, those with most of their own of equal ones, and
// else the names decide.
func TestNewTable(t *testing.T) {
	table := NewTable(Table{Functions: []TableFunction{
		{Func: "d", File: "2", Cum: 5, Flat: 2}, {Func: "f", Cum: 5, Flat: 3}, {Func: "e", File: "1", Cum: 5, Flat: 2},
		{Func: "c", File: "3", Cum: 5, Flat: 2},
		{Func: "a", Cum: 4, Flat: 4}, {Func: "z", Cum: 7},
	}})
	var got []string
	for _, f := range table.Functions {
		got = append(got, f.Func)
	}
	if want := "z f c d e a"; strings.Join(got, " ") != want {
		t.Errorf("NewTable(…) has %v, want %v", got, want)
	}
}

func TestTableAround(t *testing.T) {
	table := Table{Functions: []TableFunction{
		{Func: "runtime.main", Cum: 1000}, {Func: "main.more", Cum: 1006}, {Func: "main.above", Cum: 1004, File: "runtime.x"}, {Func: "main.same", Cum: 1000},
		{Func: "main.leaf", Cum: 1000}, {Func: "main.below", Cum: 996}, {Func: "main.less", Cum: 994}, {Func: "nodot", Cum: 1000},
	}}
	var got []string
	for _, f := range table.Around(&table.Functions[4]) {
		got = append(got, f.Func)
	}
	if want := "main.above main.same main.below"; strings.Join(got, " ") != want {
		t.Errorf("Around(main.leaf) = %v, want %v", got, want)
	}
}

func TestTableJoin(t *testing.T) {
	cpu := ValueType{"cpu", "nanoseconds"}
	callers, others := []TableCaller{{"main.main", 4}}, []TableCaller{{"main.other", 3}}
	table := func() *Table {
		return &Table{Source: CPU, Type: cpu, Total: 1000, Duration: 5 * time.Second, Functions: []TableFunction{
			{Func: "main.a", File: "a.go", Line: 4, Flat: 5, Cum: 90, Callers: callers}, {Func: "main.b", Flat: 30, Cum: 80},
		}}
	}
	got := table()
	other := &Table{Source: CPU, Type: cpu, Total: 1004, Duration: 8 * time.Second, Functions: []TableFunction{
		{Func: "main.c", File: "c.go", Line: 1, Cum: 85}, {Func: "main.b", File: "b.go", Line: 7, Flat: 20, Cum: 95, Callers: others},
		{Func: "main.a", File: "z.go", Line: 9, Flat: 6, Cum: 70, Callers: others},
	}}
	want := &Table{Source: CPU, Type: cpu, Total: 1000, Duration: 8 * time.Second, Functions: []TableFunction{
		{Func: "main.b", File: "b.go", Line: 7, Flat: 30, Cum: 95, Callers: others},
		{Func: "main.a", File: "a.go", Line: 4, Flat: 6, Cum: 90, Callers: callers},
		{Func: "main.c", File: "c.go", Line: 1, Cum: 85},
	}}
	if ok := got.Join(other); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("Join(…) = %v,\n%+v, want true,\n%+v", ok, got, want)
	}
	for name, tt := range map[string]struct {
		o    Table
		want bool
	}{
		"another source":    {Table{Source: Wall, Type: cpu, Total: 1000}, false},
		"another type":      {Table{Source: CPU, Type: ValueType{"samples", "count"}, Total: 1000}, false},
		"less in all":       {Table{Source: CPU, Type: cpu, Total: 994}, false},
		"more in all":       {Table{Source: CPU, Type: cpu, Total: 1006}, false},
		"a little less":     {Table{Source: CPU, Type: cpu, Total: 996}, true},
		"exactly as little": {Table{Source: CPU, Type: cpu, Total: 995}, true},
	} {
		left := table()
		if got := left.Join(&tt.o); got != tt.want {
			t.Errorf("Join(a table of %s) = %v, want %v", name, got, tt.want)
		}
		if !reflect.DeepEqual(left, table()) {
			t.Errorf("Join(a table of %s) leaves %+v, want it as it was", name, left)
		}
	}
}
