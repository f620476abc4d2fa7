// Package permits issues signed permits for market stalls.
package permits

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
)

// Permit allows a trader to use a stall.
type Permit struct {
	Stall    int      `json:"stall"`
	Revision int64    `json:"revision"`
	Trader   string   `json:"trader"`
	Goods    []string `json:"goods"`
	Fee      int      `json:"fee"`
}

// Signed is a permit as it is handed out.
type Signed struct {
	Stall    int
	Revision int64
	Body     []byte
	Mark     string
}

// Seal signs permits.
type Seal struct {
	key ed25519.PrivateKey
	pub ed25519.PublicKey
}

// NewSeal derives the seal from a phrase.
func NewSeal(phrase string) *Seal {
	seed := sha256.Sum256([]byte(phrase))
	k := ed25519.NewKeyFromSeed(seed[:])
	return &Seal{key: k, pub: k.Public().(ed25519.PublicKey)}
}

// Issue signs a permit.
func (s *Seal) Issue(p Permit) (*Signed, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return &Signed{
		Stall:    p.Stall,
		Revision: p.Revision,
		Body:     body,
		Mark:     base64.StdEncoding.EncodeToString(ed25519.Sign(s.key, body)),
	}, nil
}

// ErrForged is returned for a permit with a wrong mark.
var ErrForged = errors.New("permits: wrong mark")

// Check reads a permit and its mark.
func (s *Seal) Check(d *Signed) (Permit, error) {
	var p Permit
	mark, err := base64.StdEncoding.DecodeString(d.Mark)
	if err != nil {
		return p, err
	}
	if !ed25519.Verify(s.pub, d.Body, mark) {
		return p, ErrForged
	}
	err = json.Unmarshal(d.Body, &p)
	return p, err
}
