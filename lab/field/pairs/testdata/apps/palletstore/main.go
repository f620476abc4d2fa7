// Palletstore puts the pallets of lorries away in a high store.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand"
	"time"

	"palletstore/internal/bays"
	"palletstore/internal/intake"
	"palletstore/internal/lanes"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second form of the plan")
	flag.Parse()

	rng := rand.New(rand.NewSource(17))
	var notes [][]byte
	for range 40 {
		notes = append(notes, intake.Lorry(rng, 33))
	}
	lane := &lanes.Lane{Plan: bays.NewPlan(800, *v2), Rng: rng}
	lorries := 0
	for start := time.Now(); time.Since(start) < *d; lorries++ {
		if err := lane.Unload(notes[lorries%len(notes)], 30000); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("operations: %d\n", lane.Stored+lane.Refused)
	fmt.Printf("%d lorries, %d refused, %d places taken, last label %x\n", lorries, lane.Refused, lane.Plan.Used(), lane.Mark[:4])
}
