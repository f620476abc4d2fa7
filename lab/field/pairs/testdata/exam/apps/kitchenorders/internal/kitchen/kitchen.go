// Package kitchen cooks.
package kitchen

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"kitchenorders/internal/order"
)

// ErrStruck is of an order that was struck off.
var ErrStruck = errors.New("the order was struck off")

// A Strike is until when an order can be struck off by the kitchen.
type Strike int

// The moments.
const (
	Closing Strike = iota
	Serving
)

// ParseStrike reads one by its name.
func ParseStrike(name string) (Strike, error) {
	switch name {
	case "closing":
		return Closing, nil
	case "serving":
		return Serving, nil
	}
	return 0, fmt.Errorf("orders are not struck off until %q", name)
}

// A Kitchen has cooks, each of whom makes one order at a time.
type Kitchen struct {
	day    context.Context
	cooks  chan struct{}
	strike Strike
	served atomic.Int64
}

// Open opens a kitchen, until the day ends.
func Open(day context.Context, cooks int, strike Strike) *Kitchen {
	return &Kitchen{day: day, cooks: make(chan struct{}, cooks), strike: strike}
}

// Served is how many orders were.
func (k *Kitchen) Served() int64 { return k.served.Load() }

// Cook makes an order, and returns the grams that the guest gets.
func (k *Kitchen) Cook(ctx context.Context, o *order.Order) (int, error) {
	keep := context.AfterFunc(k.day, o.Strike)
	if k.strike == Serving {
		defer keep()
	}
	select {
	case k.cooks <- struct{}{}:
		defer func() { <-k.cooks }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	grams := 0
	for _, d := range o.Tray {
		if o.Struck() {
			return 0, ErrStruck
		}
		for _, s := range d.Steps {
			grams += s.Grams
		}
		time.Sleep(time.Millisecond)
	}
	k.served.Add(1)
	return grams, nil
}
