package match

import (
	"testing"

	"settlement/internal/ledger"
)

func TestReconcile(t *testing.T) {
	var want Summary
	for i, scoped := range []bool{false, true} {
		d := NewDesk(ledger.NewBooks(20), ledger.NewBank(20), Options{Scoped: scoped, Workers: 2})
		jobs := make(chan Job)
		go func() {
			defer close(jobs)
			for m := range 20 {
				jobs <- Job{Merchant: m, Day: 1}
			}
		}()
		got, err := d.Work(jobs)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		}
		if got != want || got.Jobs != 20 || got.Matched < 1000 || got.Differing == 0 || got.Open == 0 {
			t.Errorf("scoped %v: %+v, want %+v", scoped, got, want)
		}
	}
}
