package track

import (
	"testing"

	"convoytrace/internal/route"
)

func TestTake(t *testing.T) {
	for _, carry := range []bool{false, true} {
		f := NewFollower(t.Context(), route.Grid(100), carry)
		for litres := 100; litres > 0; litres -= 10 {
			for lorry := range 2 {
				if err := f.Take(Report{Lorry: lorry, Litres: litres}); err != nil {
					t.Error(err)
				}
			}
		}
		if f.Warned() != 3 { // of 30, 20 and 10 litres, the even driver
			t.Errorf("carry %v: warned %d times, want 3", carry, f.Warned())
		}
	}
}
