// Package receipt prints and signs receipts.
package receipt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

type Line struct {
	Article string `json:"article"`
	Cents   int64  `json:"cents"`
}

type Receipt struct {
	Account int    `json:"account"`
	Store   int32  `json:"store"`
	Lines   []Line `json:"lines"`
	Total   int64  `json:"total"`
	Balance int64  `json:"balance"`
	Tier    string `json:"tier"`
}

type Printer struct{ key []byte }

func NewPrinter() *Printer { return &Printer{[]byte("till-signing-key-7")} }

// Print gives the receipt as JSON, and its signature.
func (p *Printer) Print(r *Receipt) ([]byte, string, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, "", err
	}
	m := hmac.New(sha256.New, p.key)
	m.Write(b)
	return b, base64.StdEncoding.EncodeToString(m.Sum(nil)), nil
}
