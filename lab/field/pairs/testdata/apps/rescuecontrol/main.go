// Command rescuecontrol sends out the ambulances of a county.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"time"

	"rescuecontrol/internal/control"
	"rescuecontrol/internal/county"
	"rescuecontrol/internal/roads"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the room")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, roads.Serve(4*time.Millisecond))

	const crews = 150
	room := control.Open(roads.NewClient("http://"+ln.Addr().String()), crews, *v2)
	res := county.Live(room, crews, time.Now().Add(*span))
	room.Close()

	slices.Sort(res.Times)
	var sum time.Duration
	for _, d := range res.Times {
		sum += d
	}
	n := len(res.Times)
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("%d crews sent, %d calls without, %.0f s to the scene\n",
		res.Sent.Load(), res.None.Load(), res.Seconds/float64(max(res.Sent.Load(), 1)))
	fmt.Printf("mean %v p50 %v p99 %v\n", sum/time.Duration(n), res.Times[n/2], res.Times[n*99/100])
}
