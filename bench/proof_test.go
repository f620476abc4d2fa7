package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestProofReport(t *testing.T) {
	p := &Proof{Date: "2026-01-02", Comparisons: []Comparison{
		{Question: "the same, busy machine", Primary: "cpu/op", Busy: true, Verdict: "same", Pairs: 10, Seconds: 1},
		{Question: "the same, busy machine", Primary: "cpu/op", Busy: true, Verdict: improved, Pairs: 20, Seconds: 3, Claims: []string{"elapsed improved"}},
		{Question: "the same, busy machine", Primary: "elapsed", Busy: true, Verdict: "inconclusive", Pairs: 40},
		{Question: "20 % more work", Primary: "cpu/op", Verdict: regressed, Ratio: 1.2, Pairs: 10},
		{Question: "20 % more work", Primary: "cpu/op", Verdict: improved, Ratio: 0.9, Pairs: 10},
		{Question: "20 % more work", Primary: "cpu/op", Verdict: "inconclusive", Ratio: 1.3, Pairs: 40},
	}}
	var b bytes.Buffer
	if err := p.writeReport(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| the same, busy machine | cpu/op | 1 of 2 (9–91 %) | 1 of 2 (9–91 %) | 15 | 2.0 |",
		"| the same, busy machine | elapsed | 0 of 1 (0–79 %) | 0 of 1 (0–79 %) | 40 | 0.0 |",
		"| 20 % more work | cpu/op | 1 of 3 (6–79 %) | ×1.200 | 10 | 0.0 |", // improved is wrong, too
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %s:\n%s", want, b.String())
		}
	}
}

func TestNewComparison(t *testing.T) {
	text := `{"pairs": 20, "dropped": 1, "effects": [
		{"metric": "cpu/op", "verdict": "regressed", "ratio": 1.2, "low": 1.1, "high": 1.3},
		{"metric": "elapsed", "verdict": "improved", "ratio": 0.5, "low": 0.4, "high": 0.6},
		{"metric": "faults/op", "verdict": "same", "ratio": 1, "low": 1, "high": 1}]}`
	q := question{name: "q", primary: "cpu/op"}
	c, err := newComparison(q, []byte(text), time.Second)
	if err != nil || c.Verdict != regressed || c.Ratio != 1.2 || c.Pairs != 20 || !slices.Equal(c.Claims, []string{"elapsed improved"}) {
		t.Errorf("newComparison() = %+v, %v; want 1.2 of 20 pairs, regressed, and that elapsed improved", c, err)
	}
	if _, err := newComparison(question{primary: "p99"}, []byte(text), 0); err == nil {
		t.Error("a trial without the primary metric is taken")
	}
}

// The order is the seed's, and -comparisons and -kinds choose.
func TestAsks(t *testing.T) {
	o := options{comparisons: 40, seed: 1}
	list := comparisons(o)
	count := func(name string) (n int) {
		for _, q := range list {
			if q.name == name {
				n++
			}
		}
		return n
	}
	if n := count("the same, busy machine"); n != 40 {
		t.Errorf("%d comparisons on a busy machine, want 40", n)
	}
	same := slices.EqualFunc(list, comparisons(o), func(a, b question) bool { return a.name == b.name && a.primary == b.primary })
	if !same {
		t.Error("the same seed gives another order")
	}
	o.kinds = "allocations,5 %"
	if list = comparisons(o); count("1 % more allocations") != 4 || count("5 % more work") != 8 || len(list) != 12 {
		t.Errorf("-kinds chose %d comparisons, want 4 of allocations and 8 of work", len(list))
	}
}

// More work is more work, and nothing else is more.
func TestPlanted(t *testing.T) {
	allocs := func(blocks int, more float64) float64 { // the least of three: the runtime's are counted, too
		count := func() float64 { return testing.AllocsPerRun(10, func() { planted(3, blocks, more) }) }
		return min(count(), count(), count())
	}
	if a, b, c := allocs(5, 0), allocs(50, 0), allocs(5, 0.01); a != 300 || b != a || c != 303 {
		t.Errorf("three operations allocate %v, with more work %v, with 1 %% more allocations %v; want 300, 300, 303", a, b, c)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{plantedWord, "-as", "a"}, &out, &out); err != nil || !strings.HasPrefix(out.String(), "4000 operations") {
		t.Errorf("planted work: %q, %v; want 4000 operations", &out, err)
	}
}
