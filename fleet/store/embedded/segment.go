package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// A segment is two Parquet files of one service and hour.
type segment struct {
	place
	id          int64
	min, max    int64        // the first and last time, in milliseconds
	rows, bytes int64        // of samples; of both files
	parts       []store.Type // of the row groups of samples
	// readers count those that read it; the last removes the files of one that is
	// dropped. The mutex of the store guards both.
	readers int
	dropped bool
}

// A sampleRow is a row of the file of samples. The package comment documents the columns.
type sampleRow struct {
	Type     string `parquet:"type,dict,zstd"`
	Time     int64  `parquet:"time,timestamp(millisecond),delta,zstd"`
	Stack    int64  `parquet:"stack,dict,zstd"`
	Value    int64  `parquet:"value,dict,zstd"`
	Source   int64  `parquet:"source,dict,zstd"`
	Tenant   string `parquet:"tenant,dict,zstd"`
	Service  string `parquet:"service,dict,zstd"`
	Version  string `parquet:"version,dict,zstd"`
	Instance string `parquet:"instance,dict,zstd"`
	Labels   string `parquet:"labels,dict,zstd"`
}

// A totalRow is a row of the file of totals.
type totalRow struct {
	Type     string `parquet:"type,dict,zstd"`
	Time     int64  `parquet:"time,timestamp(millisecond),delta,zstd"`
	From     int64  `parquet:"from,timestamp(millisecond),delta,zstd"`
	Total    int64  `parquet:"total,zstd"`
	Samples  int64  `parquet:"samples,delta,zstd"`
	Source   int64  `parquet:"source,dict,zstd"`
	Tenant   string `parquet:"tenant,dict,zstd"`
	Service  string `parquet:"service,dict,zstd"`
	Version  string `parquet:"version,dict,zstd"`
	Instance string `parquet:"instance,dict,zstd"`
	Labels   string `parquet:"labels,dict,zstd"`
}

// noProfiles is the number of samples in the row of a batch without profiles.
const noProfiles = -1

// sampleColumns are the columns of a sampleRow that tell rows of one type and service apart;
// the others follow from the source. In memory rows are these: 32 bytes instead of 144.
type sampleColumns struct{ Time, Stack, Value, Source int64 }

// totalColumns are the same of a totalRow.
type totalColumns struct {
	Type                               string
	Time, From, Total, Samples, Source int64
}

// A place is where rows go: the segments of a service and hour.
type place struct {
	tenant, service string
	hour            int64 // since 1970
}

func (p place) compare(q place) int {
	return cmp.Or(strings.Compare(p.tenant, q.tenant), strings.Compare(p.service, q.service), cmp.Compare(p.hour, q.hour))
}

// A chunk is the rows of a segment before it is one.
type chunk struct {
	place
	samples map[store.Type][]sampleColumns
	totals  []totalColumns
}

func newChunk(p place) *chunk { return &chunk{place: p, samples: map[store.Type][]sampleColumns{}} }

const hourMillis = 3_600_000

func hourOf(millis int64) int64 {
	if millis < 0 {
		return (millis+1)/hourMillis - 1
	}
	return millis / hourMillis
}

// byPlace are batches by where they go.
func byPlace(batches []*batch) map[place][]*batch {
	groups := map[place][]*batch{}
	for _, b := range batches {
		p := place{b.source.Tenant, b.source.Service, hourOf(b.until)}
		groups[p] = append(groups[p], b)
	}
	return groups
}

func (c *chunk) add(b *batch, source int64) {
	for _, p := range b.profiles {
		rows := c.samples[p.Type]
		for _, s := range p.Samples {
			rows = append(rows, sampleColumns{Time: b.until, Stack: int64(s.Stack), Value: s.Value, Source: source})
		}
		if len(rows) > 0 {
			c.samples[p.Type] = rows
		}
	}
	for t := range b.totals() {
		c.totals = append(c.totals, totalColumns{
			Type: string(t.kind), Time: b.until, From: b.from, Total: t.value, Samples: t.samples, Source: source,
		})
	}
}

// labelsText is how readers of the files see labels: name="value", and more after commas.
func labelsText(labels []store.Label) string {
	var text strings.Builder
	for i, l := range labels {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(l.Name + "=" + strconv.Quote(l.Value))
	}
	return text.String()
}

func (c *chunk) sort() {
	for _, rows := range c.samples {
		slices.SortFunc(rows, func(a, b sampleColumns) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Stack, b.Stack))
		})
	}
	slices.SortFunc(c.totals, func(a, b totalColumns) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Source, b.Source))
	})
}

// A directory is where the segments are.
type directory struct {
	path string
	disk disk
}

func (d directory) samples(id int64) string {
	return filepath.Join(d.path, fmt.Sprintf("%09d-samples.parquet", id))
}

func (d directory) totals(id int64) string {
	return filepath.Join(d.path, fmt.Sprintf("%09d-totals.parquet", id))
}

// write makes a segment of a chunk, whose sources it gets by ID. Its files are durable
// when it returns; their directory is so after a sync.
func (d directory) write(id int64, c *chunk, sources func(int64) *store.Source) (*segment, error) {
	c.sort()
	s := &segment{id: id, place: c.place}
	s.min, s.max = c.totals[0].Time, c.totals[0].Time // a batch has one at least
	for _, t := range c.totals {
		s.min, s.max = min(s.min, t.Time), max(s.max, t.Time)
	}
	samples, err := writeFile(d.disk, d.samples(id), func(f io.Writer) error { return s.writeSamples(f, c, sources) })
	if err != nil {
		return nil, err
	}
	totals, err := writeFile(d.disk, d.totals(id), func(f io.Writer) error { return writeTotals(f, c, sources) })
	if err != nil {
		return nil, err
	}
	s.bytes = samples + totals
	return s, nil
}

// writeFile writes a file under another name first.
func writeFile(d disk, path string, write func(io.Writer) error) (size int64, err error) {
	f, err := d.openFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return 0, fmt.Errorf("segment: %w", err)
	}
	err = write(f)
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.rename(path+".tmp", path)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("segment %s: %w", path, err), d.remove(path+".tmp"))
	}
	return size, nil
}

const (
	// mostPart is how many rows a row group has: a writer keeps one in memory.
	mostPart = 1 << 20
	// window is how many rows have all their columns in memory.
	window = 4096
)

// writeSamples writes a row group for each type, or several, and notes their types.
func (s *segment) writeSamples(f io.Writer, c *chunk, sources func(int64) *store.Source) error {
	w := parquet.NewGenericWriter[sampleRow](f, created)
	rows := make([]sampleRow, 0, window)
	texts := labelTexts{}
	for _, kind := range slices.Sorted(maps.Keys(c.samples)) {
		s.rows += int64(len(c.samples[kind]))
		for part := range slices.Chunk(c.samples[kind], mostPart) {
			for some := range slices.Chunk(part, window) {
				rows = rows[:0]
				for _, r := range some {
					from := sources(r.Source)
					rows = append(rows, sampleRow{
						Type: string(kind), Time: r.Time, Stack: r.Stack, Value: r.Value, Source: r.Source,
						Tenant: from.Tenant, Service: from.Service, Version: from.Version, Instance: from.Instance,
						Labels: texts.of(from),
					})
				}
				if _, err := w.Write(rows); err != nil {
					return err
				}
			}
			if err := w.Flush(); err != nil {
				return err
			}
			s.parts = append(s.parts, kind)
		}
	}
	return w.Close()
}

func writeTotals(f io.Writer, c *chunk, sources func(int64) *store.Source) error {
	w := parquet.NewGenericWriter[totalRow](f, created)
	texts := labelTexts{}
	for some := range slices.Chunk(c.totals, window) {
		rows := make([]totalRow, len(some))
		for i, r := range some {
			from := sources(r.Source)
			rows[i] = totalRow{
				Type: r.Type, Time: r.Time, From: r.From, Total: r.Total, Samples: r.Samples, Source: r.Source,
				Tenant: from.Tenant, Service: from.Service, Version: from.Version, Instance: from.Instance,
				Labels: texts.of(from),
			}
		}
		if _, err := w.Write(rows); err != nil {
			return err
		}
	}
	return w.Close()
}

var created = parquet.CreatedBy("gowhy", "1", "")

// labelTexts are the labels of sources, made once each.
type labelTexts map[*store.Source]string

func (t labelTexts) of(s *store.Source) string {
	if _, made := t[s]; !made {
		t[s] = labelsText(s.Labels)
	}
	return t[s]
}

// remove removes the files of a segment.
func (d directory) remove(id int64) error {
	return errors.Join(d.disk.remove(d.samples(id)), d.disk.remove(d.totals(id)))
}

// eachPart gives those row groups of a file that are wanted.
func eachPart(ctx context.Context, path string, wanted func(number int) bool, each func(number int, g parquet.RowGroup) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	opened, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("segment %s: %w", path, err)
	}
	for i, g := range opened.RowGroups() {
		if !wanted(i) {
			continue
		}
		if err := errors.Join(ctx.Err(), each(i, g)); err != nil {
			return fmt.Errorf("segment %s: %w", path, err)
		}
	}
	return nil
}

// The files are read by columns and not by rows: parquet-go makes rows of values of 24
// bytes, of all columns, and assigns fields by reflection. The CPU profile of ten
// processes and a day took 1.53 s so, and takes 0.16 s.

// readTotals gives the rows of a file of totals.
func readTotals(ctx context.Context, path string, each func([]totalColumns)) error {
	all := func(int) bool { return true }
	return eachPart(ctx, path, all, func(_ int, g parquet.RowGroup) error {
		kinds, err := column(g, "type", parquet.ByteArray, texts)
		if err != nil {
			return err
		}
		columns, err := integers(g, len(kinds), "time", "from", "total", "samples", "source")
		if err != nil {
			return err
		}
		eachWindow(len(kinds), each, func(i int) totalColumns {
			return totalColumns{
				Type: kinds[i], Time: columns[0][i], From: columns[1][i], Total: columns[2][i],
				Samples: columns[3][i], Source: columns[4][i],
			}
		})
		return nil
	})
}

// readSamples gives the rows of those row groups of a file of samples that are wanted.
func readSamples(ctx context.Context, path string, wanted func(number int) bool, each func(number int, rows []sampleColumns)) error {
	return eachPart(ctx, path, wanted, func(number int, g parquet.RowGroup) error {
		columns, err := integers(g, int(g.NumRows()), "time", "stack", "value", "source")
		if err != nil {
			return err
		}
		some := func(rows []sampleColumns) { each(number, rows) }
		eachWindow(len(columns[0]), some, func(i int) sampleColumns {
			return sampleColumns{Time: columns[0][i], Stack: columns[1][i], Value: columns[2][i], Source: columns[3][i]}
		})
		return nil
	})
}

// eachWindow gives so many rows, some at a time.
func eachWindow[T any](number int, each func([]T), row func(i int) T) {
	rows := make([]T, 0, min(number, window))
	for i := range number {
		rows = append(rows, row(i))
		if len(rows) == window || i == number-1 {
			each(rows)
			rows = rows[:0]
		}
	}
}

// integers are columns of a row group that have so many rows.
func integers(g parquet.RowGroup, rows int, names ...string) ([][]int64, error) {
	columns := make([][]int64, len(names))
	for i, name := range names {
		var err error
		columns[i], err = column(g, name, parquet.Int64, (*encoding.Values).Int64)
		if err != nil {
			return nil, err
		}
		if len(columns[i]) != rows {
			return nil, fmt.Errorf("column %s has %d rows of %d", name, len(columns[i]), rows)
		}
	}
	return columns, nil
}

// column is a column of a row group.
func column[T any](g parquet.RowGroup, name string, kind parquet.Kind, decode func(*encoding.Values) []T) ([]T, error) {
	leaf, has := g.Schema().Lookup(name)
	if !has || leaf.Node.Type().Kind() != kind {
		return nil, fmt.Errorf("column %s is missing or has another type", name)
	}
	pages := g.ColumnChunks()[leaf.ColumnIndex].Pages()
	defer pages.Close() // it was only read
	values := make([]T, 0, max(0, min(g.NumRows(), mostPart)))
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err == nil {
			values, err = appendPage(values, page, decode)
			parquet.Release(page)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
	}
}

func appendPage[T any](values []T, page parquet.Page, decode func(*encoding.Values) []T) ([]T, error) {
	data, dictionary := page.Data(), page.Dictionary()
	if dictionary == nil {
		return append(values, decode(&data)...), nil
	}
	entries := dictionary.Page().Data()
	known := decode(&entries)
	for _, i := range data.Int32() {
		if i < 0 || int(i) >= len(known) {
			return nil, errors.New("a value is not in its dictionary")
		}
		values = append(values, known[i])
	}
	return values, nil
}

// texts are strings of a page, copied.
func texts(values *encoding.Values) []string {
	bytes, offsets := values.ByteArray()
	var all []string
	for i := 1; i < len(offsets); i++ {
		all = append(all, string(bytes[offsets[i-1]:offsets[i]]))
	}
	return all
}
