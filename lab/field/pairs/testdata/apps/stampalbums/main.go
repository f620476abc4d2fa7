// Command stampalbums answers valuations of collectors' albums.
package main

import (
	"flag"
	"fmt"
	"runtime/debug"
	"time"

	"stampalbums/internal/album"
	"stampalbums/internal/gallery"
	"stampalbums/internal/shelf"
	"stampalbums/internal/vault"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	shelfMB := flag.Int("shelf", 12, "size of the shelf in MB")
	albums := flag.Int("albums", 9000, "number of albums")
	v2 := flag.Bool("v2", true, "weigh albums the second way")
	flag.Parse()

	budget := *shelfMB << 20
	debug.SetGCPercent(200)
	debug.SetMemoryLimit(int64(4 * budget))

	weigh := (*album.Album).Size
	if *v2 {
		weigh = (*album.Album).Footprint
	}
	g := gallery.New(vault.New(*albums), shelf.New(budget, weigh))
	g.Warm()
	n := g.Serve(*run, 2)

	fmt.Printf("operations: %d\n", n)
	fmt.Printf("on the shelf %.1f %%, total value %d\n", g.HitRate(), g.Value())
}
