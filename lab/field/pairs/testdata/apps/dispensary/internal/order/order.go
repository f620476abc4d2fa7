// Package order holds the dose orders of the wards.
package order

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Dose is one position of an order.
type Dose struct {
	Drug  string
	Shelf int
	Mg    float64
	Count int
}

// Order is what a patient gets for a day.
type Order struct {
	ID     int
	Ward   string
	Weight float64
	Doses  []Dose
}

var clashes = map[[2]string]bool{{"d03", "d11"}: true, {"d05", "d19"}: true, {"d02", "d07"}: true}

// Decode reads and checks an order.
func Decode(raw []byte) (*Order, error) {
	o := new(Order)
	if err := json.Unmarshal(raw, o); err != nil {
		return nil, err
	}
	slices.SortFunc(o.Doses, func(a, b Dose) int { return a.Shelf - b.Shelf })
	for i, d := range o.Doses {
		if d.Mg*float64(d.Count) > 60*o.Weight {
			return nil, fmt.Errorf("order %d: too much of %s", o.ID, d.Drug)
		}
		for _, e := range o.Doses[i+1:] {
			if clashes[[2]string{min(d.Drug, e.Drug), max(d.Drug, e.Drug)}] {
				return nil, fmt.Errorf("order %d: %s with %s", o.ID, d.Drug, e.Drug)
			}
		}
	}
	return o, nil
}

// Orders makes the orders of a night.
func Orders(n int) ([][]byte, error) {
	rng := rand.New(rand.NewPCG(13, 8))
	out := make([][]byte, 0, n)
	for i := range n {
		o := Order{ID: i, Ward: fmt.Sprintf("W%d", rng.IntN(9)), Weight: 40 + rng.Float64()*60}
		for range 3 + rng.IntN(5) {
			s := rng.IntN(24)
			o.Doses = append(o.Doses, Dose{fmt.Sprintf("d%02d", s), s, float64(5 * (1 + rng.IntN(80))), 1 + rng.IntN(3)})
		}
		raw, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}
