// Package ward sends the prescriptions of the hospital's wards.
package ward

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"dosecheck/internal/review"
)

var orders = []string{"warfarin", "digoxin", "heparin", "metformin", "ibuprofen"}

type Tally struct{ Checked, Withdrawn, Refused atomic.Int64 }

// Round sends prescriptions at the given rate until ctx ends.
func Round(ctx context.Context, d *review.Desk, seed uint64, rate int, t *Tally) {
	r := rand.New(rand.NewPCG(seed, 8))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(begin).Seconds() * float64(rate)); n < due; n++ {
			rv, err := d.Begin(review.Rx{Patient: r.IntN(1 << 20), Drug: orders[r.IntN(len(orders))], Mg: r.Float64() * 400})
			if err != nil {
				t.Refused.Add(1)
				continue
			}
			if r.IntN(20) == 0 {
				d.Withdraw(rv)
				t.Withdrawn.Add(1)
				continue
			}
			v, err := d.Check(rv)
			if err != nil || !v.OK {
				t.Refused.Add(1)
			}
			d.Finish(rv)
			t.Checked.Add(1)
		}
	}
}
