// Package wards are those who call.
package wards

import (
	"fmt"
	"sync"
	"time"

	"pagers/internal/exchange"
)

// A House has wards.
type House struct {
	Exchange *exchange.Exchange
	Pagers   int
}

// A Sum counts calls.
type Sum struct{ Calls, Acknowledged, Late int }

var reasons = []string{"please come to bed %d", "drip of bed %d has run through", "visitors for bed %d", "theatre %d is ready"}

// Call calls so many times a second and waits for who acknowledges.
func (h *House) Call(rate int, span time.Duration) (sum Sum) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	count := int(float64(rate) * span.Seconds())
	start := time.Now()
	for n := range count {
		time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(rate))))
		wg.Go(func() {
			took, ok := h.one(1+n*17%h.Pagers, fmt.Sprintf(reasons[n%len(reasons)], n%40))
			mu.Lock()
			defer mu.Unlock()
			sum.Calls++
			if ok {
				sum.Acknowledged++
			}
			if took > 500*time.Millisecond {
				sum.Late++
			}
		})
	}
	wg.Wait()
	return sum
}

func (h *House) one(pager int, text string) (time.Duration, bool) {
	start := time.Now()
	done, err := h.Exchange.Call(pager, text)
	if err != nil {
		return 0, false
	}
	t := time.NewTimer(3 * time.Second)
	defer t.Stop()
	select {
	case <-done:
		return time.Since(start), true
	case <-t.C:
		return time.Since(start), false
	}
}
