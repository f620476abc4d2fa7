// Wardboard keeps the live occupancy boards of a hospital.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"wardboard/internal/audit"
	"wardboard/internal/board"
	"wardboard/internal/feed"
	"wardboard/internal/hl7"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 12000, "messages per second")
	placed := flag.Bool("placed", true, "place stays on the board")
	flag.Parse()

	wards := []string{"CARD", "NEUR", "ONCO", "PEDI", "SURG", "EMER", "ORTH", "GERI"}
	h := board.New(wards, *placed)
	trail := new(audit.Trail)

	var ops, shown, screens atomic.Int64
	handle := func(raw string) {
		trail.Record(raw)
		m, err := hl7.Parse(raw)
		if err != nil {
			log.Fatal(err)
		}
		h.Apply(m)
	}
	sources := make([]*feed.Source, len(wards))
	for i, w := range wards {
		sources[i] = feed.NewSource(w, int64(i+1), 450)
		for range 450 {
			handle(sources[i].Next())
		}
	}

	end := time.Now().Add(*d)
	var wg sync.WaitGroup
	gap := time.Second * time.Duration(len(wards)) / time.Duration(*rate)
	for i, w := range wards {
		wg.Add(1)
		go func() {
			defer wg.Done()
			next := time.Now()
			for n := 1; next.Before(end); n++ {
				time.Sleep(time.Until(next))
				next = next.Add(gap)
				handle(sources[i].Next())
				ops.Add(1)
				if n%8 == 0 {
					b, err := json.Marshal(h.Top(w, 20))
					if err != nil {
						log.Fatal(err)
					}
					screens.Add(1)
					shown.Add(int64(len(b)))
				}
			}
		}()
	}
	wg.Wait()
	seal, n := trail.Seal()
	fmt.Println("operations:", ops.Load())
	fmt.Printf("occupied: %d, screens: %d (%d bytes)\n", h.Occupied(), screens.Load(), shown.Load())
	fmt.Printf("audit: %d messages, seal %s\n", n, seal)
}
