// Command perfumeblends tells perfumers how their blends unfold.
package main

import (
	"flag"
	"fmt"
	"time"

	"perfumeblends/internal/blend"
	"perfumeblends/internal/counter"
	"perfumeblends/internal/recent"
	"perfumeblends/internal/shop"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	ordered := flag.Bool("ordered", true, "keep the profiles in order")
	size := flag.Int("profiles", 4000, "profiles to keep")
	flag.Parse()

	desk := &counter.Desk{Profiles: recent.New[*blend.Profile](*size, *ordered)}
	shop.Fill(desk, 2**size)
	ops, out := shop.Open(desk, 10, 15*time.Millisecond, *d)
	hits, misses, evicted := desk.Profiles.Stats()
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("answered %d KB; profiles: %d hits, %d misses, %d dropped\n", out>>10, hits, misses, evicted)
}
