package flame

// Focus returns the tree of what functions have that match, with all that they call: its
// root has these functions as children, wherever they were called from, and of those that
// call each other the outermost. Where none matches, the root has nothing.
func Focus(t *Tree, match func(function string) bool) *Tree {
	matched := make([]bool, len(t.Funcs))
	for i := range t.Funcs {
		matched[i] = match(t.Funcs[i].Name)
	}
	m := merger{funcs: map[Func]int32{}, children: map[branch]int32{}}
	m.tree = Tree{Kind: t.Kind, Unit: t.Unit, Ratio: 1, Note: t.Note}
	m.add(&Tree{Parent: []int32{-1}, Func: []int32{-1}, Line: []int32{0}, Self: []int64{0}, Sum: []int64{0}})
	for i := 1; i < len(t.Parent); {
		if !matched[t.Func[i]] {
			i++
			continue
		}
		below := t.below(i)
		m.add(below)
		i += len(below.Parent) - 1
	}
	return m.ordered()
}

// below is node i with what is below it, as the only child of a root.
func (t *Tree) below(i int) *Tree {
	s := &Tree{Total: t.Sum[i], Funcs: t.Funcs, Parent: []int32{-1, 0}, Func: []int32{-1, t.Func[i]}, Line: []int32{0, t.Line[i]},
		Self: []int64{0, t.Self[i]}, Sum: []int64{t.Sum[i], t.Sum[i]}}
	shift := int32(i - 1)
	for j := i + 1; j < len(t.Parent) && int(t.Parent[j]) >= i; j++ {
		s.Parent, s.Func, s.Line = append(s.Parent, t.Parent[j]-shift), append(s.Func, t.Func[j]), append(s.Line, t.Line[j])
		s.Self, s.Sum = append(s.Self, t.Self[j]), append(s.Sum, t.Sum[j])
	}
	return s
}
