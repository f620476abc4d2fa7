// Command tariffdesk answers requests for freight quotes.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"tariffdesk/internal/desk"
	"tariffdesk/internal/ledger"
	"tariffdesk/internal/wire"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	clerks := flag.Int("clerks", 24, "clerks at the desk")
	paired := flag.Bool("paired", true, "paired settings of the store")
	flag.Parse()

	const password = "quayside"
	srv, err := ledger.Listen(password)
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	store := desk.OpenStore(&wire.Connector{Addr: srv.Addr(), User: "desk", Password: password},
		desk.Options{MaxOpen: 16, Paired: *paired})
	defer store.Close()

	var answered, refused atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(*dur)
	for i := range *clerks {
		wg.Go(func() {
			for n := i; time.Now().Before(end); n++ {
				_, err := store.Quote(context.Background(), fmt.Sprintf("R%03d", n*7%400), 1+n%55)
				if err != nil {
					refused.Add(1)
				} else {
					answered.Add(1)
				}
				time.Sleep(8 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	fmt.Printf("operations: %d\n", answered.Load())
	fmt.Printf("refused %d, tariffs read %d\n", refused.Load(), srv.Asked())
}
