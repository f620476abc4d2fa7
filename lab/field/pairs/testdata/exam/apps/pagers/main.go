// Pagers calls the doctors and nurses of a hospital over pagers, each of which keeps a
// connection to the exchange and acknowledges its calls. Here a few wards call, so many
// times a second.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"pagers/internal/devices"
	"pagers/internal/exchange"
	"pagers/internal/wards"
)

func main() {
	carriers := flag.Int("pagers", 350, "pagers that are carried")
	rate := flag.Int("rate", 150, "calls a second")
	span := flag.Duration("for", 5*time.Second, "how long wards call")
	turn := flag.Duration("turn", 10*time.Millisecond, "how long a session listens before its outbox gets its turn (0: both at once)")
	flag.Parse()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	x := exchange.New(exchange.Options{Turn: *turn, Silence: time.Minute})
	go x.Serve(l)

	if err := devices.Carry(l.Addr().String(), *carriers); err != nil {
		log.Fatal(err)
	}
	if !x.Await(*carriers, 5*time.Second) {
		log.Fatal("some pagers are not there")
	}
	house := wards.House{Exchange: x, Pagers: *carriers}
	sum := house.Call(*rate, *span)
	fmt.Printf("%d calls, %d acknowledged, %d of which after half a second\n", sum.Calls, sum.Acknowledged, sum.Late)
	fmt.Printf("operations: %d\n", sum.Calls)
}
