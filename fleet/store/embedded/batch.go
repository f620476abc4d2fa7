package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gowhy/gowhy/fleet/store"
)

// A batch is what the log and memory keep of a [store.Batch]: its encoding, of which only
// what every question needs is decoded. Rows take 8 bytes and a varint each so, and a flush
// or a query reads those of the types it wants. Times are in milliseconds.
type batch struct {
	id          [16]byte
	source      *store.Source
	from, until int64
	profiles    []byte // see appendProfile
	stacks      []byte // those that were not known when it came; see appendStacks
	frames      frameList
}

// mostBatch is the longest encoding of a batch that Write takes. 16 MiB of profiles, the
// most a client may send at once, are less than half of it.
const mostBatch = 32 << 20

var errBatch = errors.New("a batch of the log does not decode")

// encode appends a batch, without the stacks for which known is true.
func encode(to []byte, b *store.Batch, known func(store.StackID) bool) []byte {
	to = append(to, b.ID[:]...)
	to = appendSource(to, &b.Source)
	to = binary.AppendVarint(to, b.From.UnixMilli())
	to = binary.AppendVarint(to, b.Until.UnixMilli())
	at := len(to)
	to = append(to, 0, 0, 0, 0) // the length of the profiles
	for i := range b.Profiles {
		to = appendProfile(to, &b.Profiles[i])
	}
	binary.LittleEndian.PutUint32(to[at:], uint32(len(to)-at-4))
	return appendStacks(to, b.Stacks, known)
}

// sizeOf is about how long a batch's encoding is without stacks.
func sizeOf(b *store.Batch) int {
	size := 256
	for _, p := range b.Profiles {
		size += 80 + 14*len(p.Samples)
	}
	return size
}

// appendProfile appends type, number of samples and length of what follows, by which a
// reader leaves out a profile; then all IDs in 8 bytes each, then all values.
func appendProfile(to []byte, p *store.Profile) []byte {
	to = appendText(to, string(p.Type))
	to = binary.AppendUvarint(to, uint64(len(p.Samples)))
	at := len(to)
	to = append(to, 0, 0, 0, 0)
	to = slices.Grow(to, (8+binary.MaxVarintLen64)*len(p.Samples))
	ids := to[len(to) : len(to)+8*len(p.Samples)]
	to = to[:len(to)+len(ids)]
	for i, s := range p.Samples {
		binary.LittleEndian.PutUint64(ids[8*i:], uint64(s.Stack))
	}
	for _, s := range p.Samples {
		to = binary.AppendVarint(to, s.Value)
	}
	binary.LittleEndian.PutUint32(to[at:], uint32(len(to)-at-4))
	return to
}

func appendSource(to []byte, s *store.Source) []byte {
	to = appendText(to, s.Tenant)
	to = appendText(to, s.Service)
	to = appendText(to, s.Version)
	to = appendText(to, s.Instance)
	return appendLabels(to, s.Labels)
}

func appendLabels(to []byte, labels []store.Label) []byte {
	to = binary.AppendUvarint(to, uint64(len(labels)))
	for _, l := range labels {
		to = appendText(appendText(to, l.Name), l.Value)
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// decode returns the batch of an encoding, which it refers to. Its rows and frames are those
// of the encoding: valid says whether they decode.
func decode(from []byte) (*batch, error) {
	d := decoder{rest: from}
	b := &batch{}
	copy(b.id[:], d.take(len(b.id)))
	b.source = d.source()
	b.from, b.until = d.varint(), d.varint()
	b.profiles = d.block()
	b.stacks = d.block()
	b.frames = d.rest
	if d.bad {
		return nil, errBatch
	}
	return b, nil
}

// valid reports whether all of a batch decodes, which it does unless its bytes come from
// somewhere else than encode.
func (b *batch) valid() bool {
	d := decoder{rest: b.profiles}
	for len(d.rest) > 0 && !d.bad {
		p := d.profile()
		values := decoder{rest: p.values}
		for range p.count {
			values.varint()
		}
		d.bad = d.bad || values.bad || len(values.rest) > 0
	}
	return !d.bad && b.validStacks()
}

// A profile is one of a batch, as it is encoded.
type profile struct {
	kind   []byte
	count  int
	ids    []byte // 8 each
	values []byte // varints
}

// each gives the profiles of a batch, in their order.
func (b *batch) each() iter.Seq[profile] {
	return func(yield func(profile) bool) {
		d := decoder{rest: b.profiles}
		for len(d.rest) > 0 {
			if p := d.profile(); d.bad || !yield(p) {
				return
			}
		}
	}
}

// samples gives the rows of a profile.
func (p *profile) samples(row func(stack, value int64)) {
	values := p.values
	for i := range p.count {
		value, n := binary.Varint(values)
		values = values[max(n, 0):]
		row(int64(binary.LittleEndian.Uint64(p.ids[8*i:])), value)
	}
}

// A decoder reads values one after the other. Once one is not there it is bad and gives
// zeros.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) fixed() uint64 {
	taken := d.take(8)
	if taken == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(taken)
}

func (d *decoder) varint() int64 {
	value, n := binary.Varint(d.rest)
	d.skip(n)
	return value
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.bad, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

// count returns how many entries follow, each of which takes at least a number of bytes.
func (d *decoder) count(each int) int {
	value, n := binary.Uvarint(d.rest)
	d.skip(n)
	if value > uint64(len(d.rest)/each) {
		d.bad, d.rest = true, nil
		return 0
	}
	return int(value)
}

func (d *decoder) text() string { return string(d.take(d.count(1))) }

func (d *decoder) source() *store.Source {
	s := &store.Source{Tenant: d.text(), Service: d.text(), Version: d.text(), Instance: d.text()}
	s.Labels = d.labels()
	return s
}

func (d *decoder) labels() []store.Label {
	labels := make([]store.Label, d.count(2))
	for i := range labels {
		labels[i] = store.Label{Name: d.text(), Value: d.text()}
	}
	return labels
}

// block is bytes behind their length.
func (d *decoder) block() []byte {
	length := d.take(4)
	if length == nil {
		return nil
	}
	return d.take(int(binary.LittleEndian.Uint32(length)))
}

func (d *decoder) profile() profile {
	p := profile{kind: d.take(d.count(1)), count: d.count(9)}
	rows := decoder{rest: d.block()}
	if p.count > len(rows.rest)/9 {
		d.bad, d.rest = true, nil
		return profile{}
	}
	p.ids = rows.take(8 * p.count)
	p.values = rows.rest
	return p
}

// check refuses what the seam has no meaning for.
func check(b *store.Batch) error {
	for i, p := range b.Profiles {
		if p.Type == "" {
			return fmt.Errorf("profile %d of a batch of %q has no type", i, b.Source.Service)
		}
	}
	return nil
}

// bytes is about what a batch takes in a table, without what finds its new stacks.
func (b *batch) bytes() int64 { return 300 + int64(len(b.profiles)+len(b.stacks)+len(b.frames)) }

// tableBytes is about what the batch of an encoding takes in a table.
func tableBytes(encoded []byte) int64 {
	b, err := decode(encoded)
	if err != nil { // which is found when it is added
		return 0
	}
	bytes := b.bytes()
	for range b.newStacks() {
		bytes += stackBytes
	}
	return bytes
}

// stackBytes is about what a new stack takes in the map of a table: an entry has 72 bytes, and
// a map has more room than entries. A fleet's stacks are few, but those of a client that makes
// new ones took four times what their encodings do.
const stackBytes = 150
