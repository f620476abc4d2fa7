package rules

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A grown is a line of the user's code and by how much its live bytes grew.
type grown struct {
	place  diagnosis.Place
	bytes  float64
	stacks []model.Stack
}

// grownPlaces compares the heap profiles of the ends of the run. With survivors
// only stacks count whose objects, or what grew out of them, are still there.
func grownPlaces(p *diagnosis.Pass, survivors bool) (out []grown) {
	bytes := stackGrowth(p.Model, "inuse_space")
	sum, all := map[diagnosis.Place]*grown{}, 0.0
	var living map[model.Stack]bool
	if survivors {
		living = survivingStacks(p.Model)
		addRemade(p.Model, living)
	}
	for _, stack := range slices.Sorted(maps.Keys(bytes)) {
		v := bytes[stack]
		all += v
		place, ok := p.UserPlace(stack)
		if !ok || survivors && !living[stack] {
			continue
		}
		if sum[place] == nil {
			sum[place] = &grown{place: place}
		}
		sum[place].bytes += v
		sum[place].stacks = append(sum[place].stacks, stack)
	}
	for _, g := range slices.SortedFunc(maps.Values(sum), func(a, b *grown) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.place.Function, b.place.Function), cmp.Compare(a.place.Line, b.place.Line))
	}) {
		if len(out) < heapgrowthNamed && g.bytes >= heapgrowthPlace*all && g.bytes > 0 {
			out = append(out, *g)
		}
	}
	return out
}

const (
	// heapgrowthNamed is how many places a finding names, and heapgrowthPlace
	// the part of the growth that makes one worth it.
	heapgrowthNamed = 3
	heapgrowthPlace = 0.1
)
