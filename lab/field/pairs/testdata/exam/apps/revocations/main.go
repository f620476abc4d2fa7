// Revocations checks tokens against those that were revoked, while some more are.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"revocations/internal/gate"
	"revocations/internal/store"
	"revocations/internal/table"
)

// serve checks tokens at a rate, one in fifty of which was revoked.
func serve(g *gate.Gate, seed uint64, known, rate int, d time.Duration, done *atomic.Int64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	tokens := make([]gate.Token, 2000)
	for i := range tokens {
		tokens[i] = g.Issue(uint64(r.Int64()) | 1)
		if i%50 == 0 {
			tokens[i] = g.Issue(uint64(r.IntN(known)) << 32)
		}
	}
	begin := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	n := 0
	for now := range tick.C {
		if now.Sub(begin) > d {
			break
		}
		for due := int(now.Sub(begin).Seconds() * float64(rate)); n < due; n++ {
			if err := g.Check(tokens[n%len(tokens)]); err != nil && !errors.Is(err, gate.ErrRevoked) {
				return err
			}
			if n%5000 == 0 {
				if err := g.Revoke(uint64(known+n)<<32|seed, uint64(now.Unix())); err != nil {
					return err
				}
			}
		}
	}
	done.Add(int64(n))
	return nil
}

func main() {
	dir := flag.String("dir", ".", "where tables are kept")
	known := flag.Int("known", 300_000, "tokens that were revoked before")
	filterKeys := flag.Int("filter-keys", 2000, "keys that a table's filter is laid out for, 0 for those it has")
	rate := flag.Int("rate", 9_000, "checks in a second, of each worker")
	d := flag.Duration("for", 5*time.Second, "how long")
	flag.Parse()
	s := store.Open(store.Options{Dir: *dir, Memory: 8000, Fan: 6,
		Tables: table.Options{FilterKeys: *filterKeys, FilterBits: 10}})
	g := gate.New([]byte("a key of some thirty-two letters"), s)
	for i := range *known {
		if err := g.Revoke(uint64(i)<<32, 1); err != nil {
			log.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	var done atomic.Int64
	for w := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := serve(g, uint64(w+1), *known, *rate, *d, &done); err != nil {
				log.Fatal(err)
			}
		}()
	}
	wg.Wait()
	fmt.Println("operations:", done.Load())
}
