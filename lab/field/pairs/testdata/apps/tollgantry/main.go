// Command tollgantry charges the vehicles that pass the gantries of a toll road.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"tollgantry/internal/lane"
	"tollgantry/internal/ledger"
	"tollgantry/internal/plates"
	"tollgantry/internal/tariff"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	lanes := flag.Int("lanes", 34, "lanes")
	group := flag.Int("group", 64, "ledger group size")
	flag.Parse()

	book := ledger.Open(ledger.Sim{Trip: 1200 * time.Microsecond, Each: 12 * time.Microsecond}, *group)
	table := tariff.Load(12)
	reader := plates.Sim{Base: 18 * time.Millisecond}

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	all := make([]*lane.Lane, *lanes)
	for i := range all {
		all[i] = lane.New(i, reader, table, book)
		wg.Go(func() { all[i].Run(ctx) })
	}
	wg.Wait()
	book.Close()

	var n int
	var cents int64
	var spent time.Duration
	for _, l := range all {
		n += l.Passed
		cents += l.Cents
		spent += l.Spent
	}
	fmt.Printf("operations: %d\n", n)
	if n > 0 {
		fmt.Printf("charged %.2f EUR, mean passage %v\n", float64(cents)/100, (spent / time.Duration(n)).Round(10*time.Microsecond))
	}
}
