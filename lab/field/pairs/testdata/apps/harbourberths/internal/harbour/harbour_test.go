package harbour

import (
	"sync"
	"testing"
)

func TestEnter(t *testing.T) {
	for _, all := range []bool{false, true} {
		h := New(2, all)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				h.Enter()
				h.Leave()
			})
		}
		wg.Wait()
		if h.Visits() != 20 {
			t.Errorf("all %v: %d visits, want 20", all, h.Visits())
		}
	}
}
