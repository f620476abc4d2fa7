package auction

import (
	"flag"
	"sync/atomic"
	"testing"
)

var syncMap = flag.Bool("syncmap", false, "keep bids in a sync.Map")

func BenchmarkBid(b *testing.B) {
	bids := NewLocked()
	if *syncMap {
		bids = NewConcurrent()
	}
	var bidders atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		bidder := int(bidders.Add(1))
		won := 0
		for i := 1; pb.Next(); i++ {
			lot := (i*7919 + bidder) % 5000
			if bids.Bid(lot, Bid{bidder, i}) {
				won++
			}
			if i%8 == 0 && bids.Highest(lot).Cents < i {
				b.Error("a bid was lost")
			}
		}
		_ = won
	})
}
