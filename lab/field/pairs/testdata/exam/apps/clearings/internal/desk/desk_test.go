package desk

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"clearings/internal/book"
	"clearings/internal/wal"
)

func TestRun(t *testing.T) {
	for _, gather := range []time.Duration{0, time.Millisecond} {
		path := filepath.Join(t.TempDir(), "log")
		l, err := wal.Create(path, wal.Options{Batch: 64, Gather: gather})
		if err != nil {
			t.Fatal(err)
		}
		b := book.New(l, 20, 1_000_000)
		done, refused, err := Run(b, 3, 20, 40, 0)
		if err != nil || done != 120 || refused != 0 {
			t.Fatal(done, refused, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		balances := make([]int64, 20)
		for i := range balances {
			balances[i] = 1_000_000
		}
		if err := book.Replay(path, balances); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(balances, b.Balances()) {
			t.Fatal(balances, b.Balances())
		}
	}
}
