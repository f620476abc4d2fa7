// Terrainshade renders shaded relief tiles from elevation models.
package main

import (
	"flag"
	"fmt"
	"hash/adler32"
	"image"
	"io"
	"log"
	"sync"
	"time"

	"terrainshade/internal/dem"
	"terrainshade/internal/relief"
	"terrainshade/internal/smooth"
)

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	edge := flag.Int("edge", 1024, "edge of a tile")
	banded := flag.Bool("banded", true, "smooth in bands")
	flag.Parse()

	var mu sync.Mutex
	var ops, bytes int
	var sum uint32
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	for g := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			grid := dem.New(*edge, *edge)
			filter := &smooth.Filter{Radius: 3, Passes: 3, Banded: *banded}
			img := image.NewGray(image.Rect(0, 0, *edge, *edge))
			sun := relief.Sun(315, 45)
			n, size := 0, new(counter)
			hash := adler32.New()
			for time.Now().Before(end) {
				grid.Fill(n%40, 2*(n/40)+g)
				filter.Apply(grid)
				relief.Shade(img, grid, sun, 30)
				if err := relief.Encode(io.MultiWriter(size, hash), img); err != nil {
					log.Fatal(err)
				}
				n++
			}
			mu.Lock()
			ops += n
			bytes += size.n
			sum ^= hash.Sum32()
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops)
	fmt.Printf("bytes: %d, checksum %08x\n", bytes, sum)
}
