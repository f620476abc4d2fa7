// Doorlocks takes the reports of the locks of an office building, and notes who was where.
package main

import (
	"flag"
	"fmt"
	"os"

	"doorlocks/internal/hub"
	"doorlocks/internal/ledger"
	"doorlocks/internal/report"
)

func main() {
	locks := flag.Int("locks", 500, "locks of the building")
	rounds := flag.Int("rounds", 2000, "how often all locks report")
	events := flag.Int("events", 10, "events of a report")
	mode := flag.String("mode", "any", "reports that the hub is ready for: any or announced")
	flag.Parse()

	read, err := hub.ParseMode(*mode)
	if err != nil {
		fmt.Fprintln(os.Stderr, "doorlocks:", err)
		os.Exit(2)
	}
	signer := report.NewSigner([]byte("building 7"))
	l := ledger.Open()
	h := hub.New(signer, l, read)
	building := report.NewBuilding(*locks, *events, signer)
	for round := range *rounds {
		h.Round(building.Reports(round))
	}
	total := l.Close()
	fmt.Printf("opened: %d, forced: %d, open for %d s\n", total.Opened, total.Forced, total.Seconds)
	fmt.Printf("operations: %d\n", *locks**rounds)
}
