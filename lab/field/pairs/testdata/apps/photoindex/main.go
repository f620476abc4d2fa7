// Photoindex reads the headers of photos and makes an index of them.
package main

import (
	"flag"
	"fmt"
	"log"

	"photoindex/internal/album"
	"photoindex/internal/index"
)

func main() {
	photos := flag.Int("photos", 30000, "photos of the album")
	readers := flag.Int("readers", 4, "how many are read at once")
	prints := flag.String("prints", "readers", "who takes prints of photos: readers or index")
	flag.Parse()
	a := album.New(*photos)
	b := index.Builder{Album: a, Readers: *readers, PrintByReaders: *prints == "readers"}
	i, err := b.Build()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("different:", i.Different())
	fmt.Printf("operations: %d\n", *photos)
}
