// Package shop plays the customers.
package shop

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"perfumeblends/internal/blend"
)

func random(rnd *rand.Rand) []blend.Part {
	var seed uint64
	if rnd.IntN(10) < 6 {
		seed = uint64(rnd.IntN(1000))
	} else {
		seed = rnd.Uint64()
	}
	own := rand.New(rand.NewPCG(seed, 1))
	parts := make([]blend.Part, 3+own.IntN(4))
	for i := range parts {
		parts[i] = blend.Part{Essence: own.IntN(400), Share: float64(1+own.IntN(40)) / 100}
	}
	return parts
}

// Fill asks for n blends before the doors open.
func Fill(h http.Handler, n int) {
	rnd := rand.New(rand.NewPCG(99, 99))
	for range n / 50 {
		ask(h, rnd, 50)
	}
}

func ask(h http.Handler, rnd *rand.Rand, blends int) int {
	in := make([][]blend.Part, blends)
	for i := range in {
		in[i] = random(rnd)
	}
	body, _ := json.Marshal(in)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/profiles", bytes.NewReader(body)))
	return w.Body.Len()
}

// Open lets the counters ask until d is over.
func Open(h http.Handler, counters int, every, d time.Duration) (ops, size int64) {
	var wg sync.WaitGroup
	var n, out atomic.Int64
	end := time.Now().Add(d)
	for c := range counters {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(c), 8))
			tick := time.NewTicker(every)
			defer tick.Stop()
			for time.Now().Before(end) {
				<-tick.C
				out.Add(int64(ask(h, rnd, 6)))
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return n.Load(), out.Load()
}
