// Command claimsdesk settles insurance claims.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"claimsdesk/internal/clients"
	"claimsdesk/internal/desk"
	"claimsdesk/internal/tariff"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 2500, "claims per second")
	tracked := flag.Bool("tracked", true, "keep track of the files in work")
	flag.Parse()

	base, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	const codes = 900
	bodies, err := clients.Claims(300, codes)
	if err != nil {
		log.Fatal(err)
	}
	d := desk.New(base, tariff.Standard(codes), *tracked)
	n := clients.Run(d.Settle, bodies, 20, *rate, time.Now().Add(*span))
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("paid %d.%02d\n", d.Paid()/100, d.Paid()%100)
}
