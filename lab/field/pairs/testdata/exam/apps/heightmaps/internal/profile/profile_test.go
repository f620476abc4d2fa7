package profile

import (
	"testing"

	"heightmaps/internal/pages"
	"heightmaps/internal/tiles"
)

func TestWay(t *testing.T) {
	var want []Climb
	for _, extents := range []bool{false, true} {
		pool := pages.New(pages.Options{Extents: extents})
		s, err := tiles.Survey(30, pool)
		if err != nil {
			t.Fatal(err)
		}
		c := tiles.NewCache(s, 4)
		w := NewWalker(1, 30)
		for i := range 50 {
			got, err := Way(c, must(w.Next()), 17)
			if err != nil || got == (Climb{}) {
				t.Fatal(i, got, err)
			}
			if !extents {
				want = append(want, got)
			} else if got != want[i] {
				t.Fatalf("way %d: %v, want %v", i, got, want[i])
			}
		}
	}
}

func must(ids []int, _ int) []int { return ids }
