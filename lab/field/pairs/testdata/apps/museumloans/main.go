// Command museumloans writes the insurance schedules for exhibitions out of the
// objects' registry.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"museumloans/internal/kvwire"
	"museumloans/internal/loans"
	"museumloans/internal/registry"
	"museumloans/internal/report"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to write schedules")
	writers := flag.Int("writers", 4, "writers")
	eager := flag.Bool("eager", true, "eager object mode of the repository")
	flag.Parse()

	srv, err := registry.Listen(5000, 600)
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	var done, pages, spent atomic.Int64
	for w := range *writers {
		c, err := kvwire.Dial(srv.Addr())
		if err != nil {
			log.Fatal(err)
		}
		wg.Go(func() {
			defer c.Close()
			repo := loans.NewRepo(c, *eager)
			r := rand.New(rand.NewPCG(uint64(w), 9))
			for ctx.Err() == nil {
				begun := time.Now()
				ex, err := repo.Exhibition(r.IntN(600))
				if err == nil {
					var doc []byte
					doc, err = report.Schedule(ex)
					pages.Add(int64(len(doc)+2999) / 3000)
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
				done.Add(1)
				spent.Add(int64(time.Since(begun)))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", done.Load())
	if n := done.Load(); n > 0 {
		fmt.Printf("pages %d, mean %v\n", pages.Load(), time.Duration(spent.Load()/n).Round(10*time.Microsecond))
	}
}
