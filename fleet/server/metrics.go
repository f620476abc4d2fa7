package server

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/gowhy/gowhy/fleet/exposition"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// A meter counts what is written, for /metrics. It is a [store.Writer].
type meter struct {
	to      store.Writer
	found   store.Reader // has the findings
	scraper *scrape.Scraper
	tenants tenants
	refusing
	more []func(io.Writer) // the metrics of others

	batches, samples, full, failed atomic.Int64
	took                           [len(bounds) + 1]atomic.Int64 // acknowledged within a bound, beyond the one before
	tookSum                        atomic.Int64                  // nanoseconds
	requests                       [6]atomic.Int64               // by the first digit of their status
}

// bounds are of the time until a batch is acknowledged, on the disk.
var bounds = [...]time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second}

func newMeter(s store.Store) *meter { return &meter{to: s, found: s} }

// tenants are those that sent something since the server began, and "", whose data may
// be there from before.
type tenants struct {
	mu    sync.Mutex
	names map[string]bool
}

// mostTenants are judged; the names come from requests.
const mostTenants = 1000

func (t *tenants) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = map[string]bool{}
	}
	if len(t.names) < mostTenants {
		t.names[name] = true
	}
}

func (t *tenants) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := slices.Sorted(maps.Keys(t.names))
	if !t.names[""] {
		names = append(names, "")
	}
	return names
}

// Write returns the store's, counted.
func (m *meter) Write(ctx context.Context, b *store.Batch) error {
	begin := time.Now()
	err := m.to.Write(ctx, b)
	m.saw(err)
	if err != nil {
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
	m.tenants.add(b.Source.Tenant)
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
		status := seen.status
		// gRPC fails with a status of its own, which follows its answer.
		if code, err := strconv.Atoi(w.Header().Get(http.TrailerPrefix + "Grpc-Status")); err == nil && code != 0 {
			status = http.StatusBadRequest
			if code == int(connect.CodeInternal) || code == int(connect.CodeUnavailable) {
				status = http.StatusInternalServerError
			}
		}
		if class := status / 100; class < len(m.requests) {
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
func (m *meter) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	exposition.Counter(w, "gowhy_fleet_batches_total", "Batches that were kept.").Int(m.batches.Load())
	exposition.Counter(w, "gowhy_fleet_samples_total", "Samples of these.").Int(m.samples.Load())
	exposition.Counter(w, "gowhy_fleet_batches_full_total", "Batches refused because the store had no room.").Int(m.full.Load())
	exposition.Counter(w, "gowhy_fleet_batches_failed_total", "Batches that could not be written.").Int(m.failed.Load())
	requests := exposition.Counter(w, "gowhy_fleet_requests_total", "Requests that send profiles, by status.")
	for class := 2; class < len(m.requests); class++ {
		requests.Int(m.requests[class].Load(), "status", strconv.Itoa(class)+"xx")
	}
	took := exposition.Histogram(w, "gowhy_fleet_acknowledge_seconds", "Time until a batch is on the disk.")
	var sum int64
	for i, b := range bounds {
		sum += m.took[i].Load()
		took.Part("_bucket").Int(sum, "le", strconv.FormatFloat(b.Seconds(), 'g', -1, 64))
	}
	sum += m.took[len(bounds)].Load()
	took.Part("_bucket").Int(sum, "le", "+Inf")
	took.Part("_sum").Float(time.Duration(m.tookSum.Load()).Seconds())
	took.Part("_count").Int(sum)
	m.serveFindings(r.Context(), w)
	for _, write := range m.more {
		write(w)
	}
	scrapes := exposition.Gauge(w, "gowhy_fleet_scrape_up", "Whether the last scrape of a target went well.")
	for _, t := range m.scraper.Status() {
		up := int64(0)
		if t.Err == nil && !t.At.IsZero() {
			up = 1
		}
		scrapes.Int(up, "service", t.Source.Service, "url", t.URL)
	}
}

// mostSeries of findings are shown, the dearest.
const mostSeries = 500

// findingMetrics are what findings cost, by the unit of that; the last is of growths only.
var findingMetrics = []struct {
	name, help string
	counts     func(f *findings.Finding) bool
}{
	{"gowhy_finding_cores", "What a cause costs all processes of a service.", func(f *findings.Finding) bool { return f.Unit == string(fact.Cores) }},
	{"gowhy_finding_growth", "By how much what grows without end does so in a second, in all processes of a service that do: bytes, or goroutines.",
		func(f *findings.Finding) bool { return findings.Grows(f.Rule) }},
}

// serveFindings writes what findings that are there now cost.
func (m *meter) serveFindings(ctx context.Context, w io.Writer) {
	tenants := m.tenants.all()
	lists := make([]*findings.List, len(tenants))
	for i, tenant := range tenants {
		var err error
		if lists[i], err = findings.Of(ctx, m.found, store.Selection{Tenant: tenant, From: time.Now().Add(-time.Hour)}); err != nil {
			return // the store says so elsewhere
		}
	}
	for _, metric := range findingMetrics {
		cost := exposition.Gauge(w, metric.name, metric.help)
		left := mostSeries
		for i, list := range lists {
			for _, f := range list.Findings {
				if !f.Open || !metric.counts(&f) || left == 0 {
					continue
				}
				left--
				cost.Float(whole(f.Cost), "tenant", tenants[i], "service", f.Service, "version", f.Versions[len(f.Versions)-1],
					"rule", f.Rule, "function", f.Function)
			}
		}
	}
}
