package embedded

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
)

// The rollup of a segment has the sums of its samples by type, hour, version and stack, and
// of its totals by hour, type and source. A question of whole hours reads these: a
// hundredth of the rows. It is a file of sections behind a magic, then their directory, the
// directory's length and its CRC-32C in 4 bytes each, and the magic again.
const (
	rollupMagic = "gowhysm1"
	// mostSection is what a reader believes of the length of a section, or of the directory.
	mostSection = 1 << 30
)

// A section is a part of a rollup.
type section struct {
	sectionKey
	least, most int64 // the times of its batches
	offset, len int64
	sum         uint32 // CRC-32C
}

// A sectionKey is what a section is of: the totals of an hour where its kind is empty,
// else the samples of a type and version.
type sectionKey struct {
	kind    string
	hour    int64
	version string
}

func (k sectionKey) compare(l sectionKey) int {
	return cmp.Or(strings.Compare(k.kind, l.kind), cmp.Compare(k.hour, l.hour), strings.Compare(k.version, l.version))
}

// A hourTotal is the batches of a type and source in an hour. One that stands for a single
// batch is that batch's.
type hourTotal struct {
	kind        string // empty for batches without profiles
	source      int64
	first       int64 // the earliest begin of a batch
	least, most int64 // the times of the first and last
	covered     int64 // the spans of all
	value       int64
}

// add adds batches of the same type and source.
func (t *hourTotal) add(u hourTotal) {
	t.first, t.least, t.most = min(t.first, u.first), min(t.least, u.least), max(t.most, u.most)
	t.covered += u.covered
	t.value = store.Add(t.value, u.value)
}

func (r totalRow) hourTotal() hourTotal {
	return hourTotal{r.kind, r.source, r.from, r.time, r.time, r.time - r.from, r.total}
}

// hourTotals sums totals by type and source.
type hourTotals map[key]hourTotal

func (h hourTotals) add(t hourTotal) {
	k := key{kind: t.kind, source: t.source}
	if sum, has := h[k]; has {
		sum.add(t)
		t = sum
	}
	h[k] = t
}

// A rollupWriter writes a rollup, a section at a time.
type rollupWriter struct {
	to       io.Writer
	offset   int64
	sections []section
	buffer   []byte
}

func newRollupWriter(to io.Writer) (*rollupWriter, error) {
	_, err := io.WriteString(to, rollupMagic)
	return &rollupWriter{to: to, offset: int64(len(rollupMagic))}, err
}

func (w *rollupWriter) section(k sectionKey, least, most int64) error {
	s := section{k, least, most, w.offset, int64(len(w.buffer)), crc32.Checksum(w.buffer, castagnoli)}
	w.sections = append(w.sections, s)
	w.offset += s.len
	_, err := w.to.Write(w.buffer)
	return err
}

// stacks writes the sums of a type, hour and version.
func (w *rollupWriter) stacks(k sectionKey, least, most int64, s *sums) error {
	w.buffer = w.buffer[:0]
	for i, stack := range s.stacks.values {
		w.buffer = binary.LittleEndian.AppendUint64(w.buffer, uint64(stack))
		w.buffer = binary.AppendVarint(w.buffer, s.values[i])
	}
	return w.section(k, least, most)
}

// totals writes those of an hour.
func (w *rollupWriter) totals(hour int64, totals hourTotals) error {
	w.buffer = w.buffer[:0]
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	begin := hour * hourMillis
	for _, t := range totals {
		least, most = min(least, t.least), max(most, t.most)
		w.buffer = appendText(w.buffer, t.kind)
		for _, v := range [...]int64{t.source, t.first - begin, t.least - begin, t.most - begin, t.covered, t.value} {
			w.buffer = binary.AppendVarint(w.buffer, v)
		}
	}
	return w.section(sectionKey{hour: hour}, least, most)
}

func (w *rollupWriter) close() error {
	w.buffer = w.buffer[:0]
	for _, s := range w.sections {
		w.buffer = appendText(appendText(w.buffer, s.kind), s.version)
		for _, v := range [...]int64{s.hour, s.least, s.most, s.offset, s.len, int64(s.sum)} {
			w.buffer = binary.AppendVarint(w.buffer, v)
		}
	}
	length, sum := len(w.buffer), crc32.Checksum(w.buffer, castagnoli)
	w.buffer = binary.LittleEndian.AppendUint32(w.buffer, uint32(length))
	w.buffer = binary.LittleEndian.AppendUint32(w.buffer, sum)
	_, err := w.to.Write(append(w.buffer, rollupMagic...))
	return err
}

// A rollup is one that is read.
type rollup struct {
	from     io.ReaderAt
	sections []section
}

var errRollup = errors.New("the sums of a segment do not decode (hint: restore the file from a copy)")

// readRollup reads the directory of a rollup of a size in bytes.
func readRollup(from io.ReaderAt, size int64) (*rollup, error) {
	const tailSize = 8 + len(rollupMagic)
	// Most directories are in the last 4 KiB.
	tail := make([]byte, min(size, 4<<10))
	if _, err := from.ReadAt(tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	if len(tail) < tailSize || string(tail[len(tail)-len(rollupMagic):]) != rollupMagic {
		return nil, errRollup
	}
	length := int64(binary.LittleEndian.Uint32(tail[len(tail)-tailSize:]))
	sum := binary.LittleEndian.Uint32(tail[len(tail)-tailSize+4:])
	end := size - int64(tailSize)
	if length > end || length > mostSection {
		return nil, errRollup
	}
	var directory []byte
	if have := int64(len(tail) - tailSize); length <= have {
		directory = tail[have-length : have]
	} else {
		directory = make([]byte, length)
		if _, err := from.ReadAt(directory, end-length); err != nil {
			return nil, err
		}
	}
	if crc32.Checksum(directory, castagnoli) != sum {
		return nil, errRollup
	}
	r := &rollup{from: from}
	d := decoder{rest: directory}
	for len(d.rest) > 0 {
		s := section{sectionKey: sectionKey{kind: d.text(), version: d.text()}}
		s.hour, s.least, s.most, s.offset, s.len, s.sum = d.varint(), d.varint(), d.varint(), d.varint(), d.varint(), uint32(d.varint())
		if d.bad || s.offset < 0 || s.len < 0 || s.len > mostSection || s.offset > end-s.len {
			return nil, errRollup
		}
		r.sections = append(r.sections, s)
	}
	return r, nil
}

func (r *rollup) read(s *section) (decoder, error) {
	data := make([]byte, s.len)
	if _, err := r.from.ReadAt(data, s.offset); err != nil {
		return decoder{}, err
	}
	if crc32.Checksum(data, castagnoli) != s.sum {
		return decoder{}, errRollup
	}
	return decoder{rest: data}, nil
}

// stacks adds the sums of a section.
func (r *rollup) stacks(s *section, to *sums) error {
	d, err := r.read(s)
	if err != nil {
		return err
	}
	for len(d.rest) > 0 {
		stack, value := int64(d.fixed()), d.varint()
		if d.bad {
			return errRollup
		}
		to.add(stack, value)
	}
	return nil
}

// totals gives those of an hour.
func (r *rollup) totals(s *section, each func(hourTotal)) error {
	d, err := r.read(s)
	if err != nil {
		return err
	}
	kinds := texts{}
	begin := s.hour * hourMillis
	for len(d.rest) > 0 {
		t := hourTotal{kind: kinds.same(d.take(d.count(1))), source: d.varint()}
		t.first, t.least, t.most = begin+d.varint(), begin+d.varint(), begin+d.varint()
		t.covered, t.value = d.varint(), d.varint()
		if d.bad {
			return errRollup
		}
		each(t)
	}
	return nil
}

// mergeRollups writes the sums of several rollups as one.
func mergeRollups(w *rollupWriter, from []*rollup) error {
	type part struct {
		of *rollup
		section
	}
	var parts []part
	for _, r := range from {
		for _, s := range r.sections {
			parts = append(parts, part{r, s})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.sectionKey.compare(b.sectionKey) })
	stacks := newSums()
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].sectionKey == parts[0].sectionKey {
			n++
		}
		same := parts[:n]
		parts = parts[n:]
		stacks.reset()
		totals := hourTotals{}
		least, most := same[0].least, same[0].most
		for i := range same {
			s := &same[i]
			least, most = min(least, s.least), max(most, s.most)
			var err error
			if s.kind == "" {
				err = s.of.totals(&s.section, totals.add)
			} else {
				err = s.of.stacks(&s.section, stacks)
			}
			if err != nil {
				return err
			}
		}
		var err error
		if same[0].kind == "" {
			err = w.totals(same[0].hour, totals)
		} else {
			err = w.stacks(same[0].sectionKey, least, most, stacks)
		}
		if err != nil {
			return err
		}
	}
	return w.close()
}
