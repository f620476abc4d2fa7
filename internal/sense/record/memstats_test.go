package record

import (
	"bytes"
	"context"
	"errors"
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"path/filepath"
	"runtime"
	rpprof "runtime/pprof"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

var allocated []byte

// The heap profile as text has the runtime's statistics at its end.
func TestHeapTextFields(t *testing.T) {
	var text bytes.Buffer
	if err := rpprof.Lookup("heap").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	fields := heapTextFields(text.Bytes())
	for _, name := range []string{"TotalAlloc", "HeapSys", "NumGC"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("heapTextFields() has no %s: %v", name, fields)
		}
	}
	if fields["TotalAlloc"] <= 0 {
		t.Errorf("heapTextFields() has %v bytes in all, want more than 0", fields["TotalAlloc"])
	}
}

// A server without the agent still tells how many goroutines it has and what
// its memory does.
func TestMetricsWithoutAgent(t *testing.T) {
	for _, withExpvar := range []bool{true, false} {
		// A process that has little of the machine is slow to tell its heap as text, and is given up.
		if err := attempt.Repeat(t, func() error { return metricsAre(t, withExpvar) }); err != nil {
			t.Errorf("with expvar %v: %v", withExpvar, err)
		}
	}
}

// metricsAre records a server while it allocates 64 MiB; the error is that this or the goroutines are not told.
func metricsAre(t *testing.T, withExpvar bool) error {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var begun atomic.Bool
	var asked atomic.Int64 // since then
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		pprof.Index(w, r)
		if r.URL.Path == "/debug/pprof/" && begun.Load() && asked.Add(1) == 2 {
			end()
		}
	})
	if withExpvar {
		mux.Handle("/debug/vars", expvar.Handler())
	} else {
		// What all tests of this process have allocated is a long text by now: only its statistics.
		mux.HandleFunc("/debug/pprof/heap", func(w http.ResponseWriter, _ *http.Request) {
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			fmt.Fprintf(w, "heap profile: 0: 0 [0: 0] @ heap/1048576\n\n# runtime.MemStats\n# Alloc = %d\n# TotalAlloc = %d\n", stats.Alloc, stats.TotalAlloc)
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	out := filepath.Join(t.TempDir(), "run.gowhy")
	_, err := Run(ctx, Target{URL: server.URL}, Options{Out: out, Duration: time.Minute, Only: []string{"metrics"}, Started: func() {
		allocated = make([]byte, 64<<20)
		begun.Store(true)
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, evidence.Options{}, out)
	if m.Metrics == nil {
		return fmt.Errorf("no metrics; notes %q", m.Run.Coverage.Notes)
	}
	var wrong []error
	goroutines := m.Metrics.Series[goroutinesMetric]
	if len(goroutines) < 3 || goroutines[0].Value < 2 {
		wrong = append(wrong, fmt.Errorf("goroutines are %v, want three counts of two or more", goroutines))
	}
	allocs := m.Metrics.Series["/gc/heap/allocs:bytes"]
	if by, _, ok := allocs.Delta(); !ok || by < 64<<20 || by > 1<<30 {
		wrong = append(wrong, fmt.Errorf("the bytes allocated grow by %.0f, %v, want 64 MiB or more: %v", by, ok, allocs))
	}
	if withExpvar && len(m.Metrics.Series["/gc/cycles/forced:gc-cycles"]) == 0 {
		wrong = append(wrong, errors.New("expvar tells no forced collections"))
	}
	return errors.Join(wrong...)
}

func TestIndexGoroutines(t *testing.T) {
	recorder := httptest.NewRecorder()
	pprof.Index(recorder, httptest.NewRequest(http.MethodGet, "/debug/pprof/", nil))
	if n, ok := indexGoroutines(recorder.Body.Bytes()); !ok || n < 1 {
		t.Errorf("indexGoroutines() = %v, %v; want one or more in\n%s", n, ok, recorder.Body)
	}
	for _, other := range []string{"", "<td>x</td><td><a href='goroutine?", "<td>9999999999999</td><td><a href='goroutine?debug=1'>"} {
		if n, ok := indexGoroutines([]byte(other)); ok {
			t.Errorf("indexGoroutines(%q) = %v, want none", other, n)
		}
	}
}
