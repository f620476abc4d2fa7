package booking

import (
	"io"
	"log/slog"
	"testing"

	"stockmoves/internal/places"
)

func TestBook(t *testing.T) {
	for _, describe := range []bool{false, true} {
		b := New(places.NewStock(2, 5), slog.New(slog.NewTextHandler(io.Discard, nil)))
		b.Describe = describe
		if err := b.Book(Move{From: 0, To: 1, Amount: 4}); err != nil {
			t.Error(err)
		}
		if err := b.Book(Move{From: 0, To: 1, Amount: 4}); err == nil {
			t.Error("more was moved than was there")
		}
		if err := b.Book(Move{From: 1, To: 1, Amount: 1}); err == nil {
			t.Error("something was moved to where it was")
		}
	}
}
