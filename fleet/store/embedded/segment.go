package embedded

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
)

// A segment is three files of one service and hour, or day.
type segment struct {
	place
	id          int64
	min, max    int64 // the first and last time, in milliseconds
	rows, bytes int64 // of samples; of all files
	// readers count those that read it; the last removes the files of one that is
	// dropped. The mutex of the store guards both.
	readers int
	dropped bool
}

// A place is where rows go: the segments of a service and hour. Of several hours it has
// the first.
type place struct {
	tenant, service string
	hour            int64 // since 1970
}

func placeOf(s *store.Source, until int64) place {
	return place{s.Tenant, s.Service, hourOf(until)}
}

func (p place) compare(q place) int {
	return cmp.Or(strings.Compare(p.tenant, q.tenant), strings.Compare(p.service, q.service), cmp.Compare(p.hour, q.hour))
}

const (
	hourMillis = 3_600_000
	dayHours   = 24
)

func hourOf(millis int64) int64 { return floorDiv(millis, hourMillis) }

func dayOf(hour int64) int64 { return floorDiv(hour, dayHours) }

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return (a+1)/b - 1
	}
	return a / b
}

// A directory is where the segments are.
type directory struct {
	path string
	disk disk
}

func (d directory) samples(id int64) string { return d.file(id, "samples.parquet") }
func (d directory) totals(id int64) string  { return d.file(id, "totals.parquet") }
func (d directory) rollup(id int64) string  { return d.file(id, "rollup.bin") }

func (d directory) files(id int64) []string {
	return []string{d.samples(id), d.totals(id), d.rollup(id)}
}

func (d directory) file(id int64, name string) string {
	return filepath.Join(d.path, fmt.Sprintf("%09d-%s", id, name))
}

// ours reports whether a file is one that a store makes.
func (d directory) ours(name string) bool {
	name = strings.TrimSuffix(name, ".tmp")
	return strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, "-rollup.bin")
}

// remove removes the files of a segment.
func (d directory) remove(id int64) error {
	var err error
	for _, path := range d.files(id) {
		err = errors.Join(err, d.disk.remove(path))
	}
	return err
}

// A segmentWriter has the files of a segment that is being written.
type segmentWriter struct {
	samples, totals *fileWriter
	rollup          *rollupWriter
}

// create makes the files of a segment durable that write writes; their directory is so
// after a sync. What it leaves when it fails has the names of files that the caller removes.
func (d directory) create(id int64, write func(w *segmentWriter) error) (size int64, err error) {
	var w segmentWriter
	begin := []func(io.Writer) error{
		func(to io.Writer) (err error) { w.samples, err = newFileWriter(to, sampleKinds); return err },
		func(to io.Writer) (err error) { w.totals, err = newFileWriter(to, totalKinds); return err },
		func(to io.Writer) (err error) { w.rollup, err = newRollupWriter(to); return err },
	}
	var files []*newFile
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.discard())
		}
	}()
	for i, path := range d.files(id) {
		f, err := d.newFile(path)
		if err != nil {
			return 0, err
		}
		files = append(files, f)
		if err := begin[i](f.buffer); err != nil {
			return 0, fmt.Errorf("segment %s: %w", path, err)
		}
	}
	err = write(&w)
	for _, end := range []func() error{w.samples.close, w.totals.close, w.rollup.close} {
		if err == nil {
			err = end()
		}
	}
	for _, f := range files {
		if err == nil {
			err = f.keep()
			size += f.size
		}
	}
	if err != nil {
		return 0, fmt.Errorf("segment %d: %w", id, err)
	}
	return size, nil
}

// A newFile has another name until it is whole.
type newFile struct {
	file
	disk   disk
	path   string
	buffer *bufio.Writer
	size   int64
}

func (d directory) newFile(path string) (*newFile, error) {
	f, err := d.disk.openFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	return &newFile{file: f, disk: d.disk, path: path, buffer: bufio.NewWriterSize(f, 64<<10)}, nil
}

// keep makes a file durable under its name.
func (f *newFile) keep() error {
	err := f.buffer.Flush()
	if err == nil {
		f.size, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	err = f.Close()
	f.file = nil
	return errors.Join(err, f.disk.rename(f.path+".tmp", f.path))
}

// discard removes a file that was not kept.
func (f *newFile) discard() error {
	if f.file == nil {
		return nil
	}
	return errors.Join(f.Close(), f.disk.remove(f.path+".tmp"))
}

// A batchOf is a batch of a table with the ID of its source.
type sourcedBatch struct {
	*batch
	sourceID int64
}

// byPlace are batches by where they go, in the order of their rows.
func byPlace(t *table, ids map[*store.Source]int64) map[place][]sourcedBatch {
	groups := map[place][]sourcedBatch{}
	for _, b := range t.batches {
		p := placeOf(b.source, b.until)
		groups[p] = append(groups[p], sourcedBatch{b, ids[b.source]})
	}
	for _, batches := range groups {
		slices.SortStableFunc(batches, func(a, b sourcedBatch) int {
			return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.sourceID, b.sourceID))
		})
	}
	return groups
}

// write makes a segment of batches of a place. It uses a group for the rows of one type at
// a time, which has none before and after.
func (d directory) write(id int64, p place, batches []sourcedBatch, group *sampleGroup, named func(int64) *store.Source) (*segment, error) {
	s := &segment{id: id, place: p, min: batches[0].until, max: batches[len(batches)-1].until}
	var err error
	s.bytes, err = d.create(id, func(w *segmentWriter) error {
		b := batchWriter{w: w, named: named, hour: p.hour, group: group}
		for _, kind := range b.byKind(batches) {
			if err := b.samples(kind); err != nil {
				return err
			}
		}
		s.rows = w.samples.meta.NumRows
		return b.totals()
	})
	return s, err
}

// A batchWriter writes batches of a service and hour.
type batchWriter struct {
	w       *segmentWriter
	named   func(int64) *store.Source
	hour    int64
	group   *sampleGroup
	version map[string]*versionSums
	rows    []totalRow
}

// versionSums are what a version has of a type.
type versionSums struct {
	*sums
	least, most int64
}

// An ofKind is the profiles of a type, in the order of their batches.
type ofKind struct {
	kind     string
	profiles []struct {
		sourcedBatch
		profile
	}
}

func (b *batchWriter) byKind(batches []sourcedBatch) []*ofKind {
	kinds := map[string]*ofKind{}
	for _, batch := range batches {
		some := false
		for p := range batch.each() {
			k := kinds[string(p.kind)]
			if k == nil {
				k = &ofKind{kind: string(p.kind)}
				kinds[k.kind] = k
			}
			some = true
			k.profiles = append(k.profiles, struct {
				sourcedBatch
				profile
			}{batch, p})
		}
		if !some {
			b.rows = append(b.rows, totalRow{key{"", batch.until, batch.sourceID}, batch.from, 0, noProfiles})
		}
	}
	return slices.SortedFunc(maps.Values(kinds), func(a, b *ofKind) int { return strings.Compare(a.kind, b.kind) })
}

// samples writes the row groups of a type and its sums.
func (b *batchWriter) samples(of *ofKind) error {
	b.version = map[string]*versionSums{}
	var last *batch
	for i := range of.profiles {
		p := &of.profiles[i]
		total := b.add(of.kind, p.sourcedBatch, &p.profile)
		row := totalRow{key{of.kind, p.until, p.sourceID}, p.from, total, int64(p.count)}
		if p.batch == last { // a batch may have a type twice
			b.rows[len(b.rows)-1].total = store.Add(b.rows[len(b.rows)-1].total, row.total)
			b.rows[len(b.rows)-1].samples += row.samples
		} else {
			b.rows = append(b.rows, row)
		}
		last = p.batch
		if len(b.group.stacks) >= mostPart {
			if err := b.group.write(b.w.samples, b.named); err != nil {
				return err
			}
		}
	}
	if err := b.group.write(b.w.samples, b.named); err != nil {
		return err
	}
	for _, version := range slices.Sorted(maps.Keys(b.version)) {
		v := b.version[version]
		if err := b.w.rollup.stacks(sectionKey{of.kind, b.hour, version}, v.least, v.most, v.sums); err != nil {
			return err
		}
	}
	return nil
}

// add adds the rows of a profile to the row group and to the sums.
func (b *batchWriter) add(kind string, of sourcedBatch, p *profile) (total int64) {
	v := b.version[of.source.Version]
	if v == nil {
		v = &versionSums{newSums(), of.until, of.until}
		b.version[of.source.Version] = v
	}
	v.most = of.until // they come in order
	g := b.group
	p.samples(func(stack, value int64) {
		g.stacks = append(g.stacks, g.stackIDs.number(stack))
		g.values = append(g.values, value)
		v.add(stack, value)
		total = store.Add(total, value)
	})
	g.piece(key{kind, of.until, of.sourceID})
	return total
}

// totals writes the rows of totals and their sums.
func (b *batchWriter) totals() error {
	totals := hourTotals{}
	for _, r := range b.rows {
		totals.add(r.hourTotal())
	}
	if err := writeTotals(b.w.totals, b.rows, b.named); err != nil {
		return err
	}
	return b.w.rollup.totals(b.hour, totals)
}
