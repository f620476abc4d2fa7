package rules

import (
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestEquivalents: each pattern that was measured has words, once, and the page names it.
func TestEquivalents(t *testing.T) {
	seen := map[model.Pattern]bool{}
	for _, e := range equivalents {
		figure, ok := measuredAs(e.pattern)
		switch {
		case !ok || figure.ratio <= 1 || figure.input == "":
			t.Errorf("%s: measured is %+v", e.pattern, figure)
		case seen[e.pattern] || e.work == "" || e.text == "" || e.checked == "":
			t.Errorf("%s is there twice, or has no words", e.pattern)
		case !strings.Contains(needlessworkPage, string(e.pattern)):
			t.Errorf("the page does not name %s", e.pattern)
		}
		seen[e.pattern] = true
	}
	for _, f := range patternFigures {
		if !seen[f.pattern] {
			t.Errorf("%s has no words", f.pattern)
		}
	}
}
