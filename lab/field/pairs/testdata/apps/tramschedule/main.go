// Tramschedule simulates days of a town's trams, to see how a timetable holds.
package main

import (
	"flag"
	"fmt"
	"time"

	"tramschedule/internal/agenda"
	"tramschedule/internal/network"
	"tramschedule/internal/stats"
	"tramschedule/internal/traffic"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	kind := flag.String("agenda", "wide", "agenda of the day: wide or heap")
	flag.Parse()

	town := network.Lay(400, 36)
	var delays stats.Delays
	var events, carried, days int
	for stop := time.Now().Add(*d); time.Now().Before(stop); days++ {
		var ahead agenda.Agenda = new(agenda.Heap)
		if *kind == "wide" {
			ahead = new(agenda.Wide)
		}
		day := traffic.NewDay(town, ahead, uint64(days), &delays)
		for day.Step() {
		}
		events += day.Events
		carried += day.Carried
	}
	mean, dev, p95 := delays.Summary()
	fmt.Printf("operations: %d\n", events)
	fmt.Printf("days: %d, carried: %d, delay: %.1f s, deviation %.1f, 95%% below %.0f\n", days, carried, mean, dev, p95)
}
