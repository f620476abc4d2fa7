package dispatch

import (
	"net/http/httptest"
	"testing"

	"parcelscans/internal/depot"
	"parcelscans/internal/scan"
)

func TestRouter(t *testing.T) {
	var parcels, delivered int
	for i, name := range []string{"id", "hash"} {
		place, err := PlacementOf(name)
		if err != nil {
			t.Fatal(err)
		}
		d := depot.New(0)
		server := httptest.NewServer(d)
		r := NewRouter(server.Client(), server.URL, 16, place)
		belt := scan.NewBelt(12)
		for range 1500 {
			if err := r.Put(belt.Next()); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if i == 0 {
			parcels, delivered = d.Parcels(), d.Delivered()
		}
		if d.Parcels() != parcels || d.Delivered() != delivered || delivered == 0 {
			t.Errorf("%s: %d parcels, %d delivered; want %d, %d", name, d.Parcels(), d.Delivered(), parcels, delivered)
		}
	}
}
