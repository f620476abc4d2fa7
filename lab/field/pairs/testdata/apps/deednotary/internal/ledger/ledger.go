// Package ledger keeps the sealed batches.
package ledger

import (
	"crypto/ed25519"
	"crypto/sha256"
	"sync"

	"deednotary/internal/tree"
)

// Batch is sealed by the notary.
type Batch struct {
	Root  tree.Hash
	Deeds int
	Price int64
	Mark  []byte
}

// Ledger is a list of batches.
type Ledger struct {
	key ed25519.PrivateKey

	mu      sync.Mutex
	batches []Batch
}

// Open makes an empty ledger.
func Open(phrase string) *Ledger {
	seed := sha256.Sum256([]byte(phrase))
	return &Ledger{key: ed25519.NewKeyFromSeed(seed[:])}
}

// Seal signs a batch and keeps it.
func (l *Ledger) Seal(root tree.Hash, deeds int, price int64) {
	b := Batch{Root: root, Deeds: deeds, Price: price, Mark: ed25519.Sign(l.key, root[:])}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batches = append(l.batches, b)
}

// Totals counts batches, deeds and prices.
func (l *Ledger) Totals() (batches, deeds int, price int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.batches {
		deeds += b.Deeds
		price += b.Price
	}
	return len(l.batches), deeds, price
}
