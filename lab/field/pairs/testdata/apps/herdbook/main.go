// Herdbook issues breeding certificates for the calves of a year.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"herdbook/internal/certify"
	"herdbook/internal/genome"
	"herdbook/internal/pedigree"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	generations := flag.Int("generations", 15, "generations in the book")
	once := flag.Bool("once", true, "list ancestors once")
	flag.Parse()

	book := pedigree.Generate(*generations, 300, 12)
	bank := genome.NewBank(4096)
	from, to := book.Calves()
	var next, ops, bytes, marks atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			o := certify.NewOffice(book, pedigree.NewTracer(book, *once), bank)
			for time.Now().Before(end) {
				id := from + int32(next.Add(1)%int64(to-from))
				b, sig, err := o.Issue(id)
				if err != nil {
					log.Fatal(err)
				}
				ops.Add(1)
				bytes.Add(int64(len(b)))
				marks.Add(int64(sig[0]))
			}
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops.Load())
	fmt.Printf("animals: %d, calves: %d, certificate bytes: %d\n", len(book.Animals), to-from, bytes.Load())
}
