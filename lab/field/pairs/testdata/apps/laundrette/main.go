// Command laundrette tells the customers of a chain of laundrettes when their machine is done.
package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	"laundrette/internal/floor"
	"laundrette/internal/machine"
	"laundrette/internal/phone"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	machines := flag.Int("machines", 140, "number of machines")
	phones := flag.Int("phones", 700, "number of customers who watch a machine")
	rate := flag.Int("rate", 300, "reports of machines per second")
	v2 := flag.Bool("v2", true, "use the second watch list")
	flag.Parse()

	ctx, cancel := context.WithTimeout(context.Background(), *run)
	defer cancel()

	store := machine.NewStore(*machines, *v2)
	var msgs phone.Outbox
	var wg sync.WaitGroup
	for i := range *phones {
		wg.Go(func() { phone.New(i, store, &msgs).Watch(ctx, i%*machines) })
	}
	f := floor.New(store, *rate)
	n := f.Run(ctx)
	wg.Wait()

	fmt.Printf("operations: %d\n", n)
	fmt.Printf("messages %d (%d bytes), machines done %d\n", msgs.Sent.Load(), msgs.Bytes.Load(), store.Done())
}
