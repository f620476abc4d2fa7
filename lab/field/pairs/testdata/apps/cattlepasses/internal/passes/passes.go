// Package passes issues the papers of the animals.
package passes

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"cattlepasses/internal/bus"
	"cattlepasses/internal/feed"
)

// Issuer signs passes.
type Issuer struct {
	key  []byte
	last map[string]string
	n    int
}

// NewIssuer makes an issuer.
func NewIssuer(key []byte) *Issuer { return &Issuer{key: key, last: make(map[string]string)} }

// Moved issues a pass for each animal that was moved.
func (i *Issuer) Moved(ev *bus.Event) error {
	m, err := bus.As[feed.Movement](ev)
	if err != nil {
		return err
	}
	for _, t := range m.Tags {
		i.issue(t, m.From+">"+m.To, ev.At)
	}
	return nil
}

// Born issues the first pass of a calf.
func (i *Issuer) Born(ev *bus.Event) error {
	b, err := bus.As[feed.Birth](ev)
	if err != nil {
		return err
	}
	i.issue(b.Tag, b.Holding+"*"+b.Dam, ev.At)
	return nil
}

func (i *Issuer) issue(tag, route string, at int64) {
	h := hmac.New(sha256.New, i.key)
	fmt.Fprintf(h, "%s %s %d", tag, route, at)
	i.last[tag] = base64.RawURLEncoding.EncodeToString(h.Sum(nil))
	i.n++
}

// Count is the number of passes issued.
func (i *Issuer) Count() int { return i.n }
