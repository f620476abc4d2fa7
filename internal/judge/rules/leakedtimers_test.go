package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Callers that make as many contexts as each other stand in the order of their
// names, files and lines; those that make more stand first.
func TestDeadlineCallers(t *testing.T) {
	for _, c := range []struct {
		lines string
		want  []string
	}{
		{"b main.b@a.go:1 20\na main.a@b.go:9 20\nmost main.z@z.go:9 30", []string{"main.z z.go:9", "main.a b.go:9", "main.b a.go:1"}},
		{"b main.a@b.go:1 20\na main.a@a.go:9 20", []string{"main.a a.go:9", "main.a b.go:1"}},
		{"b main.a@a.go:7 20\na main.a@a.go:12 20", []string{"main.a a.go:7", "main.a a.go:12"}},
	} {
		var evidence string
		for at := range strings.SplitSeq(c.lines, "\n") {
			var name, place string
			var n int
			if _, err := fmt.Sscan(at, &name, &place, &n); err != nil {
				t.Fatal(err)
			}
			evidence += fmt.Sprintf("stack %s context.WithTimeout < %s\nalloc stack=%s objects=%d bytes=1MiB\n", name, place, name, n)
		}
		places, source := deadlineCallers(passOf(t, leakedtimers, evidence))
		var got []string
		for _, p := range places {
			got = append(got, fmt.Sprintf("%s %s:%d", p.Function, p.File, p.Line))
		}
		if !slices.Equal(got, c.want) || source != "allocs profile" {
			t.Errorf("deadlineCallers() = %q of the %s, want %q", got, source, c.want)
		}
	}
}
