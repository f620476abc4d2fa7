// Package blend works out how a perfume unfolds.
package blend

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Part is an essence and its share.
type Part struct {
	Essence int     `json:"essence"`
	Share   float64 `json:"share"`
}

// Profile is the strength of the notes over the hours.
type Profile struct {
	Hours [12][3]float64 `json:"hours"`
	Cost  float64        `json:"cost"`
}

// Key names a blend whatever the order of its parts.
func Key(parts []Part) string {
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b Part) int { return a.Essence - b.Essence })
	var b strings.Builder
	for _, p := range sorted {
		b.WriteString(strconv.Itoa(p.Essence))
		b.WriteByte(':')
		b.WriteString(strconv.FormatFloat(p.Share, 'f', 2, 64))
		b.WriteByte(' ')
	}
	return b.String()
}

// Unfold computes the profile of a blend.
func Unfold(parts []Part) *Profile {
	p := &Profile{}
	for _, part := range parts {
		note := part.Essence % 3
		half := 0.5 + float64(part.Essence%17)*0.4 + float64(note)
		for h := range p.Hours {
			for q := range 6 {
				t := float64(h) + float64(q)/6
				p.Hours[h][note] += part.Share * math.Exp2(-t/half) / 6
			}
		}
		p.Cost += part.Share * (4 + float64(part.Essence%29))
	}
	return p
}
