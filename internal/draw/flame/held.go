package flame

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// HeldKind is the kind of the tree of holders.
const HeldKind = "held"

// HolderTree makes a tree of who holds a heap: below the root the holders, below each the way to the
// most of it. What is beside the way has no node, as what was left out of other trees.
func HolderTree(l *model.HeapLook, o Owners) *Tree {
	t := &Tree{Kind: HeldKind, Unit: "bytes", Ratio: 1}
	names := map[Func]int32{}
	add := func(parent int32, name string, owner Owner, sum int64) int32 {
		f := Func{Name: clip(name, maxSymbol), Owner: owner}
		at, known := names[f]
		if !known {
			at = int32(len(t.Funcs))
			names[f], t.Funcs = at, append(t.Funcs, f)
		}
		t.Parent, t.Func, t.Line = append(t.Parent, parent), append(t.Func, at), append(t.Line, 0)
		t.Self, t.Sum = append(t.Self, 0), append(t.Sum, sum)
		return int32(len(t.Parent) - 1)
	}
	t.Parent, t.Func, t.Line, t.Self, t.Sum = []int32{-1}, []int32{-1}, []int32{0}, []int64{0}, []int64{0}
	holders := slices.Clone(l.Holders)
	slices.SortStableFunc(holders, func(a, b model.Holder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for i := range holders {
		h := &holders[i]
		at, left := int32(0), int64(min(h.Bytes, maxHeld))
		t.Sum[0] = addUp(t.Sum[0], left)
		for n, s := range h.Stations() {
			left = min(left, int64(min(s.Retained, maxHeld)))
			owner := Runtime // of the language
			switch {
			case n == 0:
				owner = o.OwnerOf(model.Frame{Func: h.Name})
			case strings.Contains(s.Name, "."):
				owner = o.OwnerOf(model.Frame{Func: pointee(s.Name)})
			}
			at = add(at, s.Name, owner, left)
		}
		t.Self[at] = left
	}
	t.Sum[0] = max(t.Sum[0], int64(min(l.Reached.Bytes, maxHeld)))
	t.Total = t.Sum[0]
	return t
}

// maxHeld is beyond what a memory can have, and what a look's bytes are cut to.
const maxHeld = 1 << 56

// pointee returns the type that a type is made of, which says whose it is: of map[string]*a.B it is a.B.
func pointee(name string) string {
	for {
		rest := strings.TrimLeft(name, "*")
		if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "map[") {
			_, rest, _ = strings.Cut(rest, "]")
		}
		rest = strings.TrimPrefix(rest, "chan ")
		if rest == name {
			return name
		}
		name = rest
	}
}
