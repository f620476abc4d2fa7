// Package harbour knows the berths.
package harbour

import (
	"math/rand/v2"
	"time"
)

type Berth struct {
	No      int
	DepthCM int
	Free    time.Duration
}

type Berths interface {
	Assign(sailing string, leaves time.Duration) (Berth, error)
}

// Sim answers like the harbour office does.
type Sim struct{ Fast, Slow time.Duration }

func (s Sim) Assign(sailing string, leaves time.Duration) (Berth, error) {
	d := s.Fast + rand.N(s.Fast)
	if rand.IntN(8) == 0 {
		d = s.Slow
	}
	time.Sleep(d)
	no := 0
	for _, c := range sailing {
		no = no*31 + int(c)
	}
	return Berth{No: 1 + no%9, DepthCM: 480 + no%70, Free: leaves - 40*time.Minute}, nil
}
