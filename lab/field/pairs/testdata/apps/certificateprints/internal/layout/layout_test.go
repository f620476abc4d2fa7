package layout

import (
	"testing"

	"certificateprints/internal/scratch"
)

func TestCertificate(t *testing.T) {
	for _, limit := range []int{0, 1 << 10} {
		pads, sizes := scratch.NewPads(limit), []int{}
		for range 3 {
			n, err := Certificate(pads, Job{Number: 1, School: 2})
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, n)
		}
		if sizes[0] == 0 || sizes[0] != sizes[2] {
			t.Errorf("limit %d: sizes %v, want the same", limit, sizes)
		}
	}
}
