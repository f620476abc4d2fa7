package deliver

import (
	"testing"

	"webhooksigner/internal/keys"
)

func TestSend(t *testing.T) {
	for _, parsed := range []bool{false, true} {
		ring, err := keys.NewRing(2, parsed)
		if err != nil {
			t.Fatal(err)
		}
		o := NewOutbox(ring)
		if err := o.Check(); err == nil {
			t.Error("nothing was sent, and it is right")
		}
		for tenant := range 2 {
			if err := o.Send(Event{Tenant: tenant, Kind: "paid"}); err != nil {
				t.Error(err)
			}
			if err := o.Check(); err != nil {
				t.Error(err)
			}
		}
		if err := o.Send(Event{Tenant: 2}); err == nil {
			t.Error("there is no third tenant")
		}
	}
}
