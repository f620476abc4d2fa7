// Package httpbench is a benchmark as people trace them: a server of net/http,
// its clients, and a handler that all of them wait for.
package httpbench

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// A counter is what the requests meet at.
type counter struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[r.URL.Path]++
	for end := time.Now().Add(300 * time.Microsecond); time.Now().Before(end); {
	}
	json.NewEncoder(w).Encode(c.seen)
}

func BenchmarkServer(b *testing.B) {
	s := httptest.NewServer(&counter{seen: map[string]int{}})
	defer s.Close()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		client := &http.Client{Transport: &http.Transport{}}
		for pb.Next() {
			r, err := client.Get(s.URL + "/x")
			if err != nil {
				b.Error(err)
				return
			}
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
	})
}
