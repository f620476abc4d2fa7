// Package order has what a guest wants, and what the kitchen notes about it.
package order

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"kitchenorders/internal/menu"
)

// An Order is of one guest.
type Order struct {
	Number int
	Tray   []*menu.Dish

	slip   []byte // for the printer over the stove
	struck atomic.Bool
}

// New makes an order, with the slip that the cook reads.
func New(number int, tray []*menu.Dish) (*Order, error) {
	o := &Order{Number: number, Tray: tray}
	for _, d := range tray {
		b, err := json.MarshalIndent(d, "", "\t")
		if err != nil {
			return nil, fmt.Errorf("slip of %s: %w", d.Name, err)
		}
		o.slip = append(append(o.slip, b...), '\n')
	}
	return o, nil
}

// Slip is what the cook reads.
func (o *Order) Slip() []byte { return o.slip }

// Strike takes the order back.
func (o *Order) Strike() { o.struck.Store(true) }

// Struck reports whether somebody did.
func (o *Order) Struck() bool { return o.struck.Load() }

// Cents is what the guest pays.
func (o *Order) Cents() (n int) {
	for _, d := range o.Tray {
		n += d.Cents
	}
	return n
}
