// Mapcache draws the tiles of maps and keeps what it has drawn.
package main

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
)

// A cache keeps tiles by where they are.
type cache struct {
	mu    sync.Mutex
	tiles map[string]*image.Gray
	order []string
	most  int // 0: all of them
}

func (c *cache) tile(x, y float64) *image.Gray {
	key := fmt.Sprintf("%.5f/%.5f", x, y)
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tiles[key]; t != nil {
		return t
	}
	t := draw(x, y)
	c.tiles[key] = t
	if c.most > 0 {
		c.order = append(c.order, key)
		if len(c.order) > c.most {
			delete(c.tiles, c.order[0])
			c.order = c.order[1:]
		}
	}
	return t
}

// draw draws the heights around a place.
func draw(x, y float64) *image.Gray {
	t := image.NewGray(image.Rect(0, 0, 96, 96))
	for py := range 96 {
		wave := math.Sin(y*3 + float64(py)/40)
		for px := range 96 {
			t.SetGray(px, py, color.Gray{Y: uint8(128 + 100*wave*float64(px)/96)})
		}
	}
	return t
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	most := flag.Int("most", 0, "how many tiles are kept")
	flag.Parse()
	c := &cache{tiles: map[string]*image.Gray{}, most: *most}
	http.HandleFunc("GET /near/{city}", func(w http.ResponseWriter, r *http.Request) {
		x, y := float64(len(r.PathValue("city"))), 47.0
		if rand.IntN(3) > 0 { // people walk around
			x, y = x+rand.Float64(), y+rand.Float64()
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		if _, err := w.Write(c.tile(x, y).Pix); err != nil {
			log.Print(err)
		}
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
