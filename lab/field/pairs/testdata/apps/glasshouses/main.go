// Command glasshouses steers vents, screens and valves of a nursery's glasshouses.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"glasshouses/internal/climate"
	"glasshouses/internal/field"
	"glasshouses/internal/link"
	"glasshouses/internal/schedule"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	houses := flag.Int("houses", 60, "number of controllers")
	rate := flag.Int("rate", 800, "commands per second")
	v2 := flag.Bool("v2", true, "use the second link protocol")
	flag.Parse()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	hub := link.NewHub(link.Options{Secret: []byte("nursery-7"), V2: *v2})
	go hub.Serve(ln)

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	for i := 0; i < *houses; i++ {
		c := field.NewController(fmt.Sprintf("house-%03d", i), uint64(i+1))
		go c.Run(ctx, ln.Addr().String())
	}

	model := climate.NewModel(*houses)
	plan := schedule.NewPlan(hub, model, *rate)
	plan.Run(ctx)

	fmt.Printf("operations: %d\n", plan.Issued.Load())
	fmt.Printf("applied %d, refused %d, reconnects %d\n", plan.Applied.Load(), plan.Refused.Load(), hub.Joined.Load()-int64(*houses))
}
