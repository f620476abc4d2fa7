// Command gridsettlement settles the deviations of power plants.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"gridsettlement/internal/market"
	"gridsettlement/internal/prices"
	"gridsettlement/internal/readings"
	"gridsettlement/internal/settle"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the prices")
	flag.Parse()

	areas := []string{"NR", "WR", "SR", "ER", "NER"}
	ist := time.FixedZone("IST", 5*3600+1800)
	rnd := rand.New(rand.NewPCG(8, 3))
	var files [][]byte
	for day := range 3 {
		for _, a := range areas {
			files = append(files, readings.File(a, time.Date(2026, 6, 1+day, 0, 0, 0, 0, ist), 4, rnd))
		}
	}
	desk := settle.NewDesk(prices.NewCache(market.NewBook(areas, 60), 4096, *v2))

	var lines, charges, written atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*span)
	for w := range 2 {
		wg.Go(func() {
			var out bytes.Buffer
			for i := w; time.Now().Before(end); i++ {
				out.Reset()
				st, err := desk.File(&out, files[i%len(files)])
				if err != nil {
					log.Fatal(err)
				}
				lines.Add(int64(st.Lines))
				charges.Add(st.Charges)
				written.Add(int64(out.Len()))
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", lines.Load())
	fmt.Printf("mean charge %.2f rupees, %d kB of statements\n",
		float64(charges.Load())/100/float64(lines.Load()), written.Load()/1000)
}
