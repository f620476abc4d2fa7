// Package goods describes what is in a shipment.
package goods

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Item is one line of a declaration.
type Item struct {
	Text    string
	Code    string
	Cents   int64
	Country string
}

var (
	nouns     = []string{"bearing", "shirt", "lamp", "valve", "cable", "chair", "pump", "lens", "toy", "tyre"}
	stuff     = []string{"steel", "cotton", "glass", "copper", "oak", "rubber", "brass", "nylon"}
	countries = []string{"CN", "TR", "VN", "US", "JP", "MA", "BR"}
)

// Random makes an item.
func Random(rng *rand.Rand) Item {
	n, s := rng.IntN(len(nouns)), rng.IntN(len(stuff))
	return Item{
		Text:    stuff[s] + " " + nouns[n] + strings.Repeat(" and parts thereof", rng.IntN(12)),
		Code:    fmt.Sprintf("%02d%02d%04d", 20+n*7, s*11, rng.IntN(40)*10),
		Cents:   int64(1000 + rng.IntN(900000)),
		Country: countries[rng.IntN(len(countries))],
	}
}
