// Package fiscal signs receipts as the tax office demands.
package fiscal

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base32"
)

// Module signs for one shop.
type Module struct{ key []byte }

// New returns a module.
func New(key string) *Module { return &Module{[]byte(key)} }

// Sign returns the code that is printed at the foot of a receipt.
func (m *Module) Sign(text []byte) string {
	h := hmac.New(sha512.New, m.key)
	h.Write(text)
	return base32.StdEncoding.EncodeToString(h.Sum(nil))
}
