package forward

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	"google.golang.org/protobuf/proto"

	"github.com/gowhy/gowhy/fleet/ingest/otlp"
	"github.com/gowhy/gowhy/fleet/store"
)

// keeping is a store that keeps, or fails.
type keeping struct{ fail error }

func (k keeping) Write(context.Context, *store.Batch) error { return k.fail }

// batch returns one of a value, with an ID.
func batch(id byte, value int64) *store.Batch {
	frames := []*store.Frame{{Function: "main.work", File: "main.go", Line: 7}}
	stack := store.IDOf(frames)
	return &store.Batch{ID: [16]byte{id}, Source: store.Source{Tenant: "red", Service: "shop"}, From: time.Unix(1_790_000_000, 0), Until: time.Unix(1_790_000_015, 0),
		Stacks:   map[store.StackID][]*store.Frame{stack: frames},
		Profiles: []store.Profile{{Type: store.CPU, Samples: []store.Sample{{Stack: stack, Value: value}}}, {Type: store.MutexDelay, Samples: []store.Sample{{Stack: stack, Value: value}}}}}
}

// TestOTLP has what arrives at the other server, by the generated types: what was kept,
// and once.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	sum, requests := int64(0), 0
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		data, err := io.ReadAll(unpacked)
		request := new(collector.ExportProfilesServiceRequest)
		if err := errors.Join(err, proto.Unmarshal(data, request)); err != nil {
			t.Error(err)
		}
		for _, p := range request.ResourceProfiles[0].ScopeProfiles[0].Profiles {
			sum += p.Samples[0].Values[0]
		}
		requests++
		for name, want := range map[string]string{"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip", "X-Scope-Orgid": "red", "Authorization": "Bearer ours"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if r.URL.Path != "/base"+otlp.HTTPPath {
			t.Errorf("path %s", r.URL.Path)
		}
	}))
	defer target.Close()
	f, err := New(Options{URL: target.URL + "/base", Protocol: OTLP, Bearer: func() (string, error) { return "ours", nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	full := errors.New("full")
	for _, id := range []byte{1, 2, 1, 3, 2} {
		if err := f.Writer(keeping{}).Write(t.Context(), batch(id, 10)); err != nil {
			t.Error(err)
		}
		if err := f.Writer(keeping{full}).Write(t.Context(), batch(id+100, 1000)); err != full {
			t.Errorf("the client reads %v", err)
		}
	}
	stop() // what waits is sent
	running.Wait()
	if sum != 60 || requests != 3 {
		t.Errorf("a sum of %d in %d requests", sum, requests)
	}
	want(t, f, "gowhy_fleet_forwarded_total 3", "gowhy_fleet_forward_waiting_bytes 0")
	if h := http.NotFoundHandler(); fmt.Sprint(f.Handler(h)) != fmt.Sprint(h) {
		t.Error("requests are passed on as they came, too")
	}
}

// TestOTLPAnswers has what follows from each answer.
func TestOTLPAnswers(t *testing.T) {
	said := func(status int, body string) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
		}
	}
	partial := func(n int64, text string) string {
		data, err := proto.Marshal(&collector.ExportProfilesServiceResponse{PartialSuccess: &collector.ExportProfilesPartialSuccess{RejectedProfiles: n, ErrorMessage: text}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, c := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   string
		tries  bool // again
	}{
		"taken":              {said(200, ""), "gowhy_fleet_forwarded_total 1", false},
		"taken, with a word": {said(200, partial(0, "slow down")), "gowhy_fleet_forwarded_total 1", false},
		"rejected":           {said(200, partial(2, "no stack")), `gowhy_fleet_forward_dropped_total{reason="refused"} 1`, false},
		"a page":             {said(200, "<html>"), `gowhy_fleet_forward_dropped_total{reason="refused"} 1`, false},
		"no such path":       {said(404, ""), `gowhy_fleet_forward_dropped_total{reason="refused"} 1`, false},
		"broken":             {said(500, ""), `gowhy_fleet_forward_dropped_total{reason="refused"} 1`, false},
		"busy":               {said(429, ""), `gowhy_fleet_forward_dropped_total{reason="unreachable"} 1`, true},
		"away":               {said(503, ""), `gowhy_fleet_forward_dropped_total{reason="unreachable"} 1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &other{answer: c.answer}
				f, end := run(t, Options{transport: o, Protocol: OTLP})
				if err := f.Writer(keeping{}).Write(t.Context(), batch(1, 1)); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				want(t, f, c.want, "gowhy_fleet_forward_waiting_bytes 0")
				if n := o.count(); (n > 1) != c.tries {
					t.Errorf("%d attempts", n)
				}
				end()
			})
		})
	}
}

// TestOTLPSlow holds that a server that never answers delays nobody, and that what has no
// room is counted.
func TestOTLPSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &other{answer: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		f, end := run(t, Options{transport: o, Protocol: OTLP, Requests: 10})
		begin := time.Now()
		for id := range byte(40) {
			if err := f.Writer(keeping{}).Write(t.Context(), batch(id, 1)); err != nil {
				t.Error(err)
			}
			synctest.Wait() // the senders take what they can
		}
		if d := time.Since(begin); d != 0 {
			t.Errorf("the clients waited %v", d)
		}
		want(t, f, `gowhy_fleet_forward_dropped_total{reason="queue_full"} 26`) // four are on their way
		end()
	})
}

// TestRecent holds that the last IDs are known and memory is bounded.
func TestRecent(t *testing.T) {
	var r recent
	id := func(n int) [16]byte { return [16]byte{byte(n), byte(n >> 8), byte(n >> 16)} }
	for n := range 5 * half {
		r.add(id(n))
		if len(r.now)+len(r.before) > 2*half || !r.has(id(n)) || n >= half && !r.has(id(n-half+1)) {
			t.Fatalf("after %d: %d and %d", n, len(r.now), len(r.before))
		}
	}
	if r.has(id(0)) {
		t.Error("the first is known for ever")
	}
}

func FuzzRejected(f *testing.F) {
	f.Add([]byte("\x0a\x04\x08\x02\x12\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := new(collector.ExportProfilesServiceResponse)
		if err := rejectedProfiles(data); err == nil && proto.Unmarshal(data, answer) == nil && answer.GetPartialSuccess().GetRejectedProfiles() != 0 {
			t.Errorf("%q was taken for taken", data)
		}
	})
}
