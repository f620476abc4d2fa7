// Package claims makes and numbers claims.
package claims

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"math/rand/v2"
)

// Item is one damaged thing.
type Item struct {
	Title string
	Cents int
}

// Claim is what a customer asks for.
type Claim struct {
	Number   string
	Customer string
	Cents    int
	Items    []Item
	Note     string
}

var things = []string{"Bicycle", "Window pane", "Carpet", "Television <42\">", "Door & frame", "Lamp", "Camera"}

// Draw makes a claim by chance.
func Draw(r *rand.Rand) Claim {
	c := Claim{Customer: fmt.Sprintf("Customer %d", r.IntN(90000))}
	for range 1 + r.IntN(6) {
		it := Item{things[r.IntN(len(things))], 500 + r.IntN(90000)}
		c.Cents += it.Cents
		c.Items = append(c.Items, it)
	}
	sum := sha256.Sum256(fmt.Append(nil, c.Customer, c.Cents, c.Items))
	c.Number = base32.StdEncoding.EncodeToString(sum[:10])
	if r.IntN(3) == 0 {
		c.Note = "Please keep the <damaged> parts for four weeks."
	}
	return c
}
