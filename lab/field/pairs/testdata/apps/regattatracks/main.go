// Command regattatracks follows the boats of a regatta by their trackers' reports.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"regattatracks/internal/board"
	"regattatracks/internal/dedupe"
	"regattatracks/internal/fix"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 15000, "reports a second")
	backlog := flag.Int("backlog", 160000, "reports that wait at the start")
	compact := flag.Bool("compact", true, "compact window")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	window := dedupe.NewWindow(60*time.Millisecond, *compact)
	race := board.New()
	tracker := fix.NewTracker(8)

	var buf []byte
	const batch = 10
	handled, repeated, gone := 0, 0, 0
	handle := func() {
		buf = tracker.Append(buf[:0])
		r, err := fix.Parse(buf)
		if err != nil {
			log.Fatal(err)
		}
		handled++
		if !window.First(r) {
			repeated++
			return
		}
		race.Move(r)
	}
	for handled < *backlog && ctx.Err() == nil {
		handle()
	}
	began := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		for due := *backlog + int(time.Since(began).Seconds()*float64(*rate)); handled < due; {
			for range batch {
				handle()
			}
			gone += window.Expire()
		}
	}
	boat, distance := race.Leader()
	fmt.Printf("operations: %d\n", handled)
	fmt.Printf("repeated %d, expired %d, remembered %d, leader %d with %.0f miles\n", repeated, gone, window.Len(), boat, distance)
}
