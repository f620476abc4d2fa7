// Command cargomanifests settles the duties of a ship's manifest.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"time"

	"cargomanifests/internal/customs"
	"cargomanifests/internal/manifest"
	"cargomanifests/internal/pipeline"
	"cargomanifests/internal/tariff"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "how long to run")
	think := flag.Duration("think", 2*time.Millisecond, "time the office takes for a ruling")
	v2 := flag.Bool("v2", true, "second version of the pipeline")
	flag.Parse()

	office, err := customs.Open(*think)
	if err != nil {
		log.Fatal(err)
	}
	defer office.Close()

	const ahead = 16
	p := &pipeline.Pipeline{
		Tariff:  tariff.NewClient(office.URL, ahead*2),
		Printer: manifest.NewPrinter(io.Discard),
		Ahead:   ahead,
		V2:      *v2,
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		rnd := rand.New(rand.NewPCG(4, 2))
		until := time.Now().Add(*length)
		for n := 1; time.Now().Before(until); n++ {
			lines <- manifest.Line(rnd, n)
		}
	}()
	if err := p.Run(context.Background(), lines); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", p.Settled)
	fmt.Printf("duties: %d, rejected lines: %d\n", p.Duties, p.Rejected)
}
