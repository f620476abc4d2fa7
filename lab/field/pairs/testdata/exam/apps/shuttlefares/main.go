// Shuttlefares tells what seats in airport shuttles cost, to booking desks in the same
// process, behind the interceptors that each call goes through.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"shuttlefares/internal/desk"
	"shuttlefares/internal/fares"
	"shuttlefares/internal/metrics"
	"shuttlefares/internal/rpc"
)

func main() {
	seconds := flag.Int("seconds", 5, "how long it works")
	desks := flag.Int("desks", 6, "how many desks ask")
	gauges := flag.String("gauges", "call", "when gauges of the process are taken: call or interval")
	flag.Parse()

	process, err := metrics.NewProcess(*gauges, 500*time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	defer process.Close()
	calls := metrics.NewCalls()
	server := rpc.NewServer(rpc.Authenticate(map[string]string{"k-desk": "desk", "k-agent": "agent"}), calls.Intercept, process.Intercept)
	fares.Register(server, fares.NewTariff(24))

	n, err := desk.Run(server, *desks, time.Duration(*seconds)*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	calls.Report(os.Stdout)
	process.Report(os.Stdout)
	fmt.Printf("operations: %d\n", n)
}
