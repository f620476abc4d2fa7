// Command hauliertrips follows trucks and books their mileage.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"hauliertrips/internal/fleet"
	"hauliertrips/internal/ledger"
	"hauliertrips/internal/trucks"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the trips")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	books := &ledger.Server{Takes: 2 * time.Millisecond}
	go http.Serve(ln, books)

	s := fleet.New(2500, ledger.NewClient("http://"+ln.Addr().String()), *v2)
	n := trucks.Drive(s.Report, 16, time.Now().Add(*span))
	in, left := s.Followed()
	booked, km := books.Total()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("%d trips followed, %d left, %d not booked\n", in, left, s.Failed.Load())
	fmt.Printf("%d trucks booked, %.0f km\n", booked, km)
}
