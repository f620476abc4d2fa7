package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Course is what a line of the user's code had in use at the moments of the run at which
// the heap was looked at.
type Course struct {
	Place          diagnosis.Place
	Bytes, Objects model.Series
	Stacks         []model.Stack
}

// Courses returns that of each line, that first whose bytes grew most from the first look
// to the last.
func Courses(p *diagnosis.Pass) (list []Course) {
	looks := slices.DeleteFunc(slices.Clone(p.Model.HeapCourse), func(look *model.Profile) bool { return !look.Known })
	lines, known := map[diagnosis.Place]*Course{}, map[model.Stack]bool{}
	for i, look := range looks {
		bytes, objects := look.Column("inuse_space"), look.Column("inuse_objects")
		for j := range look.Samples {
			s := &look.Samples[j]
			place, ok := p.UserPlace(s.Stack)
			if !ok {
				continue
			}
			c := lines[place]
			if c == nil {
				c = &Course{Place: place, Bytes: moments(looks), Objects: moments(looks)}
				lines[place] = c
			}
			c.Bytes[i].Value += s.Value(bytes)
			c.Objects[i].Value += s.Value(objects)
			if !known[s.Stack] {
				known[s.Stack], c.Stacks = true, append(c.Stacks, s.Stack)
			}
		}
	}
	grown := func(c *Course) float64 { return c.Bytes[len(c.Bytes)-1].Value - c.Bytes[0].Value }
	for _, c := range slices.SortedFunc(maps.Values(lines), func(a, b *Course) int {
		return cmp.Or(cmp.Compare(grown(b), grown(a)), cmp.Compare(a.Place.Function, b.Place.Function), cmp.Compare(a.Place.Line, b.Place.Line))
	}) {
		list = append(list, *c)
	}
	return list
}

// moments returns a series of nothing at the time of each look.
func moments(looks []*model.Profile) (s model.Series) {
	for _, look := range looks {
		s = append(s, model.Point{At: look.At})
	}
	return s
}
