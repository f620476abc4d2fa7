package relay

import (
	"net"
	"testing"

	"outboxrelay/internal/broker"
)

func TestDrain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go broker.Serve(l, 0)
	for _, batch := range []int{1, 7, 1000} {
		r, err := Dial(l.Addr().String(), batch)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := r.Drain(NewTable(100)); err != nil || n != 100 {
			t.Errorf("batches of %d: %d, %v; want 100", batch, n, err)
		}
	}
}
