// Package guests makes searches as the web site and the partners send them.
package guests

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"cottagesearch/internal/offers"
)

func address(r *rand.Rand) string {
	v := url.Values{}
	v.Set("region", offers.Regions[r.IntN(len(offers.Regions))])
	v.Set("beds", fmt.Sprint(2+r.IntN(4)))
	v.Set("min", "60")
	v.Set("max", fmt.Sprint(120+r.IntN(120)))
	v.Set("dogs", fmt.Sprint(r.IntN(2)))
	v.Set("arrival", "2026-07-04")
	v.Set("departure", "2026-07-18")
	v.Set("currency", "EUR")
	v.Set("lang", "de,en;q=0.7")
	v.Set("page", fmt.Sprint(r.IntN(3)))
	v.Set("utm_source", "news letter")
	v.Set("utm_campaign", "summer/lakes & woods")
	return "http://cottages.example/search?" + v.Encode()
}

// Run sends searches at a rate (per second) and returns how many were answered.
func Run(h http.Handler, rate int, d time.Duration) (ok, bad int64) {
	r := rand.New(rand.NewPCG(17, 4))
	addresses := make([]string, 500)
	for i := range addresses {
		addresses[i] = address(r)
	}
	var good, wrong atomic.Int64
	jobs := make(chan string, 256)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for a := range jobs {
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, a, nil))
				if rec.Code == http.StatusOK {
					good.Add(1)
				} else {
					wrong.Add(1)
				}
			}
		})
	}
	const step = 10 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	end := time.Now().Add(d)
	for i := 0; time.Now().Before(end); {
		<-tick.C
		for range rate / int(time.Second/step) {
			jobs <- addresses[i%len(addresses)]
			i++
		}
	}
	close(jobs)
	wg.Wait()
	return good.Load(), wrong.Load()
}
