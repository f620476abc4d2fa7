// Package export writes gifts as lists.
package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"donations/internal/ledger"
)

var head = []string{"number", "day", "giver", "amount", "note"}

// A Desk writes lists of the gifts in a ledger.
type Desk struct{ ledger *ledger.Ledger }

// New returns a desk for a ledger.
func New(l *ledger.Ledger) *Desk { return &Desk{l} }

// Open returns the list of a campaign's gifts, which is written while it is read.
func (d *Desk) Open(campaign string) (io.ReadCloser, error) {
	if _, err := d.ledger.Gifts(campaign); err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(d.Write(w, campaign, -1))
	}()
	return r, nil
}

// Write writes the first gifts of a campaign as a list, or all of them if most is below 0.
func (d *Desk) Write(w io.Writer, campaign string, most int) error {
	gifts, err := d.ledger.Gifts(campaign)
	if err != nil {
		return err
	}
	list := csv.NewWriter(w)
	if err := list.Write(head); err != nil {
		return err
	}
	row := make([]string, len(head))
	for g := range gifts {
		if most == 0 {
			break
		}
		most--
		row[0], row[1], row[2] = strconv.Itoa(g.Number), g.At.Format(time.DateOnly), g.Giver
		row[3], row[4] = fmt.Sprintf("%d.%02d", g.Cents/100, g.Cents%100), g.Note
		if err := list.Write(row); err != nil {
			return err
		}
	}
	list.Flush()
	return list.Error()
}

// Sum returns how many gifts a campaign was given, and what they come to.
func (d *Desk) Sum(campaign string) (n, cents int, err error) { return d.ledger.Sum(campaign) }
