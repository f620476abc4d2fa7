// Package account keeps the wallets of a region.
package account

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// An ID is of a wallet: its number within the region, and the region in the lowest bits.
type ID uint64

const regionBits = 10

// A Region issues numbers of wallets.
type Region uint16

// ID returns that of the region's nth wallet.
func (r Region) ID(n int) ID { return ID(n)<<regionBits | ID(r) }

// String is the number as it is printed on cards.
func (id ID) String() string {
	return fmt.Sprintf("%03d-%08d", uint64(id)&(1<<regionBits-1), uint64(id)>>regionBits)
}

// A Wallet has a balance, which whoever holds the wallet's lock may change.
type Wallet struct {
	ID      ID
	cents   atomic.Int64
	entries []Entry
}

// An Entry is a change of a balance.
type Entry struct {
	Ref   string
	Cents int64
}

// Post adds an entry.
func (w *Wallet) Post(e Entry) {
	w.cents.Add(e.Cents)
	if len(w.entries) == 16 {
		w.entries = slices.Delete(w.entries, 0, 8)
	}
	w.entries = append(w.entries, e)
}

// Cents is the balance.
func (w *Wallet) Cents() int64 { return w.cents.Load() }

// A Book is all wallets.
type Book struct {
	wallets map[ID]*Wallet
	ids     []ID
}

// Open opens wallets with so much in each.
func Open(r Region, n int, cents int64) *Book {
	b := &Book{wallets: make(map[ID]*Wallet, n), ids: make([]ID, n)}
	for i := range n {
		w := &Wallet{ID: r.ID(i + 1)}
		w.cents.Store(cents)
		b.ids[i] = w.ID
		b.wallets[w.ID] = w
	}
	return b
}

// Wallet returns one, nil if there is none.
func (b *Book) Wallet(id ID) *Wallet { return b.wallets[id] }

// IDs are those of all wallets.
func (b *Book) IDs() []ID { return b.ids }

// Total is what is in all wallets.
func (b *Book) Total() (sum int64) {
	for _, w := range b.wallets {
		sum += w.Cents()
	}
	return sum
}
