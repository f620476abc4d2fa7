// Package quote works out the fees of payments.
package quote

import "feeschedule/internal/schedule"

// Payment is one payment.
type Payment struct {
	Country string
	Cents   int64
}

// Day returns the fees of all payments: for each, the first clause that fits.
func Day(s *schedule.Schedule, payments []Payment) (total int64) {
	for _, p := range payments {
		for i := range s.Clauses {
			c := &s.Clauses[i]
			if p.Cents < c.Min || !c.Countries[p.Country] {
				continue
			}
			total += min(c.Flat+int64(float64(p.Cents)*c.Percent/100), c.Cap)
			break
		}
	}
	return total
}
