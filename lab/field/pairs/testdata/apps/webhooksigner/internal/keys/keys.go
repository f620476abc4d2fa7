// Package keys has the keys of tenants, as PEM.
package keys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// A Ring has a key for each tenant.
type Ring struct {
	stored [][]byte
	parsed []*ecdsa.PrivateKey
}

// NewRing makes keys, and may keep them parsed.
func NewRing(tenants int, parsed bool) (*Ring, error) {
	r := &Ring{}
	for range tenants {
		k, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		if err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(k)
		if err != nil {
			return nil, err
		}
		r.stored = append(r.stored, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
		if parsed {
			r.parsed = append(r.parsed, k)
		}
	}
	return r, nil
}

func parse(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM")
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := k.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("no key of an elliptic curve")
	}
	return key, nil
}

// Key is the key of a tenant.
func (r *Ring) Key(tenant int) (*ecdsa.PrivateKey, error) {
	if tenant < 0 || tenant >= len(r.stored) {
		return nil, fmt.Errorf("there is no tenant %d", tenant)
	}
	if r.parsed != nil {
		return r.parsed[tenant], nil
	}
	return parse(r.stored[tenant])
}
