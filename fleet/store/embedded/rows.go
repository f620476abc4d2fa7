package embedded

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
)

// sampleKinds and totalKinds are the columns of the files, which the package comment
// documents. Those before the last eight of keyKinds are a row's own.
var (
	sampleKinds = withKeys(integerColumn("stack"), integerColumn("value"))
	totalKinds  = withKeys(timeColumn("from"), integerColumn("total"), integerColumn("samples"))
)

func withKeys(own ...columnKind) []columnKind {
	columns := []columnKind{textColumn("type"), timeColumn("time")}
	columns = append(columns, own...)
	columns = append(columns, integerColumn("source"))
	for _, name := range []string{"tenant", "service", "version", "instance", "labels"} {
		columns = append(columns, textColumn(name))
	}
	return columns
}

// A key is what rows in a row have in common.
type key struct {
	kind         string
	time, source int64
}

func (k key) compare(l key) int {
	return cmp.Or(strings.Compare(k.kind, l.kind), cmp.Compare(k.time, l.time), cmp.Compare(k.source, l.source))
}

// keyColumns are the columns that follow from keys.
type keyColumns struct {
	named          func(int64) *store.Source // sources by ID
	kinds          texts
	times, sources *dictionary
	names          [5]texts   // tenant to labels
	ofSource       [][5]int32 // of a source by its number, those names
	runs           [3][]run   // of kinds, times, sources
}

func newKeyColumns(named func(int64) *store.Source) *keyColumns {
	return &keyColumns{named: named, times: newDictionary(), sources: newDictionary()}
}

func (k *keyColumns) add(of key, rows int) {
	source := k.sources.number(of.source)
	if int(source) == len(k.ofSource) {
		s := k.named(of.source)
		var names [5]int32
		for i, text := range []string{s.Tenant, s.Service, s.Version, s.Instance, labelsText(s.Labels)} {
			names[i] = k.names[i].number(text)
		}
		k.ofSource = append(k.ofSource, names)
	}
	for i, entry := range []int32{k.kinds.number(of.kind), k.times.number(of.time), source} {
		k.runs[i] = append(k.runs[i], run{entry, rows})
	}
}

// around puts the columns around a row's own.
func (k *keyColumns) around(own ...chunk) []chunk {
	chunks := []chunk{k.kinds.chunk(encodeRuns(nil, k.runs[0])), k.times.chunk(encodeRuns(nil, k.runs[1]))}
	chunks = append(chunks, own...)
	chunks = append(chunks, k.sources.chunk(encodeRuns(nil, k.runs[2])))
	named := make([]run, len(k.runs[2]))
	for i := range k.names {
		for j, r := range k.runs[2] {
			named[j] = run{k.ofSource[r.entry][i], r.rows}
		}
		chunks = append(chunks, k.names[i].chunk(encodeRuns(nil, named)))
	}
	return chunks
}

// labelsText returns how readers of the files see labels: name="value", and more after
// commas.
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

// mostPart is about how many rows a row group has: a writer keeps those of one in memory.
const mostPart = 1 << 18

// A sampleGroup collects the rows of a row group of samples, in pieces of a key each.
type sampleGroup struct {
	stackIDs *dictionary
	stacks   []int32 // by their number
	values   []int64
	pieces   []piece
	distinct *dictionary // of values
	indices  []int32     // of values in it
	encoded  [3][]byte
}

type piece struct {
	key
	begin, end int
}

func newSampleGroup() *sampleGroup {
	return &sampleGroup{stackIDs: newDictionary(), distinct: newDictionary()}
}

// piece ends one of rows that were added since the last.
func (g *sampleGroup) piece(k key) {
	begin := 0
	if n := len(g.pieces); n > 0 {
		begin = g.pieces[n-1].end
	}
	if begin < len(g.stacks) {
		g.pieces = append(g.pieces, piece{k, begin, len(g.stacks)})
	}
}

// write writes what is collected as a row group, if there is any, and begins another.
func (g *sampleGroup) write(w *fileWriter, named func(int64) *store.Source) error {
	if len(g.stacks) == 0 {
		return nil
	}
	g.sort()
	keys := newKeyColumns(named)
	for _, p := range g.pieces {
		keys.add(p.key, p.end-p.begin)
	}
	var err error
	if g.encoded[0], err = encodeIndices(g.encoded[0], g.stacks); err != nil {
		return err
	}
	values, err := g.valueChunk()
	if err != nil {
		return err
	}
	if err := w.group(len(g.stacks), keys.around(g.stackIDs.chunk(g.encoded[0]), values)); err != nil {
		return err
	}
	g.stackIDs.reset()
	g.stacks, g.values, g.pieces = g.stacks[:0], g.values[:0], g.pieces[:0]
	return nil
}

// sort brings pieces into their order, and rows into that of pieces.
func (g *sampleGroup) sort() {
	byKey := func(a, b piece) int { return a.compare(b.key) }
	if slices.IsSortedFunc(g.pieces, byKey) {
		return
	}
	slices.SortStableFunc(g.pieces, byKey)
	stacks, values := make([]int32, 0, len(g.stacks)), make([]int64, 0, len(g.values))
	for i, p := range g.pieces {
		g.pieces[i].begin = len(stacks)
		stacks, values = append(stacks, g.stacks[p.begin:p.end]...), append(values, g.values[p.begin:p.end]...)
		g.pieces[i].end = len(stacks)
	}
	g.stacks, g.values = stacks, values
}

// valueChunk returns the column of values: with a dictionary, which takes a sampler's few
// multiples of a unit, unless most of them differ.
func (g *sampleGroup) valueChunk() (chunk, error) {
	g.distinct.reset()
	g.indices = g.indices[:0]
	most := 1024 + len(g.values)/4
	for _, v := range g.values {
		g.indices = append(g.indices, g.distinct.number(v))
		if len(g.distinct.values) > most {
			c, err := deltaChunk(g.encoded[2], g.values)
			g.encoded[2] = c.data
			return c, err
		}
	}
	var err error
	g.encoded[1], err = encodeIndices(g.encoded[1], g.indices)
	return g.distinct.chunk(g.encoded[1]), err
}

// A totalRow is a row of the file of totals.
type totalRow struct {
	key
	from, total, samples int64
}

// noProfiles is the number of samples in the row of a batch without profiles, whose type
// is empty.
const noProfiles = -1

// writeTotals writes a row group.
func writeTotals(w *fileWriter, rows []totalRow, named func(int64) *store.Source) error {
	slices.SortStableFunc(rows, func(a, b totalRow) int { return a.compare(b.key) })
	for part := range slices.Chunk(rows, mostPart) {
		keys := newKeyColumns(named)
		own := [3][]int64{}
		for _, r := range part {
			keys.add(r.key, 1)
			own[0], own[1], own[2] = append(own[0], r.from), append(own[1], r.total), append(own[2], r.samples)
		}
		var chunks [3]chunk
		for i := range own {
			var err error
			if chunks[i], err = deltaChunk(nil, own[i]); err != nil {
				return err
			}
		}
		if err := w.group(len(part), keys.around(chunks[:]...)); err != nil {
			return err
		}
	}
	return nil
}
