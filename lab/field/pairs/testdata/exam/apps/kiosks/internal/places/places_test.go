package places

import (
	"slices"
	"testing"

	"kiosks/internal/grid"
)

func TestWithin(t *testing.T) {
	one, more := New([]int{18}), New([]int{8, 10, 12, 14, 16, 18})
	Fill(one, 2000)
	Fill(more, 2000)
	for i, km := range []float64{0.2, 1, 4, 12, 30} {
		p := grid.Point{Lat: Centre.Lat + float64(i)/50, Lon: Centre.Lon - float64(i)/40}
		a, b := one.Within(p, km, 15), more.Within(p, km, 15)
		if !slices.Equal(a, b) {
			t.Fatalf("%v km: %v and %v", km, a, b)
		}
		if km > 10 && len(a) != 15 {
			t.Fatal(km, len(a))
		}
	}
}
