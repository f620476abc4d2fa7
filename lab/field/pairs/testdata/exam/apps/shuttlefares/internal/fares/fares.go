// Package fares computes what seats cost.
package fares

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"shuttlefares/internal/rpc"
)

// A Question asks for the fares between two stops.
type Question struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Seats int `json:"seats"`
	Day   int `json:"day"` // of the year
}

// A Fare is what one departure costs, in cents.
type Fare struct {
	Departs string `json:"departs"`
	Class   string `json:"class"`
	Cents   int    `json:"cents"`
}

// An Answer has the fares of a day.
type Answer struct {
	Fares []Fare `json:"fares"`
	Via   []int  `json:"via"`
}

// A Tariff knows the stops and how far they are from each other.
type Tariff struct {
	metres [][]int
}

// NewTariff returns the tariff of a ring of n stops.
func NewTariff(n int) *Tariff {
	t := &Tariff{metres: make([][]int, n)}
	for i := range t.metres {
		t.metres[i] = make([]int, n)
		for j := range t.metres[i] {
			d := (j - i + n) % n
			t.metres[i][j] = min(d, n-d)*1900 + (i*j*131)%700
		}
	}
	return t
}

// errStop is returned for stops that do not exist.
var errStop = errors.New("fares: no such stop")

// Fares answers a question.
func (t *Tariff) Fares(q Question) (Answer, error) {
	if q.From < 0 || q.To < 0 || q.From >= len(t.metres) || q.To >= len(t.metres) {
		return Answer{}, errStop
	}
	via, metres := t.route(q.From, q.To)
	a := Answer{Fares: make([]Fare, 0, 8), Via: via}
	for hour := 6; hour < 22; hour += 4 {
		for _, class := range []string{"bench", "window"} {
			a.Fares = append(a.Fares, Fare{fmt.Sprintf("%02d:%02d", hour, q.From*7%60), class, price(metres, hour, q.Day, q.Seats, class)})
		}
	}
	return a, nil
}

// route finds the best stop to change at, if any is better than none.
func (t *Tariff) route(from, to int) ([]int, int) {
	best, via := t.metres[from][to], []int{from, to}
	for stop := range t.metres {
		if m := t.metres[from][stop] + t.metres[stop][to] + 400; stop != from && stop != to && m < best {
			best, via = m, []int{from, stop, to}
		}
	}
	return via, best
}

func price(metres, hour, day, seats int, class string) int {
	cents := 250 + metres/40
	if class == "window" {
		cents += 120
	}
	if hour < 9 || hour > 16 {
		cents = cents * 5 / 4
	}
	if day%7 >= 5 {
		cents = cents * 9 / 10
	}
	return cents*seats - 30*(seats-1)
}

// Register adds the methods of a tariff to a server.
func Register(s *rpc.Server, t *Tariff) {
	s.Handle("fares.Day", func(_ context.Context, c *rpc.Call) (any, error) {
		var q Question
		if err := json.Unmarshal(c.In, &q); err != nil {
			return nil, err
		}
		return t.Fares(q)
	})
}
