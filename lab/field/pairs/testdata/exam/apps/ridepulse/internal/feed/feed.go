// Package feed stands for the bus that requests for rides come from.
package feed

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// A Source makes requests as lines: clock, latitude, longitude, seats and fare.
type Source struct {
	rate, speed int
	start       int64
	sent        int
	rnd         *rand.Rand
}

// NewSource returns a source whose clock begins at start and runs speed times as fast as ours.
func NewSource(rate, speed int, start int64) *Source {
	return &Source{rate: rate, speed: speed, start: start, rnd: rand.New(rand.NewPCG(7, 11))}
}

// Run sends lines at the rate for a time, in batches, and closes the channel.
func (s *Source) Run(length time.Duration, out chan<- []string) {
	defer close(out)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for now := range tick.C {
		passed := min(now.Sub(began), length)
		due := int(passed.Seconds() * float64(s.rate))
		if due > s.sent {
			out <- s.Next(due - s.sent)
		}
		if passed == length {
			return
		}
	}
}

// Next makes the next n lines.
func (s *Source) Next(n int) []string {
	out := make([]string, 0, n)
	buf := make([]byte, 0, 64)
	for range n {
		at := s.start + int64(s.sent)*int64(s.speed)/int64(s.rate)
		at -= int64(s.rnd.IntN(3)) // phones are a little late
		lat := 52.40 + s.rnd.NormFloat64()*0.04
		lon := 13.40 + s.rnd.NormFloat64()*0.07
		buf = strconv.AppendInt(buf[:0], at, 10)
		buf = append(buf, ',')
		buf = strconv.AppendFloat(buf, lat, 'f', 5, 64)
		buf = append(buf, ',')
		buf = strconv.AppendFloat(buf, lon, 'f', 5, 64)
		buf = append(buf, ',')
		buf = strconv.AppendInt(buf, 1+int64(s.rnd.IntN(4)), 10)
		buf = append(buf, ',')
		buf = strconv.AppendInt(buf, 600+int64(s.rnd.IntN(3400)), 10)
		out = append(out, string(buf))
		s.sent++
	}
	return out
}
