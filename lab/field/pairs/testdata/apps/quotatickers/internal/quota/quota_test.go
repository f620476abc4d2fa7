package quota

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestCounting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCounting(10, 3)
		time.Sleep(10 * time.Second)
		for i, want := range []bool{true, true, true, false} {
			if c.Take() != want {
				t.Errorf("token %d: want %v", i, want)
			}
		}
		time.Sleep(100 * time.Millisecond)
		if !c.Take() || c.Take() {
			t.Error("want one more after a tenth of a second")
		}
	})
}
