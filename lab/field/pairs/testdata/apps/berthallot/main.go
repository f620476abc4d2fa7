// Command berthallot allots berths to announced vessels.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"berthallot/internal/harbour"
	"berthallot/internal/ledger"
	"berthallot/internal/planner"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the two-phase planner")
	flag.Parse()

	var terms planner.Filter = planner.Terms{}
	if *v2 {
		terms = planner.TermsV2{}
	}
	p := &planner.Planner{Berths: harbour.Berths(72), Filter: terms}
	notices, err := harbour.Notices(2000)
	if err != nil {
		log.Fatal(err)
	}
	var books [2]ledger.Ledger
	end := time.Now().Add(*span)

	var wg sync.WaitGroup
	for i := range books {
		wg.Go(func() {
			for n := i; time.Now().Before(end); n++ {
				if err := allot(p, &books[i], notices[n%len(notices)]); err != nil {
					log.Print(err)
				}
			}
		})
	}
	wg.Wait()

	fmt.Printf("operations: %d\n", books[0].Count+books[1].Count)
	fmt.Printf("ledgers %d + %d bytes\n", books[0].Bytes, books[1].Bytes)
}

func allot(p *planner.Planner, book *ledger.Ledger, line []byte) error {
	v, err := harbour.ParseNotice(line)
	if err != nil {
		return err
	}
	b, s, err := p.Place(v)
	if err != nil {
		return err
	}
	return book.Append(ledger.Entry{IMO: v.IMO, Name: v.Name, Berth: b.ID, ETA: v.ETA, Stay: v.Stay, Score: s})
}
