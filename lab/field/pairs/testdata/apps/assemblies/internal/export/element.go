// Package export writes products in the interchange format of the suppliers.
package export

import (
	"encoding/json"
	"fmt"

	"assemblies/internal/bom"
)

// Element is one node of the interchange document.
type Element struct {
	item     *bom.Item
	elements []*Element
}

func newElement(it *bom.Item) *Element {
	e := &Element{item: it}
	for _, c := range it.Items {
		e.elements = append(e.elements, newElement(c))
	}
	return e
}

type body struct {
	Type     string     `json:"type"`
	Number   string     `json:"number"`
	Title    string     `json:"title"`
	Quantity int        `json:"quantity"`
	Mass     string     `json:"mass,omitempty"`
	Notes    []string   `json:"notes,omitempty"`
	Elements []*Element `json:"elements,omitempty"`
}

// MarshalJSON adds the discriminator that the schema asks for.
func (e *Element) MarshalJSON() ([]byte, error) {
	b := body{
		Type:     e.item.Kind.String(),
		Number:   e.item.Number,
		Title:    e.item.Title,
		Quantity: e.item.Quantity,
		Notes:    e.item.Notes,
		Elements: e.elements,
	}
	if e.item.Grams > 0 {
		b.Mass = mass(e.item.Grams)
	}
	return json.Marshal(b)
}

func mass(g float64) string {
	if g > 500 {
		return fmt.Sprintf("%.3f kg", g/1000)
	}
	return fmt.Sprintf("%.2f g", g)
}
