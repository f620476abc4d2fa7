package querier

import (
	"context"
	"slices"
	"strings"

	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"

	"github.com/gowhy/gowhy/fleet/stacktree"
	"github.com/gowhy/gowhy/fleet/store"
)

// mostNodes is how many nodes a flame graph has at most: Grafana asks for 16,384.
const mostNodes = 1 << 16

// flameOf returns the flame graph of stacks, of a number of nodes: the largest, and in the place
// of the others of a node one that is called other.
func flameOf(ctx context.Context, stacks *store.Stacks, most int) (*querierv1.FlameGraph, error) {
	t := stacktree.New()
	if err := t.Add(ctx, stacks, 0); err != nil {
		return nil, storeError(err)
	}
	g := &flame{tree: t, graph: &querierv1.FlameGraph{Total: t.Root.Total[0]}, names: map[string]int64{}, least: largest(&t.Root, most)}
	g.add(&t.Root, 0, 0)
	for _, l := range g.graph.Levels { // each offset is from the end of the bar before
		end := int64(0)
		for i := 0; i < len(l.Values); i += 4 {
			l.Values[i], end = l.Values[i]-end, l.Values[i]+l.Values[i+1]
		}
	}
	return g.graph, nil
}

// largest returns the total, on both sides together, that the n largest nodes have at least.
func largest(root *stacktree.Node, n int) int64 {
	var totals []int64
	var add func(*stacktree.Node)
	add = func(n *stacktree.Node) {
		totals = append(totals, both(n.Total))
		n.Each(add)
	}
	add(root)
	if len(totals) <= n {
		return 0
	}
	slices.Sort(totals)
	return totals[len(totals)-n]
}

// nameOf returns the name of a node.
func nameOf(t *stacktree.Tree, n *stacktree.Node) string {
	if n.Function == stacktree.All {
		return "total"
	}
	return t.Functions[n.Function]
}

type flame struct {
	tree  *stacktree.Tree
	graph *querierv1.FlameGraph
	names map[string]int64 // their places in the graph's list
	least int64            // smaller nodes are not shown
}

// add adds a node that begins at an offset, and what is below.
func (g *flame) add(n *stacktree.Node, level int, at int64) {
	g.bar(level, at, n.Total[0], n.Self[0], nameOf(g.tree, n))
	at += n.Self[0]
	var other int64
	for _, c := range g.tree.Sorted(n, nil) {
		if c.Total[0] < g.least {
			other = store.Add(other, c.Total[0])
			continue
		}
		g.add(c, level+1, at)
		at += c.Total[0]
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
