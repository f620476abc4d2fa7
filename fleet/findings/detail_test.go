package findings

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// A finding is kept with its facts: what each was counted in, and what was computed from what.
func TestDetailKeepsFacts(t *testing.T) {
	cpu := fact.OverSeries("CPU", "cpu", 3, 2, fact.Cores)
	part := fact.OverSeries("part", "cpu", 3, 0.25, fact.Ratio)
	f := diagnosis.Finding{Rule: "hotfunction", Title: "T", Confidence: diagnosis.Low, Where: []diagnosis.Place{{Function: "main.f", File: "f.go", Line: 7}},
		Cost: diagnosis.CostOf(fact.Product.Of("CPU of main.f", fact.Cores, cpu, part), 0.25), Remedy: diagnosis.Remedy{Text: "R", Code: "C"}}
	f.Say("%s of %s.", part, cpu)
	row, err := rowOf(&f, store.Finding{Service: "shop", Title: "problem"}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if row.Cost != 2e6 || row.Unit != "cores" || row.Function != "main.f" || row.Line != 7 || row.Rule != "hotfunction" || row.Title != "T" || row.Service != "shop" {
		t.Errorf("rowOf() = rule %q, title %q, of %q, in %s:%d, costs %d millionths of %q, "+
			"want hotfunction, T, of shop, in main.f:7, 2000000 of cores",
			row.Rule, row.Title, row.Service, row.Function, row.Line, row.Cost, row.Unit)
	}
	d := detailOf(&row)
	if !d.Whole || len(d.Evidence) != 2 || !d.Evidence[0].Same(part) || d.Evidence[0].Origin.Kind != fact.Series || d.Cost.Origin.Kind != fact.Computed || len(d.Cost.Operands) != 2 {
		t.Errorf("detailOf() = whole %v, evidence %+v, a cost of origin %v with %d operands, "+
			"want true, %+v of origin %v and another, origin %v with 2",
			d.Whole, d.Evidence, d.Cost.Origin.Kind, len(d.Cost.Operands), part, fact.Series, fact.Computed)
	}
}

// Rows are kept for months: what older versions wrote has words, and is read.
func TestDetailOfOlderVersions(t *testing.T) {
	for name, c := range map[string]struct{ kept, summary, evidence, what, gain, code string }{
		"a rule's": {`{"summary":"s","evidence":["CPU: 2 cores","a: b: c","none"],"remedy":"r","code":"c","prove":"p",` +
			`"confidence_reasons":["x","y"],"what":"w","gain":"g","whole":true}`,
			"s", "CPU=2 cores; a=b: c; none=", "w", "g", "c"},
		"a growth's": {`{"summary":"s","evidence":null,"remedy":"r","prove":"p","what":"w","gain":"","whole":true}`, "s", "", "w", "", ""},
		"a step's":   {`{"summary":"s","remedy":"r","prove":"p","what":"w","whole":true,"step":{"ratio":1.5,"operation":true}}`, "s", "", "w", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := detailOf(&store.Finding{Evidence: []byte(c.kept)})
			var evidence []string
			for _, e := range d.Evidence {
				evidence = append(evidence, e.Name+"="+e.Text)
			}
			got := []string{d.Summary, strings.Join(evidence, "; "), d.Cost.What, d.Bound.Words, d.Remedy.Text, d.Remedy.Code, d.Prove}
			want := []string{c.summary, c.evidence, c.what, c.gain, "r", c.code, "p"}
			if !slices.Equal(got, want) || !d.Whole {
				t.Errorf("detailOf(%s) = %q, whole %v, want %q, true", c.kept, got, d.Whole, want)
			}
			if name == "a rule's" && strings.Join(d.Reasons, " ") != "x y" {
				t.Errorf("reasons = %q, want x and y", d.Reasons)
			}
			if step := d.Step; name == "a step's" && (step == nil || step.Ratio != 1.5 || !step.Operation) {
				t.Errorf("detailOf(%s) has the step %+v, want the ratio 1.5 of an operation", c.kept, step)
			}
		})
	}
}

// What is no detail, of this version or an older one, is an error and not half a detail.
func TestDetailOfNothing(t *testing.T) {
	for _, kept := range []string{`{"summary":"s","evidence":1}`, `{"finding":{"rule":5},"summary":"s"}`, `[]`} {
		var d Detail
		if err := json.Unmarshal([]byte(kept), &d); err == nil || d.Summary != "" {
			t.Errorf("Unmarshal(%s) = %v with summary %q, want an error and none", kept, err, d.Summary)
		}
	}
}

// A detail of up to a mebibyte is read. What unpacks to more is none of gowhy's.
func TestDetailBound(t *testing.T) {
	const rest = 2000 // of its JSON, beside the title
	for size, read := range map[int]bool{1<<20 - rest: true, 1 << 20: false} {
		d := Detail{Finding: diagnosis.Finding{Rule: "r", Title: strings.Repeat("t", size)}}
		row, err := d.row(store.Finding{})
		if err != nil {
			t.Fatal(err)
		}
		if got := detailOf(&row); (len(got.Title) == size) != read || (got.Rule == "r") != read {
			t.Errorf("of a title of %d bytes %d are read, want all: %v", size, len(got.Title), read)
		}
	}
}

// A row has the first place of a finding, and no more of its line than it has room for.
func TestRowPlace(t *testing.T) {
	at := diagnosis.Place{Function: "f", File: "f.go", Line: 7}
	for name, c := range map[string]struct {
		where []diagnosis.Place
		want  string
	}{
		"nowhere":    {nil, "  0"},
		"somewhere":  {[]diagnosis.Place{at, {Function: "g"}}, "f f.go 7"},
		"a long way": {[]diagnosis.Place{{Function: "f", Line: math.MaxInt}}, "f  2147483647"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Detail{Finding: diagnosis.Finding{Where: c.where, Cost: diagnosis.Cost{Value: 3, Share: 0.5}}}
			row, err := d.row(store.Finding{})
			if got := fmt.Sprint(row.Function, " ", row.File, " ", row.Line); err != nil || got != c.want || row.Cost != 3e6 {
				t.Errorf("row() = %q of %d, %v, want %q of 3000000", got, row.Cost, err, c.want)
			}
		})
	}
	if got := place(store.Frame{Function: "f", File: "f.go", Line: 7}); len(got) != 1 || got[0] != at {
		t.Errorf("place() = %v, want %v", got, at)
	}
	if got := place(store.Frame{File: "f.go"}); got != nil {
		t.Errorf("place() without a function = %v, want none", got)
	}
}

// What is said of a growth and of a step is made of facts over series.
func TestSaidOverHours(t *testing.T) {
	at := store.Frame{Function: "main.f", File: "f.go", Line: 7}
	q := &question{level: &levels[0], Selection: store.Selection{Type: store.InuseSpace, Until: start}}
	q.trends = []trend{{slope: 1 << 20, by: 0.5, load: 0.1}}
	q.rising = q.trends
	r := &rise{Selection: store.Selection{Service: "shop"}, since: start, operation: true, at: at, share: 0.5}
	r.size, r.each = 0.5, []float64{0.5, 0.4, -0.1}
	r.base, r.head = part{cpu: 60, operations: 100, seconds: 60, processes: 3}, part{cpu: 90, operations: 100, seconds: 60, processes: 3}
	for name, c := range map[string]struct {
		f    diagnosis.Finding
		says string
		cost float64
	}{
		"growth": {q.finding(at, 0.001), "In 1 of 1 processes memory in use grew all the time up to " + start.UTC().Format(time.DateOnly+" 15:04 MST") +
			", by 3.52 GiB an hour in the median one: to 1.50× what it was. Most of it is in main.f.", 1 << 20},
		"step": {r.finding(0.001), "Since " + start.UTC().Format(time.DateOnly+" 15:04 MST") +
			" an operation of shop takes 1.65× the CPU that it took, in 2 of 3 processes, and no other version was deployed to them then. 50.0% of that is in main.f.", 4.5 * (1 - 1/r.ratio())},
	} {
		t.Run(name, func(t *testing.T) {
			if c.f.Summary != c.says {
				t.Errorf("says %q, want %q", c.f.Summary, c.says)
			}
			if c.f.Cost.Value != c.cost || c.f.Cost.Origin.Kind == "" {
				t.Errorf("cost = %+v, want %g", c.f.Cost, c.cost)
			}
			if len(c.f.Evidence) < 6 { // those that rise and those compared too, which are as many
				t.Errorf("evidence = %v, want 6 facts or more", c.f.Evidence)
			}
			for _, e := range c.f.Evidence {
				if e.Origin.Kind != fact.Series || e.Origin.N == 0 || !e.Finite() {
					t.Errorf("%s is of %+v, want a series", e.Name, e.Origin)
				}
			}
		})
	}
}

// FuzzDetail holds that nothing that a store may have makes it panic.
func FuzzDetail(f *testing.F) {
	row, err := (&Detail{Finding: diagnosis.Finding{Rule: "hotfunction"}}).row(store.Finding{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(row.Evidence)
	f.Add([]byte(`{"summary":"s","evidence":["a: b"]}`))
	f.Add([]byte(`{"finding":{"rule":"r","evidence":[{"name":"n","source":"s"}]},"evidence":[1]}`))
	f.Fuzz(func(_ *testing.T, kept []byte) { detailOf(&store.Finding{Evidence: kept}) })
}
