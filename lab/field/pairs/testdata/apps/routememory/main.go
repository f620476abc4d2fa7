// Routememory plans tours of vans over a network of roads.
package main

import (
	"flag"
	"fmt"
	"runtime/debug"

	"routememory/internal/network"
	"routememory/internal/tour"
)

func main() {
	crossings := flag.Int("crossings", 150000, "crossings of the network")
	tours := flag.Int("tours", 3000, "tours to plan")
	megabytes := flag.Int64("memory", 256, "megabytes that the program may have")
	flag.Parse()
	debug.SetMemoryLimit(*megabytes << 20)
	n := network.Generate(*crossings)
	p := tour.Planner{Network: n}
	metres := 0
	for i := range *tours {
		t := p.Plan(i*7919%*crossings, 400)
		metres += t.Metres
	}
	fmt.Println("metres:", metres)
	fmt.Printf("operations: %d\n", *tours)
}
