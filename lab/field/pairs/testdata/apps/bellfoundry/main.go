// Bellfoundry takes orders for bells and casts them in shared moulds.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"bellfoundry/internal/foundry"
	"bellfoundry/internal/lease"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	v2 := flag.Bool("v2", true, "second revision of the lease client")
	rate := flag.Int("rate", 250, "orders in a second")
	flag.Parse()

	client := &lease.Client{Table: lease.NewTable(2 * time.Second), Delay: 25 * time.Millisecond, Notify: *v2}
	f := foundry.New(client, 4)
	rnd := rand.New(rand.NewPCG(2, 9))
	var mu sync.Mutex
	var took []time.Duration
	refused := 0
	var wg sync.WaitGroup
	start := time.Now()
	for due := start; due.Sub(start) < *length; {
		due = due.Add(time.Duration(rnd.ExpFloat64() * float64(time.Second) / float64(*rate)))
		time.Sleep(time.Until(due))
		o := foundry.Order{Mould: foundry.Name(rnd.IntN(4)), Tin: 0.18 + rnd.Float64()*0.08}
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			from := time.Now()
			_, err := f.Cast(ctx, o)
			d := time.Since(from)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				return
			}
			took = append(took, d)
		})
	}
	wg.Wait()
	slices.Sort(took)
	fmt.Printf("operations: %d\n", len(took))
	fmt.Printf("refused %d\n", refused)
	if n := len(took); n > 0 {
		fmt.Printf("half within %v, 99%% within %v\n", took[n/2].Round(time.Microsecond), took[n*99/100].Round(time.Microsecond))
	}
}
