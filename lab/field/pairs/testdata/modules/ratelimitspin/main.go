// Ratelimitspin lets workers hash blocks, at a rate that a limiter of Uber's allows.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"sync"

	"go.uber.org/ratelimit"
)

func main() {
	blocks := flag.Int("blocks", 3_000_000, "blocks of each worker")
	workers := flag.Int("workers", 8, "how many work at once")
	rate := flag.Int("rate", 200_000_000, "blocks a second that are allowed")
	flag.Parse()
	limit := ratelimit.New(*rate, ratelimit.WithoutSlack)
	block := make([]byte, 64)
	sums := make([]uint32, *workers*16)
	var wg sync.WaitGroup
	for w := range *workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range *blocks {
				limit.Take()
				sums[w*16] += crc32.ChecksumIEEE(block)
			}
		}()
	}
	wg.Wait()
	fmt.Println("sum:", sums[0])
	fmt.Printf("operations: %d\n", *blocks**workers)
}
