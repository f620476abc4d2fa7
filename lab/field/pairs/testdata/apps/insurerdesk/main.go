// Command insurerdesk settles insurance claims: it loads a claim, has the
// damage appraised by another service and books the amount.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"insurerdesk/internal/appraisal"
	"insurerdesk/internal/claims"
	"insurerdesk/internal/policydb"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	clerks := flag.Int("clerks", 24, "claims settled at a time")
	next := flag.Bool("next", true, "use the next settlement procedure")
	flag.Parse()

	dsn, err := policydb.Start(5000)
	if err != nil {
		log.Fatal(err)
	}
	office, err := appraisal.Start()
	if err != nil {
		log.Fatal(err)
	}
	db, err := policydb.Open(dsn, 8)
	if err != nil {
		log.Fatal(err)
	}
	desk := &claims.Desk{DB: db, Office: appraisal.NewClient(office), Next: *next}

	var settled, paid, busy atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*run)
	for range *clerks {
		wg.Go(func() {
			for start := time.Now(); start.Before(end); start = time.Now() {
				cents, err := desk.Settle(context.Background(), rand.IntN(5000))
				if err != nil {
					log.Fatal(err)
				}
				settled.Add(1)
				paid.Add(cents)
				busy.Add(int64(time.Since(start)))
			}
		})
	}
	wg.Wait()

	n := settled.Load()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("%.2f paid, %v for each claim\n", float64(paid.Load())/100, time.Duration(busy.Load()/max(n, 1)))
}
