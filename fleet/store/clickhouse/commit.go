package clickhouse

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

const (
	mostBatch   = 32 << 20 // bytes of a batch's rows
	mostGroup   = 8 << 20  // bytes after which a group takes no more
	mostWaiting = 4096     // batches before a shard
	mostQueued  = 64 << 20 // their bytes
	mostQuery   = 4 << 20  // bytes of a query
	mostAsked   = 10_000   // IDs in a query
	// mostDays is how many days a group has. A server refuses an INSERT of a hundred.
	mostDays = 50
)

// A request is a batch for a shard.
type request struct {
	ctx    context.Context
	key    batchKey
	day    int64
	rows   []byte
	stacks map[store.StackID][]byte // that may not be known, encoded
	done   chan struct{}
}

func (r *request) size() int {
	n := len(r.rows)
	for _, encoded := range r.stacks {
		n += len(encoded) + 64
	}
	return n
}

type batchKey struct {
	tenant string
	id     [16]byte
}

// room is how many bytes wait before a shard.
type room struct{ bytes atomic.Int64 }

// take reports whether there was room.
func (r *room) take(n int) bool {
	if r.bytes.Add(int64(n)) > mostQueued {
		r.give(n)
		return false
	}
	return true
}

func (r *room) give(n int) { r.bytes.Add(int64(-n)) }

// Write keeps a batch: it returns nil when the batch is on its server. It is a
// [store.Writer]'s.
func (s *Store) Write(ctx context.Context, b *store.Batch) error {
	for i, p := range b.Profiles {
		if p.Type == "" {
			return fmt.Errorf("profile %d of a batch of %q has no type", i, b.Source.Service)
		}
	}
	to := s.shardOf(b.Source.Tenant, b.Source.Service)
	patient, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	r := &request{
		ctx: patient, key: batchKey{b.Source.Tenant, b.ID}, day: b.Until.UnixMilli() / day,
		rows: appendBatch(nil, b), stacks: to.unknown(b), done: make(chan struct{}),
	}
	size := r.size()
	if size > mostBatch {
		return fmt.Errorf("a batch of %q is %d bytes; %d are the most", b.Source.Service, size, mostBatch)
	}
	select {
	case <-s.closing: // even if there is room
		return store.ErrClosed
	default:
	}
	if !to.room.take(size) {
		return to.full(nil)
	}
	select {
	case to.queue <- r:
	default:
		to.room.give(size)
		return to.full(nil)
	}
	select {
	case <-r.done:
		return nil
	case <-s.closing:
		return store.ErrClosed
	case <-patient.Done():
		return to.full(patient.Err())
	}
}

// full returns the error of a batch that is not known to be kept, with what is wrong with the
// shard.
func (s *shard) full(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cause := cmp.Or(s.cause, err); cause != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrFull, s.name, cause)
	}
	return fmt.Errorf("%w: %s", store.ErrFull, s.name)
}

// appendBatch adds the rows of a batch, one for each type. Stacks are sorted by ID: those
// of one batch then look like those of the next, which compresses.
func appendBatch(to []byte, b *store.Batch) []byte {
	byType := map[store.Type][]store.Sample{}
	for _, p := range b.Profiles {
		byType[p.Type] = append(byType[p.Type], p.Samples...)
	}
	if len(byType) == 0 {
		byType[""] = nil
	}
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		samples := byType[kind]
		slices.SortFunc(samples, func(a, b store.Sample) int {
			return cmp.Or(cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.Value, b.Value))
		})
		to = appendText(to, b.Source.Tenant)
		to = appendText(to, b.Source.Service)
		to = appendText(to, b.Source.Version)
		to = appendText(to, b.Source.Instance)
		to = appendTexts(to, b.Source.Labels, func(l store.Label) string { return l.Name })
		to = appendTexts(to, b.Source.Labels, func(l store.Label) string { return l.Value })
		to = appendText(to, string(kind))
		to = append(to, b.ID[:]...)
		to = appendInt64(to, b.From.UnixMilli())
		to = appendInt64(to, b.Until.UnixMilli())
		var total int64
		for _, s := range samples {
			total = store.Add(total, s.Value)
		}
		to = appendInt64(to, total)
		to = appendInts(to, samples, func(s store.Sample) int64 { return int64(s.Stack) })
		to = appendInts(to, samples, func(s store.Sample) int64 { return s.Value })
	}
	return to
}

func appendFrames(to []byte, frames []*store.Frame) []byte {
	to = appendTexts(to, frames, func(f *store.Frame) string { return f.Function })
	to = appendTexts(to, frames, func(f *store.Frame) string { return f.File })
	to = binary.AppendUvarint(to, uint64(len(frames)))
	for _, f := range frames {
		to = appendInt32(to, f.Line)
	}
	return to
}

// unknown returns the stacks of a batch that the server may not have, encoded.
func (s *shard) unknown(b *store.Batch) map[store.StackID][]byte {
	unknown := map[store.StackID][]byte{}
	s.mu.Lock()
	for id, frames := range b.Stacks {
		if _, known := s.known[stackKey{b.Source.Tenant, id}]; !known && len(frames) > 0 {
			unknown[id] = nil
		}
	}
	s.mu.Unlock()
	for id := range unknown {
		unknown[id] = appendFrames(nil, b.Stacks[id])
	}
	return unknown
}

// commit writes what waits before a shard until the store closes.
func (s *Store) commit(to *shard) {
	var next *request
	for {
		if next == nil {
			select {
			case <-s.closing:
				return
			case next = <-to.queue:
			}
		}
		var group []*request
		group, next = s.group(to, next)
		s.commitGroup(to, group)
	}
}

// group returns a request and those that come soon after it; next is one that came and does
// not fit.
func (s *Store) group(to *shard, first *request) (group []*request, next *request) {
	gather := time.NewTimer(s.options.Gather)
	defer gather.Stop()
	group, size := []*request{first}, first.size()
	days := map[int64]bool{first.day: true}
	for size < mostGroup && len(group) < mostAsked {
		select {
		case r := <-to.queue:
			if days[r.day] = true; len(days) > mostDays {
				return group, r
			}
			group, size = append(group, r), size+r.size()
		case <-gather.C:
			return group, nil
		case <-s.closing:
			return group, nil
		}
	}
	return group, nil
}

// commitGroup writes a group as long as one of its writers waits.
func (s *Store) commitGroup(to *shard, group []*request) {
	defer func() {
		for _, r := range group {
			to.room.give(r.size())
		}
	}()
	pause := newPause()
	for {
		waiting := slices.DeleteFunc(slices.Clone(group), func(r *request) bool { return r.ctx.Err() != nil })
		if len(waiting) == 0 {
			return
		}
		err := s.attempt(to, waiting)
		to.note(err)
		if err == nil {
			for _, r := range waiting {
				close(r.done)
			}
			return
		}
		if !pause.wait(s.running) {
			return
		}
	}
}

// note remembers why a shard does not take what is written to it.
func (s *shard) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cause = err
}

// attempt writes what is not known of a group: stacks before what refers to them, IDs when
// all is there. An attempt that breaks off may be repeated.
func (s *Store) attempt(to *shard, group []*request) error {
	ctx := s.running
	known, err := s.knownOf(ctx, to, group)
	if err != nil {
		return err
	}
	var rows, written, frames []byte
	fresh := map[stackKey]struct{}{}
	for _, r := range group {
		if known[r.key] {
			continue
		}
		known[r.key] = true // the next of the group with the ID
		rows = append(rows, r.rows...)
		written = append(appendText(written, r.key.tenant), r.key.id[:]...)
		written = appendInt64(written, s.options.now().UnixMilli())
		for id, in := range r.stacks {
			key := stackKey{r.key.tenant, id}
			if _, have := fresh[key]; !have {
				fresh[key] = struct{}{}
				frames = appendUint64(appendInt64(appendText(frames, key.tenant), int64(id)), s.age())
				frames = append(frames, in...)
			}
		}
	}
	for _, part := range []struct {
		table table
		rows  []byte
	}{{stacks, frames}, {profiles, rows}, {ids, written}} {
		if len(part.rows) == 0 {
			continue
		}
		if err := to.insert(ctx, part.table, part.rows); err != nil {
			return err
		}
	}
	to.remember(fresh)
	return nil
}

func (s *shard) insert(ctx context.Context, t table, rows []byte) error {
	err := s.withNode(ctx, func(n *node) error { return n.insert(ctx, t.name, t.names(), rows) })
	if err != nil {
		return fmt.Errorf("table %s: %w", t.name, err)
	}
	return nil
}

func (s *shard) remember(stacks map[stackKey]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known)+len(stacks) > mostKnown {
		clear(s.known)
	}
	maps.Copy(s.known, stacks)
}

// restFor is how long a shard that did not answer is not asked about the IDs of others'
// batches, and glance how long it may think about them.
const (
	restFor = 10 * time.Second
	glance  = 2 * time.Second
)

// knownOf returns the batches of a group whose IDs a shard has. The group's own has to answer.
// Others can only have an ID of it with another service, which is a client's mistake: the
// store asks them, but nobody waits for one that is gone.
func (s *Store) knownOf(ctx context.Context, own *shard, group []*request) (map[batchKey]bool, error) {
	byTenant := map[string][]string{}
	for _, r := range group {
		byTenant[r.key.tenant] = append(byTenant[r.key.tenant], quote(string(r.key.id[:])))
	}
	all := make([][]batchKey, len(s.shards))
	var failed error
	var asked sync.WaitGroup
	for i, one := range s.shards {
		asked.Go(func() {
			var err error
			if one == own {
				all[i], err = one.has(ctx, byTenant)
				failed = err
				return
			}
			all[i] = one.glance(ctx, s.options.now, byTenant)
		})
	}
	asked.Wait()
	known := map[batchKey]bool{}
	for _, keys := range all {
		for _, key := range keys {
			known[key] = true
		}
	}
	return known, failed
}

func (s *shard) has(ctx context.Context, byTenant map[string][]string) ([]batchKey, error) {
	var keys []batchKey
	for tenant, list := range byTenant {
		query := "SELECT DISTINCT toUInt8(1), id FROM ids WHERE tenant = " + quote(tenant) + " AND id IN (" + strings.Join(list, ",") + ")"
		var found []batchKey
		err := s.query(ctx, query, func() { found = nil }, func(d *decoder) {
			key := batchKey{tenant: tenant}
			d.bytes(key.id[:])
			found = append(found, key)
		})
		if err != nil {
			return nil, err
		}
		keys = append(keys, found...)
	}
	return keys, nil
}

func (s *shard) glance(ctx context.Context, now func() time.Time, byTenant map[string][]string) []batchKey {
	s.mu.Lock()
	resting := now().Before(s.rest)
	s.mu.Unlock()
	if resting {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, glance)
	defer cancel()
	keys, err := s.has(ctx, byTenant)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rest = now().Add(restFor)
	}
	return keys
}
