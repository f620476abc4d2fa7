package querier

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// mostNodes is how many nodes a flame graph has at most: Grafana asks for 16,384.
const mostNodes = 1 << 16

// A node is a function on stacks that begin alike.
type node struct {
	name        string
	self, total int64
	only        *node            // the first child: most nodes of deep stacks have one
	children    map[string]*node // all, where there are more
}

// nodeBytes is about what a node takes, with its bar; paidNodes are paid at once.
const (
	nodeBytes = 120
	paidNodes = 1 << 12
)

// child is that of a name, nil where there is none.
func (n *node) child(name string) *node {
	if n.only != nil && n.only.name == name {
		return n.only
	}
	return n.children[name]
}

// add adds a child that is not there.
func (n *node) add(name string) *node {
	c := &node{name: name}
	switch {
	case n.only == nil:
		n.only = c
		return c
	case n.children == nil:
		n.children = map[string]*node{n.only.name: n.only}
	}
	n.children[name] = c
	return c
}

// sorted are the children by name, so that flame graphs of two times look alike.
func (n *node) sorted() []*node {
	if n.children == nil && n.only != nil {
		return []*node{n.only}
	}
	return slices.SortedFunc(maps.Values(n.children), func(a, b *node) int { return cmp.Compare(a.name, b.name) })
}

// flameOf is the flame graph of stacks, of a number of nodes: the largest, and in the place
// of the others of a node one that is called other.
func flameOf(ctx context.Context, stacks *store.Stacks, most int) (*querierv1.FlameGraph, error) {
	root, err := treeOf(ctx, stacks)
	if err != nil {
		return nil, err
	}
	var totals []int64
	root.each(func(n *node) { totals = append(totals, n.total) })
	g := &flame{graph: &querierv1.FlameGraph{Total: root.total}, names: map[string]int64{}, least: leastOf(totals, most)}
	g.add(root, 0, 0)
	for _, l := range g.graph.Levels { // each offset is from the end of the bar before
		end := int64(0)
		for i := 0; i < len(l.Values); i += 4 {
			l.Values[i], end = l.Values[i]-end, l.Values[i]+l.Values[i+1]
		}
	}
	return g.graph, nil
}

// leastOf returns the least total of the n largest nodes.
func leastOf(totals []int64, most int) int64 {
	if len(totals) <= most {
		return 0
	}
	slices.Sort(totals)
	return totals[len(totals)-most]
}

// treeOf is stacks that begin alike together.
func treeOf(ctx context.Context, stacks *store.Stacks) (*node, error) {
	root := &node{name: "total"}
	nodes := 0
	for _, s := range stacks.Samples {
		at := root
		at.total = store.Add(at.total, s.Value)
		frames := stacks.Frames[s.Stack]
		for i := len(frames) - 1; i >= 0; i-- {
			c := at.child(frames[i].Function)
			if c == nil {
				c = at.add(frames[i].Function)
				if nodes++; nodes%paidNodes == 0 {
					if err := memory.More(ctx, paidNodes*nodeBytes); err != nil {
						return nil, failed(err)
					}
				}
			}
			at = c
			at.total = store.Add(at.total, s.Value)
		}
		at.self = store.Add(at.self, s.Value)
	}
	return root, nil
}

// each visits a node and all below.
func (n *node) each(visit func(*node)) {
	visit(n)
	if n.children == nil && n.only != nil {
		n.only.each(visit)
	}
	for _, c := range n.children {
		c.each(visit)
	}
}

type flame struct {
	graph *querierv1.FlameGraph
	names map[string]int64 // their places in the graph's list
	least int64            // smaller nodes are not shown
}

// add adds a node that begins at an offset, and what is below.
func (g *flame) add(n *node, level int, at int64) {
	g.bar(level, at, n.total, n.self, n.name)
	at += n.self
	var other int64
	for _, c := range n.sorted() {
		if c.total < g.least {
			other = store.Add(other, c.total)
			continue
		}
		g.add(c, level+1, at)
		at += c.total
	}
	if other != 0 {
		g.bar(level+1, at, other, other, "other")
	}
}

func (g *flame) bar(level int, at, total, self int64, name string) {
	for len(g.graph.Levels) <= level {
		g.graph.Levels = append(g.graph.Levels, &querierv1.Level{})
	}
	number, ok := g.names[name]
	if !ok {
		number = int64(len(g.graph.Names))
		// Names of before they were cleaned when they came are in stores: see profiles.Clean.
		g.names[name], g.graph.Names = number, append(g.graph.Names, strings.ToValidUTF8(name, "\uFFFD"))
	}
	g.graph.MaxSelf = max(g.graph.MaxSelf, self)
	l := g.graph.Levels[level]
	l.Values = append(l.Values, at, total, self, number)
}
