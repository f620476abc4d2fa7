// Package fare makes the tickets of rides.
package fare

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Ticket opens the lock of a bicycle.
type Ticket struct {
	Bike  int    `json:"bike"`
	Docks []int  `json:"docks"`
	Cents int    `json:"cents"`
	Rider string `json:"rider"`
}

// Seal returns the ticket as the lock wants it.
func Seal(key []byte, t Ticket) (string, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	m := hmac.New(sha256.New, key)
	m.Write(b)
	return base64.RawURLEncoding.EncodeToString(m.Sum(b)), nil
}
