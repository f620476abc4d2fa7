// Command dairypools settles the milk collections of a dairy.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"time"

	"dairypools/internal/intake"
	"dairypools/internal/ledger"
	"dairypools/internal/pipeline"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	blocks := flag.Bool("blocks", true, "settle in blocks")
	flag.Parse()

	var routes [][]byte
	for i := range 12 {
		routes = append(routes, intake.Route(uint64(i), 5000))
	}
	end := time.Now().Add(*d)
	ops, stops, litres := 0, 0, 0
	sum := sha256.New()
	for time.Now().Before(end) {
		l := ledger.New()
		file := routes[ops%len(routes)]
		if *blocks {
			stops += pipeline.SettleBlocks(file, 256, l.Book)
		} else {
			stops += pipeline.Settle(file, l.Book)
		}
		if err := l.Statement(io.MultiWriter(sum, io.Discard)); err != nil {
			panic(err)
		}
		litres += len(file)
		ops++
	}
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("stops settled: %d, bytes read: %d, statements %x\n", stops, litres, sum.Sum(nil)[:6])
}
