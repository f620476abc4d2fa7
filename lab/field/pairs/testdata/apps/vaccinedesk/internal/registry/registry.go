// Package registry asks the immunisation registry.
package registry

import (
	"context"
	"math/rand/v2"
	"time"
)

type Dose struct {
	Product string
	Day     int
}

type Registry interface {
	History(ctx context.Context, person int) ([]Dose, error)
}

// Sim invents histories.
type Sim struct{ Delay time.Duration }

func (s Sim) History(ctx context.Context, person int) ([]Dose, error) {
	time.Sleep(s.Delay + rand.N(s.Delay))
	var h []Dose
	for i := range person % 6 {
		h = append(h, Dose{Product: []string{"MMR", "DTaP", "HepB", "Flu"}[(person+i)%4], Day: i * 180})
	}
	return h, nil
}
