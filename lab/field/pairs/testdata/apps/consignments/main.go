// Command consignments quotes shippers' order lists.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"consignments/internal/calendar"
	"consignments/internal/orders"
	"consignments/internal/quote"
	"consignments/internal/tariff"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	sheets := flag.Bool("sheets", true, "use the regions' year sheets")
	flag.Parse()

	closed := calendar.Rule((*calendar.Region).Closed)
	if *sheets {
		closed = (*calendar.Region).ClosedIn
	}
	desk := quote.NewDesk(tariff.NewBook(400), closed)

	rnd := rand.New(rand.NewPCG(4, 9))
	lists := make([]string, 24)
	for i := range lists {
		lists[i] = orders.Sample(80+rnd.IntN(200), rnd)
	}
	var quoted, sum atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*span)
	for w := range 2 {
		wg.Go(func() {
			var out bytes.Buffer
			for i := w; time.Now().Before(end); i++ {
				out.Reset()
				n, cents, err := desk.Answer(&out, strings.NewReader(lists[i%len(lists)]))
				if err != nil {
					log.Fatal(err)
				}
				quoted.Add(int64(n))
				sum.Add(cents)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", quoted.Load())
	fmt.Printf("mean offer %.2f\n", float64(sum.Load())/100/float64(quoted.Load()))
}
