package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// started serves a store until the test ends, and gives the URL.
func started(t *testing.T, s store.Store) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, s, Options{Listen: "127.0.0.1:0", Ready: func(address string) { ready <- address }})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case address := <-ready:
		return "http://" + address
	case err := <-ended:
		t.Fatal(err)
		return ""
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(data)
}

// pprofOf returns a profile of one sample.
func pprofOf(t *testing.T, value int64) *bytes.Buffer {
	t.Helper()
	f := &profile.Function{ID: 1, Name: "main.work", Filename: "main.go"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 7}}}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{value}}}, Location: []*profile.Location{l}, Function: []*profile.Function{f}}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return &b
}

// TestServe sends a profile to a server and asks for it in each form.
func TestServe(t *testing.T) {
	url := started(t, new(storetest.Reference))
	now := time.Now().Unix()
	send := fmt.Sprintf("%s/ingest?name=shop{version=v1,host=a}&from=%d&until=%d", url, now-15, now)
	for range 2 { // the second is the same
		r, err := http.Post(send, "application/octet-stream", pprofOf(t, 70))
		if err != nil || r.StatusCode != 200 {
			t.Fatalf("%v, %v", r, err)
		}
		r.Body.Close()
	}
	for path, want := range map[string]string{
		"/healthz": "ok", "/ready": "ok",
		"/api/v1/services": `"name":"shop","version":"v1","instances":1`,
		"/api/v1/top":      `{"name":"main.work","self":70,"total":70}`,
		"/api/v1/folded":   "main.work 70\n",
		"/api/v1/versions": `"changes":[]`,
		"/metrics":         "gowhy_fleet_batches_total 2\n",
		"/pyroscope/render?query=" + string(store.CPU): `"numTicks":70,`,
		"/nosuch": "404",
	} {
		if _, body := get(t, url+path); !strings.Contains(body, want) {
			t.Errorf("%s: %s, want %s", path, body, want)
		}
	}
	grafana := querierv1connect.NewQuerierServiceClient(http.DefaultClient, url)
	values, err := grafana.LabelValues(t.Context(), connect.NewRequest(&typesv1.LabelValuesRequest{Name: "service_name"}))
	if err != nil || fmt.Sprint(values.Msg.Names) != "[shop]" {
		t.Errorf("Grafana's data source sees %v, %v", values, err)
	}
	if _, body := get(t, url+"/metrics"); !strings.Contains(body, `gowhy_fleet_acknowledge_seconds_count 2`) || !strings.Contains(body, `requests_total{status="2xx"} 2`) {
		t.Error(body)
	}
	_, data := get(t, url+"/api/v1/pprof")
	p, err := profile.ParseData([]byte(data))
	if err != nil || len(p.Sample) != 1 || p.Sample[0].Value[0] != 70 || p.Sample[0].Location[0].Line[0].Function.Name != "main.work" {
		t.Errorf("the profile is %v, %v", p, err)
	}
}

// full is a store without room.
type full struct{ storetest.Reference }

func (*full) Write(context.Context, *store.Batch) error {
	return fmt.Errorf("%w: no space left on device", store.ErrFull)
}

func TestFull(t *testing.T) {
	url := started(t, new(full))
	r, err := http.Post(url+"/ingest?name=shop", "", pprofOf(t, 1))
	if err != nil || r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("%v, %v", r, err)
	}
	if _, body := get(t, url+"/metrics"); !strings.Contains(body, "gowhy_fleet_batches_full_total 1\n") || !strings.Contains(body, `requests_total{status="4xx"} 1`) {
		t.Error(body)
	}
}

func TestReachable(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:4040": true, "localhost:4040": true, "127.9.9.9:1": true,
		"0.0.0.0:4040": false, ":4040": false, "10.0.0.1:1": false, "example.com:1": false, "127.0.0.1": false, "": false,
	} {
		if err := Reachable(address, false, true, true); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestStrangers holds that pages of other sites get nothing, under whatever name they
// reach the server.
func TestStrangers(t *testing.T) {
	h := local(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"127.0.0.1:4040", "", 200}, {"localhost:4040", "", 200}, {"[::1]:4040", "", 200}, {"localhost", "http://localhost", 200},
		{"evil.example:4040", "", 403}, {"10.0.0.1:4040", "", 403}, {"127.0.0.1:4040", "http://evil.example", 403}, {"", "", 403}, {"127.0.0.1:4040", "null", 403},
	} {
		r := httptest.NewRequest("GET", "/api/v1/services", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("host %q, origin %q: %d, want %d", c.host, c.origin, w.Code, c.status)
		}
	}
}

// broken cannot answer.
type broken struct{ store.Reader }

func (broken) Stacks(context.Context, store.Selection) (store.Stacks, error) {
	return store.Stacks{}, errors.New("open /secret/path: permission denied")
}

func (broken) Instances(context.Context, store.Selection) (store.Instances, error) {
	return store.Instances{}, errors.New("open /secret/path: permission denied")
}

func TestBroken(t *testing.T) {
	for _, path := range []string{"top", "folded", "pprof", "versions", "flame"} {
		w := httptest.NewRecorder()
		Handler(broken{}, time.Now, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/"+path, nil))
		if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestVersions asks about a fleet in which one of two services is dearer since a deploy.
func TestVersions(t *testing.T) {
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	plan := simulate.Plan{Seed: 3, Start: start, Length: 2 * time.Hour, Step: 10 * time.Minute}
	for _, name := range []string{"same", "dearer"} {
		s := simulate.Service{Name: name, Processes: 20, Stacks: []simulate.Shape{{Type: store.CPU, Count: 30, Sum: 30e9, Unit: 10e6}},
			Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: time.Hour}}}
		if name == "dearer" {
			s.Versions[1].Changes = []simulate.Change{{Type: store.CPU, Function: s.Function(2), Percent: 100}}
		}
		plan.Services = append(plan.Services, s)
	}
	r := new(storetest.Reference)
	for b := range plan.Batches() {
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	// What costs more since a moment without a deploy is beside them, while it does.
	for _, service := range []string{"same", "over"} {
		for i := range 6 {
			row := store.Finding{Service: service, Version: "v1", Until: start.Add(time.Duration(i+1) * 15 * time.Minute), Rule: "growth"}
			row.From = row.Until.Add(-4 * time.Hour)
			step := row
			step.From, step.Rule, step.Unit, step.Cost = start, findings.CostStep, "cores", 2e6
			rows := []store.Finding{row, step}
			if service == "over" && i > 2 {
				rows = rows[:1]
			}
			if err := r.WriteFindings(t.Context(), rows); err != nil {
				t.Fatal(err)
			}
		}
	}
	w := httptest.NewRecorder()
	Handler(r, func() time.Time { return start.Add(2 * time.Hour) }, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/versions?from=now-2h", nil))
	var a api.Versions
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	c := a.Changes[0]
	if c.Ratio == nil {
		t.Fatalf("the change of %s is %q, why %q, without a ratio, want one", c.Service, c.Verdict, c.Why)
	}
	if len(a.Changes) != 2 || c.Service != "dearer" || c.Verdict != "worse" || c.Unit != "CPU/operation" || !c.Paired || *c.Ratio < 1.02 || len(c.Functions) == 0 || c.Function != plan.Services[1].Function(2) {
		t.Errorf("%d changes, the first of %q is %q in %q, paired %v, %v times, in %q of %d functions, "+
			"want 2, dearer, worse in CPU/operation, true, 1.02 or more, in %q of some",
			len(a.Changes), c.Service, c.Verdict, c.Unit, c.Paired, *c.Ratio, c.Function, len(c.Functions), plan.Services[1].Function(2))
	}
	if len(a.Steps) != 1 || a.Steps[0].Service != "same" || a.Steps[0].Cost != 2 || !a.Steps[0].First.Equal(start) {
		t.Errorf("the steps are %+v, want one, of same, which costs 2 since %v", a.Steps, start)
	}
	if other := a.Changes[1]; other.Verdict != "no change seen" || other.Functions != nil {
		t.Errorf("the second change is %q in the functions %+v, want no change seen in none",
			other.Verdict, other.Functions)
	}
}

func FuzzQuestion(f *testing.F) {
	f.Add("from=now-1h&until=now&type=cpu&limit=3&label=a=b")
	f.Add("from=2026-01-02T15:04:05Z&type=a:b:c:d:e")
	f.Add("from=now-1h&step=15s&by=label:zone&base_version=v1")
	r := new(storetest.Reference)
	random := rand.New(rand.NewPCG(1, 2))
	h := Handler(r, func() time.Time { return time.Unix(1e9+random.Int64N(1e6), 0) }, noPrices, nil)
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"services", "levels", "series", "values", "flame", "top", "versions", "findings", "diff", "evidence", "folded", "pprof", "otlp", "otlp.json"} {
			request := httptest.NewRequest("GET", "/api/v1/"+path, nil)
			request.URL.RawQuery = query
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request)
			if w.Code >= 500 {
				t.Fatalf("%s?%s: %d %s", path, query, w.Code, w.Body)
			}
		}
	})
}

func noPrices() api.Prices { return api.Prices{} }
