// Package stacktree adds up stacks that begin alike, of one selection or of two beside each
// other.
//
// It hides how a tree of very deep stacks stays small, and takes memory for its nodes as they
// are made. Stacks are the same where the names of their functions are.
package stacktree

import (
	"cmp"
	"context"
	"slices"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// All is the function of the root.
const All = -1

// A Tree is stacks, from their first callers on.
type Tree struct {
	Root Node
	// Functions are the names that nodes are of, and Files where each was first.
	Functions, Files []string

	places map[string]int // in Functions
	nodes  int
}

// A Node is a function on stacks that begin alike.
type Node struct {
	Function    int      // its place in [Tree.Functions]
	Self, Total [2]int64 // by side

	only     *Node         // the first child: most nodes of deep stacks have one
	children map[int]*Node // all, where there are more
}

// New returns a tree without stacks.
func New() *Tree { return &Tree{Root: Node{Function: All}, places: map[string]int{}} }

// nodeBytes is about what a node takes, and what is written of it; paidNodes are paid at once.
const (
	nodeBytes = 120
	paidNodes = 1 << 12
)

// Add adds the stacks of a side. The error is that of the context's memory.
func (t *Tree) Add(ctx context.Context, stacks *store.Stacks, side int) error {
	for _, sample := range stacks.Samples {
		at := &t.Root
		at.Total[side] = store.Add(at.Total[side], sample.Value)
		for _, f := range slices.Backward(stacks.Frames[sample.Stack]) {
			function := t.function(f)
			c := at.child(function)
			if c == nil {
				c = at.add(function)
				if t.nodes++; t.nodes%paidNodes == 0 {
					if err := memory.More(ctx, paidNodes*nodeBytes); err != nil {
						return err
					}
				}
			}
			at = c
			at.Total[side] = store.Add(at.Total[side], sample.Value)
		}
		at.Self[side] = store.Add(at.Self[side], sample.Value)
	}
	return nil
}

func (t *Tree) function(f *store.Frame) int {
	i, known := t.places[f.Function]
	if !known {
		i = len(t.Functions)
		t.places[f.Function] = i
		t.Functions, t.Files = append(t.Functions, f.Function), append(t.Files, f.File)
	}
	return i
}

// child returns that of a function, nil where there is none.
func (n *Node) child(function int) *Node {
	if n.only != nil && n.only.Function == function {
		return n.only
	}
	return n.children[function]
}

// add adds a child that is not there.
func (n *Node) add(function int) *Node {
	c := &Node{Function: function}
	switch {
	case n.only == nil:
		n.only = c
		return c
	case n.children == nil:
		n.children = map[int]*Node{n.only.Function: n.only}
	}
	n.children[function] = c
	return c
}

// Each visits the children of a node, in any order.
func (n *Node) Each(visit func(*Node)) {
	if n.children == nil && n.only != nil {
		visit(n.only)
	}
	for _, c := range n.children {
		visit(c)
	}
}

// Sorted returns the children of a node that a function wants, by name, so that trees of two
// times look alike; nil wants all.
func (t *Tree) Sorted(n *Node, wanted func(*Node) bool) (children []*Node) {
	n.Each(func(c *Node) {
		if wanted == nil || wanted(c) {
			children = append(children, c)
		}
	})
	slices.SortFunc(children, func(a, b *Node) int { return cmp.Compare(t.Functions[a.Function], t.Functions[b.Function]) })
	return children
}
