// Command meterposts collects the readings of smart meters and posts them to
// billing.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"meterposts/internal/batch"
	"meterposts/internal/billing"
	"meterposts/internal/collector"
	"meterposts/internal/radio"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to collect")
	heads := flag.Int("heads", 110, "radio heads")
	prompt := flag.Bool("prompt", true, "prompt mode of the poster")
	flag.Parse()

	ledger := billing.NewLedger(3 * time.Millisecond)
	poster := batch.New(ledger.Post, 48, 40*time.Millisecond)
	poster.Prompt = *prompt

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	pctx, stop := context.WithCancel(context.Background())
	go poster.Run(pctx)

	var wg sync.WaitGroup
	all := make([]*collector.Collector, *heads)
	for i := range all {
		all[i] = collector.New(radio.NewHead(uint32(i), 24*time.Millisecond), poster)
		wg.Go(func() { all[i].Run(ctx) })
	}
	wg.Wait()
	stop()

	var n, bad int
	var spent time.Duration
	for _, c := range all {
		n, bad, spent = n+c.Posted, bad+c.Rejected, spent+c.Spent
	}
	fmt.Printf("operations: %d\n", n)
	if n > 0 {
		fmt.Printf("rejected %d, %d kWh in %d posts, mean %v\n", bad, ledger.KWh(), ledger.Posts(), (spent / time.Duration(n)).Round(10*time.Microsecond))
	}
}
