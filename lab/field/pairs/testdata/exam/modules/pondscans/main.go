// Pondscans takes scanned pages and has them read by the workers of a pool.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"time"

	"github.com/alitto/pond/v2"
)

// A page is what a scanner sends, black on white.
type page struct {
	number int
	dots   []byte
}

func scan(number int) *page {
	p := &page{number: number, dots: bytes.Repeat([]byte("....#..."), 4<<10)}
	for i := 0; i < len(p.dots); i += 97 {
		p.dots[i] = '#'
	}
	return p
}

// read tells the dark part of a page and its print.
func (p *page) read() (dark int, print uint64) {
	h := fnv.New64a()
	h.Write(p.dots)
	return bytes.Count(p.dots, []byte("#")), h.Sum64()
}

func main() {
	stacks := flag.Int("stacks", 120, "stacks of pages that are scanned")
	flag.Parse()
	pool := pond.NewPool(2)
	var dark, prints atomic.Int64
	n := 0
	for range *stacks {
		for range 40 {
			p := scan(n)
			n++
			pool.Submit(func() {
				d, print := p.read()
				dark.Add(int64(d))
				prints.Add(int64(print & 1))
			})
		}
		time.Sleep(40 * time.Millisecond) // the next stack is put into the feeder
	}
	pool.StopAndWait()
	fmt.Println("dark:", dark.Load(), "odd:", prints.Load())
	fmt.Println("operations:", n)
}
