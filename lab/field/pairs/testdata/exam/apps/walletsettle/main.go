// Walletsettle settles payments between wallets with a clearing house.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"walletsettle/internal/account"
	"walletsettle/internal/clearing"
	"walletsettle/internal/settle"
	"walletsettle/internal/stripe"
)

func main() {
	wallets := flag.Int("wallets", 4000, "wallets of the region")
	tills := flag.Int("tills", 40, "tills that pay at once")
	payments := flag.Int("payments", 2000, "payments to settle")
	stripeBy := flag.String("stripe-by", "low-bits", "how a wallet finds its lock: low-bits or hash")
	answer := flag.Duration("clearing", 2*time.Millisecond, "how long the clearing house takes")
	flag.Parse()

	by, err := stripe.Named(*stripeBy)
	if err != nil {
		log.Fatal(err)
	}
	house, err := clearing.Start(*answer)
	if err != nil {
		log.Fatal(err)
	}
	defer house.Close()
	book := account.Open(account.Region(3), *wallets, 1_000_00)
	s := settle.New(book, stripe.New(1024, by), clearing.NewClient(house.URL(), *tills))

	var wg sync.WaitGroup
	var next, settled atomic.Int64
	ids := book.IDs()
	for till := range *tills {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(till), 11))
			for next.Add(1) <= int64(*payments) {
				from, to := ids[rng.IntN(len(ids))], ids[rng.IntN(len(ids))]
				if from == to {
					continue
				}
				p := settle.Payment{From: from, To: to, Cents: 1 + rng.Int64N(900), Till: till}
				if _, err := s.Settle(context.Background(), p); err != nil {
					log.Printf("till %d: %v", till, err)
					continue
				}
				settled.Add(1)
			}
		}()
	}
	wg.Wait()
	log.Printf("%d cents in %d wallets", book.Total(), len(ids))
	fmt.Printf("operations: %d\n", settled.Load())
}
