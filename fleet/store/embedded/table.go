package embedded

import "github.com/gowhy/gowhy/fleet/store"

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
	stacks  map[stackKey]numberedStack
	sources map[string]*store.Source // each once, by its encoding
	places  map[place]struct{}       // the segments that it becomes
	bytes   int64
}

// mostPlaces of a table are three files each when it is flushed, for which a busy disk takes a
// minute. Who sends of years ago, or of services without end, makes as many of a few bytes;
// then he waits, and not who sends of places that are there.
const mostPlaces = 10_000

// full reports whether a request's batch is for another table, where others come before it, whose
// bytes are given: a table that has some takes none that does not fit.
func (t *table) full(r *request, before int64, o *Options) bool {
	_, has := t.places[r.place]
	have := t.bytes + before
	return have > 0 && have+r.bytes > o.Memory || !has && len(t.places) >= o.places
}

func newTable(number int64, path string) *table {
	return &table{
		number: number, path: path,
		ids: map[batchKey]struct{}{}, stacks: map[stackKey]numberedStack{}, sources: map[string]*store.Source{}, places: map[place]struct{}{},
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
	for id, stack := range b.newStacks() {
		k := stackKey{b.source.Tenant, id}
		if _, has := t.stacks[k]; !has {
			t.stacks[k] = stack
			t.bytes += stackBytes
		}
	}
	t.ids[batchKey{b.source.Tenant, b.id}] = struct{}{}
	t.places[placeOf(b.source, b.until)] = struct{}{}
	t.batches = append(t.batches, b)
}
