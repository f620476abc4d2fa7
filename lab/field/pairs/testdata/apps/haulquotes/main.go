// Command haulquotes prices freight orders in bulk.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"haulquotes/internal/lanes"
	"haulquotes/internal/orders"
	"haulquotes/internal/quote"
	"haulquotes/internal/tariff"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	daily := flag.Bool("daily", true, "plan by calendar day")
	flag.Parse()

	end := time.Now().Add(*run)
	net := lanes.Build(2000)
	svc := quote.New(net, tariff.NewBook(net.Depots()), quote.Options{Daily: *daily})

	var ops, cents, bytes atomic.Int64
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			lines := orders.Lines(4000, rand.New(rand.NewPCG(uint64(w), 3)))
			for i := 0; time.Now().Before(end); i++ {
				o, err := orders.Parse(lines[i%len(lines)], time.Now())
				if err != nil {
					continue
				}
				body, price, err := svc.Price(o)
				if err != nil {
					continue
				}
				ops.Add(1)
				cents.Add(int64(price * 100))
				bytes.Add(int64(len(body)))
			}
		}()
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("average price %.2f, %d kB of offers\n", float64(cents.Load())/100/float64(max(ops.Load(), 1)), bytes.Load()>>10)
}
