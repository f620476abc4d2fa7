package rules

import (
	"fmt"
	"slices"
	"testing"
)

// Callers of one function that make as many deadlines stand in the order of their lines, in each run.
func TestDeadlineCallersInOrder(t *testing.T) {
	p := passOf(t, leakedtimers, each(12, 15, func(i int) string {
		return fmt.Sprintf("stack c%[1]d context.WithTimeout@context.go:704 < main.alpha@z.go:%[1]d\nalloc stack=c%[1]d objects=100 bytes=1MiB", i)
	}))
	for range 20 { // the order of a map is another each time
		var got []int
		places, source := deadlineCallers(p)
		for _, place := range places {
			got = append(got, place.Line)
		}
		if want := []int{12, 13, 14}; !slices.Equal(got, want) || source != "allocs profile" {
			t.Fatalf("deadlineCallers() = lines %d of the %s, want %d", got, source, want)
		}
	}
}
