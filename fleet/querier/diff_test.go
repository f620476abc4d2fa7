package querier

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// of sends stacks of a service, as "main;f 7".
func of(t *testing.T, r *storetest.Reference, service string, values map[string]int64) {
	t.Helper()
	b := &store.Batch{Source: store.Source{Service: service}, From: start, Until: start.Add(time.Minute), Stacks: map[store.StackID][]*store.Frame{}}
	copy(b.ID[:], service)
	p := store.Profile{Type: store.CPU}
	for stack, v := range values {
		var frames []*store.Frame
		for _, name := range strings.Split(stack, ";") {
			frames = append([]*store.Frame{{Function: name}}, frames...)
		}
		id := store.IDOf(frames)
		b.Stacks[id] = frames
		p.Samples = append(p.Samples, store.Sample{Stack: id, Value: v})
	}
	b.Profiles = []store.Profile{p}
	if err := r.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func differing(t *testing.T, r store.Reader, question url.Values) (status int, a renderedDiff, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	RenderDiff(r, func() time.Time { return start.Add(2 * time.Hour) }).ServeHTTP(w, httptest.NewRequest("GET", RenderDiffPath+"?"+question.Encode(), nil))
	body = w.Body.String()
	if w.Code == 200 {
		if err := json.Unmarshal([]byte(body), &a); err != nil {
			t.Fatal(err)
		}
	}
	return w.Code, a, body
}

// TestRenderDiff holds both sides to what is stored, bar by bar.
func TestRenderDiff(t *testing.T) {
	r := new(storetest.Reference)
	of(t, r, "was", map[string]int64{"main;f": 30, "main;g": 5, "main": 1})
	of(t, r, "is", map[string]int64{"main;f": 10, "main;h;k": 40})
	question := func(left, right string) url.Values {
		query := func(service string) []string { return []string{string(store.CPU) + `{service_name="` + service + `"}`} }
		return url.Values{"leftQuery": query(left), "leftFrom": {"now-2h"}, "rightQuery": query(right), "rightFrom": {"now-2h"}}
	}
	status, a, body := differing(t, r, question("was", "is"))
	want := `{"names":["total","main","f","g","h","k"],"levels":[[0,36,0,0,50,0,0],[0,36,1,0,50,0,1],` +
		`[1,30,30,0,10,10,2,0,5,5,0,0,0,3,0,0,0,0,40,0,4],[36,0,0,10,40,40,5]],"numTicks":86,"maxSelf":40}`
	got, _ := json.Marshal(a.Flamebearer)
	if status != 200 || string(got) != want || a.LeftTicks != 36 || a.RightTicks != 50 || a.Metadata.Format != "double" || a.Metadata.Units != "samples" {
		t.Errorf("%d %s\ngot  %s\nwant %s", status, body, got, want)
	}
	few := question("was", "is")
	few.Set("max-nodes", "3")
	if _, a, _ := differing(t, r, few); a.LeftTicks != 36 || !slices.Contains(a.Flamebearer.Names, "other") || slices.Contains(a.Flamebearer.Names, "g") {
		t.Errorf("of 3 nodes: %d on the left, names %q, want 36, and other without g", a.LeftTicks, a.Flamebearer.Names)
	}
	if status, a, _ := differing(t, r, question("was", "none")); status != 200 || a.RightTicks != 0 || a.LeftTicks != 36 {
		t.Errorf("nothing on the right: %d, %d beside %d, want 200, 36 beside 0", status, a.LeftTicks, a.RightTicks)
	}
	other := question("was", "is")
	other.Set("rightQuery", string(store.AllocSpace)+`{service_name="is"}`)
	dot := question("was", "is")
	dot.Set("format", "dot")
	for name, c := range map[string]struct {
		question url.Values
		status   int
	}{"two types": {other, 400}, "no query": {url.Values{}, 400}, "a format": {dot, 501}} {
		if status, _, body := differing(t, r, c.question); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.status)
		}
	}
}
