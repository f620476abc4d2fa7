package script

import "sort"

type lineTable struct {
	starts []int
}

func newLineTable(src string) *lineTable {
	t := &lineTable{starts: make([]int, 1, 1+len(src)/32)}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

func (t *lineTable) at(off int) Pos {
	i := sort.SearchInts(t.starts, off+1) - 1
	return Pos{Line: i + 1, Column: off - t.starts[i] + 1}
}
