// Package watch evaluates monitors.
package watch

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"pagerroute/internal/alert"
	"pagerroute/internal/lanes"
)

// Monitor looks at the series of a group of services.
type Monitor struct {
	Raised int
	Spent  time.Duration

	no     int
	router *lanes.Router
	r      *rand.Rand
	names  []string
	series []float64
	sorted []float64
}

func New(no int, router *lanes.Router) *Monitor {
	m := &Monitor{no: no, router: router, r: rand.New(rand.NewPCG(uint64(no), 6)), series: make([]float64, 400), sorted: make([]float64, 400)}
	for i := range 3 {
		m.names = append(m.names, fmt.Sprintf("group%d/service%d", no%8, i))
	}
	return m
}

// Run evaluates again and again.
func (m *Monitor) Run(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		time.Sleep(8*time.Millisecond + time.Duration(m.r.Int64N(4e6)))
		score := m.score()
		u := m.r.Float64()
		sev := alert.Info
		switch {
		case u < 0.05:
			sev = alert.Critical
		case u < 0.2:
			sev = alert.Error
		case u < 0.5:
			sev = alert.Warning
		}
		m.router.Raise(alert.New(m.names[m.r.IntN(len(m.names))], sev, score))
		m.Raised++
		m.Spent += time.Since(begun)
	}
}

// score is how far the newest value lies off the usual ones.
func (m *Monitor) score() float64 {
	for i := range m.series {
		m.series[i] = math.Exp(m.r.NormFloat64())
	}
	copy(m.sorted, m.series)
	slices.Sort(m.sorted)
	med := m.sorted[len(m.sorted)/2]
	for i, v := range m.series {
		m.sorted[i] = math.Abs(v - med)
	}
	slices.Sort(m.sorted)
	return (m.series[len(m.series)-1] - med) / (m.sorted[len(m.sorted)/2] + 1e-9)
}
