package quota

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Requests are refused while memory is short, and taken again when it is not.
func TestMemory(t *testing.T) {
	m := NewMemory(1000)
	var has int64
	m.used = func() int64 { return has }
	h := m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, step := range []struct {
		has  int64
		code int
	}{{100, 200}, {950, 200}, {951, 429}, {5000, 429}, {900, 200}} {
		has = step.has
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/ingest", nil))
		if w.Code != step.code || (w.Code == 429) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("with %d of 1000 bytes: %d, want %d", has, w.Code, step.code)
		}
	}
	var b strings.Builder
	if m.Metrics(&b); !strings.Contains(b.String(), "gowhy_fleet_memory_refused_total 2\n") {
		t.Error(b.String())
	}
}

// What the runtime holds is some bytes, and without a limit nothing is refused.
func TestMemoryUsed(t *testing.T) {
	if n := used(); n < 1<<16 || n > 1<<40 {
		t.Errorf("the process has %d bytes", n)
	}
	for limit, want := range map[int64]int{0: 200, 1: 429} {
		w := httptest.NewRecorder()
		NewMemory(limit).Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, httptest.NewRequest("POST", "/ingest", nil))
		if w.Code != want {
			t.Errorf("limit %d: %d", limit, w.Code)
		}
	}
}
