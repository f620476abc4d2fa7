package stamp

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	at := time.Date(2024, 5, 17, 8, 0, 0, 0, time.UTC)
	for _, remember := range []bool{false, true} {
		p := NewParser(remember)
		for range 2 {
			for _, layout := range layouts {
				if layout == time.RFC850 || layout == time.ANSIC {
					continue // they are read without a zone, or with two digits of a year
				}
				got, err := p.Parse("source", at.Format(layout))
				if err != nil || !got.Equal(at) {
					t.Errorf("Parse(%s) = %v, %v; want %v", at.Format(layout), got, err, at)
				}
			}
		}
		if _, err := p.Parse("source", "yesterday"); err == nil {
			t.Error("yesterday is a time")
		}
	}
}
