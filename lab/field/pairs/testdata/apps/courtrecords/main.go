// Command courtrecords searches the registries of many courts.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"courtrecords/internal/court"
	"courtrecords/internal/registry"
	"courtrecords/internal/search"
	"courtrecords/internal/signon"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 250, "searches a second")
	table := flag.Bool("table", true, "tokens from the table")
	flag.Parse()

	key := []byte("seal of the court")
	idp := httptest.NewServer(court.Issuer(key))
	defer idp.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var tokens signon.Source = signon.NewCache(idp.URL, client)
	if *table {
		tokens = signon.NewTable(idp.URL, client)
	}
	svc := search.New(tokens, registry.New(key, 700))

	const courts = 50
	words := [...]string{"trust mills", "dairy", "press holdings", "quarry estate"}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		took   []time.Duration
		failed int
	)
	began := time.Now()
	for n := 0; time.Since(began) < *dur; {
		for due := int(time.Since(began).Seconds() * float64(*rate)); n < due; n++ {
			url := fmt.Sprintf("/search?court=C%02d&q=%s", n*7%courts, words[n%len(words)][:5])
			wg.Go(func() {
				start := time.Now()
				rec := httptest.NewRecorder()
				svc.ServeHTTP(rec, httptest.NewRequest("GET", url, nil))
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(start))
				if rec.Code != http.StatusOK {
					failed++
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
	}
	wg.Wait()
	slices.Sort(took)
	fmt.Printf("operations: %d\n", len(took))
	fmt.Printf("failed %d, median %v, p99 %v\n", failed, took[len(took)/2], took[len(took)*99/100])
}
