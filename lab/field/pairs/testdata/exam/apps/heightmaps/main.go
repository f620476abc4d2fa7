// Heightmaps tells how steep ways through a country are, which walkers ask for.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"heightmaps/internal/pages"
	"heightmaps/internal/profile"
	"heightmaps/internal/tiles"
)

// walk asks for ways at a rate.
func walk(c *tiles.Cache, w *profile.Walker, rate int, d time.Duration, ways *atomic.Int64) error {
	begin := time.Now()
	for n := 0; ; n++ {
		at := time.Duration(n) * time.Second / time.Duration(rate)
		if at >= d {
			return nil
		}
		time.Sleep(time.Until(begin.Add(at)))
		ids, column := w.Next()
		if _, err := profile.Way(c, ids, column); err != nil {
			return err
		}
		ways.Add(1)
	}
}

func main() {
	country := flag.Int("tiles", 300, "tiles of the country")
	keep := flag.Int("keep", 60, "tiles that are kept unpacked")
	extents := flag.Bool("extents", false, "file free memory by its extent")
	walkers := flag.Int("walkers", 3, "walkers at once")
	rate := flag.Int("rate", 50, "ways in a second of each walker")
	d := flag.Duration("for", 7*time.Second, "how long")
	flag.Parse()
	pool := pages.New(pages.Options{Extents: *extents})
	s, err := tiles.Survey(*country, pool)
	if err != nil {
		log.Fatal(err)
	}
	c := tiles.NewCache(s, *keep)
	var wg sync.WaitGroup
	var ways atomic.Int64
	for n := range *walkers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := walk(c, profile.NewWalker(uint64(n), *country), *rate, *d, &ways); err != nil {
				log.Fatal(err)
			}
		}()
	}
	wg.Wait()
	fmt.Println("mapped:", pool.Stats.Mapped, "reused:", pool.Stats.Reused)
	fmt.Println("operations:", ways.Load())
}
