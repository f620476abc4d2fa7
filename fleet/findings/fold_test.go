package findings

import (
	"errors"
	"fmt"
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

// What is gone comes last, whatever it cost; a level in bytes comes before what is not counted in
// what a machine has.
func TestFoldOrderOfUnits(t *testing.T) {
	var rows []store.Finding
	for i := range 6 {
		span := func(rule, unit string, cost, bound int64) {
			rows = append(rows, store.Finding{Service: "shop", From: start.Add(time.Duration(i) * Span), Until: start.Add(time.Duration(i+1) * Span),
				Rule: rule, Unit: unit, Cost: cost, Bound: bound, Confidence: unit})
		}
		span("", "", 0, 0)
		span("count", "count", 900, 0)
		span("bytes", "bytes", 70, 0)
		span("rate", "bytes per second", 80, 0)
		span("cores", "cores", 1, 9)
		if span("more", "cores", 3, 2); i > 0 {
			span("later", "cores", 2, 5) // not earlier, as those that are open are
		}
		if i < 2 {
			span("past bytes", "bytes", 50, 0)
			span("past", "cores", 100, 0)
		}
	}
	var got []string
	for _, f := range fold(rows).Findings {
		got = append(got, f.Rule)
	}
	if want := "more, later, cores, rate, bytes, count, past, past bytes"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Findings are those of a service, a rule and a function: what one of them shares with another
// does not make them one. Whether one is there depends on when its own service was judged.
func TestFoldApart(t *testing.T) {
	var rows []store.Finding
	add := func(at int, service, rule, function string) {
		rows = append(rows, store.Finding{Service: service, Version: "v1", From: start.Add(time.Duration(at) * Span), Until: start.Add(time.Duration(at+1) * Span),
			Rule: rule, Title: "T", Function: function, File: "f.go", Unit: "cores"})
	}
	for at := range 6 {
		if at > 0 {
			add(at, "cart", "", "")
		}
		if at < 3 {
			add(at, "shop", "", "")
			add(at, "shop", "hot", "main.f")
			add(at, "shop", "hot", "main.g")
		}
		if at == 1 || at == 2 {
			add(at, "cart", "hot", "main.f")
			add(at, "cart", "cold", "main.f")
		}
	}
	var got []string
	l := fold(rows)
	for _, f := range l.Findings {
		got = append(got, fmt.Sprintf("%s %s %s: %d, %s-%s, open %v, earlier %v", f.Service, f.Rule, f.Function, f.Spans, clock(f.First), clock(f.Last), f.Open, f.Earlier))
	}
	same(t, "findings", strings.Join(got, "\n"), `shop hot main.f: 3, 0-15, open true, earlier true
shop hot main.g: 3, 0-15, open true, earlier true
cart hot main.f: 2, 5-15, open false, earlier true
cart cold main.f: 2, 5-15, open false, earlier true`)
	if clock(l.Judged) != "30" {
		t.Errorf("judged until %s, want 30", clock(l.Judged))
	}
}

// The verdict of a service is that of its last span, of its versions the one that says most.
func TestFoldVerdicts(t *testing.T) {
	for name, c := range map[string]struct{ spans, want string }{
		"one":                 {"healthy", "healthy at 5"},
		"the last counts":     {"problem, healthy", "healthy at 10"},
		"a problem says most": {"healthy problem", "problem at 5"},
		"in any order":        {"problem healthy", "problem at 5"},
		"stalled":             {"problem stalled", "stalled at 5"},
		"failed says least":   {"failed too-thin", "too-thin at 5"},
		"and is said alone":   {"problem, failed", "failed at 10"},
		"too thin":            {"partial too-thin", "partial at 5"},
		"not loaded":          {"partial not-loaded", "not-loaded at 5"},
		"idle":                {"idle not-loaded", "idle at 5"},
		"unclear":             {"idle unclear", "unclear at 5"},
		"healthy":             {"healthy unclear", "healthy at 5"},
	} {
		t.Run(name, func(t *testing.T) {
			var rows []store.Finding
			for i, span := range strings.Split(c.spans, ", ") {
				row := store.Finding{Service: "shop", From: start.Add(time.Duration(i) * Span), Until: start.Add(time.Duration(i+1) * Span)}
				for v, verdict := range strings.Fields(span) {
					row.Version, row.Title = fmt.Sprint("v", v), verdict
					rows = append(rows, row)
				}
				hours := row
				hours.Rule, hours.Title = lookedOver, "stalled" // it has no verdict
				other := row
				other.Service, other.Title = "cart", "unclear"
				rows = append(rows, hours, other)
			}
			l := fold(rows)
			v := l.Verdicts["shop"]
			if got := v.Verdict + " at " + clock(v.At); got != c.want || len(l.Verdicts) != 2 || l.Verdicts["cart"].Verdict != "unclear" {
				t.Errorf("verdicts = %v, want %s of shop and unclear of cart", l.Verdicts, c.want)
			}
		})
	}
}

// The figures are those of the last span, over the versions that have it in the same unit; the
// words are those of its first version.
func TestFoldFigures(t *testing.T) {
	var rows []store.Finding
	at := func(i int, version string, cost, bound, instances int64, unit string) {
		d := Detail{}
		d.Rule, d.Summary = "hot", version+" at "+fmt.Sprint(i)
		row, err := d.row(store.Finding{Service: "shop", Version: version, From: start.Add(time.Duration(i) * Span), Until: start.Add(time.Duration(i+1) * Span)})
		if err != nil {
			t.Fatal(err)
		}
		row.Title, row.Function, row.File, row.Line = "T"+version, "main.f", "f.go", int32(10+i)
		row.Cost, row.Bound, row.Instances, row.Unit, row.Confidence, row.Tenant = cost, bound, instances, unit, "high", "acme"
		rows = append(rows, row)
	}
	at(0, "v1", 100, 10, 1, "cores")
	at(1, "v1", 200, 20, 2, "cores")
	at(1, "v2", 300, 30, 3, "cores")
	at(2, "v2", 50, 4, 5, "cores")
	at(2, "v3", 7, 6, 8, "cores")
	l := fold(rows)
	if len(l.Findings) != 1 {
		t.Fatalf("findings = %+v, want one", l.Findings)
	}
	f := l.Findings[0]
	got := fmt.Sprintf("%s %s %s %d %v %s: %d of %d %s in %d, %s, %d spans, %s", f.Rule, f.Title, f.File, f.Line, f.Versions, f.Confidence,
		f.Bound, f.Cost, f.Unit, f.Instances, f.Detail.Summary, f.Spans, clock(f.Last))
	if want := "hot Tv2 f.go 12 [v1 v2 v3] high: 10 of 57 cores in 13, v2 at 2, 3 spans, 15"; got != want {
		t.Errorf("finding = %s, want %s", got, want)
	}
	var trend []string
	for _, p := range f.Trend {
		trend = append(trend, clock(p.At)+":"+fmt.Sprint(p.Value))
	}
	if got, want := strings.Join(trend, " "), "5:100 10:500 15:57"; got != want {
		t.Errorf("trend = %s, want %s", got, want)
	}

	// Cores and seconds have no sum: the later row counts, and the span counts once.
	rows = rows[:2]
	at(1, "v2", 300, 30, 3, "seconds")
	f = fold(rows).Findings[0]
	if f.Cost != 300 || f.Unit != "seconds" || f.Instances != 3 || f.Spans != 2 || len(f.Trend) != 2 || f.Trend[1].Value != 300 {
		t.Errorf("of two units: %d %s in %d, %d spans, trend %v, want 300 seconds in 3, 2 spans", f.Cost, f.Unit, f.Instances, f.Spans, f.Trend)
	}
	if l := fold(rows[1:]); len(l.Findings) != 0 {
		t.Errorf("of one span in two units: %+v, want nothing", l.Findings)
	}
}

// What a store lacks is said with what it has; its error is that of the list.
func TestOf(t *testing.T) {
	k := &spy{refuse: func(request) (store.Missing, error) { return store.Missing{"a shard"}, nil }}
	if l, err := Of(t.Context(), k, store.Selection{}); err != nil || len(l.Missing) != 1 {
		t.Errorf("Of() = %+v, %v, want the missing part", l, err)
	}
	k.refuse = func(request) (store.Missing, error) { return nil, errDisk }
	if l, err := Of(t.Context(), k, store.Selection{}); !errors.Is(err, errDisk) || l != nil {
		t.Errorf("Of() = %+v, %v, want %v", l, err, errDisk)
	}
}
