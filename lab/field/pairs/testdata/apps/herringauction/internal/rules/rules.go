// Package rules checks lots against the auction's rules.
package rules

import (
	"fmt"

	"herringauction/internal/catch"
)

// Fee returns the auction's share of a lot.
func Fee(l *catch.Lot) (float64, error) {
	if l.Kilos <= 0 || l.Price <= 0 {
		return 0, fmt.Errorf("lot %d: nothing to sell", l.Number)
	}
	share := 0.032
	switch {
	case l.Kilos > 700:
		share = 0.025
	case l.Size >= 4:
		share = 0.036
	}
	if l.Landed.Hour() < 5 {
		share -= 0.002
	}
	return l.Kilos * l.Price * share, nil
}
