// Command rehabplans issues the therapy plans of a rehabilitation clinic and
// sends them to the patients.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"rehabplans/internal/clinic"
	"rehabplans/internal/mailgate"
	"rehabplans/internal/visit"
	"rehabplans/internal/wardb"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to issue plans")
	early := flag.Bool("early", true, "end units of work early")
	flag.Parse()

	db, err := wardb.Listen()
	if err != nil {
		log.Fatal(err)
	}
	gate, err := mailgate.Listen()
	if err != nil {
		log.Fatal(err)
	}
	store, err := clinic.Open(db, 6)
	if err != nil {
		log.Fatal(err)
	}
	svc := visit.New(store, mailgate.NewClient(gate), *early)

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	rounds := time.NewTicker(80 * time.Millisecond)
	defer rounds.Stop()
issuing:
	for {
		select {
		case <-ctx.Done():
			break issuing
		case <-rounds.C:
		}
		for range 16 {
			patient := rand.IntN(20000)
			wg.Go(func() {
				if err := svc.Issue(patient); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			})
		}
	}
	wg.Wait()
	n, sessions, mean, p99 := svc.Summary()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("sessions planned %d, mean %v, p99 %v\n", sessions, mean.Round(10*time.Microsecond), p99.Round(10*time.Microsecond))
}
