package server

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// judged returns a store with a finding that is there and one that went, of names that a label
// and a command must escape.
func judged(t *testing.T, now time.Time) *storetest.Reference {
	t.Helper()
	r := new(storetest.Reference)
	var rows []store.Finding
	for i := range 5 {
		row := store.Finding{Service: `a"b\c`, Version: "v 1", Until: now.Add(time.Duration(i-4) * 5 * time.Minute), Title: "problem", Instances: 3}
		row.From = row.Until.Add(-5 * time.Minute)
		rows = append(rows, row)
		row.Rule, row.Title, row.Function, row.Unit, row.Cost, row.Bound = "gccost", "The collector works", "f", "cores", 1.5e6, 5e5
		row.Evidence = []byte(`{"summary":"s","what":"CPU in the collector","whole":true}`)
		rows = append(rows, row)
		if row.Rule = "past"; i < 2 {
			rows = append(rows, row)
		}
	}
	if err := r.WriteFindings(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFindings(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	h := Handler(judged(t, now), func() time.Time { return now.Add(time.Minute) }, func() api.Prices { return api.Prices{CoreHour: 0.04, Currency: "EUR"} }, nil)
	ask := func(query string) (a api.Findings) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/findings?"+query, nil))
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %s", query, w.Code, w.Body)
		}
		return a
	}
	a := ask("")
	if len(a.Findings) != 2 || a.Currency != "EUR" || !a.Judged.Equal(now) || a.Verdicts[`a"b\c`].Verdict != "problem" {
		t.Fatalf("%d findings in %q, judged until %v, verdicts %v, want 2 in EUR, until %v, a problem",
			len(a.Findings), a.Currency, a.Judged, a.Verdicts, now)
	}
	f := a.Findings[0]
	if f.Cores == nil || f.Bound == nil || f.Money == nil {
		t.Fatalf("the first has cores %v, bound %v, money %v, want all of them", f.Cores, f.Bound, f.Money)
	}
	if f.State != "open" || *f.Cores != 1.5 || *f.Bound != 0.5 || *f.Money != 1.5*0.04*730 || len(f.Trend) != 5 || f.Instances != 3 || !f.Earlier {
		t.Errorf("the first is %s, %v cores, bound %v, money %v, trend of %d, %d processes, earlier %v, "+
			"want open, 1.5, 0.5, %v, 5, 3, true",
			f.State, *f.Cores, *f.Bound, *f.Money, len(f.Trend), f.Instances, f.Earlier, 1.5*0.04*730)
	}
	want := `gowhy fleet evidence 'a"b\c' --version 'v 1' --from 2026-03-02T09:55:00Z --until 2026-03-02T10:00:00Z -o merged.gowhy && gowhy merged.gowhy`
	if f.Command != want {
		t.Errorf("the command is %s", f.Command)
	}
	if a.Findings[1].State != "gone" || a.Findings[1].Rule != "past" {
		t.Errorf("the second is %s, of rule %s, want gone, past", a.Findings[1].State, a.Findings[1].Rule)
	}
	if a := ask("limit=1"); len(a.Findings) != 1 || a.Omitted != 1 {
		t.Errorf("limit=1: %d findings, %d omitted, want 1, 1", len(a.Findings), a.Omitted)
	}
	if a := ask("from=now-24h&until=now-12h"); len(a.Findings) != 0 || a.Judged != nil {
		t.Errorf("of a time that was not judged: %d findings, judged until %v, want none, nil",
			len(a.Findings), a.Judged)
	}
}

// The dearest causes are series; their names are escaped as Prometheus wants it.
func TestFindingsMetrics(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	m := newMeter(judged(t, now))
	m.scraper = scrape.New(m, nil, nil)
	w := httptest.NewRecorder()
	m.serve(w, httptest.NewRequest("GET", "/metrics", nil))
	want := `gowhy_finding_cores{tenant="",service="a\"b\\c",version="v 1",rule="gccost",function="f"} 1.5` + "\n"
	if !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "past") {
		t.Errorf("%s\nwant %s", w.Body, want)
	}
}

// A growth has its own metric, and is for a recording of one process.
func TestGrowth(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	r := new(storetest.Reference)
	for i := range 2 {
		row := store.Finding{Service: "shop", Version: "v1", Until: now.Add(time.Duration(i-1) * 15 * time.Minute), Rule: "growth"}
		row.From = row.Until.Add(-4 * time.Hour)
		grows := row
		grows.Rule, grows.Function, grows.Unit, grows.Cost, grows.Instances = "heapgrowth", "f", "bytes per second", 2.5e9, 3
		if err := r.WriteFindings(t.Context(), []store.Finding{row, grows}); err != nil {
			t.Fatal(err)
		}
	}
	m := newMeter(r)
	m.scraper = scrape.New(m, nil, nil)
	w := httptest.NewRecorder()
	m.serve(w, httptest.NewRequest("GET", "/metrics", nil))
	want := `gowhy_finding_growth{tenant="",service="shop",version="v1",rule="heapgrowth",function="f"} 2500` + "\n"
	if !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "gowhy_finding_cores{") {
		t.Errorf("%s\nwant %s", w.Body, want)
	}
	a, err := findingsAnswer(t.Context(), r, store.Selection{}, 10, api.Prices{})
	if err != nil || len(a.Findings) != 1 || a.Findings[0].Command != "gowhy fleet record shop --version v1" || a.Findings[0].State != "open" {
		t.Errorf("found() = %+v, %v, want one that is open, to see by gowhy fleet record shop --version v1",
			a.Findings, err)
	}
}

// A step of a cost is shown by the two hours around it, as far as they are over.
func TestCostStep(t *testing.T) {
	first := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	f := findings.Finding{Service: "shop", Versions: []string{"v1"}, Rule: findings.CostStep, First: first, Last: first.Add(30 * time.Minute)}
	want := "gowhy fleet diff shop --base v1 --head v1 --base-from 2026-03-02T07:00:00Z --base-until 2026-03-02T08:00:00Z --from 2026-03-02T08:00:00Z --until 2026-03-02T08:30:00Z"
	if got := evidenceCommand(&f); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f.Versions, f.Last = []string{""}, first.Add(9*time.Hour)
	want = "gowhy fleet diff shop --base-from 2026-03-02T07:00:00Z --base-until 2026-03-02T08:00:00Z --from 2026-03-02T08:00:00Z --until 2026-03-02T09:00:00Z"
	if got := evidenceCommand(&f); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Evidence of nothing is not found; evidence that lacks a part is not given.
func TestEvidence(t *testing.T) {
	for want, r := range map[int]store.Reader{404: new(storetest.Reference), 503: half{}, 500: broken{}} {
		w := httptest.NewRecorder()
		Handler(r, time.Now, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/evidence?service=shop", nil))
		if w.Code != want {
			t.Errorf("%T: %d %s, want %d", r, w.Code, w.Body, want)
		}
	}
}

type half struct{ store.Reader }

func (half) Instances(context.Context, store.Selection) (store.Instances, error) {
	return store.Instances{Missing: store.Missing{"a shard"}}, nil
}

// Two versions are told apart by cost and by causes; questions that cannot be meant are
// refused.
func TestDiff(t *testing.T) {
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	r := judged(t, start.Add(50*time.Minute))
	service := simulate.Service{Name: `a"b\c`, Processes: 8, Versions: []simulate.Version{{Name: "v0"}, {Name: "v 1", Deploy: 10 * time.Minute}}}
	service.Versions[1].Changes = []simulate.Change{{Type: store.CPU, Function: service.Function(0), Percent: 50}}
	plan := simulate.Plan{Start: start, Length: 20 * time.Minute, Step: time.Minute, Services: []simulate.Service{service}}
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	h := Handler(r, func() time.Time { return start.Add(time.Hour) }, noPrices, nil)
	for query, want := range map[string]string{
		"service=a%22b%5Cc&base_version=v0&version=v+1":                            `"verdict":"worse","type":"process_cpu`,
		"service=a%22b%5Cc&base_version=v0&version=v+1&from=now-2h":                `"new":[{"rule":"gccost","title":"The collector works","function":"f"},`,
		"service=a%22b%5Cc&version=v+1&base_version=v0&base_from=now-2h&until=now": `"gone":[]`,
		"service=a%22b%5Cc&version=v+1":                                            "both sides are the same",
		"base_version=v0&version=v+1":                                              "service: of which?",
		"service=a%22b%5Cc&base_version=v9&version=v+1":                            "nothing was sent",
		"service=a%22b%5Cc&base_from=tomorrow":                                     "is no time",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/diff?"+query, nil))
		if !strings.Contains(w.Body.String(), want) || (w.Code == 200) != strings.HasPrefix(want, `"`) {
			t.Errorf("%s: %d %s, want %s", query, w.Code, w.Body, want)
		}
	}
}

// TestNoNull finds that a list without anything is one, as the types say.
func TestNoNull(t *testing.T) {
	a := findingOf(&findings.Finding{Versions: []string{"v1"}}, api.Prices{})
	if a.Trend == nil || a.Evidence == nil || a.Facts == nil {
		t.Errorf("trend %#v, evidence %#v, facts %#v", a.Trend, a.Evidence, a.Facts)
	}
}

// TestFindingFacts finds each fact of a finding with its origin, beside the same in words.
func TestFindingFacts(t *testing.T) {
	f := findings.Finding{Versions: []string{"v1"}}
	f.Detail.Evidence = []fact.Fact{fact.OverSeries("processes that rise", "inuse_space", 20, 17, fact.Count), fact.Saved("CPU in the collector", "31%")}
	a := findingOf(&f, api.Prices{})
	if want := []string{"processes that rise: 17", "CPU in the collector: 31%"}; !slices.Equal(a.Evidence, want) {
		t.Errorf("the words are %q, want %q", a.Evidence, want)
	}
	want := []api.Fact{
		{Name: "processes that rise", Value: 17, Unit: string(fact.Count), Text: "17", Origin: f.Detail.Evidence[0].Origin.Text},
		{Name: "CPU in the collector", Text: "31%"},
	}
	if !slices.Equal(a.Facts, want) || !strings.Contains(want[0].Origin, "20 processes") {
		t.Errorf("the facts are %+v, want %+v", a.Facts, want)
	}
}
