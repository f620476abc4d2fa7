// Package desk takes in the transfers of banks, each of which sends one after the other.
package desk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"clearings/internal/book"
)

// Run has some desks carry out transfers, each not more than one in a pause, and returns how
// many were carried out and how many were refused.
func Run(b *book.Book, desks, banks, each int, pause time.Duration) (done, refused int, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for d := range desks {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ok, no, e := work(b, d, banks, each, pause)
			mu.Lock()
			defer mu.Unlock()
			done, refused, err = done+ok, refused+no, errors.Join(err, e)
		}()
	}
	wg.Wait()
	return done, refused, err
}

// work carries out the transfers of one desk.
func work(b *book.Book, desk, banks, n int, pause time.Duration) (done, refused int, err error) {
	r := rand.New(rand.NewPCG(uint64(desk), 11))
	begin := time.Now()
	for i := range n {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * pause)))
		from := r.IntN(banks)
		t := book.Transfer{ID: int64(desk*n + i), From: from, To: (from + 1 + r.IntN(banks-1)) % banks,
			Amount: r.Int64N(5000), Text: fmt.Sprintf("invoice %d of desk %d", i, desk)}
		switch err := b.Move(t); {
		case errors.Is(err, book.ErrFunds):
			refused++
		case err != nil:
			return done, refused, err
		default:
			done++
		}
	}
	return done, refused, nil
}
