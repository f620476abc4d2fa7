package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A series is all repetitions of one benchmark of one side, by unit.
type series struct {
	pkg, name string
	values    map[string][]float64
	order     int // of its first line
}

// collect sorts lines into series.
func collect(list []model.Benchmark) (all []*series) {
	type key struct{ pkg, name string }
	by := map[key]*series{}
	for _, b := range list {
		k := key{b.Package, b.Name}
		s := by[k]
		if s == nil {
			s = &series{pkg: b.Package, name: b.Name, values: map[string][]float64{}, order: len(all)}
			by[k] = s
			all = append(all, s)
		}
		for unit, v := range b.Values {
			if sane(v) {
				s.values[unit] = append(s.values[unit], v)
			}
		}
	}
	return all
}

// keys are what series of both sides are matched by, the surest first. The
// package is missing where output was cut, and -N changes with the machine.
var keys = []func(s *series) string{
	func(s *series) string { return s.pkg + "\x00" + s.name },
	func(s *series) string { return s.name },
	func(s *series) string { return s.pkg + "\x00" + withoutProcs(s.name) },
	func(s *series) string { return withoutProcs(s.name) },
}

// withoutProcs cuts the -N that testing appends for GOMAXPROCS.
func withoutProcs(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || i == len(name)-1 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name
	}
	return name[:i]
}

// match pairs the series of both sides; a key that several have pairs nobody.
func match(a, b []*series) (pairs [][2]*series, onlyA, onlyB []*series) {
	for _, key := range keys {
		byA, byB := index(a, key), index(b, key)
		taken := map[*series]bool{}
		for _, s := range a {
			k := key(s)
			if len(byA[k]) == 1 && len(byB[k]) == 1 {
				pairs = append(pairs, [2]*series{s, byB[k][0]})
				taken[s], taken[byB[k][0]] = true, true
			}
		}
		gone := func(s *series) bool { return taken[s] }
		a, b = slices.DeleteFunc(a, gone), slices.DeleteFunc(b, gone)
	}
	slices.SortFunc(pairs, func(x, y [2]*series) int { return cmp.Compare(x[0].order, y[0].order) })
	return pairs, a, b
}

func index(list []*series, key func(*series) string) map[string][]*series {
	by := map[string][]*series{}
	for _, s := range list {
		by[key(s)] = append(by[key(s)], s)
	}
	return by
}
