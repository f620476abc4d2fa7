// Package quote prices a parcel.
package quote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Band is a price band.
type Band struct {
	Name  string
	Cents int
}

// Quote is an offer, with the reference that the customer shows.
type Quote struct {
	Route     string `json:"route"`
	Weight    int    `json:"weight"`
	Cents     int    `json:"cents"`
	Reference string `json:"reference"`
}

// Make prices the weight over the bands.
func Make(route string, kg int, bands []Band) Quote {
	q := Quote{Route: route, Weight: kg}
	left := kg
	for _, b := range bands {
		n := min(left, 10)
		q.Cents += n * b.Cents
		left -= n
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", route, kg, q.Cents))
	for range 60 {
		sum = sha256.Sum256(sum[:])
	}
	q.Reference = hex.EncodeToString(sum[:8])
	return q
}
