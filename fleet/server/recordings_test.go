package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// TestWanted has agents of two tenants ask, record and ask again.
func TestWanted(t *testing.T) {
	kept, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	clock := time.Now()
	plan := NewPlan(kept, sampling.Usual, func() time.Time { return clock })
	h := RunsHandler(kept, plan, nil, time.Now)
	post := func(tenant, path string, body any, want int, into any) {
		t.Helper()
		data, ok := body.([]byte)
		if !ok {
			data, _ = json.Marshal(body)
		}
		r, w := httptest.NewRequest("POST", path, bytes.NewReader(data)), httptest.NewRecorder()
		if tenant != "" {
			r.Header.Set("X-Scope-OrgID", tenant)
		}
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d, want %d: %s", path, w.Code, want, w.Body)
		}
		if into != nil {
			if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
				t.Error(err)
			}
		}
	}
	ask := func(tenant, agent string) (a api.Wanted) {
		t.Helper()
		post(tenant, api.WantedPath, api.Offer{Agent: agent, Programs: []api.Program{{Service: "cart", Version: "v2", Instance: agent}}}, http.StatusOK, &a)
		return a
	}
	first := ask("", "h1")
	want := api.Order{Service: "cart", Version: "v2", Instance: "h1", Length: 5 * time.Second, Why: "no recording yet"}
	if r := first.Record; r == nil || *r != want {
		t.Fatalf("the first agent's order is %+v, want %+v", r, want)
	}
	if a := ask("", "h2"); a.Record != nil {
		t.Errorf("the order of another agent is %+v, want none: the first records it", a.Record)
	}
	if a := ask("b", "h2"); a.Record == nil {
		t.Error("another tenant waits for it")
	}
	var r api.Recording
	post("", api.RunsPath+"?service=cart&version=v2&instance=h1&why=no+recording+yet", recorded(t, clock.Add(-3*time.Hour)), http.StatusCreated, &r)
	if r.Why != "no recording yet" {
		t.Errorf("why: %q", r.Why)
	}
	if _, leases := plan.Counts(); leases != 1 { // the other tenant's
		t.Errorf("%d leases", leases)
	}
	if a := ask("", "h2"); a.Record != nil { // though the clock of its host is three hours behind
		t.Errorf("the order after a recording came is %+v, want none: it is fresh", a.Record)
	}
	var w api.Wish
	post("", api.RecordPath+"?service=cart", nil, http.StatusAccepted, &w)
	if want := (api.Wish{Service: "cart", Agents: true}); w != want {
		t.Errorf("the wish is %+v, want %+v", w, want)
	}
	if a := ask("", "h2"); a.Record == nil || a.Record.Why != "an operator asked for it" {
		t.Errorf("the order after the wish is %+v, want one whose why is: an operator asked for it", a.Record)
	}

	many := api.Offer{Agent: "h", Programs: make([]api.Program, mostPrograms+1)}
	for name, body := range map[string]any{
		"no JSON": []byte("{"), "no agent": api.Offer{Programs: []api.Program{{Service: "a"}}}, "an agent of no name": api.Offer{Agent: "h\x1b"}, "many": many,
		"a list without end": []byte(`{"agent":"h","programs":[` + strings.Repeat("{},", mostCommas+1) + `{}]}`),
		"long":               []byte(`{"agent":"` + strings.Repeat("a", mostAsk) + `"}`),
	} {
		t.Run(name, func(t *testing.T) { post("", api.WantedPath, body, http.StatusBadRequest, nil) })
	}
	var a api.Wanted
	post("d", api.WantedPath, api.Offer{Agent: "h", Programs: []api.Program{{}, {Service: "a\x1b"}, {Service: strings.Repeat("a", 2000)}, {Service: "good"}}}, http.StatusOK, &a)
	if a.Record == nil || a.Record.Service != "good" {
		t.Errorf("beside programs whose names are none the order is %+v, want one for good", a.Record)
	}
	post("", api.RecordPath, nil, http.StatusBadRequest, nil)
	post("", api.RecordPath+"?service=a%1b", nil, http.StatusBadRequest, nil)
	for i := range 110 {
		want := http.StatusAccepted
		if i >= 100 {
			want = http.StatusTooManyRequests
		}
		post("c", api.RecordPath+"?service=s"+strings.Repeat("x", i), nil, want, nil)
	}
	var text strings.Builder
	planMetrics(plan, &text)
	for _, line := range []string{"gowhy_fleet_recordings_now 3", "gowhy_fleet_recordings_orders_total 4", "gowhy_fleet_recordings_arrived_total 1"} {
		if !strings.Contains(text.String(), "\n"+line+"\n") {
			t.Errorf("no %q in\n%s", line, text.String())
		}
	}
}

// dear is a store in which a version is dearer than the one before it.
type dear struct {
	storetest.Reference
	now time.Time
}

func (d *dear) Instances(context.Context, store.Selection) (all store.Instances, err error) {
	for v, version := range []string{"v1", "v2"} {
		for i := range 12 {
			from := d.now.Add(time.Duration(v-2) * time.Hour)
			all.Instances = append(all.Instances, store.Instance{Service: "cart", Version: version, Name: string(rune('a' + i)), First: from, Last: from.Add(time.Hour), Covered: time.Hour,
				Totals: []store.Total{{Type: store.CPU, Value: int64(time.Duration(v+1) * time.Hour / 2 * time.Duration(100+i) / 100)}}})
		}
	}
	return all, nil
}

// TestTriggers holds that what got worse, and what opened, is recorded at once; and neither
// what was there before nor what was recorded for it.
func TestTriggers(t *testing.T) {
	kept, err := runs.Open(t.TempDir(), runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	now := time.Now().Truncate(time.Second)
	d, judged := &dear{now: now}, now.Add(-time.Minute)
	var rows []store.Finding
	for i := range 5 {
		row := store.Finding{Service: "shop", Version: "v7", Until: judged.Add(time.Duration(i-4) * 5 * time.Minute), Title: "problem", Instances: 3}
		row.From = row.Until.Add(-5 * time.Minute)
		rows = append(rows, row)
		row.Rule, row.Function, row.Unit, row.Cost = "old", "f", "cores", 1e6
		rows = append(rows, row)
		if row.Rule = "hotmutex"; i >= 3 {
			rows = append(rows, row)
		}
		row.Rule, row.Unit = "heapgrowth", "bytes/s"
		rows = append(rows, row)
		row.Rule, row.Function = "growth", "" // that was judged
		rows = append(rows, row)
	}
	if err := d.WriteFindings(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	look := func() (*sampling.Plan, func(service, version string) string) {
		plan := NewPlan(kept, sampling.Options{Most: 10, Length: time.Second}, func() time.Time { return now })
		h := &triggers{plan: plan, reader: d, log: slog.New(slog.DiscardHandler), now: func() time.Time { return now }, seen: map[sampling.Subject]time.Time{}}
		if err := h.look(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		return plan, func(service, version string) string {
			a := plan.Ask("", api.Offer{Agent: service + version, Programs: []api.Program{{Service: service, Version: version}}})
			if a.Record == nil {
				return ""
			}
			return a.Record.Why
		}
	}
	plan, why := look()
	for of, want := range map[[2]string]string{{"cart", "v1"}: "", {"cart", "v2"}: "worse since v2", {"shop", "v7"}: "new finding: hotmutex in f", {"shop", "v8"}: ""} {
		if got := why(of[0], of[1]); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
	// The heap of one of them grows, since before.
	for service, want := range map[string]bool{"shop": true, "cart": false} {
		version := map[string]string{"shop": "v7", "cart": "v2"}[service]
		plan.EndLease(sampling.Subject{Service: service, Version: version})
		if a := plan.Ask("", api.Offer{Agent: "h", Programs: []api.Program{{Service: service, Version: version}}}); a.Record == nil || a.Record.Holders != want {
			t.Errorf("%s: %+v, want holders %v", service, a.Record, want)
		}
	}
	// They are recorded, and the server begins anew.
	for service, run := range map[string]api.Recording{"cart": {Service: "cart", Version: "v2", Why: "worse since v2"}, "shop": {Service: "shop", Version: "v7", Why: "new finding: hotmutex in f"}} {
		if _, _, err := kept.Add(bytes.NewReader(recorded(t, now)), run); err != nil {
			t.Fatal(service, err)
		}
		now = now.Add(time.Second)
	}
	_, why = look()
	if a, b := why("cart", "v2"), why("shop", "v7"); a != "" || b != "" {
		t.Errorf("they are recorded again: %q, %q", a, b)
	}
}

// TestShown holds that a finding names the recording that shows it, of its tenant.
func TestShown(t *testing.T) {
	dir := t.TempDir()
	kept, err := runs.Open(dir, runs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Truncate(time.Second)
	r, _, err := kept.Add(bytes.NewReader(recorded(t, now)), api.Recording{Service: `a"b\c`, Version: "v 1"})
	if err != nil {
		t.Fatal(err)
	}
	kept.Close()
	r.Diagnosis = api.Diagnosis{State: api.Done, Findings: []api.RecordingFinding{{Rule: "gccost", Where: "f f.go:1"}},
		Held: []api.Held{{Name: "main.static", Way: "main.static", Bytes: 9}, {Name: "main.pool", Way: "main.pool", Bytes: 9, Grew: new(int64(1))},
			{Name: "main.cache", Way: "main.cache → []byte", Bytes: 5, Grew: new(int64(2))}}}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, r.ID+".json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if kept, err = runs.Open(dir, runs.Options{}); err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	h := Handler(judged(t, now), func() time.Time { return now.Add(time.Minute) }, noPrices, kept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/findings", nil))
	var a api.Findings
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || len(a.Findings) != 2 {
		t.Fatalf("%v: %s", err, w.Body)
	}
	id := r.ID[:12]
	want := api.Shown{ID: r.ID, Version: "v 1", Start: r.Start, Where: "f f.go:1",
		Command: "gowhy fleet runs get " + id + " -o " + id + ".gowhy && gowhy view " + id + ".gowhy"}
	for _, f := range a.Findings {
		if f.Rule == "gccost" && (f.Recording == nil || *f.Recording != want) || f.Rule != "gccost" && f.Recording != nil {
			t.Errorf("%s: %+v, want %+v", f.Rule, f.Recording, want)
		}
	}
	grows := api.Findings{Findings: []api.Finding{{Service: `a"b\c`, Versions: []string{"v 1"}, Rule: "heapgrowth"}}}
	if show(&grows, kept, ""); grows.Findings[0].Recording == nil || grows.Findings[0].Recording.Held != "main.cache → []byte" {
		t.Errorf("a heap that grows is shown by %+v, want who holds it", grows.Findings[0].Recording)
	}
	other := api.Findings{Findings: []api.Finding{{Service: `a"b\c`, Versions: []string{"v 1"}, Rule: "gccost"}}}
	if show(&other, kept, "b"); other.Findings[0].Recording != nil {
		t.Error("another tenant's recording is named")
	}
}

// TestRecordUnknown holds that a recording is wanted only of a service that there is: one
// that sends profiles, has a recording, or that an agent sees.
func TestRecordUnknown(t *testing.T) {
	r, now := exporting(t)
	recordings := onlyRecorded(t, now)
	clock := func() time.Time { return now }
	plan := NewPlan(recordings, sampling.Options{}, clock)
	plan.Ask("", api.Offer{Agent: "h", Programs: []api.Program{{Service: "worker", Instance: "h"}}})
	record := func(profiles store.Reader, service string, code int) (what, hint string) {
		t.Helper()
		return refused(t, func(w *httptest.ResponseRecorder) {
			RunsHandler(recordings, plan, profiles, clock).ServeHTTP(w, httptest.NewRequest("POST", api.RecordPath+"?service="+service, nil))
		}, code)
	}
	for _, service := range []string{"shop", "batch", "worker"} {
		record(r, service, 202)
	}
	for service, want := range map[string]string{"wroker": "did you mean worker?", "crat": "did you mean cart?", "bacth": "did you mean batch?", "payment": "gowhy fleet services --from now-24h"} {
		if what, hint := record(r, service, 404); what != `there is no service "`+service+`"` || hint != want {
			t.Errorf("%s: %q, hint %q, want %q", service, what, hint, want)
		}
	}
	record(namesOf{Reader: r, err: errors.New("denied")}, "payment", 500)
	if a := plan.Ask("", api.Offer{Agent: "h", Programs: []api.Program{{Service: "payment"}}}); a.Record != nil {
		t.Errorf("the order after the refusal is %+v, want none", a.Record)
	}
}

// FuzzWanted holds that whatever is sent as the programs of a host is answered or refused.
func FuzzWanted(f *testing.F) {
	kept, err := runs.Open(f.TempDir(), runs.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer kept.Close()
	h := RunsHandler(kept, NewPlan(kept, sampling.Usual, time.Now), nil, time.Now)
	for _, seed := range []string{`{"agent":"h","programs":[{"service":"a","version":"v","instance":"i"}]}`, `{"agent":"h","programs":[{"service":"a","not":"host"}]}`, "[]", "{", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", api.WantedPath, bytes.NewReader(data)))
		var a api.Wanted
		switch err := json.Unmarshal(w.Body.Bytes(), &a); {
		case w.Code == http.StatusBadRequest:
		case w.Code != http.StatusOK || err != nil:
			t.Errorf("%d %s", w.Code, w.Body)
		case a.Record != nil && !runs.Plain(a.Record.Service):
			t.Errorf("%q is to be recorded", a.Record.Service)
		}
	})
}
