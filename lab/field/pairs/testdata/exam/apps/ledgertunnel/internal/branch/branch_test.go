package branch

import (
	"net"
	"testing"
	"time"

	"ledgertunnel/internal/ledger"
	"ledgertunnel/internal/tunnel"
)

func TestOpen(t *testing.T) {
	for _, half := range []bool{false, true} {
		head, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		mouth, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go ledger.New(5000).Serve(head)
		tun := tunnel.New(head.Addr().String(), tunnel.Options{HalfClose: half, Linger: time.Second})
		go tun.Serve(mouth)
		town := Town{Addr: mouth.Addr().String(), Questions: 2} // they book nothing
		sum, err := town.Open(100, 200*time.Millisecond)
		if err != nil || sum.Visits != 20 || sum.Answers != 40 {
			t.Errorf("half %v: %+v, %v", half, sum, err)
		}
		if up, down := tun.Moved(); up == 0 || down == 0 {
			t.Errorf("half %v: moved %d and %d", half, up, down)
		}
		head.Close()
		mouth.Close()
	}
}
