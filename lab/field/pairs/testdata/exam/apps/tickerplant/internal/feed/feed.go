// Package feed plays the exchange's multicast.
package feed

import (
	"context"
	"math/rand/v2"
	"time"

	"tickerplant/internal/quote"
)

// Open starts a feed of so many quotes a second. Its channel is closed with the context.
func Open(ctx context.Context, symbols, rate int) <-chan quote.Quote {
	out := make(chan quote.Quote, 256)
	go run(ctx, out, symbols, rate)
	return out
}

const burst = 5 * time.Millisecond

func run(ctx context.Context, out chan<- quote.Quote, symbols, rate int) {
	defer close(out)
	rng := rand.New(rand.NewPCG(8, 8))
	mids := make([]int64, symbols)
	for i := range mids {
		mids[i] = 1_000_000 + int64(i)*37_000
	}
	t := time.NewTicker(burst)
	defer t.Stop()
	seq, owed := 0, 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for owed += float64(rate) * burst.Seconds(); owed >= 1; owed-- {
			seq++
			i := rng.IntN(symbols)
			mids[i] += int64(rng.NormFloat64() * 120)
			half := 50 + rng.Int64N(100)
			q := quote.Quote{Symbol: i, Seq: seq, Bid: mids[i] - half, Ask: mids[i] + half, Size: 1 + rng.Int32N(500)}
			select {
			case out <- q:
			case <-ctx.Done():
				return
			}
		}
	}
}
