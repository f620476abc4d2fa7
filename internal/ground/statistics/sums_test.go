package statistics

import (
	"slices"
	"testing"
	"time"
)

// Equal sums have an order that does not depend on a map's.
func TestLargest(t *testing.T) {
	sums := map[string]time.Duration{"c": 7, "a": 3, "d": 3, "b": 9}
	if got, want := Largest(sums), []string{"b", "c", "a", "d"}; !slices.Equal(got, want) {
		t.Errorf("Largest(%v) = %q, want %q", sums, got, want)
	}
	if got := Largest(map[string]int64(nil)); len(got) != 0 {
		t.Errorf("Largest() of no sums = %q, want none", got)
	}
}

func TestTotal(t *testing.T) {
	sums := map[string]time.Duration{"a": time.Second, "b": 2 * time.Second}
	if got := Total(sums); got != 3*time.Second {
		t.Errorf("Total(%v) = %v, want 3s", sums, got)
	}
}
