package hub_test

import (
	"net"
	"testing"
	"time"

	"tramfeed/internal/cars"
	"tramfeed/internal/hub"
	"tramfeed/internal/screens"
)

func TestHub(t *testing.T) {
	for _, outbox := range []int{0, 64} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h := hub.New(hub.Options{Outbox: outbox})
		go h.Serve(l)
		wall := screens.Wall{Addr: l.Addr().String()}
		for line := range 3 {
			if err := wall.Hang(line, screens.Stop); err != nil {
				t.Fatal(err)
			}
		}
		if !h.Await(3, 5*time.Second) {
			t.Fatal("no subscribers")
		}
		fleet := cars.Fleet{Hub: h, Rate: 1000}
		fleet.Run(90)
		if shown := wall.Await(90, 5*time.Second); shown != 90 {
			t.Errorf("outbox %d: shown %d", outbox, shown)
		}
		l.Close()
	}
}
