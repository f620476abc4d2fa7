// Package crowd is the audience.
package crowd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"
)

type Stats struct {
	Views, Failed int
	Bytes         int
	Mean, P99     time.Duration
}

// Watch lets people look at pages at a rate until ctx ends.
func Watch(ctx context.Context, h http.Handler, events, rate int) (st Stats) {
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	t := time.NewTicker(4 * time.Millisecond)
	defer t.Stop()
	begun, sent := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			wg.Wait()
			st.Views = len(took)
			slices.Sort(took)
			for _, d := range took {
				st.Mean += d / time.Duration(len(took))
			}
			if len(took) > 0 {
				st.P99 = took[len(took)*99/100]
			}
			return st
		case <-t.C:
		}
		for due := int(time.Since(begun).Seconds() * float64(rate)); sent < due; sent++ {
			url := fmt.Sprintf("/standing?event=%d&from=%d", rand.IntN(events), 40*rand.IntN(5))
			wg.Go(func() {
				at := time.Now()
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, url, nil))
				mu.Lock()
				defer mu.Unlock()
				if rec.Code != http.StatusOK {
					st.Failed++
					return
				}
				st.Bytes += rec.Body.Len()
				took = append(took, time.Since(at))
			})
		}
	}
}
