// Command postalsorter replays a day of scans through the sorting rules.
package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"time"

	"postalsorter/internal/parcel"
	"postalsorter/internal/routing"
	"postalsorter/internal/sorter"
	"postalsorter/internal/stats"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	lanes := flag.Int("lanes", 4*runtime.NumCPU(), "number of sorting lanes")
	v2 := flag.Bool("v2", true, "use the second directory")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()

	routes := routing.Initial(900)
	var dir routing.Directory
	if *v2 {
		dir = routing.NewTable(routes)
	} else {
		dir = routing.NewRegistry(ctx, routes)
	}
	day := parcel.Day(20000)
	board := &stats.Board{}
	s := sorter.New(dir, board, *lanes)
	go routing.Revise(ctx, dir, 200*time.Millisecond)
	n := s.Replay(ctx, day)

	fmt.Printf("operations: %d\n", n)
	fmt.Printf("busiest chute %s, unrouted %d\n", board.Busiest(), board.Unrouted.Load())
}
