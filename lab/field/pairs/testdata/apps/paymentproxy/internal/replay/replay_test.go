package replay

import (
	"testing"

	"paymentproxy/internal/bank"
)

func TestRun(t *testing.T) {
	d := Day{Handler: bank.Handler{Limit: 1_000_000}, Payments: 2010}
	if paid, refused, err := d.Run(); err != nil || paid != 2007 || refused != 3 {
		t.Errorf("paid %d, refused %d, %v; want 2007 and 3", paid, refused, err)
	}
}
