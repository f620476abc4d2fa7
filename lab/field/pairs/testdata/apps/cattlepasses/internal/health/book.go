// Package health restricts holdings where tests were bad.
package health

import (
	"cattlepasses/internal/bus"
	"cattlepasses/internal/feed"
)

// Book holds the risk of each holding.
type Book struct{ risk map[string]float64 }

// NewBook makes an empty book.
func NewBook() *Book { return &Book{risk: make(map[string]float64)} }

// Moved carries some of the risk along.
func (b *Book) Moved(ev *bus.Event) error {
	m, err := bus.As[feed.Movement](ev)
	if err != nil {
		return err
	}
	b.risk[m.To] = 0.9*b.risk[m.To] + 0.1*b.risk[m.From]*float64(len(m.Tags))/8
	return nil
}

// Tested takes the values of a test.
func (b *Book) Tested(ev *bus.Event) error {
	t, err := bus.As[feed.Test](ev)
	if err != nil {
		return err
	}
	for _, v := range t.Values {
		b.risk[t.Holding] = max(b.risk[t.Holding]*0.99, v)
	}
	return nil
}

// Restricted counts the holdings that may not send animals.
func (b *Book) Restricted() int {
	n := 0
	for _, r := range b.risk {
		if r > 0.7 {
			n++
		}
	}
	return n
}
