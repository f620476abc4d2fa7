// Framedrpc asks a service for distances over one connection, on which many calls are
// under way at a time.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"runtime"
)

// A place is somewhere on the earth, in radians.
type place struct{ lat, lon, cos float64 }

// distances answers for the places of a country: how far the nearest depot is.
type distances struct{ depots []place }

func (d *distances) nearest(lat, lon float64) float64 {
	cos, best := math.Cos(lat), math.MaxFloat64
	for i := range d.depots {
		p := &d.depots[i]
		a, b := math.Sin((p.lat-lat)/2), math.Sin((p.lon-lon)/2)
		best = min(best, a*a+cos*p.cos*b*b) // grows with the distance
	}
	return 2 * 6371 * math.Asin(math.Sqrt(best))
}

func main() {
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(2, 8))
	svc := &distances{depots: make([]place, 300)}
	for i := range svc.depots {
		lat, lon := 0.8+rnd.Float64()/20, 0.1+rnd.Float64()/10
		svc.depots[i] = place{lat, lon, math.Cos(lat)}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, runtime.GOMAXPROCS(0), svc.nearest)
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	client := newClient(c)
	pace(16, func(ctx context.Context, _, n int) error {
		km, err := client.call(ctx, 0.8+float64(n%997)/20000, 0.1+float64(n%1009)/10000)
		if err == nil && (km < 0 || km > 1000) {
			err = fmt.Errorf("%f km to the next depot", km)
		}
		return err
	})
	client.close()
	l.Close()
}
