package cli

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// TestWithoutFinding: why a rule did not look is a whole sentence, of a source that was not given and of what the rule
// lacks.
func TestWithoutFinding(t *testing.T) {
	for _, c := range []struct{ why, want string }{
		{"needs a trace, which was not given", "heapgrowth did not look at run.gowhy: it needs a trace, which was not given."},
		{"no collection said what is alive", "heapgrowth did not look at run.gowhy: no collection said what is alive."},
	} {
		d := &diagnosis.Diagnosis{Unchecked: []diagnosis.Unchecked{{What: "heapgrowth", Why: c.why, How: "gowhy record", Rules: []string{"heapgrowth"}}}}
		if got, how := withoutFinding(d, "heapgrowth", "run.gowhy"); got != c.want || how != "gowhy record" {
			t.Errorf("withoutFinding() = %q, %q, want %q", got, how, c.want)
		}
	}
}
