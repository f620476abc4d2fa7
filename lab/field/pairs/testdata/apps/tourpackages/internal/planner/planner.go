// Package planner makes packages of tours.
package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tourpackages/internal/partner"
	"tourpackages/internal/slots"
	"tourpackages/internal/tour"
)

// Package is a tour with prices.
type Package struct {
	Tour   int
	Cents  int
	Folder string
	Seal   string
}

// Planner plans tours.
type Planner struct {
	Desk     *partner.Desk
	Slots    *slots.Slots
	Patience time.Duration
	Flat     bool
	Own      atomic.Int64
}

// Plan confirms all parts of a tour and makes its folder.
func (p *Planner) Plan(t tour.Tour) (Package, error) {
	if !p.Flat {
		p.Slots.Take()
		defer p.Slots.Give()
	}
	quotes := make([]partner.Quote, len(t.Parts))
	errs := make([]error, len(t.Parts))
	var wg sync.WaitGroup
	var later []int
	var mu sync.Mutex
	for i, part := range t.Parts {
		wg.Go(func() {
			if !p.Slots.TakeWithin(p.Patience) {
				mu.Lock()
				later = append(later, i)
				mu.Unlock()
				return
			}
			defer p.Slots.Give()
			quotes[i], errs[i] = p.Desk.Confirm(part)
		})
	}
	wg.Wait()
	for _, i := range later {
		p.Own.Add(1)
		quotes[i], errs[i] = p.Desk.Confirm(t.Parts[i])
	}
	for _, err := range errs {
		if err != nil {
			return Package{}, err
		}
	}
	return p.folder(t, quotes), nil
}

func (p *Planner) folder(t tour.Tour, quotes []partner.Quote) Package {
	slices.SortFunc(quotes, func(a, b partner.Quote) int { return strings.Compare(a.Ref, b.Ref) })
	var b strings.Builder
	k := Package{Tour: t.ID}
	for page := range 60 {
		for _, q := range quotes {
			fmt.Fprintf(&b, "%03d %-14s %6d.%02d %s\n", page, q.Ref, q.Cents/100, q.Cents%100, strings.ToUpper(q.Terms))
		}
	}
	for _, q := range quotes {
		k.Cents += q.Cents
	}
	k.Folder = b.String()
	sum := sha256.Sum256([]byte(k.Folder))
	k.Seal = hex.EncodeToString(sum[:])
	return k
}
