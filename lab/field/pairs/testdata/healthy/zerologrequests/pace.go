package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"
)

var rate = flag.Int("rate", 100, "operations a second")

// bursts are how many times a second what is due is done.
const bursts = 100

// pace does something at a rate until the program is interrupted.
func pace(do func(n int) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tick := time.NewTicker(time.Second / bursts)
	defer tick.Stop()
	start, n := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			fmt.Printf("operations: %d\n", n)
			return
		case <-tick.C:
		}
		for due := int(time.Since(start).Seconds() * float64(*rate)); n < due && ctx.Err() == nil; n++ {
			if err := do(n); err != nil {
				log.Fatal(err)
			}
		}
	}
}
