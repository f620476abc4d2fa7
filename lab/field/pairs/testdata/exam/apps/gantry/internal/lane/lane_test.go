package lane

import (
	"net"
	"testing"

	"gantry/internal/clearing"
)

func TestDay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go clearing.NewHouse(clearing.Tariffs()).Serve(l)
	var first Report
	for i, coalesce := range []bool{false, true} {
		g := Gantry{Addr: l.Addr().String(), Coalesce: coalesce, Lanes: 4}
		r, err := g.Day(160)
		if err != nil || r.Receipts != 160 || r.Unread != 4 {
			t.Errorf("coalesce %v: %+v, %v", coalesce, r, err)
		}
		if i == 0 {
			first = r
		} else if r != first {
			t.Errorf("%+v is not %+v", r, first)
		}
	}
}
