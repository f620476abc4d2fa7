// Package bridge answers the weighbridges.
package bridge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"quarryweigh/internal/tariff"
)

// Weighing is what a bridge sends.
type Weighing struct {
	Ticket   string  `json:"ticket"`
	Plate    string  `json:"plate"`
	Tariff   string  `json:"tariff"`
	Gross    float64 `json:"gross"`
	Tare     float64 `json:"tare"`
	Distance float64 `json:"distance"`
	Moisture float64 `json:"moisture"`
	Axles    int     `json:"axles"`
}

// Slip is what it prints.
type Slip struct {
	Ticket string  `json:"ticket"`
	Net    float64 `json:"net"`
	Price  float64 `json:"price"`
	Levy   float64 `json:"levy"`
	Seal   string  `json:"seal"`
}

// Service prices weighings.
type Service struct {
	Tariffs *tariff.Store
	Cache   *tariff.Cache
	Key     []byte
}

func (s *Service) price(w *Weighing) (Slip, error) {
	t, ok := s.Tariffs.Get(w.Tariff)
	if !ok {
		return Slip{}, http.ErrMissingFile
	}
	c, err := s.Cache.Compiled(t)
	if err != nil {
		return Slip{}, err
	}
	env := func(name string) float64 {
		switch name {
		case "gross":
			return w.Gross
		case "tare":
			return w.Tare
		case "distance":
			return w.Distance
		case "moisture":
			return w.Moisture
		case "axles":
			return float64(w.Axles)
		case "vat":
			return 0.19
		}
		return 0
	}
	slip := Slip{Ticket: w.Ticket, Net: w.Gross - w.Tare, Price: c.Price(env), Levy: c.Levy(env)}
	m := hmac.New(sha256.New, s.Key)
	m.Write([]byte(w.Ticket))
	m.Write([]byte(w.Plate))
	slip.Seal = hex.EncodeToString(m.Sum(nil))
	return slip, nil
}

// ServeHTTP handles POST /weighings with the weighings of one shift.
func (s *Service) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	var in []Weighing
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	out := make([]Slip, 0, len(in))
	for i := range in {
		slip, err := s.price(&in[i])
		if err != nil {
			http.Error(rw, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		out = append(out, slip)
	}
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(out)
}
