package meter

import (
	"testing"
	"testing/synctest"
	"time"

	"parkingmeters/internal/warden"
)

func TestPay(t *testing.T) {
	for _, reset := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := warden.New()
			s := NewStreet(2, w, reset)
			s.Pay(0, 20*time.Minute)
			time.Sleep(10 * time.Minute)
			s.Pay(0, 20*time.Minute)
			time.Sleep(25 * time.Minute)
			synctest.Wait()
			if w.Fined() != 0 {
				t.Errorf("reset %v: fined with time left", reset)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if w.Fined() != 1 {
				t.Errorf("reset %v: fined %d times, want once", reset, w.Fined())
			}
		})
	}
}
