// Package book keeps what banks owe each other.
package book

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"clearings/internal/wal"
)

// A Transfer moves an amount of cents from one bank to another.
type Transfer struct {
	ID     int64  `json:"id"`
	From   int    `json:"from"`
	To     int    `json:"to"`
	Amount int64  `json:"amount"`
	Text   string `json:"text"`
}

type account struct {
	mu      sync.Mutex
	balance int64
}

// A Book is safe for concurrent use.
type Book struct {
	log      *wal.Log
	accounts []account
}

// New returns a book of some banks that writes transfers into a log.
func New(log *wal.Log, banks int, balance int64) *Book {
	b := &Book{log: log, accounts: make([]account, banks)}
	for i := range b.accounts {
		b.accounts[i].balance = balance
	}
	return b
}

// ErrFunds says that a bank has not as much as it wants to move.
var ErrFunds = errors.New("book: not enough funds")

// Move carries a transfer out when it is in the log.
func (b *Book) Move(t Transfer) error {
	if t.From == t.To || t.From < 0 || t.To < 0 || max(t.From, t.To) >= len(b.accounts) {
		return fmt.Errorf("book: no transfer from %d to %d", t.From, t.To)
	}
	from, to := &b.accounts[t.From], &b.accounts[t.To]
	first, second := from, to
	if t.To < t.From {
		first, second = to, from
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	if from.balance < t.Amount {
		return ErrFunds
	}
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := b.log.Append(data); err != nil {
		return err
	}
	from.balance -= t.Amount
	to.balance += t.Amount
	return nil
}

// Balances returns what each bank has.
func (b *Book) Balances() []int64 {
	out := make([]int64, len(b.accounts))
	for i := range b.accounts {
		a := &b.accounts[i]
		a.mu.Lock()
		out[i] = a.balance
		a.mu.Unlock()
	}
	return out
}

// Replay adds the transfers of a log to balances.
func Replay(path string, balances []int64) error {
	return wal.Read(path, func(data []byte) error {
		var t Transfer
		if err := json.Unmarshal(data, &t); err != nil {
			return err
		}
		balances[t.From] -= t.Amount
		balances[t.To] += t.Amount
		return nil
	})
}
