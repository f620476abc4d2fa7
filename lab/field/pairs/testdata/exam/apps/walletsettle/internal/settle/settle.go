// Package settle settles payments, those of one wallet one after the other.
package settle

import (
	"context"
	"errors"
	"fmt"

	"walletsettle/internal/account"
	"walletsettle/internal/clearing"
	"walletsettle/internal/stripe"
)

// A Payment goes from one wallet to another.
type Payment struct {
	From, To account.ID
	Cents    int64
	Till     int
}

// ErrFunds is returned when a wallet has not enough.
var ErrFunds = errors.New("settle: not enough in the wallet")

// A Service settles.
type Service struct {
	book  *account.Book
	locks *stripe.Locks
	house *clearing.Client
}

// New makes a service.
func New(b *account.Book, l *stripe.Locks, c *clearing.Client) *Service {
	return &Service{book: b, locks: l, house: c}
}

// Settle settles a payment and returns its reference. Neither of both wallets takes part
// in another payment meanwhile.
func (s *Service) Settle(ctx context.Context, p Payment) (string, error) {
	from, to := s.book.Wallet(p.From), s.book.Wallet(p.To)
	if from == nil || to == nil {
		return "", fmt.Errorf("settle: no wallet %s or %s", p.From, p.To)
	}
	defer s.locks.LockPair(uint64(p.From), uint64(p.To))()
	if from.Cents() < p.Cents {
		return "", ErrFunds
	}
	r, err := s.house.Clear(ctx, clearing.Order{From: p.From.String(), To: p.To.String(), Cents: p.Cents})
	if err != nil {
		return "", err
	}
	from.Post(account.Entry{Ref: r.Ref, Cents: -p.Cents})
	to.Post(account.Entry{Ref: r.Ref, Cents: p.Cents})
	return r.Ref, nil
}
