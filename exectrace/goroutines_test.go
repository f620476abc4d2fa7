package exectrace

import (
	"math/rand/v2"
	"testing"
)

// TestIDTable holds the table against a map, for ids as they come and for such
// as would meet in one place of every row.
func TestIDTable(t *testing.T) {
	for name, id := range map[string]func(n uint64) uint64{
		"in order":        func(n uint64) uint64 { return n },
		"of one place":    func(n uint64) uint64 { return n*64 + 5 },
		"every sixteenth": func(n uint64) uint64 { return n * 16 },
		"far apart":       func(n uint64) uint64 { return n * 0x9e3779b97f4a7c15 },
	} {
		t.Run(name, func(t *testing.T) {
			var table idTable
			table.reset()
			want := map[uint64]int32{}
			rnd := rand.New(rand.NewPCG(1, 2))
			for step := range 200_000 {
				k := id(rnd.Uint64N(6000) + 1)
				_, there := want[k]
				switch {
				case there && rnd.IntN(2) == 0:
					table.remove(k)
					delete(want, k)
				case !there:
					table.put(k, int32(step))
					want[k] = int32(step)
				}
				k = id(rnd.Uint64N(6000) + 1)
				slot, there := want[k]
				if !there {
					slot = -1
				}
				if got := table.get(k); got != slot {
					t.Fatalf("step %d: get(%d) = %d, want %d", step, k, got, slot)
				}
			}
			if table.n != len(want) {
				t.Errorf("n = %d, want %d", table.n, len(want))
			}
		})
	}
}
