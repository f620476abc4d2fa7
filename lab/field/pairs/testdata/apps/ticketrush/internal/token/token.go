// Package token signs the waiting tokens that browsers keep.
package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

var key = []byte("rotating-key-4")

var ErrToken = errors.New("token: bad signature")

func Sign(id uint64) string {
	var b [40]byte
	binary.BigEndian.PutUint64(b[:], id)
	m := hmac.New(sha256.New, key)
	m.Write(b[:8])
	m.Sum(b[:8])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func Open(s string) (uint64, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 40 {
		return 0, ErrToken
	}
	m := hmac.New(sha256.New, key)
	m.Write(b[:8])
	if !hmac.Equal(m.Sum(nil), b[8:]) {
		return 0, ErrToken
	}
	return binary.BigEndian.Uint64(b), nil
}
