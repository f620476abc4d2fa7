// Package booking books movements.
package booking

import (
	"errors"
	"fmt"
	"log/slog"

	"stockmoves/internal/places"
)

// A Move is a movement of pieces of an article.
type Move struct {
	From, To, Article, Amount int
	Labels                    []string
	Clerk                     string
}

// A Booker books movements and logs them.
type Booker struct {
	Describe bool
	stock    *places.Stock
	log      *slog.Logger
	booked   map[int]int // by article
}

// New makes a booker.
func New(s *places.Stock, l *slog.Logger) *Booker {
	return &Booker{stock: s, log: l, booked: map[int]int{}}
}

// Book books one movement.
func (b *Booker) Book(m Move) error {
	if m.From == m.To {
		return errors.New("it lies there already")
	}
	b.trace("to book", m)
	left, err := b.stock.Move(m.From, m.To, m.Amount)
	if err != nil {
		b.log.Warn("refused", "from", m.From, "left", left, "error", err)
		return err
	}
	b.booked[m.Article] += m.Amount
	b.trace("booked", m)
	return nil
}

// trace is for those who look into a problem.
func (b *Booker) trace(what string, m Move) {
	if b.Describe {
		b.log.Debug(fmt.Sprintf("%s: %+v, of the article so far %d", what, m, b.booked[m.Article]))
		return
	}
	b.log.Debug(what, "from", m.From, "to", m.To)
}
