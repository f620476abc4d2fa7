// Package office changes permits in the course of a market day.
package office

import (
	"fmt"
	"math/rand/v2"
	"time"

	"stallpermits/internal/board"
	"stallpermits/internal/permits"
)

// Clerk issues permits.
type Clerk struct {
	Board  *board.Board
	Seal   *permits.Seal
	Stalls int

	revision int64
}

var goods = []string{"apples", "bread", "cheese", "fish", "honey", "flowers", "pottery", "books"}

func (c *Clerk) issue(rnd *rand.Rand) error {
	c.revision++
	p := permits.Permit{
		Stall:    rnd.IntN(c.Stalls),
		Revision: c.revision,
		Trader:   fmt.Sprintf("trader-%d", rnd.IntN(900)),
		Fee:      10 + rnd.IntN(60),
	}
	for range 1 + rnd.IntN(3) {
		p.Goods = append(p.Goods, goods[rnd.IntN(len(goods))])
	}
	d, err := c.Seal.Issue(p)
	if err != nil {
		return err
	}
	c.Board.Post(d)
	return nil
}

// Work issues about rate permits a second until the deadline.
func (c *Clerk) Work(rate int, until time.Time) (int, error) {
	rnd := rand.New(rand.NewPCG(5, 8))
	t := time.NewTicker(time.Second / time.Duration(rate))
	defer t.Stop()
	n := 0
	for now := time.Now(); now.Before(until); now = <-t.C {
		if err := c.issue(rnd); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
