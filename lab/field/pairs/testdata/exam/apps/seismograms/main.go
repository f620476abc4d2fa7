// Seismograms records what the stations of a network measure, and archives what may be a quake.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"seismograms/internal/archive"
	"seismograms/internal/recorder"
	"seismograms/internal/station"
)

func main() {
	stations := flag.Int("stations", 48, "stations of the network")
	samples := flag.Int("samples", 1000, "samples of a packet")
	last := flag.Duration("for", 6*time.Second, "how long to record")
	level := flag.Int("level", 900, "least amplitude of what is archived")
	after := flag.String("release", "archived", "after what a block is given back: archived or sealed")
	flag.Parse()

	release, err := recorder.ParseRelease(*after)
	if err != nil {
		fmt.Fprintln(os.Stderr, "seismograms:", err)
		os.Exit(2)
	}
	store := archive.New(2000)
	r := recorder.New(recorder.Config{Stations: *stations, Level: int32(*level), Release: release}, store)
	network := station.NewNetwork(*stations, *samples)

	packets := 0
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); time.Since(begin) < *last; <-tick.C {
		for id := range *stations {
			if err := r.Record(network.Next(id)); err != nil {
				fmt.Fprintln(os.Stderr, "seismograms:", err)
				os.Exit(1)
			}
			packets++
		}
	}
	fmt.Printf("archived: %d traces, %d kB\n", store.Traces(), store.Bytes()>>10)
	fmt.Printf("operations: %d\n", packets)
}
