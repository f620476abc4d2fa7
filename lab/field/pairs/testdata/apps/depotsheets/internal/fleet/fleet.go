// Package fleet knows the depots of a bus company, their runs and their drivers.
package fleet

import (
	"fmt"
	"math/rand/v2"
)

// Stop is a stop on a run.
type Stop struct {
	Place  int
	Minute int
}

// Run is one journey of a bus.
type Run struct {
	Number string
	Line   string
	Driver string
	Stops  []Stop
	Load   []int // passengers after each stop
}

// Depot is where the buses of some runs stay overnight.
type Depot struct {
	Name string
	Runs []Run
}

var drivers = []string{"Abbott", "Birch", "Carver", "Dunmore", "Ellis", "Farrow", "Grange", "Holt"}

// Depots makes n depots with their runs of a day.
func Depots(n int) []Depot {
	r := rand.New(rand.NewPCG(3, 1))
	list := make([]Depot, n)
	for i := range list {
		list[i].Name = fmt.Sprintf("depot-%02d", i)
		for k := range 40 + r.IntN(30) {
			run := Run{Number: fmt.Sprintf("%02d%03d", i, k), Line: fmt.Sprintf("L%d", r.IntN(30)), Driver: drivers[r.IntN(len(drivers))]}
			minute, load := 300+r.IntN(900), 0
			for range 14 + r.IntN(20) {
				minute += 1 + r.IntN(6)
				load = max(0, load+r.IntN(17)-7)
				run.Stops = append(run.Stops, Stop{Place: r.IntN(4000), Minute: minute})
				run.Load = append(run.Load, load)
			}
			list[i].Runs = append(list[i].Runs, run)
		}
	}
	return list
}
