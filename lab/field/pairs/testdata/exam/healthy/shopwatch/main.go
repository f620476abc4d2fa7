// Shopwatch asks shops for their prices, each in its turn and no more often than is allowed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// shops stands for the shops: they take some time to answer.
func shops() *httptest.Server {
	type price struct {
		Article string `json:"article"`
		Cents   int    `json:"cents"`
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /shops/{shop}/prices", func(w http.ResponseWriter, r *http.Request) {
		pause := time.NewTimer(time.Duration(15+rand.IntN(50)) * time.Millisecond)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-r.Context().Done():
			return
		}
		prices := make([]price, 10)
		for i := range prices {
			prices[i] = price{r.PathValue("shop"), 100 + rand.IntN(900)}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(prices); err != nil {
			log.Print(err)
		}
	})
	return httptest.NewServer(mux)
}

// A watcher knows the lowest price of each shop.
type watcher struct {
	client  *http.Client
	limit   *rate.Limiter
	base    string
	timeout time.Duration

	mu     sync.Mutex
	lowest map[int]int
	asked  int
}

// ask asks a shop.
func (w *watcher) ask(ctx context.Context, shop int) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/shops/%d/prices", w.base, shop), nil)
	if err != nil {
		return err
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
		return fmt.Errorf("shop %d: %s", shop, resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	var prices []struct {
		Cents int `json:"cents"`
	}
	if err := json.Unmarshal(body, &prices); err != nil {
		return fmt.Errorf("shop %d: %w", shop, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	for _, p := range prices {
		if low, ok := w.lowest[shop]; !ok || p.Cents < low {
			w.lowest[shop] = p.Cents
		}
	}
	return nil
}

func main() {
	perSecond := flag.Float64("rate", 50, "questions a second")
	length := flag.Duration("for", time.Minute, "how long at most")
	inFlight := flag.Int("in-flight", 64, "questions that wait for an answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()

	srv := shops()
	defer srv.Close()
	const count = 200
	transport := &http.Transport{MaxIdleConnsPerHost: *inFlight, MaxConnsPerHost: *inFlight, IdleConnTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	w := &watcher{
		client: &http.Client{Transport: transport},
		limit:  rate.NewLimiter(rate.Limit(*perSecond), 4),
		base:   srv.URL, timeout: 2 * time.Second,
		lowest: make(map[int]int, count),
	}
	turns := make(chan int)
	var wg sync.WaitGroup
	for range *inFlight {
		wg.Go(func() {
			for shop := range turns {
				if err := w.ask(ctx, shop); err != nil && ctx.Err() == nil {
					log.Print(err)
				}
			}
		})
	}
	for shop := 0; w.limit.Wait(ctx) == nil; shop = (shop + 1) % count {
		select {
		case turns <- shop:
		case <-ctx.Done():
		}
	}
	close(turns)
	wg.Wait()
	fmt.Printf("operations: %d\n", w.asked)
}
