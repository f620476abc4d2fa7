// Ristrettoroutes tells how long it takes from one stop of a city to another. Ways that are
// asked for often are kept by ristretto, others are searched.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"

	"github.com/dgraph-io/ristretto/v2"
)

const stops = 900

// An edge leads to a stop in so many seconds.
type edge struct {
	to      int32
	seconds uint32
}

type city [stops][]edge

func newCity() *city {
	c, rnd := new(city), rand.New(rand.NewPCG(6, 1))
	for i := range c {
		c[i] = make([]edge, 0, 5)
		for _, to := range [...]int{i + 1, i - 1, i + 30, i - 30, rnd.IntN(stops)} {
			if to >= 0 && to < stops && to != i {
				c[i] = append(c[i], edge{int32(to), 40 + rnd.Uint32N(300)})
			}
		}
	}
	return c
}

// A way is a stop that is reached after some seconds.
type way struct {
	seconds uint32
	stop    int32
}

// A finder searches ways, one after another.
type finder struct {
	city *city
	took [stops]uint32
	heap []way
}

func newFinder(c *city) *finder { return &finder{city: c, heap: make([]way, 0, 5*stops)} }

func (f *finder) push(w way) {
	f.heap = append(f.heap, w)
	i := len(f.heap) - 1
	for up := (i - 1) / 2; i > 0 && w.seconds < f.heap[up].seconds; i, up = up, (up-1)/2 {
		f.heap[i] = f.heap[up]
	}
	f.heap[i] = w
}

func (f *finder) pop() way {
	top, last := f.heap[0], len(f.heap)-1
	w := f.heap[last]
	f.heap = f.heap[:last]
	i := 0
	for {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && f.heap[down+1].seconds < f.heap[down].seconds {
			down++
		}
		if w.seconds <= f.heap[down].seconds {
			break
		}
		f.heap[i] = f.heap[down]
		i = down
	}
	if last > 0 {
		f.heap[i] = w
	}
	return top
}

// seconds returns how long the fastest way takes.
func (f *finder) seconds(from, to int32) (uint32, error) {
	const never = 1 << 31
	for i := range f.took {
		f.took[i] = never
	}
	f.heap = f.heap[:0]
	f.took[from] = 0
	f.push(way{0, from})
	for len(f.heap) > 0 {
		w := f.pop()
		if w.stop == to {
			return w.seconds, nil
		}
		if w.seconds > f.took[w.stop] {
			continue // there was a faster one
		}
		for _, e := range f.city[w.stop] {
			if s := w.seconds + e.seconds; s < f.took[e.to] {
				f.took[e.to] = s
				f.push(way{s, e.to})
			}
		}
	}
	return 0, fmt.Errorf("no way from %d to %d", from, to)
}

func main() {
	flag.Parse()
	const ways = 4000
	cache, err := ristretto.NewCache(&ristretto.Config[uint64, uint32]{
		NumCounters: 10 * ways, MaxCost: ways, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	type desk struct {
		finder *finder
		asked  *rand.Zipf
	}
	c := newCity()
	desks := make([]desk, runtime.GOMAXPROCS(0))
	for i := range desks {
		desks[i] = desk{newFinder(c), rand.NewZipf(rand.New(rand.NewPCG(uint64(i), 3)), 1.25, 3, stops*stops-1)}
	}
	pace(len(desks), func(_ context.Context, w, _ int) error {
		asked := desks[w].asked.Uint64() * 7919 % (stops * stops) // so that the popular ones are all over the city
		if _, ok := cache.Get(asked); ok {
			return nil
		}
		took, err := desks[w].finder.seconds(int32(asked/stops), int32(asked%stops))
		if err == nil {
			cache.Set(asked, took, 1)
		}
		return err
	})
}
