// Command brokergate relays the readings of sensors to subscribers.
package main

import (
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"sync"
	"time"

	"brokergate/internal/devices"
	"brokergate/internal/relay"
	"brokergate/internal/topics"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 60000, "readings per second")
	v2 := flag.Bool("v2", true, "second generation of the relay")
	level := flag.String("level", "info", "log level")
	flag.Parse()

	var lv slog.Level
	if err := lv.UnmarshalText([]byte(*level)); err != nil {
		log.Fatal(err)
	}
	logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: lv}))

	const shards = 2
	var relays [shards]*relay.Relay
	for i := range relays {
		r := relay.New(logger.With("shard", i), *v2)
		for s := range 40 {
			r.Subscribe(fmt.Sprintf("site/%d/#", s), &topics.Subscriber{Name: fmt.Sprintf("site-%d", s)})
		}
		for _, k := range []string{"climate", "door", "leak"} {
			r.Subscribe("site/+/floor/+/"+k+"/+", &topics.Subscriber{Name: "watch-" + k})
		}
		r.Subscribe("#", &topics.Subscriber{Name: "history"})
		relays[i] = r
	}

	start := time.Now()
	var wg sync.WaitGroup
	for i, r := range relays {
		wg.Go(func() {
			fleet := devices.NewFleet(4000, uint64(i))
			frame := make([]byte, 0, 512)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			sent := 0
			for now := range tick.C {
				since := now.Sub(start)
				if since > *length {
					return
				}
				for due := int(since.Seconds() * float64(*rate) / shards); sent < due; sent++ {
					var err error
					if frame, err = fleet.Next(frame[:0]); err != nil {
						log.Fatal(err)
					}
					if err := r.Accept(frame); err != nil {
						log.Fatal(err)
					}
				}
			}
		})
	}
	wg.Wait()

	var taken, dropped int64
	kept := 0
	for _, r := range relays {
		t, d, k := r.Counts()
		taken, dropped, kept = taken+t, dropped+d, kept+k
	}
	fmt.Printf("operations: %d\n", taken+dropped)
	fmt.Printf("relayed %d, repeated %d, retained %d\n", taken, dropped, kept)
}
