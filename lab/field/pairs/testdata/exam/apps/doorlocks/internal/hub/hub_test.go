package hub

import (
	"testing"

	"doorlocks/internal/journal"
	"doorlocks/internal/ledger"
	"doorlocks/internal/report"
)

func TestSame(t *testing.T) {
	sums := map[Mode]journal.Sum{}
	for _, m := range []Mode{Any, Announced} {
		signer := report.NewSigner([]byte("a"))
		l := ledger.Open()
		h := New(signer, l, m)
		b := report.NewBuilding(30, 9, signer)
		for round := range 40 {
			h.Round(b.Reports(round))
		}
		sums[m] = l.Close()
		if h.Refused() != 0 {
			t.Error(h.Refused(), "refused")
		}
	}
	if sums[Any] != sums[Announced] || sums[Any].Forced == 0 || sums[Any].Seconds == 0 {
		t.Error(sums)
	}
}
