// Package gate admits those whose token is signed and was not revoked.
package gate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"revocations/internal/store"
)

// A Token is a number and its signature.
type Token struct {
	ID  uint64
	MAC [32]byte
}

// Reasons why a token is not admitted.
var (
	ErrSignature = errors.New("gate: signature does not match")
	ErrRevoked   = errors.New("gate: token was revoked")
)

// A Gate checks tokens.
type Gate struct {
	key   []byte
	store *store.Store
}

// New returns a gate that signs and checks with a key.
func New(key []byte, s *store.Store) *Gate { return &Gate{key: key, store: s} }

func (g *Gate) sign(id uint64) (mac [32]byte) {
	h := hmac.New(sha256.New, g.key)
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], id)
	h.Write(b[:])
	h.Sum(mac[:0])
	return mac
}

// Issue returns a signed token.
func (g *Gate) Issue(id uint64) Token { return Token{ID: id, MAC: g.sign(id)} }

// Revoke makes a token worthless from now on.
func (g *Gate) Revoke(id, now uint64) error { return g.store.Put(id, now) }

// Check returns why a token is not admitted, or nil.
func (g *Gate) Check(t Token) error {
	mac := g.sign(t.ID)
	if !hmac.Equal(mac[:], t.MAC[:]) {
		return ErrSignature
	}
	_, revoked, err := g.store.Get(t.ID)
	if err != nil {
		return err
	}
	if revoked {
		return ErrRevoked
	}
	return nil
}
