// Package cards prints cards.
package cards

import (
	"strconv"

	"membershipcards/internal/members"
)

// A Printer prints the cards of a club.
type Printer struct{ Club *members.Club }

// Card is the card of a member.
func (p *Printer) Card(n int) ([]byte, bool) {
	m, ok := p.Club.Member(n)
	if !ok {
		return nil, false
	}
	card := make([]byte, 0, 256)
	card = append(card, "CLUB CARD\n"...)
	card = append(append(card, m.Name...), '\n')
	card = append(append(card, m.Town...), '\n')
	card = strconv.AppendInt(append(card, "since "...), int64(m.Since), 10)
	for _, s := range m.Sports {
		card = append(append(card, "\n* "...), s...)
	}
	for _, f := range m.Friends {
		card = append(append(card, "\nfriend of "...), f.Name...)
	}
	return append(card, '\n'), true
}
