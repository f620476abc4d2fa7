package rates

import (
	"context"
	"errors"
	"testing"
	"time"
)

// source counts how often it is asked.
type source struct{ asked int }

func (s *source) Ask(_ context.Context, currency string) (float64, error) {
	s.asked++
	if currency == "XXX" {
		return 0, errors.New("no such currency")
	}
	return 1.5, nil
}

func TestRate(t *testing.T) {
	for _, apart := range []bool{false, true} {
		s := &source{}
		b := NewBoard(s, time.Hour, apart)
		for range 3 {
			if v, err := b.Rate(t.Context(), "CHF"); err != nil || v != 1.5 {
				t.Errorf("Rate() = %v, %v", v, err)
			}
		}
		if _, err := b.Rate(t.Context(), "XXX"); err == nil || s.asked != 2 {
			t.Errorf("apart %v: %v; asked %d times, want twice", apart, err, s.asked)
		}
	}
}
