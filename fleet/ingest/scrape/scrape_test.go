package scrape

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	netpprof "net/http/pprof"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
)

// A sink hands each batch to the test.
type sink chan *store.Batch

func (s sink) Write(ctx context.Context, b *store.Batch) error {
	select {
	case s <- b:
	case <-ctx.Done():
	}
	return nil
}

func (s sink) types(t *testing.T) map[store.Type]int64 {
	t.Helper()
	select {
	case b := <-s:
		sums := map[store.Type]int64{}
		for _, p := range b.Profiles {
			for _, sample := range p.Samples {
				sums[p.Type] += sample.Value
			}
		}
		return sums
	case <-time.After(time.Minute):
		t.Fatal("no batch in a minute")
		return nil
	}
}

// start runs a scraper until the test ends.
func start(t *testing.T, w store.Writer, targets ...Target) *Scraper {
	ctx, cancel := context.WithCancel(context.Background())
	s := New(w, targets, nil)
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func server(t *testing.T, h http.Handler) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func index() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", netpprof.Index)
	mux.HandleFunc("/debug/pprof/profile", netpprof.Profile)
	return mux
}

func TestNetHTTPPprof(t *testing.T) {
	held := make([]byte, 32<<20) // a heap profile has what is sampled, after two collections
	runtime.GC()
	runtime.GC()
	defer runtime.KeepAlive(held)
	w := make(sink)
	mux := index()
	s := server(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(rw, "no", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(rw, r)
	}))
	start(t, w, Target{Source: store.Source{Service: "shop"}, URL: s.URL + "/debug/pprof/", Interval: time.Second,
		CPU: time.Second, Bearer: "secret", Profiles: []string{"memory", "goroutines", "process_cpu"}})
	first := w.types(t)
	if first[store.Goroutines] == 0 || first[store.InuseSpace] == 0 || first[store.AllocSpace] != 0 {
		t.Errorf("the first scrape: %v", first)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		spin(stop)
	}()
	sums := w.types(t)
	close(stop)
	<-stopped
	if sums[store.CPU] == 0 {
		t.Errorf("the CPU profile: %v", sums)
	}
	if second := w.types(t); second[store.AllocSpace] < 0 || second[store.InuseSpace] == 0 {
		t.Errorf("the second scrape: %v", second)
	}
}

// spin uses CPU time.
func spin(stop <-chan struct{}) {
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		default:
			n *= 31
		}
	}
}

// A hostile target tells its error and does not delay the other.
func TestHostile(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for _, c := range []struct {
		name    string
		target  http.HandlerFunc
		timeout time.Duration // long enough for any machine, but where it is what ends the scrape
		want    string
	}{
		{"endless", endless, 30 * time.Second, "more than"},
		{"drip", drip, 200 * time.Millisecond, "deadline"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, 30 * time.Second, "status 302"},
		{"garbage", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "\x1b[2J") }, 30 * time.Second, "profile"},
		{"cut gzip", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "\x1f\x8b\x08") }, 30 * time.Second, "unpack"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := make(sink)
			good, bad := server(t, index()), server(t, c.target)
			only := []string{"goroutines"}
			s := start(t, w,
				Target{URL: bad.URL, Interval: 10 * time.Millisecond, Timeout: c.timeout, Profiles: only},
				Target{URL: good.URL + "/debug/pprof", Interval: 10 * time.Millisecond, Profiles: only})
			for s.Status()[0].At.IsZero() {
				w.types(t)
			}
			w.types(t)
			status := s.Status()
			if err := status[0].Err; err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("the hostile target: %v", err)
			}
			if status[1].Err != nil || status[1].At.IsZero() {
				t.Errorf("the other target: error %v at %v, want none, at some time", status[1].Err, status[1].At)
			}
		})
	}
}

// A scrape is left out when the caller says so, and only then.
func TestPause(t *testing.T) {
	w := make(sink)
	s := server(t, index())
	var turn atomic.Int64
	start(t, w, Target{URL: s.URL + "/debug/pprof", Interval: time.Millisecond, Profiles: []string{"goroutines"},
		Pause: func() bool { return turn.Add(1) < 4 }})
	w.types(t)
	if n := turn.Load(); n < 4 {
		t.Errorf("a batch came after %d turns, want 4", n)
	}
}

// reading returns a memory profile: allocations by stack, and 9 bytes in use.
func reading(values ...int64) *profiles.Profile {
	p := &profiles.Profile{Types: []profiles.ValueType{{Name: "alloc_space"}, {Name: "inuse_space"}}, Samples: make([][]store.Sample, 2)}
	for i, v := range values {
		if v != 0 {
			p.Samples[0] = append(p.Samples[0], store.Sample{Stack: store.StackID(i + 1), Value: v})
		}
	}
	p.Samples[1] = []store.Sample{{Stack: 1, Value: 9}}
	return p
}

func TestDifferences(t *testing.T) {
	b := baseline{"mutex/delay": {1: 100}}
	for _, step := range []struct {
		what string
		now  []int64
		want map[store.StackID]int64
	}{
		{"the first", []int64{5, 7}, nil},
		{"growth and a new stack", []int64{6, 7, 2}, map[store.StackID]int64{1: 1, 3: 2}},
		{"nothing new", []int64{6, 7, 2}, nil},
		{"a restart with fallen values", []int64{1, 9, 2}, map[store.StackID]int64{1: 1, 2: 9, 3: 2}},
		{"growth after it", []int64{3, 9, 2}, map[store.StackID]int64{1: 2}},
		{"a restart with a stack gone", []int64{4, 9}, map[store.StackID]int64{1: 4, 2: 9}},
	} {
		d := b.differences(kinds[0], reading(step.now...))
		if got := byStack(d[0]); !maps.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.what, got, step.want)
		}
		if !slices.Equal(d[1], []store.Sample{{Stack: 1, Value: 9}}) {
			t.Errorf("%s: in use %v", step.what, d[1])
		}
	}
	if before, known := b["mutex/delay"]; !known || before != nil {
		t.Errorf("a restart leaves the baseline of mutexes: %v", before)
	}
}

// What the store refuses is in the next difference.
func TestRefusedWrite(t *testing.T) {
	s := server(t, index())
	target := newTarget(Target{URL: s.URL + "/debug/pprof", Profiles: []string{"memory", "goroutines"}}, "")
	refuse := writerFunc(func(*store.Batch) error { return store.ErrFull })
	if err := target.counts(t.Context(), refuse); !errors.Is(err, store.ErrFull) {
		t.Errorf("a full store: %v", err)
	}
	if len(target.base) != 0 || !target.last.IsZero() {
		t.Error("the baseline moved")
	}
	if err := target.counts(t.Context(), writerFunc(func(*store.Batch) error { return nil })); err != nil {
		t.Error(err)
	}
	if len(target.base) != 2 || target.last.IsZero() {
		t.Error("the baseline did not move")
	}
}

type writerFunc func(*store.Batch) error

func (f writerFunc) Write(_ context.Context, b *store.Batch) error { return f(b) }

// TestUpdate changes the targets of a scraper that runs: one goes, one comes, and one that
// stays has another token and keeps its baseline.
func TestUpdate(t *testing.T) {
	held := make([]byte, 32<<20) // without which a first heap profile may be empty, and no batch
	runtime.GC()
	runtime.GC()
	defer runtime.KeepAlive(held)
	w := make(sink)
	var tokens atomic.Value
	tokens.Store("Bearer first")
	mux := index()
	s := server(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != tokens.Load() {
			http.Error(rw, "no", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(rw, r)
	}))
	target := func(service, bearer string) Target {
		return Target{Source: store.Source{Service: service}, URL: s.URL + "/debug/pprof", Interval: 200 * time.Millisecond, Bearer: bearer, Profiles: []string{"memory"}}
	}
	scraper := start(t, w, target("stays", "first"), target("goes", "first"), target("goes", "first"))
	services := map[string]bool{}
	for len(services) < 2 {
		services[(<-w).Source.Service] = true
	}
	if n := len(scraper.Status()); n != 2 {
		t.Fatalf("%d targets", n)
	}
	tokens.Store("Bearer second")
	scraper.Update([]Target{target("stays", "second"), target("comes", "second")})
	first := map[string]map[store.Type]int64{}
	for len(first) < 2 {
		b := <-w
		name := b.Source.Service
		if first[name] != nil || name == "goes" { // which may have been on its way
			continue
		}
		first[name] = map[store.Type]int64{}
		for _, p := range b.Profiles {
			first[name][p.Type] = int64(len(p.Samples))
		}
		if (b.From.Before(b.Until)) != (name == "stays") {
			t.Errorf("%s: from %v until %v", name, b.From, b.Until)
		}
	}
	if first["comes"][store.AllocSpace] != 0 {
		t.Errorf("a new target has no baseline: %v", first["comes"])
	}
	for _, status := range scraper.Status() {
		if status.Source.Service == "goes" {
			t.Error("it is still there")
		}
	}
	scraper.Update(nil)
	if n := len(scraper.Status()); n != 0 {
		t.Errorf("%d targets", n)
	}
}
