package timeline

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/gowhy/gowhy/exectrace"
)

// A gor is a goroutine of the trace. Its times are in units of the table.
type gor struct {
	id         int64
	birth, end uint32 // birth 0: before the trace; end alive: not in it
	run        uint32 // running in all
	group      uint32
}

const alive = math.MaxUint32

// maxGors bounds the table: 24 bytes each.
const maxGors = 3_000_000

// A gorTable has the goroutines of a trace. Where they are too many, those that
// ran least are forgotten. What that was at the last time is a limit: whoever
// begins and ends in one piece and does not get over it never comes in.
type gorTable struct {
	list   []gor
	limit  int64 // ns, below 0 as long as all are kept
	unit   uint  // times are in 1<<unit ns, so that they fit
	living map[int64]int32
	counts []int // goroutines by group, the forgotten included
	lost   int

	once    sync.Once
	byID    []uint32 // indices in list by id, then birth
	byGroup [][]uint32
}

func (t *gorTable) init() { t.living, t.limit = map[int64]int32{}, -1 }

// add takes the lives of a piece.
func (t *gorTable) add(p *exectrace.Piece, run []int64, groups []uint32, origin int64) {
	for int64(p.To)-origin >= int64(alive-1)<<t.unit {
		t.widen()
	}
	for i := range p.Lives {
		l := &p.Lives[i]
		if run[i] <= t.limit && l.Created != 0 && l.Ended != 0 {
			t.count(groups[i], 1)
			t.lost++
			continue
		}
		n, known := int32(0), false
		if l.Created == 0 {
			n, known = t.living[l.G]
		}
		if !known {
			n = t.enter(l, groups[i], origin)
		}
		g := &t.list[n]
		g.run = t.clamp(int64(g.run)<<t.unit + run[i])
		if l.Group != "" && g.group != groups[i] {
			t.move(g, groups[i])
		}
		if l.Ended != 0 {
			g.end = min(t.clamp(int64(l.Ended)-origin)+1, alive-1)
			delete(t.living, l.G)
		} else if !known {
			t.living[l.G] = n
		}
	}
}

// enter makes a record for a goroutine that is new.
func (t *gorTable) enter(l *exectrace.Life, group uint32, origin int64) int32 {
	if len(t.list) >= maxGors {
		t.prune()
	}
	g := gor{id: l.G, group: group, end: alive}
	if l.Created != 0 {
		g.birth = t.clamp(int64(l.Created) - origin)
	}
	if len(t.list) == cap(t.list) && len(t.list) >= maxGors/32 {
		t.list = append(make([]gor, 0, maxGors), t.list...) // what stays unused is no memory
	}
	t.list = append(t.list, g)
	t.count(group, 1)
	return int32(len(t.list) - 1)
}

func (t *gorTable) clamp(ns int64) uint32 {
	return uint32(min(max(ns, 0)>>t.unit, alive-1))
}

func (t *gorTable) count(group uint32, n int) {
	for int(group) >= len(t.counts) {
		t.counts = append(t.counts, 0)
	}
	t.counts[group] += n
}

// move puts a goroutine into another group: a later piece knew its name.
func (t *gorTable) move(g *gor, group uint32) {
	t.count(g.group, -1)
	t.count(group, 1)
	g.group = group
}

// widen doubles the unit of times.
func (t *gorTable) widen() {
	t.unit++
	for i := range t.list {
		g := &t.list[i]
		g.birth >>= 1
		g.run >>= 1
		if g.end != alive {
			g.end = g.end>>1 + g.end&1
		}
	}
}

// prune forgets the half of the ended goroutines that ran least, and half of
// the living where those alone are too many.
func (t *gorTable) prune() {
	var runs []uint32
	for i := 0; i < len(t.list); i += 64 { // a sample tells the median well enough
		if t.list[i].end != alive {
			runs = append(runs, t.list[i].run)
		}
	}
	slices.Sort(runs)
	limit := uint32(0)
	if len(runs) > 0 {
		limit = runs[len(runs)/2]
	}
	t.limit = max(t.limit, int64(limit)<<t.unit)
	// Where hardly any has ended, the living have to go as well.
	all := len(runs) < len(t.list)/64/2
	n := 0
	for i, g := range t.list {
		if g.end != alive && g.run <= limit || all && g.end == alive && i%2 == 0 {
			t.lost++
			if g.end == alive {
				delete(t.living, g.id)
			}
			continue
		}
		if g.end == alive {
			t.living[g.id] = int32(n)
		}
		t.list[n] = g
		n++
	}
	t.list = t.list[:n]
}

// index sorts the table when it is first asked for: a picture does not need it.
func (t *gorTable) index() {
	t.once.Do(func() {
		t.byID = make([]uint32, len(t.list))
		sizes := make([]int, len(t.counts))
		for i := range t.list {
			t.byID[i] = uint32(i)
			sizes[t.list[i].group]++
		}
		slices.SortFunc(t.byID, func(a, b uint32) int {
			x, y := &t.list[a], &t.list[b]
			return cmp.Or(compare(x.id, y.id), compare(x.birth, y.birth), compare(a, b))
		})
		t.byGroup = make([][]uint32, len(t.counts))
		for i, n := range sizes {
			t.byGroup[i] = make([]uint32, 0, n)
		}
		for _, i := range t.byID {
			g := t.list[i].group
			t.byGroup[g] = append(t.byGroup[g], i)
		}
	})
}

// lives returns the goroutines that had an id, in the order of their births.
func (t *gorTable) lives(id int64) []uint32 {
	t.index()
	at, _ := slices.BinarySearchFunc(t.byID, id, func(i uint32, id int64) int { return compare(t.list[i].id, id) })
	end := at
	for end < len(t.byID) && t.list[t.byID[end]].id == id {
		end++
	}
	return t.byID[at:end]
}

// during returns the goroutine that had an id in [from, to); the latest one.
func (t *gorTable) during(id, from, to int64) (uint32, bool) {
	all := t.lives(id)
	for i := len(all) - 1; i >= 0; i-- {
		if b, e := t.bounds(all[i]); b < to && e > from {
			return all[i], true
		}
	}
	return 0, false
}

// bounds returns when a goroutine lived, in ns; outward to the unit.
func (t *gorTable) bounds(i uint32) (birth, end int64) {
	g := &t.list[i]
	if g.end == alive {
		return int64(g.birth) << t.unit, math.MaxInt64
	}
	return int64(g.birth) << t.unit, int64(g.end) << t.unit
}

func (t *gorTable) runningTime(i uint32) int64 { return int64(t.list[i].run) << t.unit }

// first reports whether a goroutine is the first that had its id: then the id
// alone names it.
func (t *gorTable) first(i uint32) bool {
	all := t.lives(t.list[i].id)
	return all[0] == i
}
