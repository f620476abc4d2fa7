package waits

import "testing"

func TestHalf(t *testing.T) {
	if got := Half(8); got != 4 {
		t.Errorf("Half(8) = %d, want 4", got)
	}
}
