package heap

// How much of what is held is in use: of strings and slices what their lengths say, of maps the
// slots with entries. A part of a large string keeps all of it, and a map never shrinks.
const (
	// leastUse is the share of all that is reached from which on a node is looked at.
	leastUse = 0.01
	// samples are read of each, evenly spread.
	samples     = 256
	sampleBytes = 64 << 10
)

// A use is what was found of a node.
type use struct {
	used, held float64
	seen       map[uint32]bool
}

// measureUse looks into samples of what leads to the nodes that count. What it cannot read is
// left out.
func (r *retainer) measureUse(c *scanner) error {
	uses := map[int32]*use{}
	sampled := make([]uint32, len(r.nodes)) // each of how many objects is read, by node
	for i := 1; i < len(r.nodes); i++ {
		n := &r.nodes[i]
		if float64(n.retained) < leastUse*float64(r.nodes[0].retained) {
			continue
		}
		switch r.t.of(n.is).kind {
		case kindText, kindBacking:
			if float64(n.bytes) >= leastUse*float64(r.nodes[0].retained) && r.nodes[n.parent].objects > 0 {
				uses[int32(i)] = &use{seen: map[uint32]bool{}}
				sampled[n.parent] = r.every(n.parent)
			}
		case kindMapHeader:
			uses[int32(i)] = &use{}
			sampled[i] = r.every(int32(i))
		}
	}
	if len(uses) == 0 {
		return nil
	}
	met := make([]uint32, len(r.nodes))
	b := make([]byte, sampleBytes)
	for i := range r.s.list {
		sp := &r.s.list[i]
		for o := sp.first; o < sp.first+sp.n; o++ {
			at := r.node[o]
			if sampled[at] == 0 {
				continue
			}
			if met[at]++; met[at]%sampled[at] != 0 {
				continue
			}
			part := b[:min(sp.elem-sp.skip(), sampleBytes)&^7]
			got, err := c.m.Read(part, sp.start+uint64(o-sp.first)*sp.elem+sp.skip())
			if err != nil {
				return err
			}
			r.useOf(c, uses, at, part[:got&^7])
		}
	}
	for at, u := range uses {
		n := &r.nodes[at]
		if r.t.of(n.is).kind == kindMapHeader && u.held > 0 {
			u.used, u.held = u.used/u.held*float64(n.objects), r.slotsUnder(at)
		}
		if u.held > 0 {
			n.use = min(1, u.used/u.held)
			n.useKnown = true
		}
	}
	return nil
}

// every returns each of how many objects of a node is read.
func (r *retainer) every(n int32) uint32 {
	return uint32(max(1, r.nodes[n].objects/samples))
}

// useOf adds what an object of a node tells.
func (r *retainer) useOf(c *scanner, uses map[int32]*use, at int32, b []byte) {
	is := r.nodes[at].is
	g := r.t.of(is)
	if g.kind == kindMapHeader {
		if u := uses[at]; u != nil && len(b) >= 8 { // the number of entries comes first in all versions
			u.used, u.held = u.used+float64(word(b)), u.held+1
		}
		return
	}
	for w := 0; w+16 <= len(b); w += 8 {
		offset := uint64(w)
		if g.size > 0 {
			offset %= g.size
		}
		to := r.t.of(r.t.target(is, offset).is)
		if to.kind != kindText && to.kind != kindBacking {
			continue
		}
		object, _, ok := c.lookup(word(b[w:]))
		if !ok {
			continue
		}
		u := uses[r.node[object]]
		if u == nil || u.seen == nil {
			continue
		}
		if to.kind == kindBacking && word(b[w+8:]) == 0 {
			continue // a buffer for its next user
		}
		size := float64(1)
		if to.kind == kindBacking {
			size = float64(r.t.of(to.elem).size)
		}
		held := float64(r.s.list[r.s.of(object)].elem)
		u.used += min(size*float64(word(b[w+8:])), held)
		if !u.seen[object] { // parts of the same are in use together
			u.seen[object] = true
			u.held += held
		}
	}
}

// slotsUnder returns how many entries the maps of a node have room for.
func (r *retainer) slotsUnder(at int32) (slots float64) {
	const each = 8 // of a group, and of a bucket
	under := map[int32]bool{at: true}
	for i := int(at) + 1; i < len(r.nodes); i++ { // a node's number is behind its parent's
		n := &r.nodes[i]
		if !under[n.parent] || !n.hidden {
			continue
		}
		under[int32(i)] = true
		of := r.t.of(n.is)
		if of.kind == kindStruct || of.kind == kindBacking && r.t.of(of.elem).kind == kindStruct && of.name != "[]maps.table" {
			if of.size > 0 && r.typeName(n) != "" {
				slots += each * float64(n.bytes) / float64(of.size)
			}
		}
	}
	return slots
}
