// Command labelpress prints parcel labels for shops.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"labelpress/internal/desk"
	"labelpress/internal/press"
	"labelpress/internal/shippers"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 420, "orders per second")
	most := flag.Int("most", 24, "orders at the desk")
	flag.Parse()

	h, err := press.NewHall(4, 11*time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	rep := shippers.Run(desk.New(h, *most), *rate, *run)
	fmt.Printf("operations: %d\n", rep.Printed)
	fmt.Printf("%d sent, %d sent away, %d open at the end, median %v, p99 %v, %d kB\n",
		rep.Sent, rep.Busy, rep.Failed, rep.P50.Round(time.Millisecond), rep.P99.Round(time.Millisecond), rep.Bytes>>10)
}
