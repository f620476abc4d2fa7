package rules

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// TestEscapeWords: a finding about allocations repeats what the compiler said
// of its own lines, and counts by operation. Neither is in a golden.
func TestEscapeWords(t *testing.T) {
	_, cases := readFixtures(t, "testdata/allocchurn.txt")
	i := slices.IndexFunc(cases, func(c *fixture) bool { return strings.HasPrefix(c.story, "the compiler says why") })
	d := diagnosis.Run(cases[i].model, []*diagnosis.Rule{allocchurn}, diagnosis.Options{})
	f := d.Findings[0]
	if want := "The compiler says: geo.go:40 &record{...} escapes to the heap."; !strings.Contains(f.Remedy.Text, want) {
		t.Errorf("remedy %q does not contain %q", f.Remedy.Text, want)
	}
	for _, no := range []string{"other", "gcflags"} {
		if strings.Contains(f.Remedy.Text, no) {
			t.Errorf("remedy %q contains %q", f.Remedy.Text, no)
		}
	}
	each := -1.0
	for _, e := range f.Evidence {
		if strings.HasPrefix(e.Name, "objects allocated for each") {
			each = e.Value
		}
	}
	if math.Abs(each-184) > 0.01 { // 9,200,000 objects, 50,000 operations
		t.Errorf("%v objects for each operation, want 184", each)
	}
}
