// Command raceresults serves the live standings of running events.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"raceresults/internal/board"
	"raceresults/internal/crowd"
	"raceresults/internal/page"
	"raceresults/internal/timing"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to serve")
	rate := flag.Int("rate", 1500, "page views per second")
	share := flag.Bool("share", true, "boards with shared rounds")
	flag.Parse()

	srv, err := timing.Listen(3, 220)
	if err != nil {
		log.Fatal(err)
	}

	boards := board.NewCache(timing.NewClient(srv.URL()), 70*time.Millisecond)
	boards.Share = *share
	views := page.NewHandler(boards)

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	st := crowd.Watch(ctx, views, 3, *rate)
	fmt.Printf("operations: %d\n", st.Views)
	fmt.Printf("failed %d, %d kB, timing asked %d times, mean %v, p99 %v\n", st.Failed, st.Bytes/1024, srv.Asked(), st.Mean.Round(10*time.Microsecond), st.P99.Round(10*time.Microsecond))
}
