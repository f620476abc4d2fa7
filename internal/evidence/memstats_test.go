package evidence

import (
	"expvar"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"path/filepath"
	"testing"
	"time"
)

var allocated []byte

// A server without the agent still tells how many goroutines it has and what
// its memory does.
func TestMetricsWithoutAgent(t *testing.T) {
	for _, withExpvar := range []bool{true, false} {
		mux := http.NewServeMux()
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		if withExpvar {
			mux.Handle("/debug/vars", expvar.Handler())
		}
		server := httptest.NewServer(mux)
		defer server.Close()
		done := make(chan bool)
		go func() {
			defer close(done)
			time.Sleep(300 * time.Millisecond)
			allocated = make([]byte, 64<<20)
		}()
		out := filepath.Join(t.TempDir(), "run.gowhy")
		_, err := Record(t.Context(), Target{URL: server.URL}, RecordOptions{Out: out, Duration: 1200 * time.Millisecond, Only: []string{"metrics"}})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		m := loaded(t, out)
		if m.Metrics == nil {
			t.Fatalf("no metrics; notes %q", m.Run.Coverage.Notes)
		}
		goroutines := m.Metrics.Series[goroutinesMetric]
		if len(goroutines) < 3 || goroutines[0].Value < 2 {
			t.Errorf("goroutines: %v", goroutines)
		}
		allocs := m.Metrics.Series["/gc/heap/allocs:bytes"]
		if by, _, ok := allocs.Delta(); !ok || by < 64<<20 || by > 1<<30 {
			t.Errorf("expvar %v: allocated %v", withExpvar, allocs)
		}
		if withExpvar && len(m.Metrics.Series["/gc/cycles/forced:gc-cycles"]) == 0 {
			t.Error("expvar tells no forced collections")
		}
	}
}

func TestIndexGoroutines(t *testing.T) {
	recorder := httptest.NewRecorder()
	pprof.Index(recorder, httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil))
	if n, ok := indexGoroutines(recorder.Body.Bytes()); !ok || n < 1 {
		t.Errorf("%v, %v in\n%s", n, ok, recorder.Body)
	}
	for _, other := range []string{"", "<td>x</td><td><a href='goroutine?", "<td>9999999999999</td><td><a href='goroutine?debug=1'>"} {
		if n, ok := indexGoroutines([]byte(other)); ok {
			t.Errorf("%q has %v goroutines", other, n)
		}
	}
}
