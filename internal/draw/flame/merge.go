package flame

import (
	"cmp"
	"slices"
)

// Merge adds up trees of one kind and unit, as those of pieces of one program's
// time: what a tree of all their stacks would be, but that the line of a function
// is that of the tree that has most of it. It returns nil for no trees.
func Merge(trees []*Tree) *Tree {
	if len(trees) == 0 {
		return nil
	}
	m := merger{funcs: map[Func]int32{}, children: map[branch]int32{}}
	first := trees[0]
	m.tree = Tree{Kind: first.Kind, Unit: first.Unit, Ratio: 1, Note: first.Note}
	for _, t := range trees {
		m.add(t)
		if t.Note != first.Note { // how many samples one of them has says nothing of all
			m.tree.Note = ""
		}
	}
	return m.ordered()
}

// A merger has a tree whose nodes are in any order behind their parents.
type merger struct {
	tree     Tree
	funcs    map[Func]int32
	children map[branch]int32
	most     []int64 // of one tree, for Line
}

// A branch is where a function stands below a node.
type branch struct{ parent, function int32 }

func (m *merger) add(t *Tree) {
	m.tree.Total = addUp(m.tree.Total, t.Total)
	m.tree.LeftNodes += t.LeftNodes
	at := make([]int32, len(t.Parent))
	for i := range t.Parent {
		e := branch{-1, -1}
		if i > 0 {
			e = branch{at[t.Parent[i]], m.function(t.Funcs[t.Func[i]])}
		}
		n, ok := m.children[e]
		if !ok {
			n = int32(len(m.tree.Parent))
			m.children[e] = n
			m.tree.Parent, m.tree.Func = append(m.tree.Parent, e.parent), append(m.tree.Func, e.function)
			m.tree.Line, m.most = append(m.tree.Line, 0), append(m.most, -1)
			m.tree.Self, m.tree.Sum = append(m.tree.Self, 0), append(m.tree.Sum, 0)
		}
		at[i] = n
		m.tree.Self[n], m.tree.Sum[n] = addUp(m.tree.Self[n], t.Self[i]), addUp(m.tree.Sum[n], t.Sum[i])
		if t.Sum[i] > m.most[n] {
			m.most[n], m.tree.Line[n] = t.Sum[i], t.Line[i]
		}
	}
}

func (m *merger) function(f Func) int32 {
	n, ok := m.funcs[f]
	if !ok {
		n = int32(len(m.tree.Funcs))
		m.funcs[f] = n
		m.tree.Funcs = append(m.tree.Funcs, f)
	}
	return n
}

// ordered returns the tree with children behind their parent, largest first.
func (m *merger) ordered() *Tree {
	from := &m.tree
	below := make([][]int32, len(from.Parent))
	for i := 1; i < len(from.Parent); i++ {
		p := from.Parent[i]
		below[p] = append(below[p], int32(i))
	}
	t := *from
	t.Parent, t.Func, t.Line, t.Self, t.Sum = nil, nil, nil, nil, nil
	type step struct{ node, parent int32 }
	for stack := []step{{0, -1}}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := int32(len(t.Parent))
		t.Parent, t.Func = append(t.Parent, s.parent), append(t.Func, from.Func[s.node])
		t.Line, t.Self, t.Sum = append(t.Line, from.Line[s.node]), append(t.Self, from.Self[s.node]), append(t.Sum, from.Sum[s.node])
		list := below[s.node]
		slices.SortFunc(list, func(a, b int32) int {
			name := func(i int32) string { return from.Funcs[from.Func[i]].Name }
			return cmp.Or(cmp.Compare(from.Sum[a], from.Sum[b]), cmp.Compare(name(b), name(a)))
		})
		for _, c := range list { // the largest is on top of the stack
			stack = append(stack, step{c, n})
		}
	}
	return &t
}
