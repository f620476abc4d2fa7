package ops

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// get asks a handler for a path.
func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestCounts(t *testing.T) {
	var c Counts
	h := c.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	get(t, h, "/good")
	get(t, h, "/bad")
	if c.Requests.Load() != 2 || c.Failed.Load() != 1 {
		t.Errorf("%d requests, %d failed; want 2 and 1", c.Requests.Load(), c.Failed.Load())
	}
	if w := get(t, http.HandlerFunc(c.probe), "/healthz"); !strings.HasPrefix(w.Body.String(), "ok\n") {
		t.Errorf("the probe says %q", w.Body)
	}
}
