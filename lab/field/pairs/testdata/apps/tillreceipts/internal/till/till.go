// Package till prints receipts.
package till

import (
	"fmt"
	"math/rand/v2"
	"time"

	"tillreceipts/internal/basket"
	"tillreceipts/internal/fiscal"
	"tillreceipts/internal/tape"
)

// Till is one of a shop.
type Till struct {
	No       int
	Tape     *tape.Tape
	Fiscal   *fiscal.Module
	Receipts int
	Cents    int
	Last     uint64
}

// Run sells until the time is over.
func (t *Till) Run(until time.Time) error {
	rng := rand.New(rand.NewPCG(uint64(t.No), 77))
	for time.Now().Before(until) {
		text, cents := t.print(basket.Random(rng))
		seq, err := t.Tape.Append(text)
		if err != nil {
			return err
		}
		t.Receipts++
		t.Cents += cents
		t.Last = seq
	}
	return nil
}

func (t *Till) print(b []basket.Line) ([]byte, int) {
	out := make([]byte, 0, 9<<10)
	out = fmt.Appendf(out, "TILL %02d   %d ARTICLES, %d CHECKED\n", t.No, len(b), basket.Valid(b))
	for _, l := range b {
		out = fmt.Appendf(out, "%013d %-16s %3d x %6d.%02d\n", l.EAN, l.Name, l.Count, l.Cents/100, l.Cents%100)
	}
	cents := basket.Total(b)
	out = fmt.Appendf(out, "TOTAL %d.%02d\n", cents/100, cents%100)
	return fmt.Appendf(out, "%s\n", t.Fiscal.Sign(out)), cents
}
