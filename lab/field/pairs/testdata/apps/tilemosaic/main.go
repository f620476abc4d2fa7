// Command tilemosaic makes map tiles of satellite scenes.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"tilemosaic/internal/raster"
	"tilemosaic/internal/scenes"
	"tilemosaic/internal/shelf"
	"tilemosaic/internal/tiles"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	part := flag.Bool("part", true, "let pictures cut themselves")
	flag.Parse()

	const count, size = 10, 1024
	list := scenes.Make(count, size)
	cut := raster.Cut(raster.Window)
	if *part {
		cut = raster.Part
	}
	columns, rows := ((count-1)*size/4+size)/tiles.Size, size/tiles.Size

	sh := shelf.New()
	var next atomic.Int64
	stop := time.Now().Add(*length)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			c := tiles.New(list, cut)
			for time.Now().Before(stop) {
				i := int(next.Add(1)) % (columns * rows)
				k := shelf.Key{X: i % columns, Y: i / columns}
				data, err := c.Tile(k.X, k.Y)
				if err != nil {
					log.Fatal(err)
				}
				sh.Store(k, data)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", sh.Put)
	fmt.Printf("tiles %d x %d, %d kB, changed %d\n", columns, rows, sh.Bytes>>10, sh.Moved)
}
