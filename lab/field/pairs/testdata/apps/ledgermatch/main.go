// Ledgermatch reconciles bank statements with open invoices.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"ledgermatch/internal/journal"
	"ledgermatch/internal/recon"
	"ledgermatch/internal/sample"
	"ledgermatch/internal/statement"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	size := flag.Int("size", 400, "invoices of a month")
	lazy := flag.Bool("lazy", true, "keep settled items for a while")
	flag.Parse()

	var mu sync.Mutex
	var ops, open, unknown, entries int
	var seal uint64
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	for g := range 2 {
		items, raw := sample.Month(*size, int64(g+11))
		wg.Add(1)
		go func() {
			defer wg.Done()
			j := new(journal.Journal)
			n, left, strange := 0, 0, 0
			for time.Now().Before(end) {
				ps, err := statement.Parse(raw)
				if err != nil {
					log.Fatal(err)
				}
				b := recon.NewBook(items, *lazy)
				done, un := b.Match(ps)
				j.Post(done)
				k, _ := b.Open()
				left += k
				strange += len(un)
				n += len(ps)
			}
			mu.Lock()
			ops += n
			open += left
			unknown += strange
			entries += j.Entries
			seal ^= j.Seal()
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops)
	fmt.Printf("entries: %d, still open: %d, unknown payments: %d, seal %x\n", entries, open, unknown, seal)
}
