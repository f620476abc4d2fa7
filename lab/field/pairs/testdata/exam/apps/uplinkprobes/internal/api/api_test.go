package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"uplinkprobes/internal/agent"
	"uplinkprobes/internal/series"
)

func TestCollector(t *testing.T) {
	var want string
	for _, register := range []string{"upsert", "lookup"} {
		r, err := series.NewRegistry(register, series.Bounds{Lowest: 1, Highest: 60_000, Digits: 2})
		if err != nil {
			t.Fatal(err)
		}
		h := New(agent.NewFleet(3), r)
		for range 60 {
			ask(t, h, "/poll")
		}
		got := ask(t, h, "/sites/branch-001")
		if want == "" {
			want = got
		}
		if got != want || len(got) < 400 {
			t.Errorf("%s: %s, want %s", register, got, want)
		}
	}
}

func ask(t *testing.T, h http.Handler, path string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}
