package flame

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// HeldKind is the kind of the tree of holders.
const HeldKind = "held"

// HolderTree makes a tree of who holds a heap: below the root the holders, below each the ways to what it
// holds; of a look that has none of these the way to the most of it. What is beside the ways has no node, as what was left
// out of other trees.
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
	if len(l.Tree) > 0 {
		addWays(t, l.Tree, o, add)
	} else {
		addMainWays(t, l, o, add)
	}
	t.Sum[0] = max(t.Sum[0], int64(min(l.Reached.Bytes, maxHeld)))
	t.Total = t.Sum[0]
	return t
}

// addWays adds a tree as it is, what has most first.
func addWays(t *Tree, tree []model.HeldNode, o Owners, add func(parent int32, name string, owner Owner, sum int64) int32) {
	sums := make([]int64, len(tree))
	below := make([][]int, len(tree)+1) // by the parent, those without one first
	for i := len(tree) - 1; i >= 0; i-- {
		sums[i] = addUp(sums[i], int64(min(tree[i].Bytes, maxHeld)))
		if p := tree[i].Parent; p >= 0 {
			sums[p] = addUp(sums[p], sums[i])
		} else {
			t.Sum[0] = addUp(t.Sum[0], sums[i])
		}
		below[tree[i].Parent+1] = append(below[tree[i].Parent+1], i)
	}
	names := model.HeldNames(tree)
	var visit func(parent int32, list []int)
	visit = func(parent int32, list []int) {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
		for _, i := range list {
			n := &tree[i]
			is := cmp.Or(n.Type, names[i])
			if n.Parent < 0 { // in words: "72 goroutines in main.wait"
				is = is[strings.LastIndexByte(is, ' ')+1:]
			}
			at := add(parent, names[i], ownerOf(o, is, n.Parent < 0), sums[i])
			t.Self[at] = int64(min(n.Bytes, maxHeld))
			visit(at, below[i+1])
		}
	}
	visit(0, below[0])
}

// addMainWays adds the holders, each with the way to the most of it.
func addMainWays(t *Tree, l *model.HeapLook, o Owners, add func(parent int32, name string, owner Owner, sum int64) int32) {
	holders := slices.Clone(l.Holders)
	slices.SortStableFunc(holders, func(a, b model.Holder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for i := range holders {
		h := &holders[i]
		at, left := int32(0), int64(min(h.Bytes, maxHeld))
		t.Sum[0] = addUp(t.Sum[0], left)
		for n, s := range h.Stations() {
			left = min(left, int64(min(s.Retained, maxHeld)))
			is := s.Name
			if n == 0 {
				is = h.Name
			}
			at = add(at, s.Name, ownerOf(o, is, n == 0), left)
		}
		t.Self[at] = left
	}
}

// ownerOf returns whose a holder is, or a type: the language's without a package.
func ownerOf(o Owners, name string, holder bool) Owner {
	switch {
	case holder:
		return o.OwnerOf(model.Frame{Func: name})
	case strings.Contains(name, "."):
		return o.OwnerOf(model.Frame{Func: pointee(name)})
	}
	return Runtime
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
