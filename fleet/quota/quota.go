// Package quota bounds what each tenant of a server sends.
//
// It hides how much a tenant has sent, a bucket of bytes and which services it has. It never
// delays a request: one beyond a limit is refused with the time to wait.
package quota

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/exposition"
	"github.com/gowhy/gowhy/fleet/store"
)

// Limits are those of one tenant; 0 is none.
type Limits struct {
	BytesPerSecond int64
	Burst          int64 // bytes at once; ten seconds of them where it is 0
	Services       int   // that send within a day
	Labels         int   // of a source
}

// Others is the name of limits for tenants that have none of their own, each alone.
const Others = "*"

const (
	// mostTenants bounds what strangers' names can make it remember and show. What comes
	// later shares one bucket.
	mostTenants = 1000
	longestName = 100
	remember    = 24 * time.Hour // a service that does not send any more
	burstTime   = 10             // seconds
	longestWait = time.Hour
)

// The reasons for which it refuses.
var reasons = [...]string{"bytes", "services", "labels"}

const (
	tooManyBytes = iota
	tooManyServices
	tooManyLabels
)

// A Limiter holds tenants to their limits.
type Limiter struct {
	now func() time.Time

	mu      sync.Mutex
	limits  map[string]Limits
	tenants map[string]*usage
	rest    usage // of tenants beyond mostTenants, or with longer names
}

// usage is what a tenant sent.
type usage struct {
	level    float64 // bytes that it may send now; below 0 is a debt
	at       time.Time
	services map[string]time.Time // when they sent last
	bytes    int64
	refused  [len(reasons)]int64
}

// New returns a limiter without limits.
func New(now func() time.Time) *Limiter {
	return &Limiter{now: now, tenants: map[string]*usage{}}
}

// Set replaces the limits, by tenant. What was sent counts on.
func (l *Limiter) Set(limits map[string]Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = maps.Clone(limits)
}

// of returns the limits and the usage of a tenant. The caller holds mu.
func (l *Limiter) of(tenant string) (Limits, *usage) {
	limits, own := l.limits[tenant]
	if !own {
		limits = l.limits[Others]
	}
	u := l.tenants[tenant]
	switch {
	case u != nil:
	case own || len(l.tenants) < mostTenants && len(tenant) <= longestName:
		u = &usage{}
		l.tenants[tenant] = u
	default:
		u = &l.rest
	}
	return limits, u
}

// Bytes counts the bodies of requests that send something, and refuses them while their
// tenant has sent too much. What is longer than a burst goes through when all of it is
// free, and is a debt then.
func (l *Limiter) Bytes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if access.ScopeOf(r) != access.Ingest {
			next.ServeHTTP(w, r)
			return
		}
		tenant := r.Header.Get(access.TenantHeader)
		if wait := l.take(tenant, max(r.ContentLength, 0)); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			access.Refuse(w, http.StatusTooManyRequests, "resource_exhausted", fmt.Sprintf("tenant %.40q sends more bytes than it may: try again in %v", tenant, wait.Round(time.Second)))
			return
		}
		if r.ContentLength < 0 {
			r.Body = &counted{r.Body, func(n int) { l.owe(tenant, int64(n)) }}
		}
		next.ServeHTTP(w, r)
	})
}

// take takes bytes from a tenant's bucket, or says how long until it has them.
func (l *Limiter) take(tenant string, n int64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	limits, u := l.of(tenant)
	if limits.BytesPerSecond > 0 {
		rate, burst := float64(limits.BytesPerSecond), float64(limits.Burst)
		if burst == 0 {
			burst = burstTime * rate
		}
		now := l.now()
		if u.at.IsZero() {
			u.level = burst
		}
		u.level = min(burst, u.level+rate*now.Sub(u.at).Seconds())
		u.at = now
		if need := min(float64(max(n, 1)), burst); u.level < need {
			u.refused[tooManyBytes]++
			return min(longestWait, max(1, time.Duration((need-u.level)/rate*float64(time.Second))))
		}
		u.level -= float64(n)
	}
	u.bytes += n
	return 0
}

// owe counts bytes that came already.
func (l *Limiter) owe(tenant string, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, u := l.of(tenant)
	u.level -= float64(n)
	u.bytes += n
}

// counted is a body of which nobody said how long it is.
type counted struct {
	io.ReadCloser
	count func(int)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.count(n)
	return n, err
}

// Writer refuses batches of services or with labels beyond their tenant's limits.
func (l *Limiter) Writer(next store.Writer) store.Writer { return &writer{l, next} }

type writer struct {
	*Limiter
	next store.Writer
}

func (w *writer) Write(ctx context.Context, b *store.Batch) error {
	if err := w.check(&b.Source); err != nil {
		return err
	}
	return w.next.Write(ctx, b)
}

func (l *Limiter) check(s *store.Source) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	limits, u := l.of(s.Tenant)
	if limits.Labels > 0 && len(s.Labels) > limits.Labels {
		u.refused[tooManyLabels]++
		return fmt.Errorf("%w: %d labels, and tenant %.40q may send %d", store.ErrRefused, len(s.Labels), s.Tenant, limits.Labels)
	}
	if limits.Services == 0 {
		return nil
	}
	now := l.now()
	if _, known := u.services[s.Service]; !known && len(u.services) >= limits.Services {
		maps.DeleteFunc(u.services, func(_ string, last time.Time) bool { return now.Sub(last) > remember })
		if len(u.services) >= limits.Services {
			u.refused[tooManyServices]++
			return fmt.Errorf("%w: service %.40q is one more than the %d that tenant %.40q may have", store.ErrRefused, s.Service, limits.Services, s.Tenant)
		}
	}
	if u.services == nil {
		u.services = map[string]time.Time{}
	}
	u.services[s.Service] = now
	return nil
}

// Metrics writes what tenants sent as Prometheus reads it. Those beyond the first
// thousand are one, (others).
func (l *Limiter) Metrics(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := maps.Clone(l.tenants)
	if l.rest.bytes > 0 || l.rest.refused != [len(reasons)]int64{} {
		all["(others)"] = &l.rest
	}
	if len(all) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(all))
	sent := exposition.Counter(w, "gowhy_fleet_tenant_bytes_total", "Bytes of requests that send profiles.")
	for _, name := range names {
		sent.Int(all[name].bytes, "tenant", name)
	}
	refused := exposition.Counter(w, "gowhy_fleet_tenant_refused_total", "What was refused because of a tenant's limits.")
	for _, name := range names {
		for i, reason := range reasons {
			refused.Int(all[name].refused[i], "tenant", name, "reason", reason)
		}
	}
}
