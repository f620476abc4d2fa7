package smooth

import (
	"slices"
	"testing"

	"heatmaps/internal/raster"
)

func TestApply(t *testing.T) {
	m := raster.Measure(20)
	var maps []*raster.Map
	for _, order := range []string{"rows", "columns"} {
		s, err := New(order)
		if err != nil {
			t.Fatal(err)
		}
		maps = append(maps, s.Apply(m))
	}
	if !slices.Equal(maps[0].Cells, maps[1].Cells) {
		t.Error("rows and columns give different maps")
	}
	if _, err := New("spiral"); err == nil {
		t.Error("there is no order spiral")
	}
}
