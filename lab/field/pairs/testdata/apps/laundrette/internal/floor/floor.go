// Package floor receives the reports of the machines.
package floor

import (
	"context"
	"math"
	"time"

	"laundrette/internal/machine"
	"laundrette/internal/telemetry"
)

// Floor takes reports at a steady rate.
type Floor struct {
	store *machine.Store
	rate  int
}

// New makes a floor.
func New(s *machine.Store, rate int) *Floor { return &Floor{store: s, rate: rate} }

// Run takes reports until the context ends and returns how many.
func (f *Floor) Run(ctx context.Context) int {
	start, gap := time.Now(), time.Second/time.Duration(f.rate)
	n := 0
	for ctx.Err() == nil {
		time.Sleep(time.Until(start.Add(time.Duration(n) * gap)))
		f.take(n*31%f.store.Len(), drum(n))
		n++
	}
	return n
}

func (f *Floor) take(id int, report []byte) {
	freq, power, err := telemetry.Shake(report)
	if err != nil {
		return
	}
	f.store.Update(id, func(s *machine.State) {
		s.Shake = power
		switch {
		case s.Phase == machine.Finished:
			s.Phase = machine.Idle
		case freq > 12 || s.Phase == machine.Idle:
			s.Phase++
		}
		s.Left = time.Duration(machine.Finished-s.Phase)*9*time.Minute + time.Duration(freq)*time.Second
	})
}

func drum(n int) []byte {
	v := make([]float64, telemetry.Samples)
	for i := range v {
		t := 2 * math.Pi * float64(i) / float64(len(v))
		v[i] = math.Sin(float64(3+n%40)*t) + 0.3*math.Sin(float64(n%17)*t+1)
	}
	return telemetry.Report(v)
}
