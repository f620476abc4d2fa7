// Package events has what happens to parcels on their way.
package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// Scan is one reading of a label.
type Scan struct {
	Parcel string    `json:"parcel"`
	Hub    string    `json:"hub"`
	State  string    `json:"state"`
	At     time.Time `json:"at"`
	Grams  int       `json:"grams"`
	Lane   string    `json:"lane,omitempty"`
}

// Notice is what goes to a partner: the scans since the last one.
type Notice struct {
	Partner string `json:"partner"`
	Serial  int64  `json:"serial"`
	Scans   []Scan `json:"scans"`
}

var states = []string{"accepted", "sorted", "loaded", "unloaded", "out-for-delivery", "delivered", "missed"}

// Collect makes the next notice for a partner.
func Collect(rng *rand.Rand, partner string, serial int64) *Notice {
	n := &Notice{Partner: partner, Serial: serial, Scans: make([]Scan, 40+rng.IntN(60))}
	now := time.Now().UTC()
	for i := range n.Scans {
		n.Scans[i] = Scan{
			Parcel: fmt.Sprintf("JD%014d", rng.Int64N(1e14)),
			Hub:    fmt.Sprintf("HUB-%02d", rng.IntN(60)),
			State:  states[rng.IntN(len(states))],
			At:     now.Add(-time.Duration(rng.IntN(600)) * time.Second),
			Grams:  100 + rng.IntN(30000),
			Lane:   string(rune('A' + rng.IntN(20))),
		}
	}
	return n
}

// Seal encodes a notice and signs it.
func Seal(n *Notice, secret []byte) (body []byte, signature string, err error) {
	body, err = json.Marshal(n)
	if err != nil {
		return nil, "", err
	}
	m := hmac.New(sha256.New, secret)
	m.Write(body)
	return body, base64.StdEncoding.EncodeToString(m.Sum(nil)), nil
}
