package review

import (
	"testing"
	"time"

	"tremors/internal/head"
	"tremors/internal/station"
)

func TestWindow(t *testing.T) {
	var want Summary
	for _, resident := range []bool{false, true} {
		h := head.New(head.Options{ChunkSamples: 100, Resident: resident})
		s := station.New(h, 1, 4)
		for range 350 {
			if err := s.Sweep(5 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Window(h, 2, 500_000)
		if err != nil {
			t.Fatal(err)
		}
		if got.Count < 200 || got.Count > 260 || got.Peak == 0 {
			t.Fatal(got)
		}
		if resident && got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
		want = got
	}
}
