// Package mixing turns orders into instructions for the dosing machine.
package mixing

import (
	"encoding/json"
	"errors"
	"fmt"

	"dyeworks/internal/admission"
	"dyeworks/internal/recipe"
)

// ErrBusy is returned while no orders are taken.
var ErrBusy = errors.New("no room for orders")

// Order asks for an amount of cloth in a colour.
type Order struct {
	Customer string     `json:"customer"`
	Colour   recipe.Lab `json:"colour"`
	Metres   int        `json:"metres"`
	Cloth    string     `json:"cloth"`
}

// Dose is what the machine gets.
type Dose struct {
	Recipe string     `json:"recipe"`
	Off    float64    `json:"off"`
	Grams  [4]float64 `json:"grams"`
	Label  string     `json:"label"`
}

// Service answers orders.
type Service struct {
	Book *recipe.Book
	Gate *admission.Gate
}

func weight(cloth string) float64 {
	switch cloth {
	case "wool":
		return 0.42
	case "linen":
		return 0.31
	}
	return 0.24
}

// Handle answers one encoded order.
func (s *Service) Handle(msg []byte) ([]byte, error) {
	if !s.Gate.Admit() {
		return nil, ErrBusy
	}
	var o Order
	if err := json.Unmarshal(msg, &o); err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	rc, off := s.Book.Nearest(o.Colour)
	d := Dose{Recipe: rc.Code, Off: off, Label: fmt.Sprintf("%s %d m %s", o.Customer, o.Metres, o.Cloth)}
	for i, g := range rc.Grams {
		d.Grams[i] = g * weight(o.Cloth) * float64(o.Metres)
	}
	return json.Marshal(d)
}
