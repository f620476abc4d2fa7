// Package manifest reads work orders and signs confirmations.
package manifest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Order asks for a bay.
type Order struct {
	Tail  string   `json:"tail"`
	Bay   string   `json:"bay"`
	From  int      `json:"from"`
	Hours int      `json:"hours"`
	Cards []string `json:"cards"`
}

// Read decodes an order.
func Read(b []byte) (o Order, err error) {
	err = json.Unmarshal(b, &o)
	return o, err
}

// Confirmation answers an order.
type Confirmation struct {
	Slot  int      `json:"slot"`
	Order Order    `json:"order"`
	Taken []string `json:"taken,omitempty"`
	Error string   `json:"error,omitempty"`
}

// Sign encodes a confirmation and its signature.
func Sign(key []byte, c Confirmation) ([]byte, string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, "", err
	}
	m := hmac.New(sha256.New, key)
	for range 8 {
		m.Write(b)
	}
	return b, hex.EncodeToString(m.Sum(nil)), nil
}
