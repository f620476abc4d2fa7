// Package till handles purchases.
package till

import (
	"loyaltywallet/internal/events"
	"loyaltywallet/internal/receipt"
	"loyaltywallet/internal/wallet"
)

type Till struct {
	log     *events.Log
	wallets *wallet.Reader
	printer *receipt.Printer
}

func New(l *events.Log, w *wallet.Reader, p *receipt.Printer) *Till { return &Till{l, w, p} }

// Purchase books a purchase: points are earned, and spent if there are many.
func (t *Till) Purchase(account int, store, day int32, lines []receipt.Line) (int, error) {
	r := receipt.Receipt{Account: account, Store: store, Lines: lines}
	for _, l := range lines {
		r.Total += l.Cents
	}
	t.wallets.View(account, func(s *wallet.State) { r.Balance, r.Tier = s.Balance(), s.Tier() })
	if r.Balance > 4000 {
		t.log.Append(account, events.Event{Kind: events.Spent, Points: 500, Day: day, Store: store})
		r.Balance -= 500
	} else {
		gain := r.Total / 100
		if r.Tier == "gold" {
			gain += gain / 4
		}
		t.log.Append(account, events.Event{Kind: events.Earned, Points: gain, Day: day, Store: store})
		r.Balance += gain
	}
	b, sig, err := t.printer.Print(&r)
	return len(b) + len(sig), err
}
