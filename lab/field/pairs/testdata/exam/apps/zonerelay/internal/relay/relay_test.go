package relay_test

import (
	"testing"
	"time"

	"zonerelay/internal/authority"
	"zonerelay/internal/hosts"
	"zonerelay/internal/relay"
)

func TestRelay(t *testing.T) {
	for _, patience := range []time.Duration{0, 50 * time.Millisecond} {
		zone, err := authority.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go zone.Serve()
		r, err := relay.Listen("127.0.0.1:0", zone.Addr(), relay.Options{Patience: patience, Cache: 100})
		if err != nil {
			t.Fatal(err)
		}
		r.Start()
		campus, err := hosts.Dial(r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		tally, err := campus.Ask(500, 400*time.Millisecond)
		r.Close()
		if err != nil || tally.Asked != 200 || tally.Answered != 120 {
			t.Errorf("patience %v: %+v, %v", patience, tally, err)
		}
	}
}
