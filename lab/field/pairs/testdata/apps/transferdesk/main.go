// Command transferdesk plans transfers of patients between hospitals.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"slices"
	"time"

	"transferdesk/internal/clinics"
	"transferdesk/internal/partner"
	"transferdesk/internal/transfer"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 160, "requests per second")
	v2 := flag.Bool("v2", true, "second version of the desk")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(ln, partner.Serve())
	desk := transfer.NewDesk(partner.NewClient("http://"+ln.Addr().String()), *v2)

	res := clinics.Ask(desk, *rate, time.Now().Add(*span))
	fmt.Printf("operations: %d\n", len(res.Times))
	fmt.Printf("%d failed, %d isolated, %d without cover\n", res.Failed, res.Isolated, res.Uncovers)
	slices.Sort(res.Times)
	fmt.Printf("p50 %v p99 %v\n", res.Times[len(res.Times)/2], res.Times[len(res.Times)*99/100])
}
