package recorder

import (
	"testing"

	"seismograms/internal/archive"
	"seismograms/internal/station"
)

func TestSame(t *testing.T) {
	sums := map[Release][2]int{}
	for _, release := range []Release{Archived, Sealed} {
		store := archive.New(100)
		r := New(Config{Stations: 24, Level: 900, Release: release}, store)
		n := station.NewNetwork(24, 500)
		for range 300 {
			for id := range 24 {
				if err := r.Record(n.Next(id)); err != nil {
					t.Fatal(err)
				}
			}
		}
		sum := 0
		store.Each(func(tr *archive.Trace) {
			for _, v := range tr.Samples() {
				sum += int(v)
			}
		})
		sums[release] = [2]int{store.Traces(), sum}
	}
	if sums[Archived] != sums[Sealed] || sums[Archived][0] == 0 || sums[Archived][0] > 90 {
		t.Error(sums)
	}
}
