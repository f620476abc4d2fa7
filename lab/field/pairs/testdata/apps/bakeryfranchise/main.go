// Command bakeryfranchise takes the orders of a bakery's shops.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bakeryfranchise/internal/api"
	"bakeryfranchise/internal/orders"
	"bakeryfranchise/internal/payments"
	"bakeryfranchise/internal/pgsim"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	shops := flag.Int("shops", 30, "shops that order")
	prepared := flag.Bool("prepared", true, "prepared orders")
	flag.Parse()

	acquirer := httptest.NewServer(payments.Acquirer())
	defer acquirer.Close()
	sim := pgsim.New(1500 * time.Microsecond)
	db := sql.OpenDB(sim)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	defer db.Close()
	pay := &payments.Client{Base: acquirer.URL, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	h := api.Handler(orders.New(db, pay, *prepared))

	items := [...]string{"rye", "baguette", "brioche", "pretzel", "ciabatta"}
	var failed atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	end := time.Now().Add(*dur)
	for shop := range *shops {
		wg.Go(func() {
			for n := shop; time.Now().Before(end); n++ {
				req := httptest.NewRequest("GET", "/stock?item="+items[n%len(items)], nil)
				if n%3 != 0 {
					req = httptest.NewRequest("POST", "/orders", strings.NewReader(fmt.Sprintf(
						`{"item":%q,"count":%d,"card":"4%03d"}`, items[n%len(items)], 1+n%40, shop)))
				}
				start := time.Now()
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, req)
				if rec.Code != http.StatusOK {
					failed.Add(1)
				}
				mu.Lock()
				took = append(took, time.Since(start))
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	fmt.Printf("operations: %d\n", len(took))
	fmt.Printf("failed %d, booked %d, median %v, p99 %v\n", failed.Load(), sim.Booked(), took[len(took)/2], took[len(took)*99/100])
}
