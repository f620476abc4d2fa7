// Package docket holds the cases of a court.
package docket

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// Paper is one paper of a case.
type Paper struct {
	Case  string    `json:"case"`
	No    int       `json:"no"`
	Kind  string    `json:"kind"`
	Filed time.Time `json:"filed"`
	By    string    `json:"by"`
	Text  string    `json:"text"`
}

// Name returns the name of the paper's file.
func (p *Paper) Name() string {
	return fmt.Sprintf("%s/%03d-%s.json", p.Case, p.No, p.Kind)
}

// Render writes the paper as it is kept.
func (p *Paper) Render(out *bytes.Buffer) error {
	out.Reset()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc.Encode(p)
}

var kinds = []string{"motion", "order", "reply", "notice", "receipt"}

const prose = "The parties are informed that the hearing is put off until further notice, as the expert asked for more time; costs follow the event. "

// Draw makes the papers of n cases.
func Draw(n int) [][]*Paper {
	rnd := rand.New(rand.NewPCG(12, 1))
	cases := make([][]*Paper, n)
	for i := range cases {
		id := fmt.Sprintf("%d-C-%05d", 2020+rnd.IntN(6), rnd.IntN(99999))
		for no := range 8 + rnd.IntN(24) {
			at := rnd.IntN(len(prose) / 2)
			cases[i] = append(cases[i], &Paper{Case: id, No: no + 1, Kind: kinds[rnd.IntN(len(kinds))],
				Filed: time.Date(2026, 1, 1+rnd.IntN(90), 8, rnd.IntN(500), 0, 0, time.UTC),
				By:    fmt.Sprintf("clerk %d", rnd.IntN(30)), Text: prose[at : at+20+rnd.IntN(len(prose)/2-20)]})
		}
	}
	return cases
}
