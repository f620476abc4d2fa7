// Geopointers keeps where the cars of a fleet are and follows them through a city.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
)

type place struct {
	lat, lon float32
	heading  uint16
	speed    uint16
}

// A fleet knows where each car was last.
type fleet interface {
	move(car uint32, p place)
	cell(car uint32) (uint32, bool)
}

type byPointer map[uint32]*place

func (f byPointer) move(car uint32, p place) { f[car] = &p }

func (f byPointer) cell(car uint32) (uint32, bool) {
	p, ok := f[car]
	if !ok {
		return 0, false
	}
	return grid(*p), true
}

type byValue map[uint32]place

func (f byValue) move(car uint32, p place) { f[car] = p }

func (f byValue) cell(car uint32) (uint32, bool) {
	p, ok := f[car]
	return grid(p), ok
}

func grid(p place) uint32 { return uint32(p.lat*100)<<16 | uint32(p.lon*100) }

func report(r *rand.Rand) place {
	return place{47 + r.Float32(), 8 + r.Float32(), uint16(r.IntN(360)), uint16(r.IntN(130))}
}

func main() {
	pointers := flag.Bool("pointers", false, "keep places as pointers")
	cars := flag.Int("cars", 300000, "how many cars there are")
	reports := flag.Int("reports", 3000000, "how many reports come in")
	flag.Parse()
	r := rand.New(rand.NewPCG(3, 4))
	var f fleet = make(byValue, *cars)
	if *pointers {
		f = make(byPointer, *cars)
	}
	for car := range uint32(*cars) {
		f.move(car, report(r))
	}
	crowded := map[uint32]int{}
	for i := range *reports {
		f.move(r.Uint32N(uint32(*cars)), report(r))
		if i%1000 == 0 {
			page := make([]uint32, 0, 1024)
			for range cap(page) {
				if c, ok := f.cell(r.Uint32N(uint32(*cars))); ok {
					page = append(page, c)
				}
			}
			crowded[page[r.IntN(len(page))]]++
		}
	}
	fmt.Println("cells:", len(crowded))
	fmt.Printf("operations: %d\n", *reports)
}
