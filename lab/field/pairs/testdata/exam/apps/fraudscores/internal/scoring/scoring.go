// Package scoring scores payments by what is known of card, merchant and device.
package scoring

import (
	"context"
	"fmt"
	"math"

	"fraudscores/internal/features"
	"fraudscores/internal/loader"
)

// A Payment is to be scored.
type Payment struct {
	Card, Device string
	Cents        int
}

// Sample makes the nth payment of a day.
func Sample(n int) Payment {
	return Payment{Card: fmt.Sprintf("card-%05d", n*7919%90000), Device: fmt.Sprintf("dev-%04d", n*31%4000), Cents: 100 + n*37%90000}
}

const trees, depth = 160, 6

// A Scorer has a model.
type Scorer struct {
	l    *loader.Loader
	cuts [trees][1 << depth]float64
	cols [trees][depth]int
}

// New makes a scorer.
func New(l *loader.Loader) *Scorer {
	s := &Scorer{l: l}
	for t := range trees {
		for d := range depth {
			s.cols[t][d] = (t*13 + d*29) % (3 * features.Width)
		}
		for i := range s.cuts[t] {
			s.cuts[t][i] = math.Mod(float64(t*i+7)*0.6180339887, 1)
		}
	}
	return s
}

// Score returns how likely a payment is not its owner's, between 0 and 100. The merchant's
// group follows from the card, and the device is weighed by both.
func (s *Scorer) Score(ctx context.Context, p Payment) (float64, error) {
	card, err := s.l.Load(ctx, p.Card)
	if err != nil {
		return 0, err
	}
	merchant, err := s.l.Load(ctx, fmt.Sprintf("group-%03d", int(card[0]*200)))
	if err != nil {
		return 0, err
	}
	device, err := s.l.Load(ctx, fmt.Sprintf("%s@%d", p.Device, int(merchant[1]*8)))
	if err != nil {
		return 0, err
	}
	var row [3 * features.Width]float64
	copy(row[:], card[:])
	copy(row[features.Width:], merchant[:])
	copy(row[2*features.Width:], device[:])
	row[2] = math.Log1p(float64(p.Cents)) / 12
	return s.vote(&row), nil
}

// vote lets all trees vote.
func (s *Scorer) vote(row *[3 * features.Width]float64) float64 {
	var sum float64
	for t := range trees {
		at := 1
		for d := range depth - 1 {
			at <<= 1
			if row[s.cols[t][d]] > s.cuts[t][at>>1] {
				at++
			}
		}
		sum += s.cuts[t][at]
	}
	return 100 / (1 + math.Exp(-(sum/trees-0.5)*20))
}
