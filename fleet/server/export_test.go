package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	"google.golang.org/protobuf/proto"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/ingest/otlp"
	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// exporting returns a store with two services in versions, one of them with processes that tell
// none, and the time after all of it.
func exporting(t *testing.T) (*storetest.Reference, time.Time) {
	t.Helper()
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	plan := simulate.Plan{Seed: 5, Start: start, Length: 10 * time.Minute, Step: time.Minute}
	for _, name := range []string{"cart", "shop"} {
		plan.Services = append(plan.Services, simulate.Service{Name: name, Processes: 3, Versions: []simulate.Version{{Name: "v1"}, {Name: "v2", Deploy: 5 * time.Minute}}})
	}
	r := new(storetest.Reference)
	n := byte(0)
	for b := range plan.Batches() {
		if n++; n%4 == 0 && b.Source.Service == "shop" {
			b.Source.Version = ""
		}
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return r, start.Add(time.Hour)
}

// asked returns the answer of a store to a question, as bytes.
func asked(t *testing.T, r store.Reader, now time.Time, question string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(r, func() time.Time { return now }, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/"+question, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", question, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// sums returns those of a question's services, by service and type.
func sums(t *testing.T, r store.Reader, now time.Time, question string) map[string]int64 {
	t.Helper()
	var a api.Services
	if err := json.Unmarshal(asked(t, r, now, "services?limit=10000&"+question), &a); err != nil {
		t.Fatal(err)
	}
	all := map[string]int64{}
	for _, s := range a.Services {
		for kind, n := range s.Totals {
			all[s.Name+" "+string(kind)] += n
		}
	}
	return all
}

// TestOTLP has what one server exports taken by another: in either form it has the same
// sums and the same functions. The generated types take it, too.
func TestOTLP(t *testing.T) {
	r, now := exporting(t)
	for _, c := range []struct {
		question  string
		resources string // services and versions
	}{
		{"from=now-2h", "[cart v1 cart v2 shop -]"},
		{"from=now-2h&service=cart", "[cart v1 cart v2]"},
		{"from=now-2h&service=shop&version=v2", "[shop v2]"},
		{"from=now-2h&type=mutex_delay", "[cart v1 cart v2 shop -]"},
	} {
		want := sums(t, r, now, c.question)
		if _, kind, only := strings.Cut(c.question, "type="); only {
			maps.DeleteFunc(want, func(key string, _ int64) bool { return !strings.HasSuffix(key, string(types[kind])) })
		}
		data := asked(t, r, now, "otlp?"+c.question)
		request := new(collector.ExportProfilesServiceRequest)
		if err := proto.Unmarshal(data, request); err != nil {
			t.Fatal(err)
		}
		var resources []string
		for _, p := range request.ResourceProfiles {
			name, version := "", "-"
			for _, a := range p.Resource.Attributes {
				switch a.Key {
				case "service.name":
					name = a.Value.GetStringValue()
				case "service.version":
					version = a.Value.GetStringValue()
				}
			}
			resources = append(resources, name, version)
		}
		if got := fmt.Sprint(resources); got != c.resources {
			t.Errorf("%s: resources %s, want %s", c.question, got, c.resources)
		}
		for media, data := range map[string][]byte{otlp.MediaProto: data, otlp.MediaJSON: asked(t, r, now, "otlp.json?"+c.question)} {
			other := new(storetest.Reference)
			sent := httptest.NewRequest("POST", otlp.HTTPPath, bytes.NewReader(data))
			sent.Header.Set("Content-Type", media)
			w := httptest.NewRecorder()
			otlp.Handler(other, ingest.Options{}).ServeHTTP(w, sent)
			if w.Code != 200 || w.Body.Len() > 2 {
				t.Fatalf("%s: %d %s", c.question, w.Code, w.Body)
			}
			after := now.Add(time.Minute) // what is exported counts at the end of its time
			if got := sums(t, other, after, "from=now-3h"); !maps.Equal(got, want) {
				t.Errorf("%s, %s:\n got %v\nwant %v", c.question, media, got, want)
			}
			if c.question != "from=now-2h" { // all of both
				continue
			}
			if here, there := asked(t, r, now, "top?from=now-2h&service=cart&type=alloc_space"), asked(t, other, after, "top?from=now-3h&service=cart&type=alloc_space"); !bytes.Equal(here, there) {
				t.Errorf("%s:\nhere  %s\nthere %s", media, here, there)
			}
		}
	}
}

// lacking is a store of which a part could not be asked.
type lacking struct{ store.Store }

func (l lacking) Stacks(ctx context.Context, s store.Selection) (store.Stacks, error) {
	a, err := l.Store.Stacks(ctx, s)
	a.Missing = store.Missing{"shard 2"}
	return a, err
}

// wide is a store with many services.
type wide struct{ store.Store }

func (wide) Services(context.Context, store.Selection) (all store.Services, err error) {
	for i := range mostExported + 1 {
		all.Services = append(all.Services, store.Service{Name: fmt.Sprintf("s%06d", i), Totals: []store.Total{{Type: store.CPU, Value: 1}}})
	}
	return all, nil
}

// TestExportNothing holds that an export of nothing is no empty file.
func TestExportNothing(t *testing.T) {
	r, now := exporting(t)
	for _, question := range []string{"otlp", "otlp.json", "pprof", "folded"} {
		for _, what := range []string{"from=now-2h&label=no=where", "from=now-1m", "from=now-1m&service=shop", "from=now-2h&type=a:b:c:d:e"} {
			w := httptest.NewRecorder()
			Handler(r, func() time.Time { return now }, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/"+question+"?"+what, nil))
			if w.Code != 404 || !strings.Contains(w.Body.String(), "nothing was sent") || !strings.Contains(w.Body.String(), `"hint":"ask from now-24h`) {
				t.Errorf("%s?%s: %d %s", question, what, w.Code, w.Body)
			}
		}
	}
}

// TestExportRefused has what lacks a part, and what is too much at once.
func TestExportRefused(t *testing.T) {
	r, now := exporting(t)
	for _, c := range []struct {
		r    store.Reader
		path string
		code int
		want string
	}{{lacking{r}, "otlp", 503, "shard 2"}, {lacking{r}, "pprof", 503, "shard 2"}, {lacking{r}, "folded", 503, "shard 2"}, {wide{r}, "otlp", 400, "ask for one service"}} {
		w := httptest.NewRecorder()
		Handler(c.r, func() time.Time { return now }, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/"+c.path+"?from=now-2h", nil))
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%d %s, want %d and %q", w.Code, w.Body, c.code, c.want)
		}
	}
}
