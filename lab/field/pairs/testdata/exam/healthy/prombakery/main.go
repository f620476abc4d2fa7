// Prombakery takes orders of a bakery, counts them with the client of Prometheus, and is
// scraped every second.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

var breads = [...]string{"rye", "wheat", "spelt", "corn", "oat", "barley", "millet", "rice"}

// A counter belongs to a bread: its children of the vectors are looked up once.
type counter struct {
	baked atomic.Int64
	sold  prometheus.Counter
	none  prometheus.Counter
	cents prometheus.Observer
	_     [8]byte // a line of the cache for each
}

type bakery struct{ counters [len(breads)]counter }

func newBakery(reg prometheus.Registerer) *bakery {
	f := promauto.With(reg)
	orders := f.NewCounterVec(prometheus.CounterOpts{Name: "bakery_orders_total", Help: "Orders by bread and how they ended."}, []string{"bread", "end"})
	cents := f.NewHistogramVec(prometheus.HistogramOpts{Name: "bakery_order_cents", Help: "What orders cost.",
		Buckets: prometheus.ExponentialBuckets(100, 2, 10)}, []string{"bread"})
	b := new(bakery)
	for i, bread := range breads {
		b.counters[i] = counter{sold: orders.WithLabelValues(bread, "sold"), none: orders.WithLabelValues(bread, "none left"),
			cents: cents.WithLabelValues(bread)}
	}
	return b
}

// A line is how many of a bread somebody wants.
type line struct{ bread, count int }

var errNone = errors.New("none left")

// order sells breads, and bakes when there are few.
func (b *bakery) order(lines []line) error {
	for _, l := range lines {
		c := &b.counters[l.bread]
		switch left := c.baked.Add(-int64(l.count)); {
		case left < -1000:
			c.none.Inc()
			return errNone
		case left < 0:
			c.baked.Add(500)
		}
		c.sold.Inc()
		c.cents.Observe(float64(l.count * (250 + 70*l.bread)))
	}
	return nil
}

// scrape reads the metrics every second, as Prometheus does.
func scrape(ctx context.Context, client *http.Client, url string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := scrapeOnce(ctx, client, url); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
	}
}

func scrapeOnce(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func main() {
	flag.Parse()
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector())
	b := newBakery(reg)
	srv := httptest.NewServer(promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go scrape(ctx, srv.Client(), srv.URL)
	tills := make([][]line, runtime.GOMAXPROCS(0))
	for i := range tills {
		tills[i] = make([]line, 0, 4)
	}
	pace(len(tills), func(_ context.Context, w, n int) error {
		lines := tills[w][:0]
		for i := range n%4 + 1 {
			lines = append(lines, line{(n*5 + i*3) % len(breads), i%3 + 1})
		}
		if err := b.order(lines); err != nil && !errors.Is(err, errNone) {
			return err
		}
		return nil
	})
}
