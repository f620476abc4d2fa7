package heap

import (
	"testing"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
)

// TestMakerOf: a size of the runtime's is a site's that made nearly all of its objects, whatever
// smaller sizes are rounded to it.
func TestMakerOf(t *testing.T) {
	sizes := []uint64{32, 48, 64, 1024, 1152}
	site := func(id uint64, size, allocs, frees int64) goroutines.Site {
		return goroutines.Site{ID: id, Size: size, Allocs: allocs, Frees: frees}
	}
	for name, tt := range map[string]struct {
		sites []goroutines.Site
		size  uint64
		want  uint64 // the site's number, 0 of none
	}{
		"one":                      {[]goroutines.Site{site(1, 40, 30, 0), site(2, 64, 500, 0)}, 48, 1},
		"of two nearly all":        {[]goroutines.Site{site(1, 40, 95, 0), site(2, 48, 5, 0)}, 48, 1},
		"of two not nearly all":    {[]goroutines.Site{site(1, 40, 80, 0), site(2, 48, 20, 0)}, 48, 0},
		"the other's are gone":     {[]goroutines.Site{site(1, 40, 20, 0), site(2, 48, 900, 900)}, 48, 1},
		"too few":                  {[]goroutines.Site{site(1, 40, 9, 0)}, 48, 0},
		"another size":             {[]goroutines.Site{site(1, 33, 30, 0)}, 64, 0},
		"with its type in front":   {[]goroutines.Site{site(1, 1020, 30, 0)}, 1152, 1},
		"pages":                    {[]goroutines.Site{site(1, 40_000, 30, 0)}, 40_960, 1},
		"pages, and other objects": {[]goroutines.Site{site(1, 40_000, 30, 0), site(2, 40_961, 90, 0)}, 40_960, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := uint64(0)
			if s := makerOf(tt.sites, tt.size, sizes); s != nil {
				got = s.ID
			}
			if got != tt.want {
				t.Errorf("makerOf(%d) = site %d, want %d", tt.size, got, tt.want)
			}
		})
	}
}
