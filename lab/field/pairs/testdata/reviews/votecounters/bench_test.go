package votes

import (
	"flag"
	"sync/atomic"
	"testing"
)

var dense = flag.Bool("dense", false, "tables stand side by side")

func BenchmarkVote(b *testing.B) {
	var hall Hall = make(Wide, 2)
	if *dense {
		hall = make(Dense, 2)
	}
	var tables atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		t := hall.Table(int(tables.Add(1)))
		for i := uint32(0); pb.Next(); i++ {
			t.Vote(i*2654435761>>31 == 0)
		}
	})
	if yes, no := hall.Total(); yes+no != int64(b.N) {
		b.Errorf("%d + %d votes of %d", yes, no, b.N)
	}
}
