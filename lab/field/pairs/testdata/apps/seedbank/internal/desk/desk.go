// Package desk answers requests for seed.
package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"sync/atomic"

	"seedbank/internal/accession"
	"seedbank/internal/catalog"
)

// Desk answers requests from a catalog.
type Desk struct {
	cat   *catalog.Catalog
	Found atomic.Int64
}

// New makes a desk.
func New(cat *catalog.Catalog) *Desk { return &Desk{cat: cat} }

// Slip is the answer to a request.
type Slip struct {
	Accession accession.Accession `json:"accession"`
	Forecast  []float64           `json:"forecast"`
	Seal      string              `json:"seal"`
}

// Request answers a request for one accession.
func (d *Desk) Request(id string) ([]byte, error) {
	a, ok, err := d.cat.Find(id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return []byte(`{"error":"not held"}`), nil
	}
	d.Found.Add(1)
	s := Slip{Accession: a, Forecast: forecast(a.Viability)}
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	s.Seal = hex.EncodeToString(sum[:])
	return json.Marshal(s)
}

func forecast(v []int) []float64 {
	var mean float64
	for _, x := range v {
		mean += float64(x)
	}
	mean /= float64(len(v))
	out := make([]float64, 10)
	for i := range out {
		out[i] = math.Round(mean*math.Exp(-0.03*float64(i))*100) / 100
	}
	return out
}
