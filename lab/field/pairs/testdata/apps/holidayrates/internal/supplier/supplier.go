// Package supplier is the interface to tour operators.
package supplier

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

type Request struct {
	Airport string
	Nights  int
	Adults  int
	Region  int
}

type Offer struct {
	Hotel  string   `json:"hotel"`
	Board  string   `json:"board"`
	Room   string   `json:"room"`
	Cents  int      `json:"cents"`
	Stars  float64  `json:"stars"`
	Tags   []string `json:"tags"`
	Source string   `json:"source"`
}

// Operator answers a request with a JSON document of offers.
type Operator interface {
	Name() string
	Offers(ctx context.Context, r Request) ([]byte, error)
}

// Sim is an operator with the answers of a test system.
type Sim struct {
	name string
	docs [][]byte
}

func NewSim(i int) *Sim {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	s := &Sim{name: fmt.Sprintf("operator-%02d", i)}
	for range 30 {
		var list []Offer
		for range 6 + r.IntN(10) {
			list = append(list, Offer{
				Hotel: fmt.Sprintf("Hotel %03d", r.IntN(400)), Board: []string{"BB", "HB", "AI"}[r.IntN(3)],
				Room: []string{"double", "double sea view", "family"}[r.IntN(3)], Cents: 30000 + r.IntN(150000),
				Stars: float64(4+r.IntN(7)) / 2, Tags: []string{"beach", "pool", "wifi"}[:1+r.IntN(3)], Source: s.name,
			})
		}
		doc, _ := json.Marshal(list)
		s.docs = append(s.docs, doc)
	}
	return s
}

func (s *Sim) Name() string { return s.name }

func (s *Sim) Offers(ctx context.Context, r Request) ([]byte, error) {
	d := 2*time.Millisecond + rand.N(3*time.Millisecond)
	if rand.IntN(9) == 0 {
		d = 22*time.Millisecond + rand.N(8*time.Millisecond)
	}
	select {
	case <-time.After(d):
		return s.docs[r.Region%len(s.docs)], nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
