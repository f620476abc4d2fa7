// Package desk sends the calls of the clubs at a steady rate.
package desk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"courtbookings/internal/courts"
)

// Run calls book about rate times a second until the deadline.
func Run(book func([]byte) ([]byte, error), clubs, rate int, seed uint64, until time.Time) (int, error) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	const pause = 10 * time.Millisecond
	t := time.NewTicker(pause)
	defer t.Stop()
	start, n := time.Now(), 0
	for now := start; now.Before(until); now = <-t.C {
		due := int(now.Sub(start).Seconds() * float64(rate))
		for ; n < due; n++ {
			body, err := json.Marshal(map[string]any{
				"club": fmt.Sprintf("club-%04d", rnd.IntN(clubs)),
				"slot": courts.Slot{Court: rnd.IntN(60), Day: rnd.IntN(28), Hour: 7 + rnd.IntN(15)},
			})
			if err != nil {
				return n, err
			}
			if _, err := book(body); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}
