package embedded

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/gowhy/gowhy/fleet/store"
)

// A request is a batch for the log, or, without one, to freeze the active table.
type request struct {
	tenant  string
	id      [16]byte
	place   place
	bytes   int64 // that it takes in a table
	encoded []byte
	done    chan error
	release func() // gives back what the encoding takes; nil where it takes nothing
}

// answer ends a request.
func (r *request) answer(err error) {
	r.free()
	r.done <- err
}

func (r *request) free() {
	if r.release != nil {
		r.release()
	}
}

// buffers are those of encodings, until the log and a table have their bytes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const (
	// mostPending is how many bytes of encodings may wait for the log: with more of them
	// there are more writers than the log serves.
	mostPending = 16 << 20
	// mostKept is the largest buffer that is kept for the next batch.
	mostKept = 1 << 20
)

// reserve takes room for a batch that is about to wait. Its release gives it back.
func (s *Store) reserve(size int64) bool {
	if s.pending.Add(size) > mostPending && s.pending.Load() > size {
		s.pending.Add(-size)
		return false
	}
	return true
}

// A stackSet is the stacks that are known to be in the catalog or a table, by tenant.
type stackSet struct {
	byTenant map[string]*set
	size     int
}

// mostKnown bounds a stackSet: at 20 bytes each. Beyond it all are forgotten; they are
// written once more.
const mostKnown = 1 << 20

func (s *stackSet) has(tenant string, id store.StackID) bool {
	of := s.byTenant[tenant]
	return of != nil && of.has(int64(id))
}

func (s *stackSet) add(tenant string, id store.StackID) {
	if s.size >= mostKnown {
		clear(s.byTenant)
		s.size = 0
	}
	of := s.byTenant[tenant]
	if of == nil {
		of = &set{}
		s.byTenant[tenant] = of
	}
	if !of.has(int64(id)) {
		of.add(int64(id))
		s.size++
	}
}

// commit makes groups durable until the store closes. It alone appends to the log and
// adds to a table.
func (s *Store) commit() {
	for {
		select {
		case <-s.closing:
			return
		case r := <-s.requests:
			s.commitGroup(s.group(r))
		}
	}
}

// group returns a request and those that wait behind it.
func (s *Store) group(first *request) []*request {
	group, size := []*request{first}, len(first.encoded)
	for size < mostGroup {
		select {
		case r := <-s.requests:
			group, size = append(group, r), size+len(r.encoded)
		default:
			return group
		}
	}
	return group
}

// commitGroup writes a group with one fsync and answers each of it: with one for each table,
// where it does not fit into the one that is there.
func (s *Store) commitGroup(group []*request) {
	var fresh, answered []*request
	members, bytes := map[batchKey]bool{}, int64(0)
	end := func() {
		err := s.makeDurable(fresh)
		for _, r := range answered {
			r.answer(err)
		}
		fresh, answered, bytes = nil, nil, 0
		clear(members)
	}
	for _, r := range group {
		if len(fresh) > 0 && s.active.full(r, bytes, &s.options) {
			end()
		}
		add, err := s.admit(r, members)
		if err != nil {
			r.answer(err)
			continue
		}
		answered = append(answered, r)
		if add {
			members[batchKey{r.tenant, r.id}] = true
			fresh, bytes = append(fresh, r), bytes+r.bytes
		}
	}
	end()
}

// admit reports whether a request's batch is to be added: it is not known and there is
// room. Members are the batches of the group before it.
func (s *Store) admit(r *request, members map[batchKey]bool) (bool, error) {
	if r.encoded == nil {
		return false, s.freeze()
	}
	key := batchKey{r.tenant, r.id}
	if members[key] || s.inMemory(key) {
		return false, nil
	}
	// Memory first: a table that is flushed meanwhile is in the catalog by now.
	known, err := s.catalog.has(r.tenant, r.id)
	if known || err != nil {
		return false, err
	}
	if len(members) > 0 || !s.active.full(r, 0, &s.options) {
		return true, nil
	}
	if err := s.freeze(); err != nil {
		return false, err
	}
	select {
	case s.full <- struct{}{}:
	default: // the flusher has not seen the last one yet
	}
	return true, nil
}

func (s *Store) inMemory(key batchKey) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, t := range s.tables() {
		if _, is := t.ids[key]; is {
			return true
		}
	}
	return false
}

// tables returns those in memory, the older first. The caller holds mu.
func (s *Store) tables() []*table {
	if s.frozen == nil {
		return []*table{s.active}
	}
	return []*table{s.frozen, s.active}
}

// freeze lets the flusher have the active table and begins another.
func (s *Store) freeze() error {
	s.mu.RLock()
	frozen, cause := s.frozen, s.flushErr
	s.mu.RUnlock()
	if frozen != nil && cause != nil {
		return fmt.Errorf("%w: %w", store.ErrFull, cause)
	}
	if frozen != nil {
		return store.ErrFull
	}
	if len(s.active.batches) == 0 {
		return nil
	}
	next, err := s.newTable(s.active.number + 1)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.frozen, s.active = s.active, next
	s.mu.Unlock()
	return nil
}

// makeDurable appends a group to the log, then to the active table, which keeps its bytes.
func (s *Store) makeDurable(fresh []*request) error {
	if len(fresh) == 0 {
		return nil
	}
	size := headerSize
	for _, r := range fresh {
		size += binary.MaxVarintLen32 + len(r.encoded)
	}
	group := make([]byte, headerSize, size)
	batches := make([]*batch, len(fresh))
	for i, r := range fresh {
		group = binary.AppendUvarint(group, uint64(len(r.encoded)))
		begin := len(group)
		group = append(group, r.encoded...)
		var err error
		if batches[i], err = decode(group[begin:len(group):len(group)]); err != nil {
			return err
		}
	}
	if err := s.active.journal.append(group); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range batches {
		for id := range b.newStacks() {
			s.known.add(b.source.Tenant, id)
		}
		s.active.add(b)
	}
	return nil
}
