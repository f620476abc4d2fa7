package auth

import (
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, believed := range []time.Duration{0, time.Minute} {
		g := NewGuard(10, believed)
		if err := g.Add("ada", "key"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if !g.Check("ada", "key") {
				t.Errorf("believed for %s: the right key is refused", believed)
			}
			if g.Check("ada", "other") || g.Check("bob", "key") {
				t.Errorf("believed for %s: a wrong key is taken", believed)
			}
		}
	}
}
