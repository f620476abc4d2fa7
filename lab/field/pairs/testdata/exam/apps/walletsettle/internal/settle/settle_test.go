package settle

import (
	"context"
	"testing"

	"walletsettle/internal/account"
	"walletsettle/internal/clearing"
	"walletsettle/internal/stripe"
)

func TestSettle(t *testing.T) {
	house, err := clearing.Start(0)
	if err != nil {
		t.Fatal(err)
	}
	defer house.Close()
	for _, by := range []stripe.By{stripe.LowBits, stripe.Hash} {
		book := account.Open(3, 5, 100)
		s := New(book, stripe.New(64, by), clearing.NewClient(house.URL(), 1))
		ids := book.IDs()
		if ref, err := s.Settle(context.Background(), Payment{From: ids[0], To: ids[1], Cents: 30}); err != nil || len(ref) != 16 {
			t.Fatalf("%q, %v", ref, err)
		}
		if _, err := s.Settle(context.Background(), Payment{From: ids[0], To: ids[2], Cents: 80}); err != ErrFunds {
			t.Errorf("%v, want %v", err, ErrFunds)
		}
		if a, b := book.Wallet(ids[0]).Cents(), book.Wallet(ids[1]).Cents(); a != 70 || b != 130 || book.Total() != 500 {
			t.Errorf("%d and %d of %d", a, b, book.Total())
		}
	}
}
