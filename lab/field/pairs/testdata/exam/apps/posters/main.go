// Posters shows posters of films to those who look through a catalogue.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"posters/internal/gallery"
	"posters/internal/origin"
	"posters/internal/shard"
)

// A visitor looks at posters, some in a second.
type visitor struct {
	gallery *gallery.Gallery
	rand    *rand.Rand
	titles  int
	pause   time.Duration
}

var widths = []int{120, 240, 480}

func (v *visitor) look(n int) (hits int, err error) {
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * v.pause)))
		title := min(v.rand.IntN(v.titles), v.rand.IntN(v.titles))
		p, err := v.gallery.Poster(title, widths[v.rand.IntN(len(widths))])
		if err != nil {
			return hits, err
		}
		if p.Hit {
			hits++
		}
	}
	return hits, nil
}

func main() {
	keys := flag.String("keyspace", string(gallery.ByGallery), "what posters are dropped with: gallery or title")
	parts := flag.Int("parts", 64, "parts of the cache")
	visitors := flag.Int("visitors", 24, "visitors at once")
	looks := flag.Int("looks", 58, "posters that each visitor looks at")
	pause := flag.Duration("pause", 55*time.Millisecond, "time from one look to the next")
	draw := flag.Duration("draw", 5*time.Millisecond, "time to draw a poster")
	flag.Parse()
	base, err := origin.Listen(origin.Handler(*draw))
	if err != nil {
		log.Fatal(err)
	}
	g := gallery.New(shard.New(*parts, 64<<20), origin.NewClient(base, *visitors), gallery.Keyspace(*keys))
	var wg sync.WaitGroup
	var hits atomic.Int64
	for n := range *visitors {
		v := &visitor{gallery: g, rand: rand.New(rand.NewPCG(uint64(n), 5)), titles: 4000, pause: *pause}
		wg.Go(func() {
			h, err := v.look(*looks)
			if err != nil {
				log.Fatal(err)
			}
			hits.Add(int64(h))
		})
	}
	wg.Wait()
	fmt.Println("hits:", hits.Load())
	fmt.Println("operations:", *visitors**looks)
}
