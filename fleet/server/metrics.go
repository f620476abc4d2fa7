package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/store"
)

// A meter counts what is written, for /metrics. It is a [store.Writer].
type meter struct {
	to      store.Writer
	scraper *scrape.Scraper
	more    []func(io.Writer) // the metrics of others

	batches, samples, full, failed atomic.Int64
	took                           [len(bounds) + 1]atomic.Int64 // acknowledged within a bound, beyond the one before
	tookSum                        atomic.Int64                  // nanoseconds
	requests                       [6]atomic.Int64               // by the first digit of their status
}

// bounds are of the time until a batch is acknowledged, on the disk.
var bounds = [...]time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second}

func newMeter(to store.Writer) *meter { return &meter{to: to} }

// Write is the store's, counted.
func (m *meter) Write(ctx context.Context, b *store.Batch) error {
	begin := time.Now()
	if err := m.to.Write(ctx, b); err != nil {
		if errors.Is(err, store.ErrFull) {
			m.full.Add(1)
		} else {
			m.failed.Add(1)
		}
		return err
	}
	d := time.Since(begin)
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	m.took[i].Add(1)
	m.tookSum.Add(int64(d))
	m.batches.Add(1)
	for _, p := range b.Profiles {
		m.samples.Add(int64(len(p.Samples)))
	}
	return nil
}

// count counts requests by their status.
func (m *meter) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		if class := seen.status / 100; class < len(m.requests) {
			m.requests[class].Add(1)
		}
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serve writes the counters as Prometheus reads them.
func (m *meter) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	counter := func(name, help string, n int64) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n%s %d\n", name, help, name, name, n)
	}
	counter("gowhy_fleet_batches_total", "Batches that were kept.", m.batches.Load())
	counter("gowhy_fleet_samples_total", "Samples of these.", m.samples.Load())
	counter("gowhy_fleet_batches_full_total", "Batches refused because the store had no room.", m.full.Load())
	counter("gowhy_fleet_batches_failed_total", "Batches that could not be written.", m.failed.Load())
	fmt.Fprint(w, "# HELP gowhy_fleet_requests_total Requests that send profiles, by status.\n# TYPE gowhy_fleet_requests_total counter\n")
	for class := 2; class < len(m.requests); class++ {
		fmt.Fprintf(w, "gowhy_fleet_requests_total{status=\"%dxx\"} %d\n", class, m.requests[class].Load())
	}
	const name = "gowhy_fleet_acknowledge_seconds"
	fmt.Fprintf(w, "# HELP %s Time until a batch is on the disk.\n# TYPE %s histogram\n", name, name)
	var sum int64
	for i, b := range bounds {
		sum += m.took[i].Load()
		fmt.Fprintf(w, "%s_bucket{le=%q} %d\n", name, strconv.FormatFloat(b.Seconds(), 'g', -1, 64), sum)
	}
	sum += m.took[len(bounds)].Load()
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %g\n%s_count %d\n", name, sum, name, time.Duration(m.tookSum.Load()).Seconds(), name, sum)
	for _, write := range m.more {
		write(w)
	}
	fmt.Fprint(w, "# HELP gowhy_fleet_scrape_up Whether the last scrape of a target went well.\n# TYPE gowhy_fleet_scrape_up gauge\n")
	for _, t := range m.scraper.Status() {
		up := 0
		if t.Err == nil && !t.At.IsZero() {
			up = 1
		}
		fmt.Fprintf(w, "gowhy_fleet_scrape_up{service=%q,url=%q} %d\n", t.Source.Service, t.URL, up)
	}
}
