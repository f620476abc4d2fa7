// Package quote prices orders.
package quote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"sync"
	"time"

	"haulquotes/internal/lanes"
	"haulquotes/internal/orders"
	"haulquotes/internal/tariff"
)

type Plan struct {
	Legs  []lanes.Leg
	Base  float64
	Steps [12]float64
}

type planKey struct {
	from, to int32
	class    tariff.Class
	pickup   time.Time
}

type shard struct {
	mu    sync.Mutex
	plans map[planKey]*Plan
}

type Service struct {
	net    *lanes.Network
	book   *tariff.Book
	daily  bool
	shards [16]shard
}

type Options struct{ Daily bool }

func New(net *lanes.Network, book *tariff.Book, o Options) *Service {
	s := &Service{net: net, book: book, daily: o.Daily}
	for i := range s.shards {
		s.shards[i].plans = make(map[planKey]*Plan)
	}
	return s
}

func (s *Service) plan(from, to int32, class tariff.Class, pickup time.Time) *Plan {
	if s.daily {
		pickup = pickup.Truncate(24 * time.Hour)
	}
	k := planKey{from, to, class, pickup}
	sh := &s.shards[uint32(from*31+to)%16]
	sh.mu.Lock()
	p := sh.plans[k]
	sh.mu.Unlock()
	if p != nil {
		return p
	}
	p = s.compute(k)
	sh.mu.Lock()
	sh.plans[k] = p
	sh.mu.Unlock()
	return p
}

func (s *Service) compute(k planKey) *Plan {
	perKm := s.book.PerKm(k.class, k.pickup)
	p := &Plan{Legs: s.net.Route(k.from, k.to, perKm, s.book.Handling(k.class))}
	for _, l := range p.Legs {
		p.Base += l.Km * perKm[l.Mode]
	}
	for i := range p.Steps {
		p.Steps[i] = p.Base * math.Pow(1+float64(i)*0.4, 0.83)
	}
	return p
}

type Quote struct {
	Shipper string
	Price   float64
	Legs    []lanes.Leg
	Items   []orders.Item
	Sum     string `json:",omitempty"`
}

// Price makes the signed offer for an order.
func (s *Service) Price(o orders.Order) ([]byte, float64, error) {
	p := s.plan(s.book.Zone(o.From), s.book.Zone(o.To), tariff.Class(o.Class), o.Pickup)
	i := min(int(o.Kg/400), len(p.Steps)-1)
	q := Quote{Shipper: o.Shipper, Price: p.Steps[i] + o.Kg*0.08, Legs: p.Legs, Items: o.Items}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, 0, err
	}
	sum := sha256.Sum256(body)
	return append(body, hex.EncodeToString(sum[:])...), q.Price, nil
}
