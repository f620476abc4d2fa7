// Package visitors plays people who look for a flat.
package visitors

import (
	"fmt"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Forms returns n searches as query strings; people mostly use the same ones.
func Forms(n int) []string {
	rng := rand.New(rand.NewSource(5))
	pick := func(list ...string) string { return list[rng.Intn(len(list))] }
	out := make([]string, n)
	for i := range out {
		q := url.Values{}
		q.Set("city", pick("Bremen", "Kiel", "Ulm", "Jena", "Mainz"))
		q.Set("rooms", strconv.Itoa(1+rng.Intn(4)))
		q.Set("rent", strconv.Itoa(500+50*rng.Intn(14)))
		q.Set("balcony", pick("yes", "any"))
		q.Set("pets", pick("yes", "any"))
		if rng.Intn(2) == 0 {
			q.Set("heating", pick("gas", "district", "pump"))
		}
		if rng.Intn(2) == 0 {
			q.Set("lift", "yes")
		}
		out[i] = q.Encode()
	}
	return out
}

// Browse sends perSecond requests to h for the time given, and returns requests and bytes.
func Browse(h http.Handler, forms []string, perSecond int, d time.Duration) (int64, int64) {
	var n, bytes atomic.Int64
	var wg sync.WaitGroup
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	rng := rand.New(rand.NewSource(7))
	zipf := rand.NewZipf(rng, 1.1, 12, uint64(len(forms)-1))
	start := time.Now()
	sent := 0
	for now := range tick.C {
		if now.Sub(start) >= d {
			break
		}
		due := int(now.Sub(start).Seconds() * float64(perSecond))
		for ; sent < due; sent++ {
			target := fmt.Sprintf("/search?%s&page=%d", forms[zipf.Uint64()], 1+sent%3)
			wg.Add(1)
			go func() {
				defer wg.Done()
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, httptest.NewRequest("GET", target, nil))
				n.Add(1)
				bytes.Add(int64(rec.Body.Len()))
			}()
		}
	}
	wg.Wait()
	return n.Load(), bytes.Load()
}
