// Package claims assesses what is paid for a claim.
package claims

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"dentalclaims/internal/tariff"
)

// Item is a treatment that is claimed.
type Item struct {
	Code  string `json:"code"`
	Tooth int    `json:"tooth"`
	Cents int    `json:"cents"`
}

// Claim is what a practice hands in.
type Claim struct {
	ID    string `json:"id"`
	Plan  string `json:"plan"`
	Items []Item `json:"items"`
	Xray  []byte `json:"xray"`
}

// Line is the answer for an item.
type Line struct {
	Code   string `json:"code"`
	Paid   int    `json:"paid"`
	Reason string `json:"reason,omitempty"`
}

// Decision is the answer for a claim.
type Decision struct {
	ID     string `json:"id"`
	Xray   string `json:"xray"`
	Total  int    `json:"total"`
	Lines  []Line `json:"lines"`
	Review bool   `json:"review"`
}

// Desk decides claims.
type Desk struct{ book *tariff.Book }

// NewDesk decides by the schedules of book.
func NewDesk(book *tariff.Book) *Desk { return &Desk{book} }

// Assess decides one claim.
func (d *Desk) Assess(c Claim) (Decision, error) {
	out := Decision{ID: c.ID, Lines: make([]Line, 0, len(c.Items))}
	sum := sha256.Sum256(c.Xray)
	out.Xray = hex.EncodeToString(sum[:])
	lines, err := d.pay(c.Plan, c.Items)
	if err != nil {
		return out, fmt.Errorf("claim %s: %w", c.ID, err)
	}
	for _, l := range lines {
		out.Total += l.Paid
		out.Review = out.Review || l.Reason != ""
	}
	out.Lines = lines
	return out, nil
}

func (d *Desk) pay(plan string, items []Item) ([]Line, error) {
	sched, err := d.book.For(plan)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	var lines []Line
	for _, it := range items {
		f, ok := sched.Find(it.Code)
		seen[it.Code]++
		switch {
		case !ok:
			lines = append(lines, Line{Code: it.Code, Reason: "not in the plan"})
		case seen[it.Code] > f.Limit:
			lines = append(lines, Line{Code: it.Code, Reason: "limit"})
		default:
			paid := min(it.Cents, f.Cents, sched.Ceiling(f.Group)) * f.Share / 100
			lines = append(lines, Line{Code: it.Code, Paid: paid})
		}
	}
	return lines, nil
}
