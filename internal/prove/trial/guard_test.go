package trial

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

func TestGuardOn(t *testing.T) {
	for _, c := range []struct {
		memory uint64
		metric diagnosis.Metric
		least  float64
	}{
		{0, diagnosis.PeakRSS, 8 << 20}, // nobody knows how much there is
		{1 << 30, diagnosis.PeakRSS, 8 << 20},
		{64_000 << 20, diagnosis.LiveHeap, 64 << 20},
		{1 << 40, diagnosis.PeakRSS, 64 << 20},
		{1 << 40, diagnosis.P99, 100e-6},
		{1 << 40, diagnosis.Elapsed, 1e-3},
		{1 << 40, diagnosis.AllocsOp, 0},
		{1 << 40, diagnosis.OpsPerSec, 0},
	} {
		if g := guardOn(c.memory, c.metric, 0.1); g.Least != c.least || g.Limit != 0.1 || g.Metric != c.metric {
			t.Errorf("%s with %d bytes of memory: %+v, want a least of %v", c.metric, c.memory, g, c.least)
		}
	}
}
