package flame

import (
	"reflect"
	"testing"
)

func TestFocus(t *testing.T) {
	m := profileOf("main;a;f;x 10", "main;b;f;y 20", "main;b;f;g;f;x 5", "main;c 40", "f 1")
	whole := build(t, m, Options{Kind: "cpu"})
	for _, c := range []struct {
		name  string
		match func(string) bool
		want  map[string]int64
	}{
		{"from wherever it is called, the outermost of several", func(f string) bool { return f == "f" },
			map[string]int64{"": 36, "/f": 36, "/f/x": 10, "/f/y": 20, "/f/g": 5, "/f/g/f": 5, "/f/g/f/x": 5}},
		{"two functions", func(f string) bool { return f == "c" || f == "a" },
			map[string]int64{"": 50, "/c": 40, "/a": 10, "/a/f": 10, "/a/f/x": 10}},
		{"a leaf", func(f string) bool { return f == "y" }, map[string]int64{"": 20, "/y": 20}},
		{"all", func(string) bool { return true }, paths(whole)},
		{"none", func(string) bool { return false }, map[string]int64{"": 0}},
	} {
		tree := Focus(whole, c.match)
		if got := paths(tree); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if tree.Total > 0 {
			check(t, tree, true)
		}
	}
}
