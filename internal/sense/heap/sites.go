package heap

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

const (
	// mostMade is the share of a way's sampled objects that one place must have made for all to be said to be its: of
	// ten that are picked nine are.
	mostMade = 0.9
	// leastMade samples are nine in ten or more of a place with half of the objects once in a hundred times.
	leastMade = 7
)

// A profile is a program's memory profile, by the numbers of its sites.
type profile struct {
	rate  int64                             // bytes of which one is sampled, on average
	sizes map[uint64]int64                  // of a site's objects, as the program wanted them
	stack func(site uint64) []symbols.Place // innermost first
	close func()
	known map[uint64]string // places in words
}

// readProfile reads what a reader's program has; nil without one.
func readProfile(r *goroutines.Reader) *profile {
	if r == nil {
		return nil
	}
	h, err := r.HeapReader()
	if err != nil {
		return nil
	}
	all, err := h.Read()
	if err != nil {
		h.Close()
		return nil
	}
	p := &profile{rate: all.Rate, sizes: map[uint64]int64{}, close: h.Close, known: map[uint64]string{}}
	sites := make(map[uint64]*goroutines.Site, len(all.Sites))
	for i := range all.Sites {
		s := &all.Sites[i]
		p.sizes[s.ID], sites[s.ID] = s.Size, s
	}
	p.stack = func(site uint64) []symbols.Place { return h.Frames(sites[site]) }
	return p
}

// each returns for how many objects of a size one sampled object stands.
func (p *profile) each(size int64) float64 {
	if p.rate <= 1 || size <= 0 {
		return 1
	}
	return 1 / -math.Expm1(-float64(size)/float64(p.rate))
}

// place returns where the objects of a site are allocated: the program's line, and what of the library does it there.
func (p *profile) place(site uint64) string {
	name, ok := p.known[site]
	if ok {
		return name
	}
	stack := p.stack(site)
	at := max(0, slices.IndexFunc(stack, func(s symbols.Place) bool { return !model.IsStd(s.Func) }))
	if len(stack) > 0 {
		name = fmt.Sprintf("%s %s:%d", stack[at].Func, filepath.Base(stack[at].File), stack[at].Line)
		if at > 0 {
			name = stack[at-1].Func + " for " + name
		}
	}
	p.known[site] = name
	return name
}

// made are samples of one way, or of what is reached over none.
type made struct {
	samples int
	objects map[string]float64 // by place
}

func (m *made) add(place string, objects float64) {
	if m.objects == nil {
		m.objects = map[string]float64{}
	}
	m.samples++
	m.objects[place] += objects
}

// by returns the place that made nearly all of some objects; "" without one.
func (m *made) by(objects uint64) string {
	all, most, place := 0.0, 0.0, ""
	for at, n := range m.objects {
		if all += n; n > most {
			most, place = n, at
		}
	}
	if m.samples < leastMade && uint64(m.samples) < objects || most < mostMade*all {
		return ""
	}
	return place
}

// tellMakers says, by the objects that the memory profile samples, which places allocated what is reached from
// nowhere, and who makes objects on the ways whose type nothing tells.
func (r *retainer) tellMakers(samples []sample, p *profile, look *model.HeapLook) {
	if p == nil {
		return
	}
	defer p.close()
	ways, garbage := map[int32]*made{}, map[string]model.MadeSum{}
	for _, s := range samples {
		elem := r.s.list[r.s.of(s.object)].elem
		size, ok := p.sizes[s.site]
		if !ok || uint64(size) > elem {
			continue // of another object by now
		}
		at := r.node[s.object]
		if at != 0 && (r.typeName(&r.nodes[at]) != "" || r.nodes[at].elem == 0) {
			continue
		}
		place := p.place(s.site)
		if place == "" {
			continue
		}
		if each := p.each(size); at != 0 {
			if ways[at] == nil {
				ways[at] = &made{}
			}
			ways[at].add(place, each)
		} else {
			sum := garbage[place]
			garbage[place] = model.MadeSum{Place: place, Samples: sum.Samples + 1, Objects: sum.Objects + each, Bytes: sum.Bytes + each*float64(elem)}
		}
	}
	for at, m := range ways {
		r.nodes[at].madeBy = m.by(r.nodes[at].objects)
	}
	if look.Partial {
		return // what is missing is not garbage
	}
	for _, sum := range garbage {
		look.Garbage = append(look.Garbage, sum)
	}
	slices.SortFunc(look.Garbage, func(a, b model.MadeSum) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Place, b.Place))
	})
	look.Garbage = look.Garbage[:min(len(look.Garbage), model.MaxGarbage)]
}

// offsetsOfWords returns where the words are that a mask has.
func offsetsOfWords(mask uint64) (list []int) {
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, 8*bits.TrailingZeros64(mask))
	}
	return list
}
