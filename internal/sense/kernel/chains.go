package kernel

import (
	"encoding/binary"
	"time"
)

// maxStacks bounds how many different stacks a table keeps. A Go service of
// 2 million lines has a few thousand in a minute; a table this large takes
// some 60 MB when every stack is 100 deep.
const maxStacks = 1 << 16

// A chainTable sums samples by chain, thread and flag. It keeps chains as they
// came; symbols are looked up once, at the end.
type chainTable struct {
	cells map[string]*cell
	list  []*cell // the same, in order of appearance
	key   []byte
	lost  int64 // samples whose stack was dropped for the bound
}

// A cell is the sum of all samples of one key.
type cell struct {
	chain     string // addresses and markers, 8 bytes each
	index     uint32 // in the table's list
	tid       uint32
	preempted bool
	count     int64
	time      time.Duration
}

func newChainTable() *chainTable { return &chainTable{cells: make(map[string]*cell)} }

// cell returns the cell of a key, new when there was none. Behind the bound
// all stacks of a thread share the cell without one.
func (t *chainTable) cell(chain []byte, tid uint32, preempted bool) *cell {
	if c := t.find(chain, tid, preempted); c != nil {
		return c
	}
	if len(t.cells) >= maxStacks && len(chain) > 0 {
		t.lost++
		if c := t.find(nil, tid, preempted); c != nil {
			return c
		}
		chain = nil
		t.find(nil, tid, preempted) // sets the key
	}
	key := string(t.key)
	c := &cell{chain: key[:len(chain)], index: uint32(len(t.list)), tid: tid, preempted: preempted}
	t.cells[key] = c
	t.list = append(t.list, c)
	return c
}

func (t *chainTable) find(chain []byte, tid uint32, preempted bool) *cell {
	t.key = append(t.key[:0], chain...)
	t.key = binary.NativeEndian.AppendUint32(t.key, tid)
	if preempted {
		t.key = append(t.key, 1)
	}
	return t.cells[string(t.key)]
}

// A chain is a call chain apart: both leaf first.
type chain struct{ kernel, user []uint64 }

// parseChain parts a chain by its markers. Addresses before the first marker
// and those of other contexts (a guest's) are left out.
func parseChain(raw string) chain {
	var c chain
	var to *[]uint64
	for ; len(raw) >= 8; raw = raw[8:] {
		pc := binary.NativeEndian.Uint64([]byte(raw[:8]))
		switch {
		case pc == contextKernel:
			to = &c.kernel
		case pc == contextUser:
			to = &c.user
		case pc >= contextMax:
			to = nil
		case to != nil:
			*to = append(*to, pc)
		}
	}
	return c
}

// userStart returns the offset of the program's innermost address in a chain; 0
// when there is none.
func userStart(chain []byte) int {
	for at := 0; at+16 <= len(chain); at += 8 {
		if binary.NativeEndian.Uint64(chain[at:]) == contextUser {
			return at + 8
		}
	}
	return 0
}
