// Heartbeattimers follows the ships of a harbour and reports those that fall silent.
package main

import (
	"flag"
	"fmt"
	"time"
)

type position struct {
	ship     int
	lat, lon float64
}

type harbour struct {
	last   map[int]position
	silent int
	moved  float64
}

func (h *harbour) take(p position) {
	if old, ok := h.last[p.ship]; ok {
		h.moved += (p.lat - old.lat) * (p.lat - old.lat)
	}
	h.last[p.ship] = p
}

const patience = 30 * time.Second

func (h *harbour) follow(in <-chan position) {
	for {
		select {
		case p, ok := <-in:
			if !ok {
				return
			}
			h.take(p)
		case <-time.After(patience):
			h.silent++
		}
	}
}

func (h *harbour) followWithTimer(in <-chan position) {
	t := time.NewTimer(patience)
	defer t.Stop()
	seen := false
	for {
		select {
		case p, ok := <-in:
			if !ok {
				return
			}
			h.take(p)
			seen = true
		case <-t.C:
			if !seen {
				h.silent++
			}
			seen = false
			t.Reset(patience)
		}
	}
}

func main() {
	after := flag.Bool("after", false, "wait for each position")
	positions := flag.Int("positions", 3000000, "how many positions come in")
	flag.Parse()
	h := &harbour{last: map[int]position{}}
	in := make(chan position, 128)
	go func() {
		defer close(in)
		for i := range *positions {
			in <- position{i % 300, 47 + float64(i%1000)/1000, 8}
		}
	}()
	if *after {
		h.follow(in)
	} else {
		h.followWithTimer(in)
	}
	fmt.Printf("moved %.1f, silent %d times\n", h.moved, h.silent)
	fmt.Printf("operations: %d\n", *positions)
}
