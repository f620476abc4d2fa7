// Command scaninbox takes scanned documents of branch offices into an archive.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"scaninbox/internal/archive"
	"scaninbox/internal/document"
	"scaninbox/internal/intake"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 480, "scans a second from all offices")
	strict := flag.Bool("strict", true, "strict transfers")
	flag.Parse()

	store := archive.New(600)
	svc := intake.New(store, intake.Options{Strict: *strict})

	const offices = 4
	var wg sync.WaitGroup
	began := time.Now()
	for o := range offices {
		wg.Go(func() { office(svc, o, *rate/offices, began.Add(*dur)) })
	}
	wg.Wait()

	taken, refused := svc.Counts()
	objects, bytes := store.Stats()
	fmt.Printf("operations: %d\n", taken+refused)
	fmt.Printf("taken %d, refused %d, objects %d, stored %d bytes, goroutines %d\n",
		taken, refused, objects, bytes, runtime.NumGoroutine())
}

func office(svc *intake.Service, number, rate int, end time.Time) {
	r := rand.New(rand.NewPCG(uint64(number), 21))
	began := time.Now()
	n := 0
	for time.Now().Before(end) {
		for due := int(time.Since(began).Seconds() * float64(rate)); n < due; n++ {
			scan := document.Sample(r, number*1e6+n)
			if err := svc.Take(scan); err != nil && !errors.Is(err, document.ErrTooLarge) {
				log.Print(err)
			}
		}
		time.Sleep(4 * time.Millisecond)
	}
}
