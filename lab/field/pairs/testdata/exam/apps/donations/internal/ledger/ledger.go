// Package ledger has the gifts to campaigns.
package ledger

import (
	"errors"
	"fmt"
	"iter"
	"math/rand"
	"time"
)

// A Gift is what somebody gave.
type Gift struct {
	Number int
	Giver  string
	Cents  int
	At     time.Time
	Note   string
}

// ErrUnknown is returned for campaigns that do not exist.
var ErrUnknown = errors.New("ledger: there is no such campaign")

// A Ledger has gifts by campaign, the oldest first.
type Ledger struct{ campaigns map[string][]Gift }

// New returns a ledger without gifts.
func New() *Ledger { return &Ledger{map[string][]Gift{}} }

// Fill gives n gifts to a campaign.
func (l *Ledger) Fill(campaign string, n int) {
	rnd := rand.New(rand.NewSource(int64(len(l.campaigns))))
	at := time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)
	gifts := make([]Gift, n)
	for i := range gifts {
		at = at.Add(time.Duration(rnd.Intn(3000)) * time.Second)
		g := Gift{Number: i + 1, Giver: fmt.Sprintf("giver-%05d", rnd.Intn(90000)), Cents: 500 * (1 + rnd.Intn(40)), At: at}
		if rnd.Intn(6) == 0 {
			g.Note = `for the "old" mill, and its wheel`
		}
		gifts[i] = g
	}
	l.campaigns[campaign] = gifts
}

// Gifts returns the gifts of a campaign.
func (l *Ledger) Gifts(campaign string) (iter.Seq[Gift], error) {
	gifts, ok := l.campaigns[campaign]
	if !ok {
		return nil, ErrUnknown
	}
	return func(yield func(Gift) bool) {
		for _, g := range gifts {
			if !yield(g) {
				return
			}
		}
	}, nil
}

// Sum returns how many gifts there were, and what they come to.
func (l *Ledger) Sum(campaign string) (n, cents int, err error) {
	gifts, err := l.Gifts(campaign)
	if err != nil {
		return 0, 0, err
	}
	for g := range gifts {
		n, cents = n+1, cents+g.Cents
	}
	return n, cents, nil
}
