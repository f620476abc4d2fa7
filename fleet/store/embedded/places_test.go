package embedded

import (
	"errors"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// TestPlaces has somebody send of years ago, an hour each: a table becomes no more segments
// than it may, and who sends of now is not kept waiting.
func TestPlaces(t *testing.T) {
	const mostPlaces = 20
	release := make(chan struct{})
	defer close(release)
	disk := &hookDisk{before: func(what string) error {
		if what == "rename" { // of a segment
			<-release
		}
		return nil
	}}
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{disk: disk, places: mostPlaces})
	number := 0
	send := func(hoursAgo int) error {
		b := batchOf(number)
		number++
		b.Until = b.Until.Add(-time.Duration(hoursAgo) * time.Hour)
		b.From = b.Until
		return s.Write(t.Context(), b)
	}
	kept, refused := 0, 0
	for ago := 0; refused == 0; ago++ {
		switch err := send(ago); {
		case err == nil:
			kept++
		case errors.Is(err, store.ErrFull):
			refused++
		default:
			t.Fatal(err)
		}
		if kept > 2*mostPlaces {
			t.Fatalf("%d hours are in two tables of %d", kept, mostPlaces)
		}
	}
	s.mu.RLock()
	frozen, active := len(s.frozen.places), len(s.active.places)
	last := s.active.batches[0]
	s.mu.RUnlock()
	if kept != 2*mostPlaces || frozen != mostPlaces || active != mostPlaces {
		t.Errorf("%d are kept, in tables of %d and %d", kept, frozen, active)
	}
	b := batchOf(number) // of an hour that is there
	b.From, b.Until = time.UnixMilli(last.until), time.UnixMilli(last.until)
	if err := s.Write(t.Context(), b); err != nil {
		t.Errorf("of an hour that is there: %v", err)
	}
}
