// Command payoutsync pays settlements out through the partner bank.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"payoutsync/internal/bank"
	"payoutsync/internal/batch"
	"payoutsync/internal/notify"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 900, "settlements per second")
	follow := flag.Bool("follow", true, "delivery mode")
	flag.Parse()

	sb, err := bank.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()
	b := &batch.Runner{N: notify.New(sb.URL, *follow)}
	b.Run(ctx, *rate)
	fmt.Printf("operations: %d\n", b.Paid.Load()+b.Postponed.Load())
	fmt.Printf("%d paid, %d postponed, %d calls to the bank\n", b.Paid.Load(), b.Postponed.Load(), sb.Calls.Load())
}
