// Callrating prices the call records of a telephone company.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"callrating/internal/cdr"
	"callrating/internal/invoice"
	"callrating/internal/plan"
	"callrating/internal/rating"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	spans := flag.Bool("spans", true, "rate calls by spans")
	flag.Parse()

	p, err := plan.New("Europe/Berlin")
	if err != nil {
		log.Fatal(err)
	}
	var mu sync.Mutex
	var ops, accounts, written int
	var cost int64
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	for g := range 2 {
		lines := cdr.Sample(40000, int64(g+1))
		wg.Add(1)
		go func() {
			defer wg.Done()
			r, run := rating.New(p, *spans), invoice.NewRun()
			n := 0
			for time.Now().Before(end) {
				at := n % len(lines)
				if at == 0 {
					run.Reset()
				}
				for _, l := range lines[at : at+500] {
					rec, err := cdr.Parse(l)
					if err != nil {
						log.Fatal(err)
					}
					run.Add(&rec, r.Rate(&rec))
				}
				n += 500
			}
			mu.Lock()
			defer mu.Unlock()
			ops += n
			a, c := run.Total()
			accounts += a
			cost += c
			written += run.Written
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops)
	fmt.Printf("accounts: %d, charged: %d.%02d EUR, bill lines: %d bytes\n", accounts, cost/1000000, cost/10000%100, written)
}
