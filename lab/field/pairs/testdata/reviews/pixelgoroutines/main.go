// Pixelgoroutines makes the pictures of a film darker, with all processors.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
)

type picture struct {
	width, height int
	pixels        []uint8
}

func shoot(n int) *picture {
	p := &picture{width: 320, height: 200}
	p.pixels = make([]uint8, p.width*p.height)
	for i := range p.pixels {
		p.pixels[i] = uint8(i*n + i/p.width)
	}
	return p
}

// darken makes a stretch of pixels darker.
func darken(pixels []uint8) {
	for i, v := range pixels {
		w := int(v)
		pixels[i] = uint8(w * w / 300)
	}
}

// finely darkens eight pixels at a time.
func finely(p *picture) {
	var working sync.WaitGroup
	for at := 0; at < len(p.pixels); at += 8 {
		working.Go(func() { darken(p.pixels[at : at+8]) })
	}
	working.Wait()
}

// coarsely darkens a part for each processor.
func coarsely(p *picture) {
	var working sync.WaitGroup
	parts := runtime.GOMAXPROCS(0)
	for part := range parts {
		working.Go(func() { darken(p.pixels[len(p.pixels)*part/parts : len(p.pixels)*(part+1)/parts]) })
	}
	working.Wait()
}

func (p *picture) mean() (sum int) {
	for _, v := range p.pixels {
		sum += int(v)
	}
	return sum / len(p.pixels)
}

func main() {
	fine := flag.Bool("fine", false, "share the work finely")
	pictures := flag.Int("pictures", 1000, "how long the film is")
	flag.Parse()
	dark, dim := coarsely, 0
	if *fine {
		dark = finely
	}
	for n := range *pictures {
		p := shoot(n)
		dark(p)
		if p.mean() < 60 {
			dim++
		}
	}
	fmt.Println("dim pictures:", dim)
	fmt.Printf("operations: %d\n", *pictures)
}
