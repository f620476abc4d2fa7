package server

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// leastShare is the part of its side's total that a node must have to be shown.
	leastShare = 2000
	// mostNodes bounds a tree: that of very deep stacks is cut at larger shares, and has no
	// nodes in the end where all have the whole, as sums that are out of range do.
	mostNodes = 1 << 16
	// The functions of nodes that are none.
	everything, tooSmall = -1, -2
)

func flame(ctx context.Context, r store.Reader, s store.Selection, base string) (api.Flame, error) {
	t := &tree{names: map[string]int{}, sides: 1}
	t.root.function = everything
	head, missing, err := t.add(ctx, r, s, 0)
	if err != nil {
		return api.Flame{}, err
	}
	a := api.Flame{Unit: unitOf(s.Type), Head: head}
	if base != "" {
		t.sides = 2
		s.Version = base
		before, more, err := t.add(ctx, r, s, 1)
		if err != nil {
			return api.Flame{}, err
		}
		a.Base, missing = &before, append(missing, more...)
	}
	slices.Sort(missing)
	a.Missing = slices.Compact(missing)
	least := int64(leastShare)
	for t.count(&t.root, least) > mostNodes {
		least /= 2
	}
	a.Root = t.write(nil, &t.root, least)
	a.Functions, a.Files = t.functions, t.files
	if a.Functions == nil {
		a.Functions, a.Files = []string{}, []string{}
	}
	return a, nil
}

func unitOf(t store.Type) string { return strings.Split(string(t), ":")[2] }

// A tree is stacks that begin alike together, with the values of one side or two.
type tree struct {
	root      node
	sides     int
	functions []string
	files     []string
	names     map[string]int // places in functions
	nodes     int
}

type node struct {
	function    int
	self, total [2]int64
	only        *node         // the first child: most nodes of deep stacks have one
	children    map[int]*node // all, where there are more
}

// nodeBytes is about what a node takes, and what writing it does; paidNodes are paid at once.
const (
	nodeBytes = 100
	paidNodes = 1 << 12
)

// add sums the stacks of a selection on a side.
func (t *tree) add(ctx context.Context, r store.Reader, s store.Selection, side int) (api.Side, store.Missing, error) {
	sum := api.Side{Version: s.Version}
	stacks, err := r.Stacks(ctx, s)
	if err != nil {
		return sum, nil, err
	}
	all, err := r.Instances(ctx, s)
	if err != nil {
		return sum, nil, err
	}
	for _, p := range all.Instances {
		sum.CoveredNS += int64(p.Covered)
		for _, total := range p.Totals {
			if total.Type == store.Operations {
				sum.Operations = store.Add(sum.Operations, total.Value)
			}
		}
	}
	sum.Total, sum.Saturated = stacks.Total, stacks.Total == math.MaxInt64
	for _, sample := range stacks.Samples {
		at := &t.root
		at.total[side] = store.Add(at.total[side], sample.Value)
		frames := stacks.Frames[sample.Stack]
		if len(frames) == 0 {
			frames = []*store.Frame{{Function: "(no stack)"}}
		}
		for _, f := range slices.Backward(frames) {
			c := at.child(t.function(f))
			if c == nil {
				c = at.add(t.function(f))
				if t.nodes++; t.nodes%paidNodes == 0 {
					if err := memory.More(ctx, paidNodes*nodeBytes); err != nil {
						return sum, nil, err
					}
				}
			}
			at = c
			at.total[side] = store.Add(at.total[side], sample.Value)
		}
		at.self[side] = store.Add(at.self[side], sample.Value)
	}
	return sum, slices.Concat(stacks.Missing, all.Missing), nil
}

func (t *tree) function(f *store.Frame) int {
	i, known := t.names[f.Function]
	if !known {
		i = len(t.functions)
		t.names[f.Function] = i
		t.functions, t.files = append(t.functions, f.Function), append(t.files, f.File)
	}
	return i
}

// child is that of a function, nil where there is none.
func (n *node) child(function int) *node {
	if n.only != nil && n.only.function == function {
		return n.only
	}
	return n.children[function]
}

// add adds a child that is not there.
func (n *node) add(function int) *node {
	c := &node{function: function}
	switch {
	case n.only == nil:
		n.only = c
		return c
	case n.children == nil:
		n.children = map[int]*node{n.only.function: n.only}
	}
	n.children[function] = c
	return c
}

// each visits the children.
func (n *node) each(visit func(*node)) {
	if n.children == nil && n.only != nil {
		visit(n.only)
	}
	for _, c := range n.children {
		visit(c)
	}
}

// shown tells whether a node is large enough on any side.
func (t *tree) shown(n *node, least int64) bool {
	for side := range t.sides {
		if least > 0 && n.total[side] > 0 && n.total[side] >= t.root.total[side]/least {
			return true
		}
	}
	return false
}

// count returns how many nodes are shown below one, itself among them.
func (t *tree) count(n *node, least int64) int {
	sum := 1
	n.each(func(c *node) {
		if t.shown(c, least) {
			sum += t.count(c, least)
		}
	})
	return sum
}

// write appends a node: children that are shown by their names, the others as one.
func (t *tree) write(b []byte, n *node, least int64) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(n.function), 10)
	for side := range t.sides {
		b = strconv.AppendInt(append(b, ','), n.self[side], 10)
		b = strconv.AppendInt(append(b, ','), n.total[side], 10)
	}
	small := node{function: tooSmall}
	var shown []*node
	n.each(func(c *node) {
		if t.shown(c, least) {
			shown = append(shown, c)
			return
		}
		for side := range t.sides {
			small.self[side] = store.Add(small.self[side], c.total[side])
			small.total[side] = store.Add(small.total[side], c.total[side])
		}
	})
	slices.SortFunc(shown, func(a, b *node) int { return cmp.Compare(t.functions[a.function], t.functions[b.function]) })
	if small.total != [2]int64{} {
		shown = append(shown, &small)
	}
	for i, c := range shown {
		b = append(b, ',')
		if i == 0 {
			b = append(b, '[')
		}
		b = t.write(b, c, least)
	}
	if len(shown) > 0 {
		b = append(b, ']')
	}
	return append(b, ']')
}
