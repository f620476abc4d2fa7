package rules

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/model"
)

// Callers of one function that make as many deadlines stand in the order of their lines, in each run.
func TestDeadlineCallersInOrder(t *testing.T) {
	p := passOf(t, leakedtimers, each(12, 15, func(i int) string {
		return fmt.Sprintf("stack c%[1]d context.WithTimeout@context.go:704 < database/sql.(*DB).QueryContext@sql.go:1859 < main.alpha@z.go:%[1]d\n"+
			"alloc stack=c%[1]d objects=%[2]d bytes=1MiB", i, min(1, i-12)) // a sample of nothing was seen once, too
	}))
	p.Model.Heap.Samples = append(p.Model.Heap.Samples, model.Sample{Values: []int64{1},
		Stack: p.Model.Stacks.Add([]model.Frame{{Func: "context.WithTimeout"}, {Func: "main.beta", File: "a.go", Line: 1}})})
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
