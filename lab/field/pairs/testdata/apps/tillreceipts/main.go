// Command tillreceipts plays a busy day of a shop's tills.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"tillreceipts/internal/fiscal"
	"tillreceipts/internal/tape"
	"tillreceipts/internal/till"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to sell")
	plain := flag.Bool("plain", true, "plain tape")
	n := flag.Int("tills", 8, "number of tills")
	flag.Parse()

	tp, err := tape.Open(os.TempDir(), *plain)
	if err != nil {
		log.Fatal(err)
	}
	defer tp.Close()
	mod := fiscal.New("shop 0417, key of the year")
	tills := make([]till.Till, *n)
	end := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for i := range tills {
		tills[i] = till.Till{No: i + 1, Tape: tp, Fiscal: mod}
		wg.Go(func() {
			if err := tills[i].Run(end); err != nil {
				log.Print(err)
			}
		})
	}
	wg.Wait()
	receipts, cents := 0, 0
	var last uint64
	for i := range tills {
		receipts += tills[i].Receipts
		cents += tills[i].Cents
		last = max(last, tills[i].Last)
	}
	fmt.Printf("operations: %d\n", receipts)
	fmt.Printf("turnover %d.%02d, last record %d\n", cents/100, cents%100, last)
}
