// Package ledger follows the journal and signs what buyers owe.
package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"fishauction/internal/journal"
)

// Ledger is the sums of the buyers.
type Ledger struct {
	mu    sync.Mutex
	j     *journal.Journal
	owed  map[string]int64
	chain [32]byte
	Seen  int64
}

// New follows j.
func New(j *journal.Journal) *Ledger { return &Ledger{j: j, owed: map[string]int64{}} }

// Apply reads one event and adds it.
func (l *Ledger) Apply(seq int64) error {
	e, ok, err := l.j.Read(seq)
	if err != nil || !ok {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owed[e.Bid.Buyer] += int64(float64(e.Bid.Cents) * e.Bid.Kilos)
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(e.Seq))
	binary.LittleEndian.PutUint64(b[8:], uint64(l.owed[e.Bid.Buyer]))
	for range 12 {
		m := hmac.New(sha256.New, l.chain[:])
		m.Write(b[:])
		m.Write([]byte(e.Bid.Vessel))
		copy(l.chain[:], m.Sum(nil))
	}
	l.Seen++
	return nil
}

// Buyers is the number of buyers that owe something.
func (l *Ledger) Buyers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.owed)
}
