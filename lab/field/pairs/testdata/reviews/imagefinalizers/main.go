// Imagefinalizers makes previews of tiles and counts how many are in use.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync/atomic"
)

var inUse atomic.Int64

// A tile is a small piece of an image; Close gives it back.
type tile struct{ pixels [64]uint8 }

func (t *tile) Close() { inUse.Add(-1) }

func newTile(x, y int) *tile {
	t := &tile{}
	for i := range t.pixels {
		t.pixels[i] = uint8(x*i ^ y)
	}
	inUse.Add(1)
	return t
}

func finalizedTile(x, y int) *tile {
	t := newTile(x, y)
	runtime.SetFinalizer(t, (*tile).Close)
	return t
}

func (t *tile) mean() int {
	sum := 0
	for _, p := range t.pixels {
		sum += int(p)
	}
	return sum / len(t.pixels)
}

// preview is the means of a row's tiles.
func preview(row, tiles int, finalized bool) []int {
	means := make([]int, 0, tiles)
	for x := range tiles {
		if finalized {
			means = append(means, finalizedTile(x, row).mean())
			continue
		}
		t := newTile(x, row)
		means = append(means, t.mean())
		t.Close()
	}
	return means
}

func main() {
	finalized := flag.Bool("finalized", false, "let the collector close tiles")
	rows := flag.Int("rows", 6000, "rows of tiles")
	flag.Parse()
	bright := 0
	for row := range *rows {
		for _, m := range preview(row, 1000, *finalized) {
			if m > 127 {
				bright++
			}
		}
	}
	fmt.Println("bright:", bright, "in use:", inUse.Load())
	fmt.Printf("operations: %d\n", *rows*1000)
}
