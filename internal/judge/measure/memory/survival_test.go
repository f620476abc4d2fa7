package memory

import (
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// What most objects of a line are still there at the end is kept; a line that makes a slice anew as
// it grows keeps the last and largest of them.
func TestGrownPlaces(t *testing.T) {
	m := &model.Model{}
	types := []model.ValueType{{Name: "alloc_objects"}, {Name: "alloc_space"}, {Name: "inuse_objects"}, {Name: "inuse_space"}}
	m.Heap, m.LiveHeap.Start, m.LiveHeap.End = &model.Profile{Types: types}, &model.Profile{Types: types}, &model.Profile{Types: types}
	add := func(function string, objects, bytes, liveObjects, liveBytes int64) {
		stack := m.Stacks.Add([]model.Frame{{Func: function, File: "main.go", Line: 7}})
		m.Heap.Samples = append(m.Heap.Samples, model.Sample{Stack: stack, Values: []int64{objects, bytes, 0, 0}})
		m.LiveHeap.End.Samples = append(m.LiveHeap.End.Samples, model.Sample{Stack: stack, Values: []int64{0, 0, liveObjects, liveBytes}})
	}
	add("main.keeps", 1000, 1000, 900, 900)
	add("main.serves", 100_000, 100_000, 300, 300)
	add("main.appends", 64, 2000, 1, 1000)
	grown := map[string]float64{}
	for _, g := range GrowingLines(passOf(m), true) {
		grown[g.Place.Function] = g.Bytes
	}
	if len(grown) != 2 || grown["main.keeps"] != 900 || grown["main.appends"] != 1000 {
		t.Errorf("GrownPlaces() of survivors = %v, want 900 of main.keeps and 1000 of main.appends", grown)
	}
	if got := RetainedGrowth(passOf(m)); got != 1900 {
		t.Errorf("KeptGrowth() = %v, want 1900", got)
	}
	if got := GrowingLines(passOf(m), false); len(got) != 3 {
		t.Errorf("GrownPlaces() of all = %v, want three", got)
	}
	// What grew alike is in the order of its functions, wherever these are.
	m.LiveHeap.End.Samples = nil
	for _, name := range []string{"d", "b", "e", "a", "c", "f"} {
		stack := m.Stacks.Add([]model.Frame{{Func: "main." + name, File: "g.go", Line: 7}})
		m.LiveHeap.End.Samples = append(m.LiveHeap.End.Samples, model.Sample{Stack: stack, Values: []int64{0, 0, 100, 100}})
	}
	if got := GrowingLines(passOf(m), false); len(got) != 3 || got[0].Place.Function != "main.a" || got[1].Place.Function != "main.b" || got[2].Place.Function != "main.c" {
		t.Errorf("GrownPlaces() of what grew alike = %v, want main.a, main.b and main.c", got)
	}
	if got := RetainedGrowth(passOf(m)); got != 600 {
		t.Errorf("KeptGrowth() of six lines, of which three are named = %v, want 600", got)
	}
	m.LiveHeap.Start = nil
	if got := GrowingLines(passOf(m), true); got != nil {
		t.Errorf("GrownPlaces() with one profile = %v, want none", got)
	}
}
