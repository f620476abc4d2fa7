package tiny

import (
	"testing"
	"time"
)

func TestFixtures(t *testing.T) {
	t.Run("sick", func(t *testing.T) {
		f := check(counts{waits: 12, wakes: 8}, false, 10*time.Second)
		if f == nil || f.mean != 6*time.Second || f.remedy.Text == "" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("well", func(t *testing.T) {
		if f := check(counts{waits: 2}, false, time.Second); f != nil {
			t.Errorf("%+v", f)
		}
	})
}

func TestBusy(t *testing.T) {
	if f := check(counts{waits: 12, wakes: 8}, true, time.Second); f != nil {
		t.Errorf("%+v", f)
	}
}
