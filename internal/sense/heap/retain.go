package heap

import (
	"cmp"
	"context"
	"slices"
)

// A node is a step of the ways that lead to objects: all objects that are reached over the
// same fields and types from a holder are of one. What refers to its own type again stays in
// the same, so that a list has as many nodes as a pair.
type node struct {
	parent   int32
	holder   int32
	is       typeID
	elem     uint32 // bytes of an object, of what has no type
	depth    uint8
	hidden   bool // how the runtime makes a map: no step of a way
	label    string
	objects  uint64
	bytes    uint64
	shared   [2]uint64 // of the bytes, what another holder reaches, too; see byOthers
	retained uint64    // with what is behind
	use      float64   // share of it, where it is known; see measureUse
	useKnown bool
	// duplicate is which part of the bytes of strings is there more than once, at least.
	duplicate      float64
	duplicateKnown bool
	examples       []string // of strings, where they are wanted
	// words are those of the first 64 of an object without a type that lead to others, and madeBy is who allocates them.
	words  uint64
	madeBy string
}

const (
	maxNodes = 1 << 17
	maxDepth = 24
)

type nodeKey struct {
	parent int32
	is     typeID
	elem   uint32
	label  string
}

// A retainer walks from the roots to all objects, nearest first, and notes for each over
// which node it came there.
type retainer struct {
	s       *spans
	g       *graph
	t       *types
	node    []int32 // by object; 0 of what was not reached
	shared  [2]shares
	nodes   []node
	known   map[uint64]int32
	names   map[nodeKey]int32
	holders []holder
	queue   queue
	by      int // who reaches now: byOthers, byStacks, or byRuntime, which shares nothing
	reached uint64
	step    func(done, of uint64)
	// examples is that contents of strings are wanted.
	examples bool
	// reserved is a holder whose objects nobody shares: what leads to them is the runtime's.
	reserved int32
}

// Who reaches an object beside its holder.
const (
	byOthers  = iota
	byStacks  // which have words that are left over, too
	byRuntime // whose lists follow from who holds
)

// shares are the objects that others than their holders reach.
type shares struct {
	bits    []uint64
	pending queue // what is behind them is not shared yet
}

func (s *shares) add(object uint32) {
	if bit := uint64(1) << (object % 64); s.bits[object/64]&bit == 0 {
		s.bits[object/64] |= bit
		s.pending.push(object)
	}
}

func (s *shares) has(object uint32) bool { return s.bits[object/64]>>(object%64)&1 != 0 }

// A holder is a root with a name.
type holder struct {
	kind  string
	name  string
	count int
	node  int32
}

func newRetainer(s *spans, g *graph, t *types) *retainer {
	r := &retainer{s: s, g: g, t: t, node: make([]int32, s.objects), nodes: make([]node, 1), known: map[uint64]int32{}, names: map[nodeKey]int32{}, holders: make([]holder, 1)}
	for i := range r.shared {
		r.shared[i].bits = make([]uint64, s.objects/64+1)
	}
	return r
}

// hold begins a holder, and returns the node that its ways begin at.
func (r *retainer) hold(kind, name string, is typeID) int32 {
	if len(r.nodes) >= maxNodes {
		return 0
	}
	r.holders = append(r.holders, holder{kind: kind, name: name, count: 1, node: int32(len(r.nodes))})
	r.nodes = append(r.nodes, node{holder: int32(len(r.holders) - 1), is: is, label: name})
	return int32(len(r.nodes) - 1)
}

// under returns the node of a name behind another, which is no object: a frame.
func (r *retainer) under(parent int32, label string) int32 {
	return r.enter(parent, untyped, 0, label, false)
}

// enter returns the node of a step.
func (r *retainer) enter(parent int32, is typeID, elem uint32, label string, hidden bool) int32 {
	key := nodeKey{parent, is, elem, label}
	if n, ok := r.names[key]; ok {
		return n
	}
	n := r.again(parent, is, elem)
	switch from := &r.nodes[parent]; {
	case n != 0:
	case len(r.nodes) >= maxNodes || from.depth >= maxDepth:
		n = parent
	default:
		n = int32(len(r.nodes))
		r.nodes = append(r.nodes, node{parent: parent, holder: from.holder, is: is, elem: elem, depth: from.depth + 1, hidden: hidden, label: label})
	}
	r.names[key] = n
	return n
}

// again returns the node on the way to parent that has objects of the same kind already.
func (r *retainer) again(parent int32, is typeID, elem uint32) int32 {
	if is == untyped && elem == 0 || r.t.of(is).kind == kindText {
		return 0
	}
	for n := parent; n != 0 && r.nodes[n].parent != 0; n = r.nodes[n].parent {
		if at := &r.nodes[n]; at.is == is && (is != untyped || at.elem == elem) {
			return n
		}
	}
	return 0
}

// reach notes that a word of a node's objects leads to an object.
func (r *retainer) reach(from int32, is typeID, tag uint16, hint typeID, object uint32) {
	if to := r.node[object]; to != 0 {
		if held := r.nodes[to].holder; r.by != byRuntime && held != r.nodes[from].holder && held != r.reserved {
			r.shared[r.by].add(object)
		}
		return
	}
	r.node[object] = r.child(from, is, tag, hint, object)
	r.reached++
	r.queue.push(object)
}

// own returns the type that an object's own entries tell: of a large one, or a closure.
func (r *retainer) own(n int32, object uint32) (is typeID, tag uint16) {
	from, to := r.g.entries(r.s, n, object)
	if from >= to {
		return untyped, 0
	}
	id, tag := r.g.entry(from)
	if tag == tagType || tag == tagClosure {
		return typeID(id), tag
	}
	return untyped, 0
}

// child returns the node of an object that a word leads to. What small objects tell themselves
// counts only where the word has no type, or is of a function, for it is far away in memory.
func (r *retainer) child(from int32, is typeID, tag uint16, hint typeID, object uint32) int32 {
	n := r.s.of(object)
	sp := &r.s.list[n]
	key := uint64(from)<<45 | uint64(tag&tagWord)<<31 | uint64(tag>>15)<<30 | uint64(sp.class)<<22
	own, ownTag := untyped, uint16(0)
	if sp.noscan || sp.elem <= maxBits {
		to, ok := r.known[key|uint64(hint)]
		if ok && (to > 0 || sp.noscan) {
			return max(to, -to)
		}
		if ok && !sp.noscan {
			if own, ownTag = r.own(n, object); own == untyped && r.g.boxed[object] == untyped {
				return -to
			}
		}
	}
	if own == untyped {
		own, ownTag = r.own(n, object)
	}
	if own == untyped && hint == untyped && tag&tagInterior == 0 {
		hint = r.g.boxed[object]
	}
	if own != untyped {
		key |= ownType | uint64(own)
		if to, ok := r.known[key]; ok {
			return to
		}
	} else {
		key |= uint64(hint)
	}
	to := r.target(is, tag, hint)
	plain := r.typeOf(to.is, tag, untyped, 0, sp)
	id := r.typeOf(to.is, tag, own, ownTag, sp)
	elem := uint32(0)
	if id == untyped {
		elem = uint32(min(sp.elem, 1<<31))
	}
	child := r.enter(from, id, elem, to.label, r.t.of(id).hidden)
	if len(r.known) >= maxKnown {
		return child
	}
	switch k := r.t.of(plain).kind; {
	case own == untyped && (plain == untyped || k == kindClosure):
		r.known[key] = -child // others of the same word may be closures
	default:
		r.known[key] = child
	}
	return child
}

// ownType is in the keys of nodes whose objects tell their types.
const ownType = 1 << 21

const maxKnown = 1 << 20

// target returns what the word of a type leads to, by its declaration or by what is before it.
func (r *retainer) target(is typeID, tag uint16, hint typeID) (to target) {
	if word := tag & tagWord; word != tagUnknown {
		to = r.t.target(is, uint64(word)*8)
	}
	if hint != untyped && to.is == untyped {
		to.is = r.t.boxed(hint)
	}
	return to
}

// typeOf returns the type of an object, by what leads to it and what it tells itself.
func (r *retainer) typeOf(is typeID, tag uint16, own typeID, ownTag uint16, sp *span) typeID {
	if r.t.of(is).kind == kindMapSlots {
		is = r.t.slots(is, sp.elem, own)
	}
	if k := r.t.of(is).kind; tag&tagInterior != 0 && k != kindBacking && k != kindText {
		is = untyped
	}
	if k := r.t.of(is).kind; k == kindMapTables || k == kindMapTable {
		return is
	}
	switch size := r.t.of(own).size; {
	case own == untyped:
	case ownTag == tagClosure:
		if k := r.t.of(is).kind; is == untyped || k == kindClosure {
			is = own
		}
	case r.t.of(is).kind == kindBacking && r.t.of(is).elem == own:
	case size > 0 && sp.elem >= 2*size+8:
		is = r.t.derived(own, kindBacking)
	default:
		is = own
	}
	if !r.t.holds(is, sp.elem) {
		return untyped
	}
	return is
}

// run goes on until all that can be reached is.
func (r *retainer) run(ctx context.Context) error {
	for count := 0; ; count++ {
		object, ok := r.queue.pop()
		if !ok {
			return nil
		}
		if count&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.step(r.reached, uint64(r.s.objects))
		}
		r.visit(object)
	}
}

// visit reaches what an object leads to.
func (r *retainer) visit(object uint32) {
	at := r.node[object]
	is := r.nodes[at].is
	if r.t.of(is).kind == kindClosure {
		is = untyped
	}
	from, to := r.g.entries(r.s, r.s.of(object), object)
	unknown := is == untyped && r.nodes[at].elem > 0
	hint, place, placed := untyped, uint64(0), false
	for i := from; i < to; i++ {
		target, tag := r.g.entry(i)
		switch tag {
		case tagHint:
			hint = typeID(target)
		case tagPlace:
			place, placed = uint64(target), true
		case tagType, tagClosure:
		default:
			if word := tag & tagWord; unknown && word < 64 {
				r.nodes[at].words |= 1 << word
			}
			if placed {
				tag = tag&tagInterior | r.t.within(is, place+uint64(tag&tagWord))
			}
			r.reach(at, is, tag, hint, target)
			hint = untyped
		}
	}
}

// reserve visits what is to be visited now, and keeps what that leads to for later: each timer
// leads to its processor, and over that to all others.
func (r *retainer) reserve() (later queue) {
	now := r.queue
	r.queue = queue{}
	for {
		object, ok := now.pop()
		if !ok {
			break
		}
		r.reserved = r.nodes[r.node[object]].holder
		r.visit(object)
	}
	later, r.queue = r.queue, queue{}
	return later
}

// spread shares what is behind shared objects.
func (r *retainer) spread(ctx context.Context, s *shares) error {
	for count := 0; ; count++ {
		object, ok := s.pending.pop()
		if !ok {
			return nil
		}
		if count&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		from, to := r.g.entries(r.s, r.s.of(object), object)
		for i := from; i < to; i++ {
			if target, tag := r.g.entry(i); tag&tagHint == 0 && r.node[target] != 0 {
				s.add(target)
			}
		}
	}
}

// sum adds up the objects of each node, and what is behind it.
func (r *retainer) sum() {
	for i := range r.s.list {
		sp := &r.s.list[i]
		for o := sp.first; o < sp.first+sp.n; o++ {
			if at := r.node[o]; at != 0 {
				n := &r.nodes[at]
				n.objects++
				n.bytes += sp.elem
				for by := range r.shared {
					if r.shared[by].has(o) {
						n.shared[by] += sp.elem
					}
				}
			}
		}
	}
	for i := len(r.nodes) - 1; i > 0; i-- { // a node's number is behind its parent's
		n := &r.nodes[i]
		n.retained += n.bytes
		r.nodes[n.parent].retained += n.retained
	}
}

// children returns the nodes by parent.
func (r *retainer) children() map[int32][]int32 {
	all := map[int32][]int32{}
	for i := 1; i < len(r.nodes); i++ {
		all[r.nodes[i].parent] = append(all[r.nodes[i].parent], int32(i))
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(r.nodes[b].retained, r.nodes[a].retained) })
	}
	return all
}

// A queue is first in, first out, in pieces that are given back.
type queue struct {
	pieces [][]uint32
	head   int
	spare  []uint32
}

func (q *queue) push(v uint32) {
	last := len(q.pieces) - 1
	if last < 0 || len(q.pieces[last]) == pieceEntries {
		piece := q.spare
		if q.spare = nil; piece == nil {
			piece = make([]uint32, 0, pieceEntries)
		}
		q.pieces = append(q.pieces, piece)
		last++
	}
	q.pieces[last] = append(q.pieces[last], v)
}

func (q *queue) pop() (v uint32, ok bool) {
	if len(q.pieces) == 0 || q.head == len(q.pieces[0]) {
		return 0, false
	}
	v = q.pieces[0][q.head]
	if q.head++; q.head == pieceEntries {
		q.spare, q.pieces[0] = q.pieces[0][:0], nil
		q.pieces, q.head = q.pieces[1:], 0
	}
	return v, true
}
