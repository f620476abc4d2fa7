package embedded

import (
	"encoding/binary"
	"fmt"

	"github.com/gowhy/gowhy/fleet/store"
)

// A request is a batch for the log, or, without one, to freeze the active table.
type request struct {
	tenant  string
	id      [16]byte
	encoded []byte
	done    chan error
}

// mostKnown bounds the stacks that are remembered as known: about 100 MB. Beyond it all
// are forgotten; they are written once more.
const mostKnown = 1 << 20

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

// group is a request and those that wait behind it.
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

// commitGroup writes a group with one fsync and answers each of it.
func (s *Store) commitGroup(group []*request) {
	var payload []byte
	var fresh, answered []*request
	members := map[batchKey]bool{}
	for _, r := range group {
		add, err := s.admit(r, members)
		if err != nil {
			r.done <- err
			continue
		}
		answered = append(answered, r)
		if add {
			members[batchKey{r.tenant, r.id}] = true
			fresh = append(fresh, r)
			payload = binary.AppendUvarint(payload, uint64(len(r.encoded)))
			payload = append(payload, r.encoded...)
		}
	}
	err := s.makeDurable(payload, fresh)
	for _, r := range answered {
		r.done <- err
	}
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
	if len(members) > 0 || s.active.bytes < s.options.Memory {
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

// tables are those in memory, the older first. The caller holds mu.
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

// makeDurable appends a group to the log, then to the active table.
func (s *Store) makeDurable(payload []byte, fresh []*request) error {
	if len(fresh) == 0 {
		return nil
	}
	batches := make([]*batch, len(fresh))
	for i, r := range fresh {
		var err error
		if batches[i], err = decode(r.encoded); err != nil {
			return err
		}
	}
	if err := s.active.journal.append(payload); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range batches {
		if len(s.known)+len(b.stacks) > mostKnown {
			clear(s.known)
		}
		for id := range b.stacks {
			s.known[stackKey{b.source.Tenant, id}] = struct{}{}
		}
		s.active.add(b)
	}
	return nil
}
