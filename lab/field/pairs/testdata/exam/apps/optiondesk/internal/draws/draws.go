// Package draws is where simulations get their random numbers.
package draws

import (
	"fmt"
	"math/rand"
)

// A Stream is a sequence of draws.
type Stream interface {
	NormFloat64() float64
	Float64() float64
}

// A Source hands out streams.
type Source interface {
	// Stream returns that of the nth worker.
	Stream(n int) Stream
}

// Open returns a source by its name in the settings, which begins at a seed.
func Open(name string, seed int64) (Source, error) {
	switch name {
	case "session":
		rand.Seed(seed)
		return session{}, nil
	case "worker":
		return worker(seed), nil
	}
	return nil, fmt.Errorf("draws: no source is called %q", name)
}

// A session has the stream of the program.
type session struct{}

func (s session) Stream(int) Stream  { return s }
func (session) NormFloat64() float64 { return rand.NormFloat64() }
func (session) Float64() float64     { return rand.Float64() }

// A worker source has a stream for each worker.
type worker int64

func (w worker) Stream(n int) Stream {
	return rand.New(rand.NewSource(int64(w) + int64(n)*1_000_003))
}
