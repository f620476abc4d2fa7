package flame

import (
	"reflect"
	"testing"
)

// Two trees give the one that all their stacks would.
func TestMerge(t *testing.T) {
	f := func(name string) Func { return Func{Name: name} }
	a := &Tree{Kind: "cpu", Unit: "nanoseconds", Total: 30, Funcs: []Func{f("main"), f("a"), f("b")},
		Parent: []int32{-1, 0, 1, 1}, Func: []int32{-1, 0, 1, 2}, Line: []int32{0, 10, 11, 12}, Self: []int64{0, 0, 20, 10}, Sum: []int64{30, 30, 20, 10}, Ratio: 1}
	b := &Tree{Kind: "cpu", Unit: "nanoseconds", Total: 50, Funcs: []Func{f("b"), f("main"), f("c")},
		Parent: []int32{-1, 0, 1, 0}, Func: []int32{-1, 1, 0, 2}, Line: []int32{0, 20, 21, 22}, Self: []int64{0, 5, 40, 5}, Sum: []int64{50, 45, 40, 5}, Ratio: 1, LeftNodes: 3}
	want := &Tree{Kind: "cpu", Unit: "nanoseconds", Total: 80, Funcs: []Func{f("main"), f("a"), f("b"), f("c")},
		Parent: []int32{-1, 0, 1, 1, 0}, Func: []int32{-1, 0, 2, 1, 3}, Line: []int32{0, 20, 21, 11, 22}, Self: []int64{0, 5, 50, 20, 5}, Sum: []int64{80, 75, 50, 20, 5}, Ratio: 1, LeftNodes: 3}
	if got := Merge([]*Tree{a, b}); !reflect.DeepEqual(got, want) {
		t.Errorf("Merge() = %+v,\nwant %+v", got, want)
	}
	if got := Merge([]*Tree{a}); !reflect.DeepEqual(got, a) {
		t.Errorf("Merge() of one = %+v, want it as it is", got)
	}
	if Merge(nil) != nil {
		t.Error("no trees give a tree")
	}
}
