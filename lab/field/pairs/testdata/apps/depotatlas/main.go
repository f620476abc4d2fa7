// Command depotatlas answers couriers which depots are near.
package main

import (
	"flag"
	"fmt"
	"time"

	"depotatlas/internal/atlas"
	"depotatlas/internal/nearby"
	"depotatlas/internal/traffic"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 10000, "questions per second")
	places := flag.Int("places", 200000, "places in the atlas")
	rows := flag.Bool("rows", true, "keep the atlas in rows")
	flag.Parse()

	a := atlas.NewLinked()
	if *rows {
		a = atlas.NewFlat()
	}
	atlas.Fill(a, *places)
	t := traffic.Run(nearby.New(a), *rate, 50, *length)
	fmt.Printf("operations: %d\n", t.Asked)
	fmt.Printf("places %d, hits %d, %d kB of answers, failed %d\n", a.Len(), t.Hits, t.Bytes>>10, t.Failed)
}
