package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/compare"
)

// savedTrial returns a result of verify whose change brings a ratio.
func savedTrial(name string, ratio float64, metrics ...diagnosis.Metric) Result {
	r := &compare.Rounds{Name: name, Metrics: metrics, Found: map[diagnosis.Metric]compare.MetricResult{}}
	for _, m := range metrics {
		r.Found[m] = compare.MetricResult{Ratio: ratio, Low: 0.9 * ratio, High: 1.1 * ratio}
	}
	return Result{Trial: Trial{name, "verify", ""}, JSON: json.RawMessage(`{}`), Saved: compare.SavedResult{Trial: r}}
}

func TestCompareResults(t *testing.T) {
	p := &page{}
	for _, r := range []Result{
		savedTrial("a.json", 0.5, "p99"), savedTrial("b.json", 0.9, "p99"), savedTrial("<c>.json", 1, "p50"),
		{Trial: Trial{"k.json", "capacity", ""}, Saved: compare.SavedResult{Capacity: &compare.Capacity{}}},
		{Trial: Trial{"x.json", "comparison", ""}}, {Trial: Trial{"y.json", "comparison", ""}},
	} {
		p.addResult(r)
	}
	v := &View{page: p}
	value, err := v.compare(query("trial", "0", "with", "1"))
	var c compare.Comparison
	if err := json.Unmarshal(ask[Compare](t, value, err).Comparison, &c); err != nil {
		t.Fatal(err)
	}
	if e := c.Effects; c.A.Name != "a.json" || c.B.Name != "b.json" || len(e) != 1 || e[0].Verdict != compare.Regressed || e[0].By != compare.ByIntervals {
		t.Errorf("compare(trial 0, run 1) = %+v, want a.json and b.json with one effect that regressed by intervals", c)
	}
	for _, x := range []struct{ a, b, want string }{
		{"0", "0", "compared with itself"}, {"", "0", "compared with itself"}, {"00", "0", "compared with itself"},
		{"0", "3", "A is a result of gowhy verify, B of gowhy capacity"}, {"4", "0", "A is a result of gowhy compare, B of gowhy verify"},
		{"4", "5", "two comparisons cannot be compared"}, {"0", "2", "A measured p99, B measured p50"},
		{"0", "6", "whole number"}, {"x", "1", "whole number"},
	} {
		if _, err := v.compare(query("trial", x.a, "with", x.b)); !refused(err, x.want) {
			t.Errorf("%s with %s: %v, want %s", x.a, x.b, err, x.want)
		}
	}
}

// A report file has the first result of each kind against the others, both ways,
// also where the answer is why they cannot be compared.
func TestReportResultPairs(t *testing.T) {
	p := &page{static: true}
	for _, r := range []Result{savedTrial("a", 0.5, "p99"), {Trial: Trial{"x", "comparison", ""}, JSON: json.RawMessage(`{}`)}, savedTrial("b", 0.9, "p99"), savedTrial("c", 1, "p50")} {
		p.addResult(r)
	}
	f := &reportFile{page: p, answers: map[string]json.RawMessage{}, room: maxReport}
	if err := f.comparisons(); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"api/compare?trial=0&with=2": `"by":"intervals"`, "api/compare?trial=2&with=0": `"by":"intervals"`, "api/compare?trial=3&with=0": "cannot be compared",
	} {
		if text := string(f.answers[key]); !strings.Contains(strings.ReplaceAll(text, ": ", ":"), want) && !strings.Contains(text, want) {
			t.Errorf("answer to %s = %s, want %s", key, text, want)
		}
	}
	if len(f.answers) != 8 { // four alone, and two pairs both ways
		t.Errorf("%d answers, want 8", len(f.answers))
	}
}
