package server

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/store"
)

type reader struct{ store.Reader }

func (reader) Stacks(context.Context, store.Selection) (store.Stacks, error) {
	return store.Stacks{
		Samples: []store.Sample{{Stack: 1, Value: 5}, {Stack: 2, Value: 3}, {Stack: 0, Value: 2}},
		Frames:  map[store.StackID][]*store.Frame{1: {{Function: "f"}, {Function: "f"}, {Function: "main"}}, 2: {{Function: "g"}, {Function: "main"}}},
		Total:   10,
	}, nil
}

func TestTop(t *testing.T) {
	h := Handler(reader{}, func() time.Time { return time.Unix(1e9, 0) }, noPrices, nil)
	for query, want := range map[string]string{
		"limit=1":               `{"functions":[{"name":"f","self":5,"total":5}],"other":5,"total":10}`,
		"":                      `{"functions":[{"name":"f","self":5,"total":5},{"name":"g","self":3,"total":3},{"name":"main","self":0,"total":8}],"other":2,"total":10}`,
		"limit=0":               "limit",
		"from=yesterday":        "from: ",
		"from=now--1h":          "before now",
		"from=now&until=now-1h": "not before",
		"type=heat":             "is unknown",
		"label=zone":            "name=value",
		strings.Repeat("label=a=b&", store.MostLabels+1):           "31 labels",
		"label=" + strings.Repeat("a", store.LongestName+1) + "=b": "a name has at most",
		"label=a=" + strings.Repeat("b", store.LongestValue+1):     "a value 2048",
		"service=" + strings.Repeat("s", store.LongestValue+1):     "2049 bytes, 2048 are the most",
		"version=" + strings.Repeat("v", store.LongestValue+1):     "2049 bytes, 2048 are the most",
		"instance=" + strings.Repeat("i", 2*store.LongestValue+2):  "4098 bytes, 4097 are the most",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/top?"+query, nil))
		if !strings.Contains(w.Body.String(), want) || (w.Code == 200) != strings.HasPrefix(want, "{") {
			t.Errorf("%q: %d %s, want %s", query, w.Code, w.Body, want)
		}
	}
}

func (reader) Services(context.Context, store.Selection) (store.Services, error) {
	return store.Services{Services: []store.Service{
		{Name: "web"},
		{Name: "api", Version: "v1", Instances: 2, Covered: 4 * time.Second, Totals: []store.Total{{Type: store.CPU, Value: 9e9}}},
		{Name: "api", Version: "v2", Instances: 2, Covered: 4 * time.Second, Totals: []store.Total{{Type: store.CPU, Value: 3e9}}},
	}}, nil
}

// Of api one process was deployed anew, one ended, and one began.
func (reader) Instances(_ context.Context, s store.Selection) (store.Instances, error) {
	a := store.Instances{Missing: store.Missing{"shard 2"}}
	for _, p := range []store.Instance{
		{Service: "api", Version: "v2", Name: "a", Last: s.Until},
		{Service: "api", Version: "v1", Name: "a", Last: s.Until.Add(-time.Minute)},
		{Service: "api", Version: "v1", Name: "b", Last: s.Until.Add(-time.Hour)},
		{Service: "api", Version: "v2", Name: "c", Last: s.Until.Add(-10 * time.Minute)},
	} {
		if !p.Last.Before(s.From) {
			a.Instances = append(a.Instances, p)
		}
	}
	return a, nil
}

func TestServices(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(reader{}, time.Now, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/services?limit=2&from=now-6h", nil))
	want := `{"services":[{"name":"api","version":"v2","instances":2,"running":2,"cores":1.5,"first":"0001-01-01T00:00:00Z","last":"0001-01-01T00:00:00Z",` +
		`"covered_ns":4000000000,"totals":{"process_cpu:cpu:nanoseconds:cpu:nanoseconds":3000000000}},` +
		`{"name":"api","version":"v1","instances":2,"running":0,"cores":0,"first":"0001-01-01T00:00:00Z","last":"0001-01-01T00:00:00Z",` +
		`"covered_ns":4000000000,"totals":{"process_cpu:cpu:nanoseconds:cpu:nanoseconds":9000000000}}],"omitted":1,"missing":["shard 2"]}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestServicesPriced(t *testing.T) {
	w := httptest.NewRecorder()
	prices := func() api.Prices { return api.Prices{CoreHour: 0.5, Currency: "EUR"} }
	Handler(reader{}, time.Now, prices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/services", nil))
	if got := w.Body.String(); !strings.Contains(got, `"core_month":365,"currency":"EUR"`) {
		t.Error(got)
	}
}
