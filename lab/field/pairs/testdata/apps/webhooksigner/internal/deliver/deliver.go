// Package deliver signs events and puts them out.
package deliver

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// An Event is something that a tenant's subscribers want to know.
type Event struct {
	Tenant     int
	Kind, Body string
}

// Keys have the keys of tenants.
type Keys interface {
	Key(tenant int) (*ecdsa.PrivateKey, error)
}

type letter struct {
	Event
	signature string
}

// An Outbox has the last letters that were sent.
type Outbox struct {
	keys Keys
	last [64]letter
	n    int
}

// NewOutbox makes one.
func NewOutbox(k Keys) *Outbox { return &Outbox{keys: k} }

func digest(e *Event) []byte {
	sum := sha256.Sum256([]byte(e.Kind + "\n" + e.Body))
	return sum[:]
}

// Send signs an event and sends it.
func (o *Outbox) Send(e Event) error {
	key, err := o.keys.Key(e.Tenant)
	if err != nil {
		return err
	}
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest(&e))
	if err != nil {
		return err
	}
	o.last[o.n%len(o.last)] = letter{e, base64.StdEncoding.EncodeToString(signature)}
	o.n++
	return nil
}

// Check checks the signature of the last letter.
func (o *Outbox) Check() error {
	if o.n == 0 {
		return errors.New("nothing was sent")
	}
	l := &o.last[(o.n-1)%len(o.last)]
	key, err := o.keys.Key(l.Tenant)
	if err != nil {
		return err
	}
	signature, err := base64.StdEncoding.DecodeString(l.signature)
	if err != nil {
		return err
	}
	if !ecdsa.VerifyASN1(&key.PublicKey, digest(&l.Event), signature) {
		return errors.New("the signature is wrong")
	}
	return nil
}
