package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The line that grew most is the first; lines that grew alike are in the order of their functions,
// and in one function in that of the file.
func TestCourses(t *testing.T) {
	m := &model.Model{}
	types := []model.ValueType{{Name: "inuse_objects"}, {Name: "inuse_space"}}
	for i := range 3 {
		m.HeapCourse = append(m.HeapCourse, &model.Profile{Types: types, At: time.Duration(i) * time.Second, Known: i != 1})
	}
	add := func(function string, line int, first, last int64) {
		stack := m.Stacks.Add([]model.Frame{{Func: function, File: "main.go", Line: line}})
		for look, bytes := range []int64{first, 9, last} {
			m.HeapCourse[look].Samples = append(m.HeapCourse[look].Samples, model.Sample{Stack: stack, Values: []int64{1, bytes}})
		}
	}
	add("main.b", 1, 10, 20)
	add("main.a", 7, 10, 20)
	add("main.a", 3, 10, 20)
	add("main.large", 5, 80, 80)
	add("main.grows", 9, 0, 50)
	var lines []int
	list := Courses(passOf(m))
	for _, c := range list {
		lines = append(lines, c.Place.Line)
	}
	if want := []int{9, 3, 7, 1, 5}; !slices.Equal(lines, want) {
		t.Fatalf("Courses() are of the lines %v, want %v", lines, want)
	}
	if want := (model.Series{{At: 0, Value: 10}, {At: 2 * time.Second, Value: 20}}); !slices.Equal(list[1].Bytes, want) {
		t.Errorf("Courses() has %v of a line, want %v: a look that is not known is none", list[1].Bytes, want)
	}
	if want := (model.Series{{At: 0, Value: 1}, {At: 2 * time.Second, Value: 1}}); !slices.Equal(list[1].Objects, want) || len(list[1].Stacks) != 1 {
		t.Errorf("Courses() has objects %v of %d stacks, want %v of one", list[1].Objects, len(list[1].Stacks), want)
	}
}
