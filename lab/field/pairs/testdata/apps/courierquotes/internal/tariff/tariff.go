// Package tariff knows what carriers charge.
package tariff

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// A Band is a price for parcels up to a weight.
type Band struct {
	Zone    string
	Grams   int
	Cents   int
	Express bool
}

// A Sheet is what a carrier charges.
type Sheet struct {
	Carrier string
	Bands   []Band
}

// Options are how a book looks its tariffs up.
type Options struct{ Live bool }

// A Book has the sheets of all carriers.
type Book struct {
	options Options
	mu      sync.RWMutex
	sheets  []Sheet
	byZone  map[string][]entry
}

type entry struct {
	carrier string
	Band
}

// NewBook makes an empty book.
func NewBook(o Options) *Book { return &Book{options: o} }

// Add adds or replaces a carrier's sheet.
func (b *Book) Add(s Sheet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sheets = slices.DeleteFunc(b.sheets, func(old Sheet) bool { return old.Carrier == s.Carrier })
	b.sheets = append(b.sheets, s)
	b.byZone = zones(b.sheets)
}

// zones groups the bands of sheets by zone, light ones first.
func zones(sheets []Sheet) map[string][]entry {
	out := map[string][]entry{}
	for _, s := range sheets {
		for _, band := range s.Bands {
			out[band.Zone] = append(out[band.Zone], entry{s.Carrier, band})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(x, y entry) int { return cmp.Compare(x.Grams, y.Grams) })
	}
	return out
}

// A Price is what one carrier charges.
type Price struct {
	Carrier string `json:"carrier"`
	Cents   int    `json:"cents"`
}

// Prices are those of all carriers for a parcel, the cheapest first.
func (b *Book) Prices(zone string, grams int) []Price {
	b.mu.RLock()
	defer b.mu.RUnlock()
	byZone := b.byZone
	if b.options.Live {
		byZone = zones(b.sheets)
	}
	best := map[string]int{}
	for _, e := range byZone[zone] {
		if e.Grams < grams || e.Express {
			continue
		}
		if old, ok := best[e.carrier]; !ok || e.Cents < old {
			best[e.carrier] = e.Cents
		}
	}
	out := make([]Price, 0, len(best))
	for carrier, cents := range best {
		out = append(out, Price{carrier, cents})
	}
	slices.SortFunc(out, func(x, y Price) int {
		return cmp.Or(cmp.Compare(x.Cents, y.Cents), cmp.Compare(x.Carrier, y.Carrier))
	})
	return out
}

// Generate makes a sheet up.
func Generate(carrier string, zones int, seed int64) Sheet {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	s := Sheet{Carrier: carrier}
	for z := range zones {
		for grams := 500; grams <= 4000; grams += 500 {
			s.Bands = append(s.Bands, Band{fmt.Sprintf("Z%03d", z), grams, 300 + grams/10 + r.IntN(400), r.IntN(5) == 0})
		}
	}
	return s
}
