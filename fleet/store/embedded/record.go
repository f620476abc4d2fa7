package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gowhy/gowhy/fleet/store"
)

// A batch is what the log and memory keep of a [store.Batch]: times in milliseconds, and
// only those stacks that were not known when it came.
type batch struct {
	id          [16]byte
	source      *store.Source
	from, until int64
	profiles    []store.Profile
	stacks      map[store.StackID][]store.Frame
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
	to = binary.AppendUvarint(to, uint64(len(b.Profiles)))
	for _, p := range b.Profiles {
		to = appendText(to, string(p.Type))
		to = binary.AppendUvarint(to, uint64(len(p.Samples)))
		for _, s := range p.Samples {
			to = binary.LittleEndian.AppendUint64(to, uint64(s.Stack))
			to = binary.AppendVarint(to, s.Value)
		}
	}
	for id, frames := range b.Stacks { // to the end
		if len(frames) == 0 || known(id) {
			continue
		}
		to = binary.LittleEndian.AppendUint64(to, uint64(id))
		to = appendFrames(to, frames)
	}
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

func appendFrames(to []byte, frames []store.Frame) []byte {
	to = binary.AppendUvarint(to, uint64(len(frames)))
	for _, f := range frames {
		to = appendText(appendText(to, f.Function), f.File)
		to = binary.AppendVarint(to, int64(f.Line))
	}
	return to
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// decode is the batch of an encoding. It allocates no more than a small multiple of its
// length, whatever the bytes say.
func decode(from []byte) (*batch, error) {
	d := decoder{rest: from}
	b := &batch{stacks: map[store.StackID][]store.Frame{}}
	copy(b.id[:], d.take(len(b.id)))
	b.source = d.source()
	b.from, b.until = d.varint(), d.varint()
	b.profiles = make([]store.Profile, d.count(2))
	for i := range b.profiles {
		b.profiles[i] = d.profile()
	}
	for len(d.rest) > 0 && !d.bad {
		id := store.StackID(d.fixed())
		b.stacks[id] = d.frames()
	}
	if d.bad {
		return nil, errBatch
	}
	return b, nil
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

// count is how many entries follow, each of which takes at least so many bytes.
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

func (d *decoder) profile() store.Profile {
	p := store.Profile{Type: store.Type(d.text())}
	p.Samples = make([]store.Sample, d.count(9))
	for i := range p.Samples {
		p.Samples[i] = store.Sample{Stack: store.StackID(d.fixed()), Value: d.varint()}
	}
	return p
}

func (d *decoder) frames() []store.Frame {
	frames := make([]store.Frame, d.count(3))
	for i := range frames {
		frames[i] = store.Frame{Function: d.text(), File: d.text()}
		line := d.varint()
		if line < math.MinInt32 || line > math.MaxInt32 {
			d.bad = true
		}
		frames[i].Line = int32(line)
	}
	return frames
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

// bytes is about what a batch takes in memory.
func (b *batch) bytes() int64 {
	n := 200
	for _, p := range b.profiles {
		n += 60 + 16*len(p.Samples)
	}
	for _, frames := range b.stacks {
		n += 80
		for _, f := range frames {
			n += 40 + len(f.Function) + len(f.File)
		}
	}
	return int64(n)
}
