package wards

import (
	"net"
	"testing"
	"time"

	"pagers/internal/devices"
	"pagers/internal/exchange"
)

func TestCall(t *testing.T) {
	for _, turn := range []time.Duration{0, 5 * time.Millisecond} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		x := exchange.New(exchange.Options{Turn: turn, Silence: time.Minute})
		go x.Serve(l)
		if err := devices.Carry(l.Addr().String(), 10); err != nil {
			t.Fatal(err)
		}
		if !x.Await(10, 5*time.Second) {
			t.Fatal("no pagers")
		}
		h := House{Exchange: x, Pagers: 10}
		if sum := h.Call(200, 300*time.Millisecond); sum.Calls != 60 || sum.Acknowledged != 60 {
			t.Errorf("turn %v: %+v", turn, sum)
		}
		if _, err := x.Call(11, "hello"); err == nil {
			t.Error("a call to nobody")
		}
		l.Close()
	}
}
