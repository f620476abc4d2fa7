package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// trial returns one whose metrics all found a ratio, with pairs around it where asked for.
func trial(name string, ratio, width float64, exact bool, pairs int, metrics ...diagnosis.Metric) *Rounds {
	r := &Rounds{Name: name, Subject: "srv", Metrics: metrics, Pairs: map[diagnosis.Metric][][2]float64{}, Found: map[diagnosis.Metric]MetricResult{}}
	for _, m := range metrics {
		r.Primary = metrics[0]
		r.Found[m] = MetricResult{Ratio: ratio, Low: ratio / (1 + width), High: ratio * (1 + width), Exact: exact, Verdict: Improved}
		for i := range pairs {
			r.Pairs[m] = append(r.Pairs[m], [2]float64{1, ratio * (1 + width/10*float64(i%5))})
		}
	}
	return r
}

func results(t *testing.T, a, b SavedResult) *Comparison {
	t.Helper()
	c, err := Results(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	again := new(Comparison)
	if err := c.Encode(&text); err != nil || json.Unmarshal(text.Bytes(), again) != nil || !reflect.DeepEqual(c, again) {
		t.Fatalf("Encode(): %v; it reads back as\n%+v, want\n%+v", err, again, c)
	}
	return c
}

// What trials timed is compared by rounds, what they counted by counts, and what
// only one of them counted by the intervals.
func TestTrialsSources(t *testing.T) {
	a := trial("a", 0.5, 0.001, true, 0, diagnosis.AllocsOp, diagnosis.BytesOp)
	b := trial("b", 0.8, 0.001, true, 0, diagnosis.AllocsOp, diagnosis.BytesOp)
	b.Found[diagnosis.BytesOp] = MetricResult{Ratio: 0.55, Low: 0.4, High: 0.7}
	for m, f := range trial("", 0.9, 0.05, false, 12, diagnosis.CPUPerOp).Pairs {
		a.Metrics, b.Metrics = append(a.Metrics, m, "p50"), append(b.Metrics, m, "p99")
		a.Pairs[m], b.Pairs[m] = f, f
	}
	c := results(t, SavedResult{Trial: a}, SavedResult{Trial: b})
	var got []string
	for _, e := range c.Effects {
		got = append(got, string(e.Metric)+" "+string(e.By)+" "+string(e.Verdict))
	}
	want := []string{"allocs/op ranges regressed", "B/op intervals inconclusive", "cpu/op rounds same"}
	if !slices.Equal(got, want) {
		t.Errorf("effects %q, want %q", got, want)
	}
	if e := c.Effects[0]; e.Overlap == nil || *e.Overlap || e.P != nil || math.Abs(*e.Ratio-1.6) > 1e-9 || !e.OwnA.Exact || e.OwnB.Verdict != Improved {
		t.Errorf("counts: %+v, want 1.6 without p, no overlap, exact in A, improved in B", e)
	}
	if e := c.Effects[1]; e.Overlap == nil || !*e.Overlap || e.P == nil || *e.Low > 1 || *e.High < 1 {
		t.Errorf("intervals: %+v, want them to overlap, around 1, with p", e)
	}
	if !slices.Equal(c.OnlyA, []string{"p50"}) || !slices.Equal(c.OnlyB, []string{"p99"}) {
		t.Errorf("only in one: %v, %v", c.OnlyA, c.OnlyB)
	}
}

// A counter that is zero in both has no ratio and has not changed; one that is zero
// in one of them cannot be compared, which is said.
func TestTrialsOfNothing(t *testing.T) {
	a, b := trial("a", 0, 0, true, 0, diagnosis.GCPerOp, diagnosis.AllocsOp), trial("b", 0, 0, true, 0, diagnosis.GCPerOp, diagnosis.AllocsOp)
	b.Found[diagnosis.AllocsOp] = MetricResult{Ratio: 2, Low: 2, High: 2, Exact: true}
	c := results(t, SavedResult{Trial: a}, SavedResult{Trial: b})
	if len(c.Effects) != 1 || c.Effects[0].Verdict != Same || !strings.Contains(strings.Join(c.Warnings, "\n"), "not enough was measured of allocs/op") {
		t.Errorf("effects %+v, warnings %q; want one that is %s, and that too little was measured of allocs/op", c.Effects, c.Warnings, Same)
	}
}

// Other subjects are told of, and so are findings that only one change removed.
func TestTrialsSubjectsAndClaims(t *testing.T) {
	a, b := trial("a", 0.9, 0.1, false, 12, diagnosis.CPUPerOp), trial("b", 0.9, 0.1, false, 12, diagnosis.CPUPerOp)
	b.Subject, b.Primary = "other -x", "p99"
	gone := Claim{"hotmutex", "A hot lock", Gone}
	a.Diagnosed, a.Claims = true, []Claim{gone, {"leak", "A leak", Gone}}
	b.Diagnosed, b.Claims = true, []Claim{gone, {"leak", "A leak", New}}
	c := results(t, SavedResult{Trial: a}, SavedResult{Trial: b})
	text := strings.Join(c.Warnings, "\n")
	if !strings.Contains(text, "A is of srv; B is of other -x") || !strings.Contains(text, "cpu/op in A and p99 in B") {
		t.Errorf("warnings %q, want the two subjects and the two primary metrics", text)
	}
	want := []ClaimChange{{Claim{"leak", "A leak", Gone}, true, false}, {Claim{"leak", "A leak", New}, false, true}, {gone, true, true}}
	if !slices.Equal(c.Claims, want) {
		t.Errorf("claims %+v, want %+v", c.Claims, want)
	}
	b.Diagnosed = false
	if c := results(t, SavedResult{Trial: a}, SavedResult{Trial: b}); c.Claims != nil || !strings.Contains(strings.Join(c.Warnings, "\n"), "only the arms of A were diagnosed") {
		t.Errorf("claims %+v, warnings %q; want none, and that only the arms of A were diagnosed", c.Claims, c.Warnings)
	}
}

// search returns one of a knob, with the goal at 1, 2, 4 and so on; 0 is a crash.
func search(chosen float64, goals ...float64) *Search {
	l := Line{Knob: "workers", Goal: diagnosis.Elapsed, Chosen: &chosen}
	best := slices.Min(slices.DeleteFunc(slices.Clone(goals), func(g float64) bool { return g == 0 }))
	for i, g := range goals {
		p := Point{Value: math.Exp2(float64(i)), Kept: true, Failed: "it crashed"}
		if g > 0 {
			p = Point{Value: p.Value, Goal: statistics.Finite(g), Low: statistics.Finite(g * 0.98), High: statistics.Finite(g * 1.02), ToBest: statistics.Finite(g / best), Kept: true}
		}
		l.Points = append(l.Points, p)
	}
	return &Search{Name: "s", Lines: []Line{l}}
}

func TestSearches(t *testing.T) {
	c := results(t, SavedResult{Search: search(4, 8, 4, 2, 2)}, SavedResult{Search: search(2, 8.1, 3, 3, 0)})
	x := c.Curves[0]
	var got []Verdict
	for _, v := range x.Values {
		got = append(got, v.Verdict)
	}
	if !slices.Equal(got, []Verdict{Inconclusive, Improved, Regressed}) || *x.ChosenA != 4 || *x.ChosenB != 2 || len(x.A) != 4 || len(x.B) != 4 {
		t.Errorf("values %v of %+v, want %s, %s, %s; 4 and 2 chosen of 4 each", got, x, Inconclusive, Improved, Regressed)
	}
	if want := "workers: A recommends 4, B 2 (in B 4 is 0% from its best), and of 3 values elapsed improved with 1 and regressed with 1"; c.Summary != want {
		t.Errorf("summary %s, want %s", c.Summary, want)
	}
	if j := c.Judge(DefaultLimits); j.Verdict != Regressed || len(j.Why) != 1 || !strings.Contains(j.Why[0], "elapsed with workers=4") {
		t.Errorf("judged %+v, want %s because of elapsed with workers=4", j, Regressed)
	}
	// Curves of other goals and other knobs are named and not compared.
	other := search(1, 1, 1)
	other.Lines = append(other.Lines, Line{Knob: "size", Goal: diagnosis.P99})
	more := search(1, 1, 1)
	more.Lines = append(more.Lines, Line{Knob: "size", Goal: diagnosis.OpsPerSec, More: true}, Line{Knob: "depth", Goal: diagnosis.P99})
	c = results(t, SavedResult{Search: other}, SavedResult{Search: more})
	if text := strings.Join(c.Warnings, "\n"); len(c.Curves) != 1 || !strings.Contains(text, "the curves of size cannot be compared: A is of min(p99), B of max(ops/s)") || !slices.Equal(c.OnlyB, []string{"depth for min(p99)"}) || c.OnlyA != nil {
		t.Errorf("%q, only %v, %v", text, c.OnlyA, c.OnlyB)
	}
}

func TestCapacities(t *testing.T) {
	of := func(low, high float64) SavedResult {
		return SavedResult{Capacity: &Capacity{Name: "c", Bracket: Bracket{Low: low, High: high}}}
	}
	for _, x := range []struct {
		a, b    SavedResult
		overlap bool
		want    string
	}{
		{of(1000, 1050), of(2000, 2100), false, "×2.00 (+90.5% … ×2.10 by the brackets)"},
		{of(1000, 1050), of(1040, 1100), true, "the brackets overlap, so neither is shown to bear more"},
		{of(1000, 1050), of(1050, 0), false, "B at least 1,050/s"},
		{of(0, 50), of(1050, 1100), false, "A bears less than 50/s"},
		{of(0, 0), of(1050, 1100), true, "A bears not known"},
	} {
		c := results(t, x.a, x.b)
		if c.Capacity.Overlap != x.overlap || !strings.Contains(c.Summary, x.want) {
			t.Errorf("%s, overlap %v; want %s", c.Summary, c.Capacity.Overlap, x.want)
		}
	}
	// A capacity that fell is never certain.
	if j := results(t, of(1000, 1050), of(500, 525)).Judge(DefaultLimits); j.Verdict != Inconclusive {
		t.Errorf("a capacity that fell: judged %+v, want %s", j, Inconclusive)
	}
	table := func(cells ...Cell) SavedResult { return SavedResult{Capacity: &Capacity{Table: true, Cells: cells}} }
	c := results(t, table(Cell{"n=1", 100}, Cell{"n=2", 200}, Cell{"n=3", 1}), table(Cell{"n=1", 150}, Cell{"n=2", math.NaN()}, Cell{"n=4", 1}))
	if len(c.Capacity.Cells) != 2 || c.Capacity.Cells[1].B != nil || !strings.Contains(c.Summary, "of 2 settings B bears more with 1 and less with 0") ||
		!slices.Equal(c.OnlyA, []string{"n=3"}) || !slices.Equal(c.OnlyB, []string{"n=4"}) {
		t.Errorf("%s %+v, want 2 settings, more with 1 and less with 0; n=3 only in A, n=4 only in B", c.Summary, c.Capacity)
	}
}

// What has nothing in common says what each is.
func TestResultsUnlike(t *testing.T) {
	one := SavedResult{Capacity: &Capacity{}}
	for _, x := range []struct {
		a, b SavedResult
		want string
	}{
		{SavedResult{Trial: trial("a", 1, 0.1, false, 8, "p50")}, SavedResult{Trial: trial("b", 1, 0.1, false, 8, "p99")}, "A measured p50, B measured p99"},
		{SavedResult{Trial: &Rounds{}}, SavedResult{Search: &Search{}}, "the first is a trial of gowhy verify, the second a search of gowhy tune"},
		{one, SavedResult{Capacity: &Capacity{Table: true}}, "the first is one capacity, the second a table of capacities"},
		{SavedResult{Search: &Search{Lines: []Line{{Knob: "a", Goal: "p99"}}}}, SavedResult{Search: &Search{}}, "A searched a for min(p99), B searched nothing"},
		{SavedResult{}, SavedResult{}, "both are comparisons"},
		{SavedResult{Capacity: &Capacity{Table: true, Cells: []Cell{{"n=1", 1}}}}, SavedResult{Capacity: &Capacity{Table: true}}, "the tables have no setting in common"},
	} {
		if _, err := Results(x.a, x.b); !errors.Is(err, ErrUnlike) || err.Error() != x.want {
			t.Errorf("Results(): error %v, want %s", err, x.want)
		}
	}
}

// Whatever a file says can be compared, saved, and held to limits.
func FuzzResults(f *testing.F) {
	f.Add(1.0, 0.5, 2.0, 4.0, true)
	f.Add(5e-324, math.MaxFloat64, math.NaN(), -1.0, false)
	f.Add(0.0, 0.0, math.Inf(1), 1e-101, true)
	f.Fuzz(func(t *testing.T, x, y, z, w float64, exact bool) {
		of := func(r, low, high float64) SavedResult {
			tr := &Rounds{Metrics: []diagnosis.Metric{"p99", "BenchmarkA widgets"}, Found: map[diagnosis.Metric]MetricResult{"p99": {r, low, high, exact, Same}, "BenchmarkA widgets": {low, r, high, true, Same}}}
			return SavedResult{Trial: tr}
		}
		line := func(r, low, high float64) SavedResult {
			return SavedResult{Search: &Search{Lines: []Line{{Knob: "n", Goal: "ops/s", More: exact, Chosen: statistics.Finite(r), Points: []Point{{Value: 1, Goal: statistics.Finite(r), Low: statistics.Finite(low), High: statistics.Finite(high), ToBest: statistics.Finite(z)}}}}}}
		}
		capacity := func(low, high float64) SavedResult {
			return SavedResult{Capacity: &Capacity{Bracket: Bracket{Low: orZero(low), High: orZero(high)}}}
		}
		for _, pair := range [][2]SavedResult{{of(x, y, z), of(w, x, y)}, {line(x, y, z), line(w, z, x)}, {capacity(x, y), capacity(z, w)}} {
			c, err := Results(pair[0], pair[1])
			if err != nil {
				continue
			}
			c.Judge(DefaultLimits)
			if err := c.Encode(new(bytes.Buffer)); err != nil {
				t.Error(err)
			}
		}
	})
}

// orZero returns a number as JSON can have brought it.
func orZero(v float64) float64 {
	if !finite(v) {
		return 0
	}
	return v
}
