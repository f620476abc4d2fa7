package heap

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
)

// How much of what is held is in use: of strings and slices what their lengths say, of maps the
// slots with entries. A part of a large string keeps all of it, and a map never shrinks. And how much of strings is
// there more than once: their contents are compared by hashes, and not kept.
const (
	// leastUse is the share of all that is reached from which on a node is looked at.
	leastUse = 0.01
	// samples are read of each, evenly spread.
	samples     = 256
	sampleBytes = 64 << 10
	// maxTexts are compared of each, of longer ones their beginning.
	maxTexts  = 512
	textBytes = 4 << 10
	// maxExamples are shown where somebody wants them, of each 40 bytes.
	maxExamples  = 5
	exampleBytes = 40
)

// A use is what was found of a node.
type use struct {
	used, held float64
	seen       map[uint32]bool
	texts      []text // chosen from all that were met
	met        int
}

// A text is a string.
type text struct{ at, bytes uint64 }

// meet chooses among the texts of a node, each as likely.
func (u *use) meet(t text, random *rand.Rand) {
	u.met++
	if len(u.texts) < maxTexts {
		u.texts = append(u.texts, t)
	} else if i := random.IntN(u.met); i < maxTexts {
		u.texts[i] = t
	}
}

// duplicate returns which part of the bytes of texts is there before at another place. Of few among many values
// nearly all is; of values that are as many as there are samples little is seen, so that it is the least.
func (u *use) duplicate(m memory) (share float64, known bool) {
	type content struct{ bytes, sum uint64 }
	seed, b := maphash.MakeSeed(), make([]byte, textBytes)
	places, contents := map[text]bool{}, map[content]bool{}
	again, all := uint64(0), uint64(0)
	for _, t := range u.texts {
		if places[t] { // which is shared
			continue
		}
		places[t] = true
		part := b[:min(t.bytes, textBytes)]
		if got, err := m.Read(part, t.at); err != nil || got < len(part) {
			continue
		}
		c := content{t.bytes, maphash.Bytes(seed, part)}
		if all += t.bytes; contents[c] {
			again += t.bytes
		}
		contents[c] = true
	}
	return float64(again) / float64(max(all, 1)), len(places) > maxTexts/8 && all > 0
}

// examples returns the beginnings of some different texts.
func (u *use) examples(m memory) (list []string) {
	b := make([]byte, exampleBytes)
	for _, t := range u.texts {
		part := b[:min(t.bytes, exampleBytes)]
		got, err := m.Read(part, t.at)
		if err != nil || got < len(part) || slices.Contains(list, string(part)) {
			continue
		}
		if list = append(list, string(part)); len(list) == maxExamples {
			break
		}
	}
	return list
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
	met, random := make([]uint32, len(r.nodes)), rand.New(rand.NewPCG(1, 1)) // the same each time
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
			r.useOf(c, uses, at, part[:got&^7], random)
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
		n.duplicate, n.duplicateKnown = u.duplicate(c.m)
		if r.examples {
			n.examples = u.examples(c.m)
		}
	}
	return nil
}

// every returns each of how many objects of a node is read.
func (r *retainer) every(n int32) uint32 {
	return uint32(max(1, r.nodes[n].objects/samples))
}

// useOf adds what an object of a node tells.
func (r *retainer) useOf(c *scanner, uses map[int32]*use, at int32, b []byte, random *rand.Rand) {
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
		if n := word(b[w+8:]); to.kind == kindText && n > 0 && float64(n) <= held { // bytes are written to
			u.meet(text{word(b[w:]), n}, random)
		}
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
