package setdifference

import (
	"fmt"
	"testing"

	mapset "github.com/deckarep/golang-set/v2"
)

func addresses(from, to int) mapset.Set[string] {
	s := mapset.NewThreadUnsafeSetWithSize[string](to - from)
	for i := from; i < to; i++ {
		s.Add(fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255))
	}
	return s
}

// changes are the addresses that have to be opened and closed.
func changes(wanted, open mapset.Set[string]) (add, remove mapset.Set[string]) {
	return wanted.Difference(open), open.Difference(wanted)
}

func BenchmarkChanges(b *testing.B) {
	wanted, open := addresses(0, 3000), addresses(2000, 5000)
	for b.Loop() {
		add, remove := changes(wanted, open)
		if add.Cardinality() != 2000 || remove.Cardinality() != 2000 {
			b.Fatal("there are changes missing")
		}
	}
}
