// Package catalogue holds the machines of the works and the parts they are made of.
package catalogue

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Part is an assembly or a single piece.
type Part struct {
	Number   string            `json:"number"`
	Title    string            `json:"title"`
	Cents    int64             `json:"-"`
	Grams    int64             `json:"grams"`
	Material string            `json:"material,omitempty"`
	Specs    map[string]string `json:"specs,omitempty"`
	Parts    []*Part           `json:"parts,omitempty"`
}

// Price returns the price as it is printed.
func (p *Part) Price() string { return fmt.Sprintf("%d.%02d EUR", p.Cents/100, p.Cents%100) }

// MarshalJSON adds the printed price.
func (p *Part) MarshalJSON() ([]byte, error) {
	type plain Part
	return json.Marshal(struct {
		*plain
		Price string `json:"price"`
	}{(*plain)(p), p.Price()})
}

// Sheet is a part as the shop floor sees it.
type Sheet struct {
	Number   string            `json:"number"`
	Title    string            `json:"title"`
	Grams    int64             `json:"grams"`
	Material string            `json:"material,omitempty"`
	Specs    map[string]string `json:"specs,omitempty"`
	Parts    []Sheet           `json:"parts,omitempty"`
	Price    string            `json:"price"`
}

// Sheet returns the sheet of the part with all below it.
func (p *Part) Sheet() Sheet {
	s := Sheet{p.Number, p.Title, p.Grams, p.Material, p.Specs, nil, p.Price()}
	if len(p.Parts) > 0 {
		s.Parts = make([]Sheet, 0, len(p.Parts))
	}
	for _, sub := range p.Parts {
		s.Parts = append(s.Parts, sub.Sheet())
	}
	return s
}

// Walk calls f for the part and all below it.
func (p *Part) Walk(f func(*Part)) {
	f(p)
	for _, sub := range p.Parts {
		sub.Walk(f)
	}
}

// Machines designs n machines.
func Machines(n int) []*Part {
	rng := rand.New(rand.NewPCG(4, 44))
	out := make([]*Part, n)
	for i := range out {
		out[i] = design(rng, fmt.Sprintf("M%03d", i), 8+i%5)
	}
	return out
}

func design(rng *rand.Rand, number string, levels int) *Part {
	p := &Part{
		Number: number,
		Title:  []string{"gear train", "spindle carrier", "bearing seat", "drive shaft", "clutch housing"}[rng.IntN(5)],
		Cents:  rng.Int64N(900000),
		Grams:  20 + rng.Int64N(90000),
	}
	if levels == 0 {
		p.Material = []string{"C45", "42CrMo4", "CuSn12", "PA66"}[rng.IntN(4)]
		return p
	}
	p.Specs = map[string]string{"tolerance": fmt.Sprintf("H%d", rng.IntN(9)), "drawing": fmt.Sprintf("D-%06d", rng.IntN(1e6))}
	for k := range 4 {
		below := 0
		if k == 0 {
			below = levels - 1
		}
		p.Parts = append(p.Parts, design(rng, fmt.Sprintf("%s.%d", number, k), below))
	}
	return p
}
