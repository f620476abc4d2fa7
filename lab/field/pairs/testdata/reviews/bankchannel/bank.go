// Package bank moves money between accounts.
package bank

import (
	"errors"
	"sync"
)

// ErrPoor is an account with too little on it.
var ErrPoor = errors.New("too little money")

// A Lock keeps others out.
type Lock interface {
	Lock()
	Unlock()
}

// A Token is a lock that one at a time has.
type Token chan struct{}

// NewToken is a lock that nobody has.
func NewToken() Token { return make(Token, 1) }

// Lock takes the token.
func (t Token) Lock() { t <- struct{}{} }

// Unlock gives it back.
func (t Token) Unlock() { <-t }

// A Bank has accounts.
type Bank struct {
	lock     Lock
	accounts []int
	moved    int
}

// New is a bank in which each account has a hundred.
func New(n int, l Lock) *Bank {
	b := &Bank{lock: l, accounts: make([]int, n)}
	for i := range b.accounts {
		b.accounts[i] = 100
	}
	return b
}

// NewMutex is the lock of most banks.
func NewMutex() Lock { return &sync.Mutex{} }

// Move moves money from one account to another.
func (b *Bank) Move(from, to, cents int) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.accounts[from] < cents {
		return ErrPoor
	}
	b.accounts[from] -= cents
	b.accounts[to] += cents
	b.moved += cents
	return nil
}

// Total is the money of all accounts.
func (b *Bank) Total() (sum int) {
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, cents := range b.accounts {
		sum += cents
	}
	return sum
}
