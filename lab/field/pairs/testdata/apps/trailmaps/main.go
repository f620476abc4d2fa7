// Command trailmaps plans hiking tours.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"trailmaps/internal/cache"
	"trailmaps/internal/hikes"
	"trailmaps/internal/limits"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	memory := flag.Int("memory", 24, "memory of the container in MB")
	full := flag.Bool("full", true, "use the full cost of an entry")
	flag.Parse()

	plan := limits.For(*memory)
	plan.Apply()
	cost := cache.Bytes
	if *full {
		cost = cache.Full
	}
	p := &hikes.Planner{Cache: cache.New(plan.Cache, cost), Sections: 60_000}
	p.Warm(p.Sections)
	if err := p.Season(*d, 4); err != nil {
		log.Fatal(err)
	}
	entries, used := p.Cache.Use()
	fmt.Printf("operations: %d\n", p.Tours.Load())
	fmt.Printf("hits %d, misses %d, entries %d, budget used %d KB\n", p.Hits.Load(), p.Misses.Load(), entries, used>>10)
}
