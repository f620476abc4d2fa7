// Command invoicepress sets the monthly statements of a wholesaler's
// customers and files them in the archive.
package main

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"invoicepress/internal/archive"
	"invoicepress/internal/orders"
	"invoicepress/internal/scratch"
	"invoicepress/internal/statement"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	customers := flag.Int("customers", 200, "number of customers in the run")
	workers := flag.Int("workers", 4, "number of statements set at a time")
	v2 := flag.Bool("v2", true, "use the second configuration")
	flag.Parse()

	scratch.Configure(*v2)
	accounts := orders.Generate(*customers)
	cabinet := archive.New()

	var done atomic.Int64
	var wg sync.WaitGroup
	jobs := make(chan *orders.Account, *workers)
	for range *workers {
		wg.Go(func() {
			for a := range jobs {
				doc := scratch.Get()
				statement.Set(doc, a)
				cabinet.File(a.Number, doc.Bytes())
				scratch.Put(doc)
				done.Add(1)
			}
		})
	}
	end := time.Now().Add(*run)
	for i := 0; time.Now().Before(end); i++ {
		jobs <- accounts[i%len(accounts)]
	}
	close(jobs)
	wg.Wait()

	fmt.Printf("operations: %d\n", done.Load())
	n, size := cabinet.Size()
	fmt.Printf("%d customers filed, %d kB in the archive's ledger\n", n, size>>10)
}
