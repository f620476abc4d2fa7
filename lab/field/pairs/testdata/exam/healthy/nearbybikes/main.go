// Nearbybikes finds the bikes that are next to somebody. Readers use an index that nobody
// changes; a new one takes its place every half second.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	side = 128 // cells of the city's edge
	cell = 100 // metres of a cell's edge
	most = 8   // bikes that are answered
)

// A bike is somewhere, in metres.
type bike struct {
	x, y   float32
	number int32
}

// An index has the bikes sorted by their cells.
type index struct {
	bikes []bike
	first [side*side + 1]int32 // bike of a cell
}

func cellOf(x, y float32) int {
	return min(max(int(y)/cell, 0), side-1)*side + min(max(int(x)/cell, 0), side-1)
}

// newIndex sorts the bikes by counting.
func newIndex(bikes []bike) *index {
	ix := &index{bikes: make([]bike, len(bikes))}
	for i := range bikes {
		ix.first[cellOf(bikes[i].x, bikes[i].y)]++
	}
	for c := range side * side {
		ix.first[c+1] += ix.first[c]
	}
	for i := range bikes { // until now first is where the next cell begins
		at := &ix.first[cellOf(bikes[i].x, bikes[i].y)]
		*at--
		ix.bikes[*at] = bikes[i]
	}
	return ix
}

// A found bike is so many square metres away.
type found struct {
	number int32
	square float32
}

// near puts the bikes of the cells around a place into out, the nearest first.
func (ix *index) near(x, y float32, out []found) []found {
	col, row := min(max(int(x)/cell, 1), side-2), min(max(int(y)/cell, 1), side-2)
	for r := row - 1; r <= row+1; r++ {
		at := r*side + col - 1
		bikes := ix.bikes[ix.first[at]:ix.first[at+3]]
		for i := range bikes {
			b := &bikes[i]
			dx, dy := b.x-x, b.y-y
			f := found{b.number, dx*dx + dy*dy}
			if len(out) == most {
				if f.square >= out[most-1].square {
					continue
				}
			} else {
				out = append(out, f)
			}
			p := len(out) - 1
			for ; p > 0 && f.square < out[p-1].square; p-- {
				out[p] = out[p-1]
			}
			out[p] = f
		}
	}
	return out
}

// A fleet is the newest index.
type fleet struct{ newest atomic.Pointer[index] }

// ride moves some bikes twice a second, and makes an index of where they are.
func (f *fleet) ride(ctx context.Context, bikes []bike, rnd *rand.Rand) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for i := rnd.IntN(10); i < len(bikes); i += 10 {
			bikes[i].x += rnd.Float32()*40 - 20
			bikes[i].y += rnd.Float32()*40 - 20
		}
		f.newest.Store(newIndex(bikes))
	}
}

func main() {
	count := flag.Int("bikes", 60_000, "how many there are")
	flag.Parse()
	rnd := rand.New(rand.NewPCG(9, 9))
	bikes := make([]bike, *count)
	for i := range bikes {
		bikes[i] = bike{rnd.Float32() * side * cell, rnd.Float32() * side * cell, int32(i)}
	}
	var f fleet
	f.newest.Store(newIndex(bikes))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go f.ride(ctx, bikes, rnd)
	workers := runtime.GOMAXPROCS(0)
	people := make([]*rand.Rand, workers)
	for i := range people {
		people[i] = rand.New(rand.NewPCG(uint64(i), 12))
	}
	pace(workers, func(_ context.Context, w, _ int) error {
		x, y := people[w].Float32()*side*cell, people[w].Float32()*side*cell
		var room [most]found
		if near := f.newest.Load().near(x, y, room[:0]); len(near) == 0 {
			return fmt.Errorf("no bike around %.0f, %.0f", x, y)
		}
		return nil
	})
}
