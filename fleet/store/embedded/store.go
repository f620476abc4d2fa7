// Package embedded keeps a fleet's profiles in a directory, with nothing else to install.
//
// It is a [store.Store]. It hides a log, tables in memory, files of Parquet and a catalog
// in SQLite:
//
//   - [Store.Write] appends a batch to the log, log/N.log, and waits for its fsync; one
//     fsync serves all writers that came meanwhile. The batch is in memory from then on.
//   - A table in memory keeps batches as the log has them: 13 bytes a row. One that is full
//     (Options.Memory) becomes segments: three files for each service and hour. The next
//     table fills meanwhile; when that is full too, or 16 MiB wait for the log, Write
//     returns [store.ErrFull]. A file of the log goes when the catalog has its table.
//   - Segments of a service and hour are merged, and those of a day that is two hours old:
//     row groups of one hour become one, all others are copied as they are. Segments older
//     than Options.Keep go.
//   - Questions of whole hours read a segment's rollup: the sums by type, hour, version and
//     stack, and by type, hour and source. Others read columns of the hours they need.
//   - The catalog has segments, IDs of batches, sources, stacks and frames. It never has
//     samples. Stacks, frames and sources stay when no segment refers to them any more.
//
// Files become durable before the catalog names them and go after it has forgotten them,
// so a crash at any moment leaves at most files without a name. [Open] removes those, and
// refuses a directory of another version of the format. Only one process has a directory
// open.
//
// # Files for others
//
// segments/N-samples.parquet has a row for each sample, by type, hour, time and source; a
// row group has one type and hour:
//
//	type                        string  like process_cpu:cpu:nanoseconds:cpu:nanoseconds
//	time                        int64   the end of the batch, milliseconds since 1970 UTC
//	stack                       int64   its ID, 0 for no frames
//	value                       int64   in the unit that the type names
//	source                      int64   the ID of the five that follow, in this directory
//	tenant … instance           string  tenant, service, version and instance
//	labels                      string  name="value",name="value"; values quoted as Go does
//
// segments/N-totals.parquet has a row for each batch and type, by hour, type, time and
// source: type, time, from (the begin of the batch), total (the sum of its values), samples
// (how many it has) and the columns from source on. A batch without profiles has one row
// whose type is empty and whose samples are -1. segments/N-rollup.bin is the store's own.
//
// catalog.sqlite has stacks(tenant, id, frames) and frames(id, function, file, line): the
// frames of a stack are IDs as unsigned LEB128, the leaf first.
//
// The package never reads the clock but for what is old: which batches to forget, which
// days to merge and which segments to drop.
//
// # Where things are
//
//   - Writes: commit.go takes batches together, batch.go and frames.go encode them,
//     log.go keeps them, table.go has them in memory.
//   - Segments: flush.go makes them of a table and merge.go of others, through
//     segment.go, rows.go (which columns), parquet.go (their pages) and dictionary.go; rollup.go
//     has the sums. catalog.go knows what there is.
//   - Questions: query.go answers, over a view of one moment (view.go), whose segments
//     scan.go sums and read.go reads column by column. findings.go is in the catalog alone.
//   - Around it: lock.go, disk.go (which tests fill), snapshot.go.
//
// # What its CPU was spent on
//
// Profiles of BenchmarkIngest found half of it in parquet-go, which hashed eight columns that
// are the same for all rows of a batch, a sixth in sorting rows and an eighth in decoding the
// log's bytes into samples that waited for a flush. So rows stay encoded, batches are sorted
// and not rows, and columns are made of runs. Of what is left a third writes segments; a
// fifth each encodes batches and fills the catalog, and the log and merging have the rest.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Options are how much a store keeps. The zero value is sensible.
type Options struct {
	// Memory is about how many bytes a table may take; there are two at most. 32 MiB
	// where it is 0: two million rows, about.
	Memory int64
	// Keep is how old a segment's last batch may become; for ever where it is 0. The
	// store looks when it opens, when it flushes and each hour. From seven days on days
	// are merged and go as one: their first batches are a day older then.
	Keep time.Duration
	// Remember is how long the ID of a batch is known after it came, while the store runs, however
	// its clock is set: a client that sends it again later is not recognized. A day where it is 0.
	Remember time.Duration

	disk   disk             // a test's
	now    func() time.Time // a test's
	places int              // a test's; mostPlaces
}

func (o Options) orDefault() Options {
	if o.Memory <= 0 {
		o.Memory = 32 << 20
	}
	if o.Remember <= 0 {
		o.Remember = 24 * time.Hour
	}
	if o.places == 0 {
		o.places = mostPlaces
	}
	if o.disk == nil {
		o.disk = osDisk{}
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

// A Store is an open directory. All its methods may run at the same time.
type Store struct {
	options  Options
	dir      string
	lock     *os.File
	catalog  *catalog
	segments directory

	requests chan *request // to the committer
	full     chan struct{} // to the flusher: a table is frozen
	closing  chan struct{}
	close    func() error
	workers  sync.WaitGroup

	pending atomic.Int64 // bytes of encodings that wait for the log

	// flushing is held by who changes segments. It is taken before mu.
	flushing sync.Mutex
	nextID   int64 // of a segment
	snapshot sync.Mutex

	mu       sync.RWMutex
	active   *table
	frozen   *table     // nil when there is none
	listed   []*segment // that count
	sources  map[int64]*store.Source
	known    stackSet
	flushErr error // why the frozen table is still there
}

var _ store.Store = (*Store)(nil)

// Open opens a directory, or makes it. Batches that are only in the log come back to
// memory.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{
		options: o.orDefault(), dir: dir,
		requests: make(chan *request), full: make(chan struct{}, 1), closing: make(chan struct{}),
		known: stackSet{byTenant: map[string]*set{}},
	}
	s.segments = directory{filepath.Join(dir, "segments"), s.options.disk}
	s.close = sync.OnceValue(s.shut)
	if err := s.open(); err != nil {
		if noRoom(err) {
			err = fmt.Errorf("%w (hint: the disk of %s is full: make some room)", err, dir)
		}
		return nil, errors.Join(fmt.Errorf("embedded store: %w", err), s.release())
	}
	if s.frozen != nil {
		s.full <- struct{}{}
	}
	s.workers.Go(s.commit)
	s.workers.Go(s.flush)
	return s, nil
}

func (s *Store) open() error {
	for _, dir := range []string{s.dir, s.segments.path, filepath.Join(s.dir, "log")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	var err error
	if s.lock, err = lock(s.dir); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(s.dir, snapshotDir)); err != nil {
		return err
	}
	if s.catalog, err = openCatalog(s.dir); err != nil {
		return err
	}
	if s.listed, err = s.catalog.segments(); err != nil {
		return err
	}
	if s.sources, err = s.catalog.sources(); err != nil {
		return err
	}
	for _, g := range s.listed {
		s.nextID = max(s.nextID, g.id)
	}
	if err := s.removeOrphans(); err != nil {
		return err
	}
	if err := s.recover(); err != nil {
		return err
	}
	if err := s.tidy(); !noRoom(err) { // else it is done with the next flush
		return err
	}
	return nil
}

// removeOrphans removes files of segments that the catalog does not name.
func (s *Store) removeOrphans() error {
	named := map[string]bool{}
	for _, g := range s.listed {
		for _, path := range s.segments.files(g.id) {
			named[path] = true
		}
	}
	entries, err := os.ReadDir(s.segments.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(s.segments.path, e.Name())
		if s.segments.ours(e.Name()) && !named[path] {
			err = errors.Join(err, s.options.disk.remove(path))
		}
		delete(named, path)
	}
	for path := range named {
		err = errors.Join(err, fmt.Errorf("segment %s is missing", path))
	}
	return err
}

// recover makes tables of what is in the log and not in segments. The last goes on.
func (s *Store) recover() error {
	flushed, err := s.catalog.lastLog()
	if err != nil {
		return err
	}
	numbers, err := s.logs()
	if err != nil {
		return err
	}
	for len(numbers) > 0 && numbers[0] <= flushed {
		if err := s.options.disk.remove(s.logPath(numbers[0])); err != nil {
			return err
		}
		numbers = numbers[1:]
	}
	for i, number := range numbers {
		last := i == len(numbers)-1
		t := newTable(number, s.logPath(number))
		whole, err := replay(t.path, last, t.add)
		if err != nil {
			return err
		}
		if !last {
			if err := s.keep(t); noRoom(err) && i == len(numbers)-2 {
				s.frozen, s.flushErr = t, err // as it was before: the flusher tries again
			} else if err != nil {
				return err
			}
			continue
		}
		if whole > 0 {
			s.active = t
			t.journal, err = openJournal(s.options.disk, t.path, whole)
			return err
		}
		flushed = number - 1 // its file begins anew
	}
	if len(numbers) > 1 {
		flushed = numbers[len(numbers)-1] - 1
	}
	s.active, err = s.newTable(flushed + 1)
	return err
}

func (s *Store) logPath(number int64) string {
	return filepath.Join(s.dir, "log", fmt.Sprintf("%09d.log", number))
}

// logs returns the numbers of the files of the log, in order.
func (s *Store) logs() ([]int64, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "log"))
	if err != nil {
		return nil, err
	}
	var numbers []int64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".log")
		number, err := strconv.ParseInt(name, 10, 64)
		if ok && err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Close ends the store. What is in memory is in the log; Close does not wait for it to
// become segments.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut() error {
	close(s.closing)
	s.workers.Wait()
	return s.release()
}

// release closes what is open.
func (s *Store) release() error {
	var err error
	for _, t := range []*table{s.active, s.frozen} {
		if t != nil && t.journal != nil {
			err = errors.Join(err, t.journal.file.Close())
		}
	}
	if s.catalog != nil {
		err = errors.Join(err, s.catalog.close())
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// Write keeps a batch: it returns nil when the log has it on the disk. It is a
// [store.Writer]'s.
func (s *Store) Write(ctx context.Context, b *store.Batch) error {
	if err := check(b); err != nil {
		return err
	}
	size := sizeOf(b)
	if !s.reserve(int64(size)) {
		return store.ErrFull
	}
	buffer := buffers.Get().(*[]byte)
	r := &request{tenant: b.Source.Tenant, id: b.ID, place: placeOf(&b.Source, b.Until.UnixMilli()), encoded: s.encode((*buffer)[:0], b), done: make(chan error, 1)}
	*buffer = r.encoded
	more := max(0, len(r.encoded)-size) // its new stacks, which nobody knew of before
	s.pending.Add(int64(more))
	r.release = func() {
		s.pending.Add(-int64(size + more))
		if cap(*buffer) <= mostKept {
			buffers.Put(buffer)
		}
	}
	if len(r.encoded) > mostBatch {
		r.free()
		return fmt.Errorf("a batch of %q is %d bytes; %d are the most", b.Source.Service, len(r.encoded), mostBatch)
	}
	r.bytes = tableBytes(r.encoded)
	return s.send(ctx, r)
}

// encode appends a batch without the stacks that the store knows.
func (s *Store) encode(to []byte, b *store.Batch) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return encode(slices.Grow(to, sizeOf(b)), b, func(id store.StackID) bool { return s.known.has(b.Source.Tenant, id) })
}

// send gives a request to the committer and waits for it.
func (s *Store) send(ctx context.Context, r *request) error {
	select {
	case <-s.closing: // even if the committer could still take it
		r.free()
		return store.ErrClosed
	default:
	}
	select {
	case s.requests <- r:
	case <-s.closing:
		r.free()
		return store.ErrClosed
	case <-ctx.Done():
		r.free()
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
