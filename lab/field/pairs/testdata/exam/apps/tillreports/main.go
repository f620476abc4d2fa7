// Tillreports sums what the tills of shops sell, by shop and kind of article, several times a
// second, and goes on where the last report ended.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"tillreports/internal/rollup"
	"tillreports/internal/sales"
	"tillreports/internal/schedule"
)

func main() {
	rate := flag.Int("rate", 7000, "sales a second")
	length := flag.Duration("for", 4*time.Second, "how long shops are open")
	every := flag.Duration("every", 50*time.Millisecond, "how often a report is due")
	answer := flag.Duration("answer", 12*time.Millisecond, "how long the store takes for a page")
	readers := flag.Int("readers", 6, "pages that the store looks up at once")
	concurrency := flag.String("concurrency", "Allow", "what is done when a report is due and another is on its way: Allow or Forbid")
	flag.Parse()

	policy, err := schedule.PolicyOf(*concurrency)
	if err != nil {
		log.Fatal(err)
	}
	store := sales.NewStore(sales.Config{Shops: 40, Page: 100, Answer: *answer, Readers: *readers})
	server := httptest.NewServer(store)
	defer server.Close()
	report := rollup.New(rollup.NewClient(server.URL, 100))

	job := schedule.New(*every, policy, report.Run)
	ctx, cancel := context.WithTimeout(context.Background(), *length)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- job.Run(ctx) }()
	store.Open(ctx, *rate)
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	if err := report.Run(context.Background()); err != nil { // the day's end
		log.Fatal(err)
	}
	fmt.Println("summed:", report.Summed(), "best shop:", report.Best())
	fmt.Printf("operations: %d\n", store.Sold())
}
