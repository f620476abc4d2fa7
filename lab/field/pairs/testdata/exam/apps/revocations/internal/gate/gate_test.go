package gate

import (
	"errors"
	"testing"

	"revocations/internal/store"
	"revocations/internal/table"
)

func TestCheck(t *testing.T) {
	for _, keys := range []int{0, 64} {
		s := store.Open(store.Options{Dir: t.TempDir(), Memory: 500, Fan: 3, Tables: table.Options{FilterKeys: keys, FilterBits: 10}})
		g := New([]byte("key"), s)
		for i := range uint64(6100) {
			if err := g.Revoke(i*7, i); err != nil {
				t.Fatal(err)
			}
		}
		for i := range uint64(6100 * 7) {
			err := g.Check(g.Issue(i))
			if revoked := errors.Is(err, ErrRevoked); revoked != (i%7 == 0) {
				t.Fatalf("filter for %d keys: token %d: %v", keys, i, err)
			}
		}
		if err := g.Check(Token{ID: 3}); !errors.Is(err, ErrSignature) {
			t.Fatal(err)
		}
	}
}
