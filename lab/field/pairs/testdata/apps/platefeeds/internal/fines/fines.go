// Package fines writes down who was too fast.
package fines

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"

	"platefeeds/internal/sightings"
)

// Passage is a car between both cameras.
type Passage struct {
	Plate string  `json:"plate"`
	From  int64   `json:"from"`
	To    int64   `json:"to"`
	Lanes [2]int  `json:"lanes"`
	Speed float64 `json:"speed"`
	Sure  float64 `json:"sure"`
}

// Office gathers passages; what is over the limit is sealed.
type Office struct {
	metres float64
	limit  float64
	seal   cipher.AEAD
	chain  [32]byte

	Passages, Fines int
	speeds          float64
}

// NewOffice returns an office for a section of road.
func NewOffice(metres, limit float64, key []byte) (*Office, error) {
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	a, err := cipher.NewGCM(b)
	if err != nil {
		return nil, err
	}
	return &Office{metres: metres, limit: limit, seal: a}, nil
}

// Passed takes the two sightings of a car.
func (o *Office) Passed(a, b sightings.Sighting) error {
	p := Passage{Plate: a.Plate, From: a.Millis, To: b.Millis, Lanes: [2]int{a.Lane, b.Lane}, Sure: a.Sure * b.Sure}
	secs := float64(b.Millis-a.Millis) / 1000
	if secs <= 0 {
		return fmt.Errorf("plate %s seen at both cameras at once", a.Plate)
	}
	p.Speed = math.Round(o.metres/secs*36) / 10
	o.Passages++
	o.speeds += p.Speed
	if p.Speed <= o.limit || p.Sure < 0.8 {
		return nil
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	sealed := o.seal.Seal(nil, o.chain[:12], body, o.chain[12:])
	o.chain = sha256.Sum256(sealed)
	o.Fines++
	return nil
}

// Mean is the mean speed.
func (o *Office) Mean() float64 { return o.speeds / float64(max(o.Passages, 1)) }
