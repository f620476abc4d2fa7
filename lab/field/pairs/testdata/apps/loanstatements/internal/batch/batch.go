// Package batch runs the files of a night.
package batch

import (
	"bytes"
	"fmt"
	"math/rand"
	"sync"
	"time"

	"loanstatements/internal/contracts"
	"loanstatements/internal/ledger"
	"loanstatements/internal/statement"
)

// Result sums a run up.
type Result struct {
	Loans, Lines, Packed int
}

// Night works on files until the time is over.
func Night(l *ledger.Ledger, d time.Duration) (Result, error) {
	const workers = 2
	var mu sync.Mutex
	var sum Result
	var first error
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for i := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewSource(int64(i)))
			w := statement.NewWriter()
			for time.Now().Before(end) {
				r, err := file(l, w, contracts.File(rng, 20))
				mu.Lock()
				sum.Loans += r.Loans
				sum.Lines += r.Lines
				sum.Packed += r.Packed
				if first == nil {
					first = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return sum, first
}

func file(l *ledger.Ledger, w *statement.Writer, raw []byte) (Result, error) {
	var r Result
	list, err := contracts.Read(bytes.NewReader(raw))
	if err != nil {
		return r, err
	}
	for i := range list {
		s, err := w.Write(&list[i], l.Run(&list[i]))
		if err != nil {
			return r, fmt.Errorf("loan %s: %w", list[i].Number, err)
		}
		r.Loans++
		r.Lines += s.Lines
		r.Packed += s.Packed
	}
	return r, nil
}
