// Command weighbridge runs the weighbridge of a gravel pit.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"weighbridge/internal/drivers"
	"weighbridge/internal/gate"
	"weighbridge/internal/tickets"
)

type visit struct {
	plate string
	kilos int
}

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	trim := flag.Bool("trim", true, "variant of the ticket registry")
	flag.Parse()

	g := &gate.Gate{Tickets: tickets.New(2000, *trim), Cards: drivers.New(1500)}
	var ops atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*span)
	for w := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 21))
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			var site []visit
			for time.Now().Before(end) {
				<-tick.C
				for range 4 {
					a := gate.Arrival{Plate: fmt.Sprintf("%c-%04d", 'A'+w, rng.IntN(3000)), Driver: rng.IntN(6000), Material: "gravel 8/16", Kilos: 9000 + rng.IntN(6000)}
					if _, err := g.Tickets.Current(a.Plate); err == nil {
						continue
					}
					raw, err := json.Marshal(a)
					if err != nil {
						log.Fatal(err)
					}
					if err := g.In(raw); err != nil {
						log.Fatal(err)
					}
					site = append(site, visit{a.Plate, a.Kilos + rng.IntN(20000)})
					ops.Add(1)
				}
				for len(site) > 60 {
					i := rng.IntN(len(site))
					v := site[i]
					site[i] = site[len(site)-1]
					site = site[:len(site)-1]
					if _, err := g.Out(v.plate, v.kilos); err != nil {
						log.Fatal(err)
					}
				}
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", ops.Load())
	fmt.Printf("%d slips, %d kilos net, %d vehicles on the site\n", g.Slips.Load(), g.Net.Load(), g.Tickets.Open())
}
