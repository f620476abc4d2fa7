// Package station reads the seismometers of a station and hands on what they say.
package station

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"tremors/internal/chunk"
	"tremors/internal/head"
)

// A Sink takes samples.
type Sink interface {
	Series(name string) head.Ref
	Append(head.Ref, chunk.Sample) error
}

// A Station has some channels, each a series.
type Station struct {
	sink Sink
	refs []head.Ref
	rand *rand.Rand
	at   int64
}

// New registers the channels of a station.
func New(sink Sink, number, channels int) *Station {
	s := &Station{sink: sink, rand: rand.New(rand.NewPCG(uint64(number), 3))}
	for c := range channels {
		s.refs = append(s.refs, sink.Series(fmt.Sprintf("station=%d channel=%d", number, c)))
	}
	return s
}

// Sweep takes one sample of each channel.
func (s *Station) Sweep(period time.Duration) error {
	s.at += period.Microseconds() + s.rand.Int64N(3)
	swing := math.Sin(float64(s.at) / 1e6)
	for i, ref := range s.refs {
		v := math.Round(100*swing+float64(i)+s.rand.Float64()*4) / 4
		if err := s.sink.Append(ref, chunk.Sample{Time: s.at, Value: v}); err != nil {
			return err
		}
	}
	return nil
}

// Run sweeps once in each period, and catches up when it was late. It returns how many
// samples were taken.
func (s *Station) Run(period, d time.Duration) (int, error) {
	begin := time.Now()
	tick := time.NewTicker(period)
	defer tick.Stop()
	sweeps := 0
	for now := range tick.C {
		past := min(now.Sub(begin), d)
		for ; sweeps < int(past/period); sweeps++ {
			if err := s.Sweep(period); err != nil {
				return 0, err
			}
		}
		if past == d {
			break
		}
	}
	return sweeps * len(s.refs), nil
}
