package server

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// TestReason has a version compute more and allocate eight times as many objects: the answer
// says so beside the change, and why, as far as the rules looked.
func TestReason(t *testing.T) {
	begin := time.Now().Add(-3 * time.Hour).Truncate(time.Minute)
	s := simulate.Service{Name: "shop", Processes: 20, Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: time.Hour}},
		Stacks: []simulate.Shape{{Type: store.CPU, Count: 60, Sum: 30e9, Unit: 10e6}, {Type: store.AllocObjects, Count: 60, Sum: 1e6, Unit: 1}}}
	s.Versions[1].Changes = []simulate.Change{{Type: store.CPU, Function: s.Function(0), Percent: 30}, {Type: store.AllocObjects, Function: s.Function(0), Percent: 700}}
	r := new(storetest.Reference)
	for b := range (simulate.Plan{Seed: 5, Start: begin, Length: 150 * time.Minute, Step: 5 * time.Minute, Services: []simulate.Service{s}}).Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	base := started(t, r)
	ask := func() api.Change {
		t.Helper()
		var a api.Versions
		_, body := get(t, base+"/api/v1/versions?"+url.Values{"from": {"now-4h"}}.Encode())
		if err := json.Unmarshal([]byte(body), &a); err != nil || len(a.Changes) != 1 || a.Changes[0].Verdict != "worse" {
			t.Fatalf("%s", body)
		}
		return a.Changes[0]
	}
	c := ask()
	if len(c.Also) != 1 || c.Also[0].Type != string(store.AllocObjects) || c.Also[0].Ratio < 7 || c.Also[0].Ratio > 9 {
		t.Errorf("also %+v, want eight times the objects", c.Also)
	}
	if c.NoCause != notJudged || len(c.Causes) != 0 {
		t.Errorf("before any rule looked: no cause %q, causes %+v, want %q, none", c.NoCause, c.Causes, notJudged)
	}
	until := begin.Add(2 * time.Hour)
	row := store.Finding{Service: "shop", Version: "v2", From: until.Add(-5 * time.Minute), Until: until, Title: "healthy"}
	write := func(rows ...store.Finding) {
		t.Helper()
		if err := r.WriteFindings(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	}
	if write(row); !strings.HasPrefix(ask().NoCause, "no rule found a cause") {
		t.Errorf("no rule fits: %q", ask().NoCause)
	}
	found := row
	found.Rule, found.Title, found.Function, found.Evidence = "recompile", "A regular expression is compiled for each call", "shop.price", []byte("{}")
	next := found
	row.From, row.Until = row.Until, row.Until.Add(5*time.Minute)
	next.From, next.Until = row.From, row.Until
	write(found, row, next)
	if c := ask(); c.NoCause != "" || len(c.Causes) != 1 || c.Causes[0].Function != "shop.price" {
		t.Errorf("a rule fits: no cause %q, causes %+v, want none, one in shop.price", c.NoCause, c.Causes)
	}
}
