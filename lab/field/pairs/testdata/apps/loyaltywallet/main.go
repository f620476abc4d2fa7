// Loyaltywallet books purchases and points of a chain of shops.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand"
	"sync"
	"sync/atomic"
	"time"

	"loyaltywallet/internal/events"
	"loyaltywallet/internal/receipt"
	"loyaltywallet/internal/till"
	"loyaltywallet/internal/wallet"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 16000, "purchases per second")
	accounts := flag.Int("accounts", 200, "company accounts")
	kept := flag.Bool("kept", true, "keep accounts at hand")
	flag.Parse()

	history := events.NewLog(*accounts)
	wallets := wallet.NewReader(history, *accounts, *kept)
	t := till.New(history, wallets, receipt.NewPrinter())

	articles := []string{"bread", "coffee", "paper", "cleaner", "fruit", "printer ink", "milk"}
	var ops, bytes atomic.Int64
	var wg sync.WaitGroup
	const tills = 8
	begin := time.Now()
	for k := range tills {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewSource(int64(k)))
			tick := time.NewTicker(4 * time.Millisecond)
			defer tick.Stop()
			n := 0
			for now := range tick.C {
				past := now.Sub(begin)
				if past > *d {
					return
				}
				for ; n < int(past.Seconds()*float64(*rate)/tills); n++ {
					lines := make([]receipt.Line, 1+rng.Intn(8))
					for i := range lines {
						lines[i] = receipt.Line{Article: articles[rng.Intn(len(articles))], Cents: int64(99 + rng.Intn(4000))}
					}
					size, err := t.Purchase(rng.Intn(*accounts), int32(k*4), int32(past/(40*time.Millisecond)), lines)
					if err != nil {
						log.Fatal(err)
					}
					ops.Add(1)
					bytes.Add(int64(size))
				}
			}
		}()
	}
	wg.Wait()
	var balance, earned int64
	for a := range *accounts {
		wallets.View(a, func(s *wallet.State) {
			balance += s.Balance()
			earned += s.Earned
		})
	}
	fmt.Println("operations:", ops.Load())
	fmt.Printf("points earned: %d, balance: %d, receipt bytes: %d\n", earned, balance, bytes.Load())
}
