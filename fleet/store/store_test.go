package store

import "testing"

// TestIDOf holds that stacks which differ in anything have different IDs, which any
// engine's integers hold.
func TestIDOf(t *testing.T) {
	f := func(function, file string, line int32) *Frame { return &Frame{function, file, line} }
	stacks := [][]*Frame{
		{f("a", "x.go", 1)}, {f("a", "x.go", 2)}, {f("ax", ".go", 1)}, {f("b", "x.go", 1)}, {f("", "", 0)}, {f("a", "x.go", -1)},
		{f("a", "x.go", 1), f("b", "x.go", 1)}, {f("b", "x.go", 1), f("a", "x.go", 1)},
		{f("a", "x.go", 1), f("a", "x.go", 1)}, {f("a", "x.go", 1), f("a", "x.go", 1), f("a", "x.go", 1)},
	}
	seen := map[StackID]int{IDOf(nil): -1}
	for i, s := range stacks {
		id := IDOf(s)
		if id <= 0 {
			t.Errorf("stack %d has ID %d", i, id)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("stacks %d and %d have the same ID", i, other)
		}
		seen[id] = i
	}
	if IDOf(nil) != 0 {
		t.Error("a stack without frames has an ID")
	}
	// Others keep these numbers: they must not change.
	if got := IDOf(stacks[6]); got != 6594126402587442773 {
		t.Errorf("the ID of a stack became %d", got)
	}
}
