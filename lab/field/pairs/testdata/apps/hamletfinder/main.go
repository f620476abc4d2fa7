// Hamletfinder finds hamlets, villages and what they belong to.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hamletfinder/internal/finder"
	"hamletfinder/internal/gazette"
	"hamletfinder/internal/places"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	keyed := flag.Bool("keyed", true, "grow a keyed tree")
	count := flag.Int("places", 27000, "number of places")
	flag.Parse()

	text := gazette.Print(*count)
	begun := time.Now()
	items, err := gazette.Read(text)
	if err != nil {
		log.Fatal(err)
	}
	tree, err := places.Grow(items, *keyed)
	if err != nil {
		log.Fatal(err)
	}
	f := finder.New(tree)
	ready := time.Since(begun)

	var ops, bytes atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(max(*length-ready, 200*time.Millisecond))
	for c := range 2 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(c), 23))
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for time.Now().Before(end) {
				<-tick.C
				name, _, _ := strings.Cut(items[rnd.IntN(len(items))].Name, " ")
				b, err := f.Near(name, 50+rnd.Float64()*9, -6+rnd.Float64()*8)
				if err != nil {
					log.Print(err)
					continue
				}
				ops.Add(1)
				bytes.Add(int64(len(b)))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("ready after %v, %d places in %d realms, %d kB of answers\n", ready.Round(time.Millisecond), len(tree.All), tree.Roots, bytes.Load()/1024)
}
