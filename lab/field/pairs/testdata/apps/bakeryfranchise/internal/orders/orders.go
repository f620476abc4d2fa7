// Package orders places the orders of the franchise's shops.
package orders

import (
	"context"
	"database/sql"

	"bakeryfranchise/internal/payments"
)

// Order is what a shop sends.
type Order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
	Card  string `json:"card"`
}

// Receipt is the answer.
type Receipt struct {
	Code  string `json:"code"`
	Cents int    `json:"cents"`
}

// Service places orders.
type Service struct {
	db       *sql.DB
	pay      *payments.Client
	prepared bool
}

// New makes a service.
func New(db *sql.DB, pay *payments.Client, prepared bool) *Service {
	return &Service{db: db, pay: pay, prepared: prepared}
}

// Place reserves the goods, charges the card and books the order.
func (s *Service) Place(ctx context.Context, o Order) (Receipt, error) {
	cents := price(o)
	if s.prepared {
		auth, err := s.pay.Authorize(ctx, o.Card, cents)
		if err != nil {
			return Receipt{}, err
		}
		return s.record(ctx, o, func() (payments.Authorization, error) { return auth, nil })
	}
	return s.record(ctx, o, func() (payments.Authorization, error) {
		return s.pay.Authorize(ctx, o.Card, cents)
	})
}

func (s *Service) record(ctx context.Context, o Order, charge func() (payments.Authorization, error)) (Receipt, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Receipt{}, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "reserve", o.Item, o.Count); err != nil {
		return Receipt{}, err
	}
	auth, err := charge()
	if err != nil {
		return Receipt{}, err
	}
	if _, err := tx.ExecContext(ctx, "book", auth.Code); err != nil {
		return Receipt{}, err
	}
	return Receipt{Code: auth.Code, Cents: auth.Cents}, tx.Commit()
}

// Stock returns what is left of an item.
func (s *Service) Stock(ctx context.Context, item string) (n int64, err error) {
	err = s.db.QueryRowContext(ctx, "stock", item).Scan(&n)
	return n, err
}

func price(o Order) int {
	cents := 0
	for _, c := range o.Item {
		cents += int(c)
	}
	return cents * o.Count
}
