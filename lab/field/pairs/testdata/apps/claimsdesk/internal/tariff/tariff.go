// Package tariff says how much of a claim is paid.
package tariff

import (
	"fmt"

	"claimsdesk/internal/claim"
)

type line struct {
	percent int64
	limit   int64
}

// Tariff is a table of codes.
type Tariff struct {
	lines      map[string]line
	deductible int64
}

// Standard returns the table for all policies.
func Standard(codes int) *Tariff {
	t := &Tariff{lines: make(map[string]line, codes), deductible: 5000}
	for i := range codes {
		t.lines[Code(i)] = line{percent: int64(50 + i*7%51), limit: int64(20000 + i*131%90000)}
	}
	return t
}

// Code returns the name of the i-th code.
func Code(i int) string { return fmt.Sprintf("T%04d", i) }

// Pay returns the sum to be paid in cents.
func (t *Tariff) Pay(c *claim.Claim) (int64, error) {
	var total int64
	for _, it := range c.Items {
		l, ok := t.lines[it.Code]
		if !ok {
			return 0, fmt.Errorf("tariff: unknown code %q", it.Code)
		}
		total += min(it.Amount*int64(it.Count)*l.percent/100, l.limit)
	}
	return max(total-t.deductible, 0), nil
}
