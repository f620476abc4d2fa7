// Package ledger keeps the chained record of allotments.
package ledger

import (
	"crypto/sha256"
	"encoding/json"
)

// Entry is one allotment.
type Entry struct {
	IMO, ETA, Stay int
	Name, Berth    string
	Score          float64
	Prev           []byte
}

// Ledger chains entries by their digests; each desk has its own.
type Ledger struct {
	prev         [sha256.Size]byte
	Bytes, Count int
}

// Append records the entry.
func (l *Ledger) Append(e Entry) error {
	e.Prev = l.prev[:]
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.prev = sha256.Sum256(b)
	l.Bytes += len(b)
	l.Count++
	return nil
}
