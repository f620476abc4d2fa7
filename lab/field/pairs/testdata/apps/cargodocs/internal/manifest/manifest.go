// Package manifest holds cargo manifests and their canonical form.
package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sort"
)

type Item struct {
	Tariff  string  `json:"tariff"`
	Text    string  `json:"text"`
	Pieces  int     `json:"pieces"`
	WeightG int64   `json:"weight_g"`
	Value   float64 `json:"value"`
}

type Container struct {
	No    string `json:"no"`
	Seal  string `json:"seal"`
	Items []Item `json:"items"`
}

type Manifest struct {
	Voyage     string      `json:"voyage"`
	Vessel     string      `json:"vessel"`
	Containers []Container `json:"containers"`
}

// Canonical is the form that is hashed and sent: containers by number, items by
// tariff.
func (m *Manifest) Canonical() (body []byte, digest string, err error) {
	sort.Slice(m.Containers, func(i, j int) bool { return m.Containers[i].No < m.Containers[j].No })
	for _, c := range m.Containers {
		sort.Slice(c.Items, func(i, j int) bool { return c.Items[i].Tariff < c.Items[j].Tariff })
	}
	body, err = json.Marshal(m)
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(body)
	return body, hex.EncodeToString(sum[:]), nil
}

// Source makes manifests.
type Source struct{ r *rand.Rand }

func NewSource(seed uint64) *Source { return &Source{r: rand.New(rand.NewPCG(seed, 77))} }

var goods = []string{"machine parts of steel", "cotton yarn, dyed", "frozen shrimps", "tyres for lorries", "ceramic tiles, glazed", "lithium batteries UN3480", "roasted coffee"}

func (s *Source) Next() *Manifest {
	m := &Manifest{Voyage: fmt.Sprintf("%03dW", s.r.IntN(900)), Vessel: fmt.Sprintf("MV %c%c STAR", 'A'+s.r.IntN(26), 'A'+s.r.IntN(26))}
	for range 60 + s.r.IntN(60) {
		c := Container{No: fmt.Sprintf("MSCU%07d", s.r.IntN(1e7)), Seal: fmt.Sprintf("S%07d", s.r.IntN(1e7))}
		for range 2 + s.r.IntN(6) {
			c.Items = append(c.Items, Item{
				Tariff: fmt.Sprintf("%08d", s.r.IntN(1e8)), Text: goods[s.r.IntN(len(goods))],
				Pieces: 1 + s.r.IntN(800), WeightG: s.r.Int64N(9e6), Value: s.r.Float64() * 40000,
			})
		}
		m.Containers = append(m.Containers, c)
	}
	return m
}
