// Package intake decides claims.
package intake

import (
	"strings"

	"claimintake/internal/check"
	"claimintake/internal/claim"
	"claimintake/internal/ledger"
)

type Service struct {
	book   *ledger.Ledger
	strict bool
}

func New(b *ledger.Ledger, strict bool) *Service { return &Service{b, strict} }

func (s *Service) Submit(c *claim.Claim, d *claim.Decision) error {
	if s.strict {
		if err := check.Value(c); err != nil {
			return err
		}
	}
	gross, err := s.assess(c)
	if err != nil {
		return err
	}
	if d.Payout = max(0, gross-15000); d.Payout == 0 {
		d.Reason = "below the deductible"
	}
	if strings.Contains(strings.ToLower(c.Remarks), "intent") {
		d.Reason = "to be examined"
	}
	d.Accepted = d.Reason == ""
	return s.book.Save(c, d)
}

func (s *Service) assess(c *claim.Claim) (int64, error) {
	var sum int64
	for i := range c.Positions {
		p := &c.Positions[i]
		if s.strict {
			if err := check.Value(p); err != nil {
				return 0, err
			}
		}
		net := int64(p.Quantity) * int64(p.Cents)
		sum += net + (net*int64(p.Vat)+50)/100
	}
	return sum, nil
}
