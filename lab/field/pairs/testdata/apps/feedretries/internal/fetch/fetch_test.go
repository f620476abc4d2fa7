package fetch

import (
	"net/http/httptest"
	"testing"
	"time"

	"feedretries/internal/origin"
)

func TestAll(t *testing.T) {
	s := httptest.NewServer(origin.New(2000))
	defer s.Close()
	for _, wait := range []time.Duration{0, time.Millisecond} {
		f := Fetcher{URL: s.URL, Client: s.Client(), Workers: 3, Attempts: 10000, Wait: wait}
		if n, err := f.All(t.Context(), 20); err != nil || n != 20 {
			t.Errorf("wait %s: %d, %v; want 20", wait, n, err)
		}
	}
}
