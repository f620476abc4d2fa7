package server

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/stacktree"
	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// leastShare is the part of its side's total that a node must have to be shown.
	leastShare = 2000
	// mostNodes bounds a tree: that of very deep stacks is cut at larger shares, and has no
	// nodes in the end where all have the whole, as sums that are out of range do.
	mostNodes = 1 << 16
	// tooSmall is the function of a node of children, beside [stacktree.All].
	tooSmall = -2
)

func flame(ctx context.Context, r store.Reader, s store.Selection, base string) (api.Flame, error) {
	t := &tree{stacktree.New(), 1}
	head, missing, err := t.sum(ctx, r, s, 0)
	if err != nil {
		return api.Flame{}, err
	}
	a := api.Flame{Unit: unitOf(s.Type), Head: head}
	if base != "" {
		t.sides = 2
		s.Version = base
		before, more, err := t.sum(ctx, r, s, 1)
		if err != nil {
			return api.Flame{}, err
		}
		a.Base, missing = &before, append(missing, more...)
	}
	slices.Sort(missing)
	a.Missing = slices.Compact(missing)
	least := int64(leastShare)
	for t.count(&t.Root, least) > mostNodes {
		least /= 2
	}
	a.Root = t.write(nil, &t.Root, least)
	a.Functions, a.Files = t.Functions, t.Files
	if a.Functions == nil {
		a.Functions, a.Files = []string{}, []string{}
	}
	return a, nil
}

func unitOf(t store.Type) string { return strings.Split(string(t), ":")[2] }

// A tree is that of one side or two, and what of it is shown.
type tree struct {
	*stacktree.Tree
	sides int
}

// sum sums the stacks of a selection on a side.
func (t *tree) sum(ctx context.Context, r store.Reader, s store.Selection, side int) (api.Side, store.Missing, error) {
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
		if len(stacks.Frames[sample.Stack]) == 0 {
			stacks.Frames[sample.Stack] = []*store.Frame{{Function: store.NoStack}}
		}
	}
	return sum, slices.Concat(stacks.Missing, all.Missing), t.Add(ctx, &stacks, side)
}

// shown tells whether a node is large enough on any side.
func (t *tree) shown(n *stacktree.Node, least int64) bool {
	for side := range t.sides {
		if least > 0 && n.Total[side] > 0 && n.Total[side] >= t.Root.Total[side]/least {
			return true
		}
	}
	return false
}

// count returns how many nodes are shown below one, itself among them.
func (t *tree) count(n *stacktree.Node, least int64) int {
	sum := 1
	n.Each(func(c *stacktree.Node) {
		if t.shown(c, least) {
			sum += t.count(c, least)
		}
	})
	return sum
}

// write appends a node: children that are shown by their names, the others as one.
func (t *tree) write(b []byte, n *stacktree.Node, least int64) []byte {
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(n.Function), 10)
	for side := range t.sides {
		b = strconv.AppendInt(append(b, ','), n.Self[side], 10)
		b = strconv.AppendInt(append(b, ','), n.Total[side], 10)
	}
	small := stacktree.Node{Function: tooSmall}
	shown := t.Sorted(n, func(c *stacktree.Node) bool {
		if t.shown(c, least) {
			return true
		}
		for side := range t.sides {
			small.Total[side] = store.Add(small.Total[side], c.Total[side])
		}
		return false
	})
	if small.Self = small.Total; small.Total != [2]int64{} {
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
