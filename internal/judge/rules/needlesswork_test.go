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
			t.Errorf("measuredAs(%s) = ratio %v of %q, %v, want above 1, of some input, true",
				e.pattern, figure.ratio, figure.input, ok)
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

// Reasons of one kind in one function are one group, wherever they stand.
func TestReasonGroups(t *testing.T) {
	groups := reasonGroups([]model.Reason{
		{Pattern: model.ConcatLoop, Func: "main.join", File: "main.go", Line: 7},
		{Pattern: model.ConcatLoop, Func: "main.list", File: "main.go", Line: 20},
		{Pattern: model.SearchInLoop, Func: "main.join", File: "main.go", Line: 8},
		{Pattern: model.ConcatLoop, Func: "main.join", File: "main.go", Line: 9},
	})
	if len(groups) != 3 || len(groups[0]) != 2 || groups[0][1].Line != 9 || groups[1][0].Func != "main.list" || groups[2][0].Pattern != model.SearchInLoop {
		t.Errorf("reasonGroups() = %v, want two of main.join, one of main.list and one of the search", groups)
	}
}
