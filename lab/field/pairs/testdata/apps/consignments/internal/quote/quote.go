// Package quote answers order lists with prices and dates.
package quote

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"

	"consignments/internal/calendar"
	"consignments/internal/orders"
	"consignments/internal/tariff"
)

// Offer is the answer for one order.
type Offer struct {
	Ref      string `json:"ref"`
	Pickup   string `json:"pickup"`
	Delivery string `json:"delivery"`
	Valid    string `json:"valid_until"`
	Cents    int64  `json:"cents"`
	Seal     string `json:"seal"`
}

// Desk makes offers.
type Desk struct {
	regions map[string]*calendar.Region
	closed  calendar.Rule
	book    *tariff.Book
	key     []byte
}

// NewDesk returns a desk.
func NewDesk(book *tariff.Book, closed calendar.Rule) *Desk {
	d := &Desk{regions: map[string]*calendar.Region{}, closed: closed, book: book, key: []byte("offer seal 2026")}
	for _, r := range calendar.Regions() {
		d.regions[r.Code] = r
	}
	return d
}

// Offer makes the offer for o.
func (d *Desk) Offer(o *orders.Order) Offer {
	from, to := d.regions[o.From], d.regions[o.To]
	pickup := d.closed.Add(from, o.Ready, 1)
	arrival := d.closed.Add(to, pickup, d.book.Transit(o))
	of := Offer{
		Ref:      o.Ref,
		Pickup:   pickup.Format(time.DateOnly),
		Delivery: arrival.Format(time.DateOnly),
		Valid:    d.closed.Add(from, o.Ready, 2).Format(time.DateOnly),
		Cents:    d.book.Price(o),
	}
	m := hmac.New(sha256.New, d.key)
	io.WriteString(m, of.Ref+of.Pickup+of.Delivery+of.Valid)
	of.Seal = hex.EncodeToString(m.Sum(nil)[:12])
	return of
}

// Answer reads a list and writes its offers.
func (d *Desk) Answer(w io.Writer, list io.Reader) (int, int64, error) {
	os, err := orders.Read(list)
	if err != nil {
		return 0, 0, err
	}
	offers := make([]Offer, len(os))
	var cents int64
	for i := range os {
		offers[i] = d.Offer(&os[i])
		cents += offers[i].Cents
	}
	return len(offers), cents, json.NewEncoder(w).Encode(offers)
}
