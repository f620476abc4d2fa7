// Package orders sends orders as the weavers do.
package orders

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"dyeworks/internal/mixing"
	"dyeworks/internal/recipe"
)

// Result counts the answers.
type Result struct {
	Done, Failed, Bytes atomic.Int64
}

func encoded(n int) [][]byte {
	r := rand.New(rand.NewPCG(5, 77))
	cloths := []string{"wool", "linen", "cotton"}
	out := make([][]byte, n)
	for i := range out {
		out[i], _ = json.Marshal(mixing.Order{
			Customer: fmt.Sprintf("weaver-%03d", r.IntN(300)),
			Colour:   recipe.Any(r), Metres: 10 + r.IntN(400), Cloth: cloths[r.IntN(3)],
		})
	}
	return out
}

// Send gives orders to the service at a rate (per second).
func Send(s *mixing.Service, rate, clients int, d time.Duration) *Result {
	res := new(Result)
	msgs := encoded(1000)
	queue := make(chan []byte, 256)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for m := range queue {
				b, err := s.Handle(m)
				if err != nil {
					res.Failed.Add(1)
					continue
				}
				res.Done.Add(1)
				res.Bytes.Add(int64(len(b)))
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
			queue <- msgs[i%len(msgs)]
			i++
		}
	}
	close(queue)
	wg.Wait()
	return res
}
