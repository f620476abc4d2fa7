// Tickerplant hands the quotes of an exchange to the desks of a house.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"tickerplant/internal/desk"
	"tickerplant/internal/feed"
	"tickerplant/internal/plant"
)

func main() {
	rate := flag.Int("rate", 2500, "quotes in each second")
	symbols := flag.Int("symbols", 40, "symbols that are quoted")
	delivery := flag.String("delivery", "every", "what desks get: every quote, or the latest of each symbol")
	margin := flag.Duration("margin", 3*time.Millisecond, "how long the clearer takes to tell a margin")
	runs := flag.Duration("for", 6*time.Second, "how long the session is")
	flag.Parse()

	clearer, err := desk.StartClearer(*margin)
	if err != nil {
		log.Fatal(err)
	}
	defer clearer.Close()
	risk, err := desk.NewRisk(clearer.Addr())
	if err != nil {
		log.Fatal(err)
	}
	desks := []plant.Desk{desk.NewMaker("rates", 6), desk.NewMaker("equities", 9), risk, desk.NewTape(*symbols)}
	p, err := plant.New(plant.Delivery(*delivery))
	if err != nil {
		log.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, d := range desks {
		s := p.Subscribe(d.Name())
		wg.Go(func() { plant.Serve(s, d) })
	}
	ctx, cancel := context.WithTimeout(context.Background(), *runs)
	defer cancel()
	p.Run(feed.Open(ctx, *symbols, *rate))
	wg.Wait()
	for _, d := range desks {
		log.Print(d.Summary())
	}
	fmt.Printf("operations: %d\n", p.Published())
}
