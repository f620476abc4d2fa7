package printer

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/server"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// grown returns the answer about a service in which the spans of five minutes found nothing, and
// which grows in memory and goroutines, as the judge keeps it.
func grown(t *testing.T, now time.Time) (data []byte) {
	t.Helper()
	r := new(storetest.Reference)
	var rows []store.Finding
	for _, until := range []time.Time{now.Add(-15 * time.Minute), now} {
		thin := store.Finding{Service: "shop", Version: "v2", From: until.Add(-5 * time.Minute), Until: until, Title: "too-thin", Instances: 14}
		looked := store.Finding{Service: "shop", Version: "v2", From: until.Add(-4 * time.Hour), Until: until, Rule: "growth"}
		heap := looked
		heap.Rule, heap.Title, heap.Function, heap.File, heap.Line = "heapgrowth", "Memory in use grows without end", "bytes.growSlice", "bytes/buffer.go", 249
		heap.Instances, heap.Unit, heap.Cost, heap.Confidence = 14, "bytes per second", 14*17476*1e6, "medium"
		heap.Evidence = []byte(`{"summary":"In 14 of 14 processes memory in use grew.","what":"growth of memory in use, 60.0 MiB an hour in a process","whole":true,"remedy":"Find who keeps it.","confidence_reasons":["hours of levels cannot tell a leak from a cache"]}`)
		routines := heap
		routines.Rule, routines.Title, routines.Function, routines.File, routines.Line = "goroutinegrowth", "Goroutines never end", "shop.wait", "shop/wait.go", 7
		routines.Instances, routines.Unit, routines.Cost, routines.Confidence = 2, "per second", 2*0.05e6, "low"
		routines.Evidence = []byte(`{"summary":"In 2 of 2 processes goroutines grew.","what":"growth of goroutines, 180 an hour in a process","whole":true,"remedy":"Find why they never end."}`)
		rows = append(rows, thin, looked, heap, routines)
	}
	if err := r.WriteFindings(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	prices := func() api.Prices { return api.Prices{CoreHour: 0.04, Currency: "EUR"} }
	server.Handler(r, func() time.Time { return now.Add(time.Minute) }, prices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/findings?from=now-6h", nil))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// TestGrowth holds how a growth is told in each form: its unit, cost, function and
// confidence, and neither cores nor money nor that the profiles are too thin for it.
func TestGrowth(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	data := grown(t, now)
	var a api.Findings
	if err := json.Unmarshal(data, &a); err != nil || len(a.Findings) != 2 {
		t.Fatalf("%v in %s", err, data)
	}
	var text, log bytes.Buffer
	Findings(&text, &a)
	if err := SARIF(&log, &a); err != nil {
		t.Fatal(err)
	}
	for form, c := range map[string]struct {
		said    string
		has, no []string
	}{
		"json": {string(data), []string{
			`"rule":"heapgrowth","title":"Memory in use grows without end"`, `"function":"bytes.growSlice","file":"bytes/buffer.go","line":249`, `"cost":244664,"unit":"bytes per second"`, `"confidence":"medium"`,
			`"function":"shop.wait"`, `"cost":0.1,"unit":"per second"`, `"confidence":"low"`, `"state":"open"`, `"command":"gowhy fleet record shop --version v2"`,
		}, []string{`"cores"`, `"money"`}},
		"sarif": {log.String(), []string{
			`"ruleId": "heapgrowth"`, `"ruleId": "goroutinegrowth"`, `"text": "shop: In 14 of 14 processes memory in use grew."`, `"startLine": 249`, `"cost": 244664`, `"unit": "bytes per second"`,
			`"cost": 0.1`, `"unit": "per second"`, `"confidence": "medium"`, `"confidence": "low"`, `bytes.growSlice`, `shop.wait`,
		}, []string{`"cores"`}},
		"text": {text.String(), []string{
			"shop: Memory in use grows without end\n  where   bytes.growSlice  buffer.go:249\n", "  cost    239 KiB/s (growth of memory in use, 60.0 MiB an hour in a process),\n          all 14 processes\n",
			"  sure    medium confidence: hours of levels cannot tell a leak from a cache\n", "shop: Goroutines never end\n  where   shop.wait  wait.go:7\n  cost    0.100/s (growth of goroutines, 180 an hour in a process), all 2",
			"  sure    low confidence\n", "  more    $ gowhy fleet record shop --version v2\n",
		}, []string{"cores", "EUR", "no cause in the profiles", "gain"}},
	} {
		for _, want := range c.has {
			if !strings.Contains(c.said, want) {
				t.Errorf("%s: no %q in\n%s", form, want, c.said)
			}
		}
		for _, not := range c.no {
			if strings.Contains(c.said, not) {
				t.Errorf("%s: %q in\n%s", form, not, c.said)
			}
		}
	}
}
