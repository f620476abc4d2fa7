// Roaringsegments counts the customers who belong to two segments, as bitmaps of roaring.
package main

import (
	"flag"
	"fmt"

	"github.com/RoaringBitmap/roaring"
)

func segments() (out []*roaring.Bitmap) {
	for step := uint32(3); step < 19; step++ {
		b := roaring.New()
		for c := uint32(0); c < 200000; c += step {
			b.Add(c)
		}
		b.RunOptimize()
		out = append(out, b)
	}
	return out
}

func main() {
	flag.Parse()
	all := segments()
	pace(func(n int) error {
		a, b := all[n%len(all)], all[n*7%len(all)]
		if a.AndCardinality(b) == 0 {
			return fmt.Errorf("segments %d and %d have nobody in common", n%len(all), n*7%len(all))
		}
		return nil
	})
}
