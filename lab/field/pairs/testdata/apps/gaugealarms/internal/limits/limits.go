// Package limits knows the flow curves and warning levels of the gauges.
package limits

import (
	"math"

	"gaugealarms/internal/intake"
)

// Limits has the curve of each gauge.
type Limits struct {
	gauges []gauge
}

type gauge struct {
	warn  [4]int
	curve [64]float64
}

// Load makes the table of all gauges.
func Load(n int) *Limits {
	l := &Limits{gauges: make([]gauge, n)}
	for i := range l.gauges {
		g := &l.gauges[i]
		for w := range g.warn {
			g.warn[w] = 340 + 60*w + i%9
		}
		for p := range g.curve {
			g.curve[p] = 0.4 * math.Pow(float64(p+1), 1.6+float64(i%10)/40)
		}
	}
	return l
}

// Classify computes flow and stage of each reading.
func (l *Limits) Classify(rs []intake.Reading) {
	for i := range rs {
		r := &rs[i]
		g := &l.gauges[r.Gauge%len(l.gauges)]
		pos := float64(r.Level) / 16
		k := min(int(pos), len(g.curve)-2)
		a, b := math.Log(g.curve[k]), math.Log(g.curve[k+1])
		r.Flow = math.Exp(a + (b-a)*(pos-float64(k)))
		for r.Stage < len(g.warn) && r.Level >= g.warn[r.Stage] {
			r.Stage++
		}
	}
}
