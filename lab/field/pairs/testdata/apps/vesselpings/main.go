// vesselpings passes positions of vessels on to a chart service.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"vesselpings/internal/ais"
	"vesselpings/internal/chart"
	"vesselpings/internal/relay"
	"vesselpings/internal/track"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the outgoing list")
	rate := flag.Int("rate", 5000, "positions per second")
	flag.Parse()

	svc, err := chart.Start(18 * time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	out := relay.New(svc.Addr, relay.Options{V2: *v2, Batch: 40})
	tracks := track.NewStore(80)
	go out.Run()

	rx := ais.NewReceiver(400, 21)
	start := time.Now()
	var taken, bad int
	for now := start; now.Sub(start) < *dur; now = time.Now() {
		for due := int(now.Sub(start).Seconds() * float64(*rate)); taken+bad < due; {
			p, err := ais.Decode(rx.Next(time.Now()))
			if err != nil {
				bad++
				continue
			}
			taken++
			out.Offer(tracks.Enrich(p))
		}
		time.Sleep(2 * time.Millisecond)
	}
	st := out.Stats()
	fmt.Printf("operations: %d\n", taken)
	fmt.Printf("damaged: %d, passed on: %d, requests: %d\n", bad, st.Sent, st.Requests)
	fmt.Printf("vessels: %d, last age: %v, drawn: %d\n", tracks.Len(), st.Age.Round(10*time.Millisecond), svc.Drawn.Load())
}
