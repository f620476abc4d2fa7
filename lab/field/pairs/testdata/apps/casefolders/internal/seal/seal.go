// Package seal signs documents of the registry.
package seal

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
)

// Key seals documents.
type Key struct{ secret []byte }

func NewKey(name string) *Key {
	sum := sha512.Sum512([]byte(name))
	return &Key{secret: sum[:]}
}

// Pages seals each page with the seal of the page before it.
func (k *Key) Pages(text []byte, size int) string {
	var last []byte
	for len(text) > 0 {
		n := min(size, len(text))
		m := hmac.New(sha512.New, k.secret)
		m.Write(last)
		m.Write(text[:n])
		last = m.Sum(nil)
		text = text[n:]
	}
	return base64.StdEncoding.EncodeToString(last)
}
