package findings

import (
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A history has a letter for each span: . where the service was judged and nothing found,
// x where it had the finding, X where two versions had it, and a space where nobody looked.
func TestFold(t *testing.T) {
	for history, want := range map[string]string{
		"":         "",
		".":        "",
		"x":        "", // once is no finding
		"x.":       "",
		"xx":       "open from 0 to 2, earlier",
		".xx":      "open from 1 to 3",
		"x.x":      "open from 0 to 3, earlier",
		".xx..":    "open from 1 to 3",
		".xx...":   "gone from 1 to 3",
		".xx   ..": "open from 1 to 3", // three spans that nobody looked at say nothing
		".xx...x":  "open from 1 to 7",
		".xX":      "open from 1 to 3, both",
	} {
		var rows []store.Finding
		at := func(i int) time.Time { return start.Add(time.Duration(i) * Span) }
		for i, c := range history {
			if c == ' ' {
				continue
			}
			row := store.Finding{Service: "shop", Version: "v1", From: at(i), Until: at(i + 1), Title: "too-thin"}
			rows = append(rows, row)
			row.Rule, row.Function, row.Unit, row.Cost, row.Instances = "hotfunction", "main.f", "cores", 2e6, 3
			if c != '.' {
				rows = append(rows, row)
			}
			if c == 'X' {
				row.Version = "v2"
				rows = append(rows, row)
			}
		}
		l := fold(rows)
		var got []string
		for _, f := range l.Findings {
			state := map[bool]string{true: "open", false: "gone"}[f.Open]
			index := func(x time.Time) string { return string('0' + rune(x.Sub(start)/Span)) }
			text := state + " from " + index(f.First) + " to " + index(f.Last)
			if f.Earlier {
				text += ", earlier"
			}
			if f.Cost == 4e6 && f.Instances == 6 && len(f.Versions) == 2 {
				text += ", both"
			}
			got = append(got, text)
			if n := strings.Count(strings.ToLower(history), "x"); len(f.Trend) != n || f.Spans != n {
				t.Errorf("%q: %d points of %d spans, want %d", history, len(f.Trend), f.Spans, n)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: got %q, want %q", history, got, want)
		}
	}
}

// What is there comes first, then what is counted in cores, by cost.
func TestFoldOrder(t *testing.T) {
	var rows []store.Finding
	for i := range 6 {
		span := func(rule, unit string, cost int64) {
			rows = append(rows, store.Finding{Service: "shop", From: start.Add(time.Duration(i) * Span), Until: start.Add(time.Duration(i+1) * Span), Rule: rule, Unit: unit, Cost: cost})
		}
		span("", "", 0)
		span("small", "cores", 1)
		span("seconds", "seconds", 50)
		span("large", "cores", 9)
		if i < 2 {
			span("past", "cores", 100)
		}
	}
	var got []string
	for _, f := range fold(rows).Findings {
		got = append(got, f.Rule)
	}
	if want := "large small seconds past"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
