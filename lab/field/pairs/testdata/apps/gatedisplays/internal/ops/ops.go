// Package ops takes the messages of the operations system in.
package ops

import (
	"crypto/sha256"
	"math/rand/v2"
	"time"

	"gatedisplays/internal/flight"
	"gatedisplays/internal/watch"
)

// Intake counts what came in.
type Intake struct {
	Messages int
	Chain    [32]byte
}

// Follow takes messages as they come until the time is over.
func (in *Intake) Follow(b *watch.Board, gates, rate int, until time.Time) error {
	rng := rand.New(rand.NewPCG(20, 26))
	for next := time.Now(); next.Before(until); next = next.Add(time.Second / time.Duration(rate)) {
		time.Sleep(time.Until(next))
		m := flight.Message(rng, gates)
		c, err := flight.Parse(m)
		if err != nil {
			return err
		}
		in.Chain = sha256.Sum256(append(in.Chain[:], m...))
		b.Set(c)
		in.Messages++
	}
	return nil
}
