// Particlecopies follows the dust in a room.
package main

import (
	"flag"
	"fmt"
	"math"
)

const history = 60

type particle struct {
	x, y, vx, vy float64
	trail        [history][2]float64
	age          int
}

func dust(n int) []particle {
	room := make([]particle, n)
	for i := range room {
		a := float64(i)
		room[i] = particle{x: math.Mod(a*0.618, 1), y: math.Mod(a*0.414, 1), vx: math.Sin(a) / 100, vy: math.Cos(a) / 100}
	}
	return room
}

func step(room []particle) {
	for i := range room {
		p := &room[i]
		p.trail[p.age%history] = [2]float64{p.x, p.y}
		p.age++
		p.x += p.vx
		p.y += p.vy
		if p.x < 0 || p.x > 1 {
			p.vx = -p.vx
		}
		if p.y < 0 || p.y > 1 {
			p.vy = -p.vy
		}
	}
}

func (p particle) energy() float64 { return (p.vx*p.vx + p.vy*p.vy) / 2 }

func (p particle) inside(x, y, r float64) bool { return (p.x-x)*(p.x-x)+(p.y-y)*(p.y-y) < r*r }

// A zone says whether a particle is in it.
type zone func(p particle) bool

func circle(x, y, r float64) zone { return func(p particle) bool { return p.inside(x, y, r) } }

// beamOfCopies is the energy of what is in a beam of light.
func beamOfCopies(room []particle, x, y, r float64) (sum float64) {
	lit := circle(x, y, r)
	for _, p := range room {
		if lit(p) {
			sum += p.energy()
		}
	}
	return sum
}

// beam is the energy of what is in a beam of light.
func beam(room []particle, x, y, r float64) (sum float64) {
	for i := range room {
		if p := &room[i]; (p.x-x)*(p.x-x)+(p.y-y)*(p.y-y) < r*r {
			sum += (p.vx*p.vx + p.vy*p.vy) / 2
		}
	}
	return sum
}

func main() {
	copies := flag.Bool("copies", false, "range over values")
	steps := flag.Int("steps", 2000, "steps of time")
	flag.Parse()
	room, sum := dust(500), 0.0
	light := beam
	if *copies {
		light = beamOfCopies
	}
	for s := range *steps {
		step(room)
		for k := range 40 {
			sum += light(room, float64(k)/40, 0.5, 0.05+float64(s%3)/100)
		}
	}
	fmt.Println("mean energy:", sum/float64(*steps))
	fmt.Printf("operations: %d\n", *steps)
}
