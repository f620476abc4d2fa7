package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A GrowingLine is a line of the user's code and by how much its live bytes grew.
type GrowingLine struct {
	Place  diagnosis.Place
	Bytes  float64
	Stacks []model.Stack
}

// GrowingLines compares the heap profiles of the ends of the run, and returns the lines that have
// most of the growth. With survivors only stacks count whose objects, or what grew out of them,
// are still there.
func GrowingLines(p *diagnosis.Pass, survivors bool) (out []GrowingLine) {
	lines, all := grownLines(p, survivors)
	for _, g := range lines {
		if len(out) < grownNamed && g.Bytes >= grownPart*all && g.Bytes > 0 {
			out = append(out, g)
		}
	}
	return out
}

// RetainedGrowth returns by how much the live bytes grew of all lines whose objects, or what grew
// out of them, are still there: of many small ones too, of which GrowingLines names a few.
func RetainedGrowth(p *diagnosis.Pass) (sum float64) {
	lines, _ := grownLines(p, true)
	for _, g := range lines {
		sum += g.Bytes
	}
	return sum
}

// grownLines returns the user's lines, that which grew most first, and the growth of all stacks.
func grownLines(p *diagnosis.Pass, survivors bool) (lines []GrowingLine, all float64) {
	bytes := StackGrowth(p.Model, "inuse_space")
	sum := map[diagnosis.Place]*GrowingLine{}
	var living map[model.Stack]bool
	if survivors {
		living = SurvivingStacks(p.Model)
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
			sum[place] = &GrowingLine{Place: place}
		}
		sum[place].Bytes += v
		sum[place].Stacks = append(sum[place].Stacks, stack)
	}
	for _, g := range sum {
		lines = append(lines, *g)
	}
	slices.SortFunc(lines, func(a, b GrowingLine) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Place.Function, b.Place.Function), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	return lines, all
}

const (
	// grownNamed is how many places a finding names, and grownPart
	// the part of the growth that makes one worth it.
	grownNamed = 3
	grownPart  = 0.1
)
