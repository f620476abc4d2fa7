package parcel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

type sticker struct {
	ID, Depot, From, Service string
	Chute, Grams             int
	Bars                     []byte
}

// Sticker prints the sorting label of a scan and returns its seal.
func Sticker(s Scan, depot, from string, chute int) (string, error) {
	bars := make([]byte, 0, 11*len(s.ID)*2)
	for range 2 {
		for i := range len(s.ID) {
			for bit := range 11 {
				bars = append(bars, (s.ID[i]>>(bit%7))&1)
			}
		}
	}
	b, err := json.Marshal(sticker{s.ID, depot, from, s.Service, chute, s.Grams, bars})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6]), nil
}
