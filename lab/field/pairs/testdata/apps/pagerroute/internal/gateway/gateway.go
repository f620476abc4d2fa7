// Package gateway delivers notices.
package gateway

import (
	"math/rand/v2"
	"time"
)

type Gateway interface {
	Deliver(text string) error
}

// Sim takes as long as the real ones do on a good day.
type Sim struct{ Delay time.Duration }

func (s Sim) Deliver(text string) error {
	time.Sleep(s.Delay - s.Delay/8 + rand.N(s.Delay/4))
	return nil
}
