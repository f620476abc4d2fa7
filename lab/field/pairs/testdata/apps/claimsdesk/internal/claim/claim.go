// Package claim holds insurance claims as the portals send them.
package claim

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Item is one position of a claim.
type Item struct {
	Code   string `json:"code"`
	Amount int64  `json:"amount"`
	Count  int    `json:"count"`
}

// Attachment is a scanned receipt.
type Attachment struct {
	Name string `json:"name"`
	Sum  string `json:"sum"`
	Data []byte `json:"data"`
}

// Claim is what a policy holder asks for.
type Claim struct {
	Number  string       `json:"number"`
	Policy  string       `json:"policy"`
	Items   []Item       `json:"items"`
	Receipt []Attachment `json:"receipts"`
}

var errEmpty = errors.New("claim: no items")

// Decode reads a claim.
func Decode(raw []byte) (*Claim, error) {
	c := new(Claim)
	if err := json.Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	if len(c.Items) == 0 {
		return nil, errEmpty
	}
	return c, nil
}

// Verify checks the sums of the receipts.
func (c *Claim) Verify() error {
	for i := range c.Receipt {
		a := &c.Receipt[i]
		sum := sha256.Sum256(a.Data)
		if hex.EncodeToString(sum[:]) != a.Sum {
			return fmt.Errorf("claim %s: receipt %s is damaged", c.Number, a.Name)
		}
	}
	return nil
}
