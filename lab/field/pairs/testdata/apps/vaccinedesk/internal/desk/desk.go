// Package desk books appointments.
package desk

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vaccinedesk/internal/registry"
	"vaccinedesk/internal/slots"
)

type Desk struct {
	reg  registry.Registry
	plan *slots.Plan
	log  *slog.Logger

	mu   sync.Mutex
	took []time.Duration
}

func New(r registry.Registry, p *slots.Plan, l *slog.Logger) *Desk {
	return &Desk{reg: r, plan: p, log: l.With("app", "vaccinedesk")}
}

// Book finds the next dose for a person and an appointment for it.
func (d *Desk) Book(ctx context.Context, person, site int) error {
	begun := time.Now()
	d.log.Info("request", "person", person, "site", site)
	h, err := d.reg.History(ctx, person)
	if err != nil {
		return fmt.Errorf("person %d: %w", person, err)
	}
	product, wait := due(h)
	d.log.Info("history read", "person", person, "doses", len(h), "due", product, "in_days", wait)
	slot := d.plan.Take(site, wait*400%11200)
	if slot < 0 {
		return fmt.Errorf("site %d is booked out", site)
	}
	p := pass(person, product, slot)
	d.log.Info("booked", "person", person, "site", site, "slot", slot, "product", product, "pass", p[:12])
	d.mu.Lock()
	d.took = append(d.took, time.Since(begun))
	d.mu.Unlock()
	return nil
}

var products = []string{"MMR", "DTaP", "HepB", "Flu"}

// due is the product given least often so far, and the days to wait for it.
func due(h []registry.Dose) (product string, wait int) {
	count := map[string]int{}
	for _, x := range h {
		count[x.Product]++
	}
	product = slices.MinFunc(products, func(a, b string) int { return count[a] - count[b] })
	return product, count[product] * 7 % 28
}

// pass is the signed code that the site scans.
func pass(person int, product string, slot int) string {
	sum := fmt.Appendf(nil, "%d|%s|%d", person, product, slot)
	for range 500 {
		m := hmac.New(sha256.New, []byte("pass-key-7"))
		m.Write(sum)
		sum = m.Sum(nil)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

func (d *Desk) Summary() (n int, mean, p99 time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.took)
	for _, t := range d.took {
		mean += t / time.Duration(len(d.took))
	}
	return len(d.took), mean, d.took[len(d.took)*99/100]
}
