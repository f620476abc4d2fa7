// Package settle charges plants for what they deviate from their plan.
package settle

import (
	"crypto/sha256"
	"encoding/json"
	"hash"
	"io"
	"math"
	"time"

	"gridsettlement/internal/prices"
	"gridsettlement/internal/readings"
)

// Line is a line of a statement.
type Line struct {
	Plant     string    `json:"plant"`
	At        time.Time `json:"at"`
	Deviation float64   `json:"deviation_mwh"`
	Price     float64   `json:"paise_kwh"`
	Charge    int64     `json:"charge"`
}

// Desk settles files.
type Desk struct {
	prices *prices.Cache
}

// NewDesk returns a desk.
func NewDesk(p *prices.Cache) *Desk { return &Desk{prices: p} }

// Statement is the outcome of one file.
type Statement struct {
	Lines   int
	Charges int64
	Digest  [sha256.Size]byte
}

// File settles a file and writes its statement.
func (d *Desk) File(w io.Writer, file []byte) (Statement, error) {
	var st Statement
	h := sha256.New()
	enc := json.NewEncoder(io.MultiWriter(w, h))
	err := readings.Each(file, func(r readings.Reading) {
		l := d.line(r)
		st.Lines++
		st.Charges += l.Charge
		enc.Encode(l)
	})
	st.Digest = sum(h)
	return st, err
}

func (d *Desk) line(r readings.Reading) Line {
	p := d.prices.At(r.Area, r.At)
	dev := r.Metered - r.Planned
	rate := p.Marginal
	switch part := math.Abs(dev) / r.Planned; {
	case dev > 0 && p.Surplus > 40:
		rate = 0
	case part > 0.12:
		rate *= 1.2
	case part < 0.02:
		rate *= 0.9
	}
	return Line{Plant: r.Plant, At: r.At, Deviation: math.Round(dev*1000) / 1000, Price: rate,
		Charge: int64(math.Round(-dev * rate * 10))}
}

func sum(h hash.Hash) (d [sha256.Size]byte) {
	h.Sum(d[:0])
	return d
}
