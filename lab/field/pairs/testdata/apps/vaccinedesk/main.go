// Command vaccinedesk books vaccinations and keeps an audit trail of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"vaccinedesk/internal/audit"
	"vaccinedesk/internal/desk"
	"vaccinedesk/internal/registry"
	"vaccinedesk/internal/relp"
	"vaccinedesk/internal/slots"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to book")
	batch := flag.Bool("batch", true, "batch mode of the trail")
	flag.Parse()

	col, err := relp.Listen()
	if err != nil {
		log.Fatal(err)
	}
	defer col.Close()
	trail, err := audit.Dial(col.Addr(), *batch)
	if err != nil {
		log.Fatal(err)
	}
	logger := slog.New(slog.NewJSONHandler(trail, &slog.HandlerOptions{Level: slog.LevelInfo}))
	d := desk.New(registry.Sim{Delay: 4 * time.Millisecond}, slots.New(60, 400), logger)

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	bus := time.NewTicker(60 * time.Millisecond)
	defer bus.Stop()
booking:
	for {
		select {
		case <-ctx.Done():
			break booking
		case <-bus.C:
		}
		for range 7 {
			person, site := rand.IntN(1e6), rand.IntN(60)
			wg.Go(func() {
				d.Book(context.Background(), person, site)
			})
		}
	}
	wg.Wait()
	if err := trail.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	n, mean, p99 := d.Summary()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("trail %d lines, mean %v, p99 %v\n", col.Lines(), mean.Round(10*time.Microsecond), p99.Round(10*time.Microsecond))
}
