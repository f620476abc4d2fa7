// Package ledger keeps the claims that were decided.
package ledger

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"

	"claimintake/internal/check"
	"claimintake/internal/claim"
)

type Ledger struct {
	mu     sync.Mutex
	number int64
	strict bool
	key    []byte
}

func New(strict bool) *Ledger { return &Ledger{strict: strict, key: []byte("b5f1a2e0c7d94433")} }

func (l *Ledger) Save(c *claim.Claim, d *claim.Decision) error {
	if l.strict {
		if err := check.Value(c); err != nil {
			return err
		}
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	m := hmac.New(sha256.New, l.key)
	m.Write(b)
	d.Receipt = hex.EncodeToString(m.Sum(nil))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number++
	d.Number = l.number
	return nil
}
