package flags

import (
	"flag"
	"testing"
)

var lock = flag.Bool("lock", false, "read under a lock")

func BenchmarkPage(b *testing.B) {
	var s Set = &Published{}
	if *lock {
		s = &Locked{}
	}
	s.Replace(Rules{Basket: {50, 1}, Search: {10, 2}, Stars: {90, 3}, Dark: {33, 4}})
	b.RunParallel(func(pb *testing.PB) {
		shown := 0
		for customer := uint32(0); pb.Next(); customer++ {
			for _, f := range []Feature{Basket, Search, Stars, Dark} {
				if s.On(f, customer) {
					shown++
				}
			}
		}
		if shown < 0 {
			b.Error(shown)
		}
	})
}
