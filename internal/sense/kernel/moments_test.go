package kernel

import (
	"reflect"
	"testing"
)

func TestMomentsOrdered(t *testing.T) {
	table := newChainTable()
	a, b := table.cell(words(contextUser, 0x400), 7, false), table.cell(words(contextKernel, 0x900), 8, false)
	var m moments
	// CPU 0 was read first, and then CPU 1.
	m.add(moment{time: 30, cell: a.index, cpu: 0})
	m.add(moment{time: 50, cell: b.index, cpu: 0})
	m.add(moment{time: 20, cell: b.index, cpu: 1})
	m.add(moment{time: 30, cell: b.index, cpu: 1})
	got := m.ordered(table.list, map[*cell]int{a: 1, b: 0})
	want := []Moment{{20, 8, 1, 0}, {30, 7, 0, 1}, {30, 8, 1, 0}, {50, 8, 0, 0}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMomentsBound(t *testing.T) {
	m := moments{list: make([]moment, maxMoments-1)}
	for range 3 {
		m.add(moment{time: 1})
	}
	if len(m.list) != maxMoments || m.lost != 2 {
		t.Errorf("%d kept and %d not, of a bound of %d", len(m.list), m.lost, maxMoments)
	}
}
