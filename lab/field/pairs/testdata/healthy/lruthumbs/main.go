// Lruthumbs serves thumbnails, of which golang-lru keeps those that were asked for last.
package main

import (
	"flag"
	"fmt"
	"hash/adler32"
	"log"
	"math/rand/v2"

	lru "github.com/hashicorp/golang-lru/v2"
)

// draw draws the thumbnail of a picture.
func draw(picture int) []byte {
	out := make([]byte, 4096)
	for i := range out {
		out[i] = byte(picture*i>>3 ^ i)
	}
	return out
}

func main() {
	flag.Parse()
	cache, err := lru.New[int, []byte](2000)
	if err != nil {
		log.Fatal(err)
	}
	popular := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.3, 4, 20000)
	pace(func(int) error {
		picture := int(popular.Uint64())
		thumb, ok := cache.Get(picture)
		if !ok {
			thumb = draw(picture)
			cache.Add(picture, thumb)
		}
		if adler32.Checksum(thumb) == 0 {
			return fmt.Errorf("picture %d is black", picture)
		}
		return nil
	})
}
