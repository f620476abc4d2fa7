package flame

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

// How a million samples become a tree that can be looked at.
//
// The problem. A profile is a bag of stacks. A reader wants the tree of who
// called whom, with the value of everything below each place; of two runs, both
// values at the same place. The file may be an hour of a large service (10^6
// samples, 10^5 different stacks) or made by somebody who wishes us ill (stacks
// of a thousand frames, all of one recursive function; names of megabytes;
// values near 2^63).
//
// The plan.
//
//  1. Add up equal stacks first: samples differ mostly in their labels. What a
//     stack is made of comes from the kind (a group on top, a state between, a
//     leaf for what happened in the kernel); frames are only looked at once for
//     each different stack. Values below zero exist in profiles that are a
//     difference of two; they are added up with the rest, and a stack that is
//     still below zero is left out and said so, for a tree has no place for it.
//  2. Lay each stack into the tree, root first, through one map from (parent,
//     function) to node. A path is made of functions, without lines: two calls
//     from two lines of the same function are one place to a reader, and lines
//     differ between any two versions of a program, so that nothing could be
//     compared. The line that is shown is that of the node's largest stack.
//     Both runs go into the same tree, with a value each. A recursion is as
//     deep in the tree as it was on the stack; whoever adds up a function over
//     the tree must not count a node inside another of the same function.
//  3. Sums: nodes are numbered in order of their making, parents first, so one
//     pass from the last to the first adds each to its parent.
//  4. Leave out what is too small, by share and by number. A child is never
//     larger than its parent, so whatever threshold is chosen, what stays is a
//     tree with the same root. Nodes as large as the first that has no place
//     are left out with it, however many: otherwise it would depend on the
//     order of samples which of them stayed.
//  5. Order the rest, children by size and name, and number them anew in
//     the order in which they are drawn.
//
// Not done the other way (sort the stacks by their functions and read the tree
// off their common prefixes): it needs no map, but compares long prefixes again
// and again, and cannot add a second run without sorting anew.
//
// Limits. Memory is about 100 bytes for each frame of a different stack, at
// most; those are bounded by whoever read the evidence (8 million), and cut here
// to maxDepth. Names are cut to maxName, and shorter when there are
// very many of them; they are told apart by their first maxName bytes.

const (
	// maxDepth is how many frames of a stack are kept, from the root. The
	// runtime's profiler records 128, perf and eBPF some hundreds.
	maxDepth = 2048
	// maxName is how many bytes of a name are kept.
	maxName = 4 << 10
	// maxNames is how many bytes all names of a tree may have together.
	maxNames = 16 << 20
	// maxGroupName is how long a group's name in [Tree.Groups] may be.
	maxGroupName = 1 << 10
	// leastName is what each name has of that at least.
	leastName = 64
)

// The sides of a comparison.
const (
	thisRun = iota
	baseRun
)

// A place is where a stack of a kind is: all stacks of one place become one path.
type place struct {
	group, state, leaf string
	frames             model.Stack
	rooted             bool
}

// start returns the start function of a place, as far as it is known.
func (p place) start(m *model.Model) string {
	switch {
	case p.group != "":
		return p.group
	case p.rooted:
		return NoGroup
	}
	return start(withoutExit(m.Stacks.Frames(p.frames)))
}

// weights are what a kind has at each place.
type weights struct {
	at     map[place]int64
	total  int64
	count  int64 // of observations
	below  int   // places that were left out, for their values add up to less than 0
	groups map[string]int64
	labels map[string]int64
}

// A choice is some of the stacks of a kind: those of goroutines with a start function,
// with a label as "key=value", and of some entries; what is empty chooses nothing.
type choice struct {
	group, label string
	marked       func(entry int) bool
}

// gather adds up the equal stacks of a kind that are chosen. ok is false when they are
// more than a number can hold.
func gather(k *kind, m *model.Model, c choice) (w weights, ok bool) {
	w = weights{at: map[place]int64{}, groups: map[string]int64{}, labels: map[string]int64{}}
	key, value, _ := strings.Cut(c.label, "=")
	for s := range k.each(m) {
		if c.marked != nil && !c.marked(s.index) {
			continue
		}
		for k, v := range s.labels {
			if l := k + "=" + v; len(w.labels) < maxLabels || w.labels[l] != 0 {
				w.labels[l] = addUp(w.labels[l], s.value)
			}
		}
		if v, has := s.labels[key]; c.label != "" && (!has || v != value) {
			continue
		}
		w.count += s.count
		p := place{s.group, s.state, s.leaf, s.frames, s.rooted}
		w.at[p] = addUp(w.at[p], s.value)
	}
	for p, v := range w.at {
		group := p.start(m)
		w.groups[group] = addUp(w.groups[group], v)
		switch {
		case c.group != "" && c.group != group:
			delete(w.at, p)
		case v <= 0:
			delete(w.at, p)
			if v < 0 {
				w.below++
			}
		default:
			w.total = addUp(w.total, v)
		}
	}
	return w, w.total < math.MaxInt64
}

// maxLabels bounds the labels that are told apart: a program may label each request.
const maxLabels = 10_000

// largest names the groups or labels that a reader may choose from.
func largest(of map[string]int64) []string {
	// A name that is too long to be sent could not be requested by what is left of it.
	names := slices.DeleteFunc(statistics.Largest(of), func(n string) bool { return len(n) > maxGroupName })
	return names[:min(len(names), maxGroups)]
}

// A node is one place in the tree of both runs.
type node struct {
	parent, fn int32
	line       [2]int32
	heaviest   [2]int64 // the value of the stack that the line is of
	self, sum  [2]int64
}

type edge struct{ parent, fn int32 }

type funcKey struct {
	name   string
	kernel bool // the kernel has functions of the same names as C libraries
}

// A function is known by its name alone: its file is what a diff must ignore,
// for it names the folder of one build.
type function struct {
	funcKey
	file [2]string // in each run; the first by the alphabet where it has several
	seen [2]bool
}

type builder struct {
	nodes  []node
	child  map[edge]int32
	funcs  []function
	number map[funcKey]int32
	owners [2]Owners
	ratio  float64 // of the base run's values
}

func newBuilder() *builder {
	return &builder{nodes: []node{{parent: -1, fn: -1}}, child: map[edge]int32{}, number: map[funcKey]int32{}, ratio: 1}
}

// take lays the stacks of one run into the tree.
func (b *builder) take(k *kind, m *model.Model, c choice, side int) (weights, error) {
	w, ok := gather(k, m, c)
	switch {
	case !ok:
		return w, problem.New(problem.Failure, "", "the values of kind %s add up to more than 2^63: the profile is damaged", k.name)
	case len(w.at) == 0 && c.marked == nil:
		return w, nothing(m, k, c, side == baseRun)
	}
	b.owners[side] = OwnersOf(m)
	for p, v := range w.at {
		b.lay(m, p, v, side)
	}
	return w, nil
}

// lay adds one stack.
func (b *builder) lay(m *model.Model, p place, v int64, side int) {
	frames := withoutExit(m.Stacks.Frames(p.frames))
	kernel := kernelDepth(frames)
	at, depth := int32(0), 0
	if p.rooted {
		root := model.Frame{Func: p.start(m)}
		// The outermost frame of a goroutine is its group: it is there once.
		if n := len(frames); n > 0 && frames[n-1].Func == root.Func && p.state != madeReady {
			root, frames = frames[n-1], frames[:n-1]
		}
		at = b.step(at, root, false, v, side)
		depth++
	}
	if p.state != "" {
		at = b.step(at, model.Frame{Func: p.state}, false, v, side)
		depth++
	}
	for i := len(frames) - 1; i >= 0 && depth < maxDepth; i-- {
		at = b.step(at, frames[i], i < kernel, v, side)
		depth++
	}
	if p.leaf != "" {
		at = b.step(at, model.Frame{Func: p.leaf}, true, v, side)
		depth++
	}
	if depth == 0 {
		at = b.step(at, model.Frame{Func: noStack}, false, v, side)
	}
	b.nodes[at].self[side] += v
}

// step goes from a node to its child of a function, which it makes when there
// is none, for a stack of value v.
func (b *builder) step(at int32, f model.Frame, kernel bool, v int64, side int) int32 {
	e := edge{at, b.function(f, kernel, side)}
	next, ok := b.child[e]
	if !ok {
		next = int32(len(b.nodes))
		b.nodes = append(b.nodes, node{parent: at, fn: e.fn})
		b.child[e] = next
	}
	n := &b.nodes[next]
	line := int32(min(max(f.Line, 0), math.MaxInt32))
	if v > n.heaviest[side] || v == n.heaviest[side] && line < n.line[side] {
		n.line[side], n.heaviest[side] = line, v
	}
	return next
}

// function returns the number of a frame's function.
func (b *builder) function(f model.Frame, kernel bool, side int) int32 {
	key := funcKey{f.Func, kernel}
	if len(key.name) > maxName {
		key.name = clip(key.name, maxName)
	}
	i, ok := b.number[key]
	if !ok {
		i = int32(len(b.funcs))
		b.number[key] = i
		b.funcs = append(b.funcs, function{funcKey: key})
	}
	fn := &b.funcs[i]
	fn.seen[side] = true
	if old := fn.file[side]; old == "" || f.File != "" && f.File < old {
		fn.file[side] = f.File
	}
	return i
}

// tree fills a tree with what is large enough.
func (b *builder) tree(t *Tree, o Options) {
	b.addUp()
	kept := b.keep(t, o)
	order := b.order(kept)
	n := len(order)
	t.Parent, t.Func, t.Line = make([]int32, n), make([]int32, n), make([]int32, n)
	t.Self, t.Sum = make([]int64, n), make([]int64, n)
	if o.Base != nil {
		t.Base = make([]int64, n)
	}
	renamed := make([]int32, len(b.nodes)) // numbers of nodes in the tree
	funcs := map[int32]int32{}
	for i, old := range order {
		x := &b.nodes[old]
		renamed[old] = int32(i)
		t.Parent[i], t.Func[i] = -1, -1
		if old != 0 {
			t.Parent[i] = renamed[x.parent]
			t.Func[i] = b.funcOf(t, funcs, x.fn)
		}
		t.Line[i] = x.line[thisRun]
		if x.heaviest[thisRun] == 0 {
			t.Line[i] = x.line[baseRun]
		}
		t.Self[i], t.Sum[i] = x.self[thisRun], x.sum[thisRun]
		if o.Base != nil {
			t.Base[i] = scaled(x.sum[baseRun], b.ratio)
		}
	}
	shorten(t.Funcs)
}

// addUp gives every node what is below it.
func (b *builder) addUp() {
	for i := len(b.nodes) - 1; i >= 0; i-- {
		n := &b.nodes[i]
		for side := range n.self {
			n.sum[side] += n.self[side]
			if i > 0 {
				b.nodes[n.parent].sum[side] += n.sum[side]
			}
		}
	}
}

// size returns the value by which a node is shown: in a comparison, what is gone is as
// interesting as what came.
func (b *builder) size(i int32) int64 {
	n := &b.nodes[i]
	return max(n.sum[thisRun], scaled(n.sum[baseRun], b.ratio))
}

// keep returns the nodes that are large enough, the root among them, and
// counts the others.
func (b *builder) keep(t *Tree, o Options) (kept []int32) {
	limit := o.Limit
	if limit <= 0 || limit > MaxNodes {
		limit = MaxNodes
	}
	least := max(1, int64(math.Ceil(min(max(o.Min, 0), 1)*float64(b.size(0)))))
	sizes := make([]int64, 0, len(b.nodes)-1)
	for i := range b.nodes[1:] {
		if v := b.size(int32(i + 1)); v >= least {
			sizes = append(sizes, v)
		}
	}
	if len(sizes) >= limit { // the root is one of them
		slices.SortFunc(sizes, func(x, y int64) int { return cmp.Compare(y, x) })
		least = sizes[limit-1] + 1
	}
	kept = append(kept, 0)
	for i := range b.nodes[1:] {
		if i := int32(i + 1); b.size(i) >= least {
			kept = append(kept, i)
		}
	}
	t.LeftNodes = len(b.nodes) - len(kept)
	return kept
}

// order returns nodes as they are drawn: each before what is below it, the
// larger of two children first.
func (b *builder) order(kept []int32) []int32 {
	below := slices.Clone(kept[1:])
	slices.SortFunc(below, func(x, y int32) int {
		nx, ny := &b.nodes[x], &b.nodes[y]
		if c := cmp.Or(cmp.Compare(nx.parent, ny.parent), cmp.Compare(b.size(y), b.size(x))); c != 0 {
			return c
		}
		fx, fy := &b.funcs[nx.fn], &b.funcs[ny.fn]
		return cmp.Or(cmp.Compare(fx.name, fy.name), compareBool(fx.kernel, fy.kernel))
	})
	from := make([]int32, len(b.nodes)+1) // children of p are below[from[p]:from[p+1]]
	for _, i := range below {
		from[b.nodes[i].parent+1]++
	}
	for p := range b.nodes {
		from[p+1] += from[p]
	}
	order := make([]int32, 0, len(kept))
	todo := []int32{0}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		order = append(order, i)
		for c := from[i+1] - 1; c >= from[i]; c-- {
			todo = append(todo, below[c])
		}
	}
	return order
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// funcOf returns the number that a function has in the tree, which has only
// those that its nodes need.
func (b *builder) funcOf(t *Tree, known map[int32]int32, fn int32) int32 {
	if i, ok := known[fn]; ok {
		return i
	}
	i := int32(len(t.Funcs))
	known[fn] = i
	f, side := &b.funcs[fn], thisRun
	if !f.seen[thisRun] {
		side = baseRun
	}
	out := Func{Name: f.name, File: clip(f.file[side], maxName), Owner: Kernel}
	if !f.kernel {
		out.Owner = b.owners[side].OwnerOf(model.Frame{Func: f.name, File: f.file[side]})
	}
	t.Funcs = append(t.Funcs, out)
	return i
}

// shorten cuts names where all of them are too much to be sent.
func shorten(funcs []Func) {
	all := 0
	for _, f := range funcs {
		all += len(f.Name) + len(f.File)
	}
	if all <= maxNames {
		return
	}
	most := max(leastName, maxNames/(2*len(funcs)))
	for i := range funcs {
		funcs[i].Name, funcs[i].File = clip(funcs[i].Name, most), clip(funcs[i].File, most)
	}
}

// clip cuts a name to a number of bytes, not inside a character, and shows it.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// scaled multiplies a value, rounds, and stays within an int64.
func scaled(v int64, ratio float64) int64 {
	if ratio == 1 {
		return v
	}
	f := math.Round(float64(v) * ratio)
	switch {
	case !(f > 0):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(f)
}
