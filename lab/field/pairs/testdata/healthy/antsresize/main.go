// Antsresize scales pictures down in a pool of workers of ants.
package main

import (
	"flag"
	"log"
	"runtime"
	"sync"

	"github.com/panjf2000/ants/v2"
)

const side = 256

var pictures = sync.Pool{New: func() any { return new([side * side]byte) }}

// shrink makes a picture of a quarter of the size.
func shrink(n int) byte {
	p := pictures.Get().(*[side * side]byte)
	defer pictures.Put(p)
	for i := range p {
		p[i] = byte(i * n >> 4)
	}
	var last byte
	for y := 0; y < side; y += 2 {
		for x := 0; x < side; x += 2 {
			at := y*side + x
			last = byte((int(p[at]) + int(p[at+1]) + int(p[at+side]) + int(p[at+side+1])) / 4)
			p[y/2*side+x/2] = last
		}
	}
	return last
}

func main() {
	flag.Parse()
	pool, err := ants.NewPool(runtime.GOMAXPROCS(0))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Release()
	pace(func(n int) error { return pool.Submit(func() { shrink(n) }) })
}
