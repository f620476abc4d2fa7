package exectrace

import "testing"

// A frequency that no clock has, or that is not that of the generation before, is damage.
func TestFrequency(t *testing.T) {
	for _, c := range []struct {
		name      string
		before, f uint64
		want      bool
	}{
		{"Linux, the first", 0, defaultFreq, true},
		{"measured, the first", 0, 11_718_750, true},
		{"none", 0, 0, false},
		{"forty ticks a second", 0, 40, false},
		{"more than any clock", 0, 1e13, false},
		{"measured anew", 11_718_750, 11_718_902, true},
		{"a bit of it flipped", 11_718_750, 11_718_750 + 1<<26, false},
		{"a third of the one before", 11_718_750, 11_718_750 / 3, false},
		{"the one before was damaged", 11_718_750, defaultFreq, true},
	} {
		g := generation{freq: c.before}
		if got := g.frequency(c.f); got != c.want {
			t.Errorf("%s: frequency(%d) after %d = %v, want %v", c.name, c.f, c.before, got, c.want)
		}
	}
}
