// Package pricing makes prices of glasses.
package pricing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
)

// Prescription is what the optician measured for one eye.
type Prescription struct {
	Sphere, Cylinder, Axis float64
}

// Thickness estimates the edge of a lens in millimetres.
func Thickness(p Prescription, index, diameter float64) float64 {
	worst := 0.0
	for deg := 0; deg < 180; deg += 3 {
		s := math.Sin((float64(deg) - p.Axis) * math.Pi / 180)
		power := p.Sphere + p.Cylinder*s*s
		sag := math.Abs(power) * diameter * diameter / (8000 * (index - 1))
		worst = max(worst, sag)
	}
	return worst + 1.2
}

// Total adds frame and surcharge.
func Total(cents int, mm float64, frame int) int {
	t := 2*cents + frame
	if mm > 4 {
		t += int(mm * 250)
	}
	return t
}

// Seal signs a quote so that it can be redeemed.
func Seal(key []byte, customer string, cents int) string {
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "%s|%d", customer, cents)
	return hex.EncodeToString(m.Sum(nil))
}
