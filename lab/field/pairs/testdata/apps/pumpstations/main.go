// Command pumpstations collects the measurements of pump stations.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"pumpstations/internal/collector"
	"pumpstations/internal/station"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "variant of the stream")
	stations := flag.Int("stations", 12, "number of stations")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	stop := time.Now().Add(*dur)
	for id := range *stations {
		go func() {
			if err := station.Run(l.Addr().String(), uint64(200+id), stop); err != nil {
				log.Print(err)
			}
		}()
	}
	c := collector.New(*v2)
	if err := c.Serve(l, *stations); err != nil {
		log.Fatal(err)
	}
	s := c.Sum()
	fmt.Printf("operations: %d\n", s.Frames)
	fmt.Printf("samples: %d gaps: %d peak flow: %d\n", s.Samples, s.Gaps, s.Peak)
}
