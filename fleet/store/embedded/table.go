package embedded

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/fleet/store"
)

type batchKey struct {
	tenant string
	id     [16]byte
}

type stackKey struct {
	tenant string
	id     store.StackID
}

// A table is batches in memory: those of one file of the log.
type table struct {
	number  int64
	path    string
	journal *journal
	// batches only grow, so that a reader may go through those that it has seen.
	batches []*batch
	ids     map[batchKey]struct{}
	stacks  map[stackKey][]store.Frame
	sources map[string]*store.Source // each once, by its encoding
	bytes   int64
}

func newTable(number int64, path string) *table {
	return &table{
		number: number, path: path,
		ids: map[batchKey]struct{}{}, stacks: map[stackKey][]store.Frame{}, sources: map[string]*store.Source{},
	}
}

// newTable makes a table with its file of the log.
func (s *Store) newTable(number int64) (*table, error) {
	t := newTable(number, s.logPath(number))
	var err error
	t.journal, err = createJournal(s.options.disk, t.path)
	return t, err
}

func (t *table) add(b *batch) {
	key := string(appendSource(nil, b.source))
	if t.sources[key] == nil {
		t.sources[key] = b.source
	}
	b.source = t.sources[key]
	t.bytes += b.bytes()
	for id, frames := range b.stacks {
		if k := (stackKey{b.source.Tenant, id}); t.stacks[k] == nil {
			t.stacks[k] = frames
		}
	}
	b.stacks = nil
	t.ids[batchKey{b.source.Tenant, b.id}] = struct{}{}
	t.batches = append(t.batches, b)
}

// A total is what a batch has of a type.
type total struct {
	kind    store.Type
	value   int64
	samples int64 // noProfiles for a batch that has no type at all
}

// totals are a batch's, by type.
func (b *batch) totals() iter.Seq[total] {
	byType := map[store.Type]total{}
	for _, p := range b.profiles {
		t := byType[p.Type]
		t.kind = p.Type
		t.samples += int64(len(p.Samples))
		for _, s := range p.Samples {
			t.value += s.Value
		}
		byType[p.Type] = t
	}
	if len(byType) == 0 {
		byType[""] = total{samples: noProfiles}
	}
	return slices.Values(slices.SortedFunc(maps.Values(byType), func(a, b total) int { return cmp.Compare(a.kind, b.kind) }))
}
