package embedded

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// Names are blobs: they may have any bytes, and SQLite's text ends at a NUL for some of
// its functions.
const schema = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segments (
	id INTEGER PRIMARY KEY, tenant BLOB NOT NULL, service BLOB NOT NULL, hour INTEGER NOT NULL,
	min_time INTEGER NOT NULL, max_time INTEGER NOT NULL, rows INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS batches (
	tenant BLOB NOT NULL, id BLOB NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS batches_seen ON batches (seen);
CREATE TABLE IF NOT EXISTS sources (
	id INTEGER PRIMARY KEY, tenant BLOB NOT NULL, service BLOB NOT NULL, version BLOB NOT NULL,
	instance BLOB NOT NULL, labels BLOB NOT NULL, UNIQUE (tenant, service, version, instance, labels));
CREATE TABLE IF NOT EXISTS frames (
	id INTEGER PRIMARY KEY, function BLOB NOT NULL, file BLOB NOT NULL, line INTEGER NOT NULL,
	UNIQUE (function, file, line));
CREATE TABLE IF NOT EXISTS stacks (
	tenant BLOB NOT NULL, id INTEGER NOT NULL, frames BLOB NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
`

// A catalog is what the store knows besides the samples, in SQLite. Each method is one
// transaction.
type catalog struct {
	db    *sql.DB
	known *sql.Stmt
	log   string // SQLite's own
}

const catalogFile = "catalog.sqlite"

// busyTime is how long a question waits for another's transaction, in milliseconds.
const busyTime = "10000"

func openCatalog(dir string) (*catalog, error) {
	path := (&url.URL{Path: filepath.Join(dir, catalogFile)}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout("+busyTime+")"+
		"&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	c := &catalog{db: db, log: filepath.Join(dir, catalogFile+"-wal")}
	if err = c.create(path); err == nil {
		c.known, err = db.Prepare(`SELECT count(*) FROM batches WHERE tenant = ? AND id = ?`)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("catalog: %w", err), db.Close())
	}
	return c, nil
}

// version is that of the whole directory: of the catalog, the segments and the log.
const version = 2

// create makes the tables of a new catalog and refuses one of another version.
func (c *catalog) create(path string) error {
	var is, tables int
	err := c.db.QueryRow(`SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version`).Scan(&is, &tables)
	if err != nil {
		return err
	}
	if tables > 0 && is != version {
		return fmt.Errorf("%s is of format %d, and this program reads %d (hint: move the directory away, or open it with the program that made it)", path, is, version)
	}
	if _, err = c.db.Exec(schema + findingsSchema); err != nil || is == version { // which writes nothing where all is there: the disk may be full
		return err
	}
	_, err = c.db.Exec(fmt.Sprintf(`PRAGMA user_version = %d`, version))
	return err
}

func (c *catalog) close() error { return errors.Join(c.known.Close(), c.db.Close()) }

// has reports whether a batch is in segments already.
func (c *catalog) has(tenant string, id [16]byte) (bool, error) {
	var n int
	if err := c.known.QueryRow([]byte(tenant), id[:]).Scan(&n); err != nil {
		return false, fmt.Errorf("catalog: is a batch known: %w", err)
	}
	return n > 0, nil
}

// lastLog returns the number of the last file of the log of which segments have all.
func (c *catalog) lastLog() (number int64, err error) {
	err = c.db.QueryRow(`SELECT coalesce(max(value), 0) FROM meta WHERE name = 'flushed'`).Scan(&number)
	if err != nil {
		return 0, fmt.Errorf("catalog: last log: %w", err)
	}
	return number, nil
}

// segments returns all there are, by ID.
func (c *catalog) segments() ([]*segment, error) {
	var all []*segment
	err := c.each(`SELECT id, tenant, service, hour, min_time, max_time, rows, bytes FROM segments ORDER BY id`, func(r *sql.Rows) error {
		s := &segment{}
		all = append(all, s)
		return r.Scan(&s.id, &s.tenant, &s.service, &s.hour, &s.min, &s.max, &s.rows, &s.bytes)
	})
	return all, err
}

// sources returns all there are, by their ID.
func (c *catalog) sources() (map[int64]*store.Source, error) {
	all := map[int64]*store.Source{}
	return all, c.each(`SELECT id, tenant, service, version, instance, labels FROM sources`, func(r *sql.Rows) error {
		var id int64
		var labels []byte
		s := &store.Source{}
		err := r.Scan(&id, &s.Tenant, &s.Service, &s.Version, &s.Instance, &labels)
		d := decoder{rest: labels}
		s.Labels = d.labels()
		all[id] = s
		return err
	})
}

func (c *catalog) each(query string, row func(*sql.Rows) error, args ...any) error {
	rows, err := c.db.Query(query, args...)
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer rows.Close() // its error is that of Err
	for rows.Next() {
		if err := row(rows); err != nil {
			return fmt.Errorf("catalog: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	return nil
}

func (c *catalog) update(what string, change func(*sql.Tx) error) error {
	tx, err := c.db.Begin()
	if err != nil {
		return fmt.Errorf("catalog: %s: %w", what, err)
	}
	if err := change(tx); err != nil {
		return errors.Join(fmt.Errorf("catalog: %s: %w", what, err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("catalog: %s: %w", what, err)
	}
	return nil
}

// addSources gives IDs to sources.
func (c *catalog) addSources(sources []*store.Source) (map[*store.Source]int64, error) {
	ids := map[*store.Source]int64{}
	return ids, c.update("sources", func(tx *sql.Tx) error {
		// The update of nothing makes a row that is there return its ID, too.
		insert, err := tx.Prepare(`INSERT INTO sources (tenant, service, version, instance, labels) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET labels = labels RETURNING id`)
		if err != nil {
			return err
		}
		for _, s := range sources {
			var id int64
			err := insert.QueryRow([]byte(s.Tenant), []byte(s.Service), []byte(s.Version), []byte(s.Instance),
				appendLabels(nil, s.Labels)).Scan(&id)
			if err != nil {
				return err
			}
			ids[s] = id
		}
		return nil
	})
}

// addTable makes the segments of a table those that count, with its stacks and IDs of
// batches, and its file of the log one that does not.
func (c *catalog) addTable(t *table, segments []*segment, now time.Time) error {
	if err := c.addStacks(t); err != nil {
		return err
	}
	return c.update("segments", func(tx *sql.Tx) error {
		var again int
		err := tx.QueryRow(`SELECT count(*) FROM meta WHERE name = 'flushed' AND value >= ?`, t.number).Scan(&again)
		if err == nil && again > 0 {
			err = fmt.Errorf("log %d is in segments already (hint: open the store again)", t.number)
		}
		if err != nil {
			return err
		}
		if err := addSegments(tx, segments); err != nil {
			return err
		}
		seen, err := ownTime(tx, now)
		if err != nil {
			return err
		}
		insert, err := tx.Prepare(`INSERT OR IGNORE INTO batches (tenant, id, seen) VALUES (?, ?, ?)`)
		if err != nil {
			return err
		}
		for key := range t.ids {
			if _, err := insert.Exec([]byte(key.tenant), key.id[:], seen); err != nil {
				return err
			}
		}
		_, err = tx.Exec(`INSERT OR REPLACE INTO meta (name, value) VALUES ('flushed', ?)`, t.number)
		return err
	})
}

// mostLog is what the catalog's own log may have without being cut.
const mostLog = 1 << 20

// shrink gives back what the catalog's own log took for a large table: SQLite keeps a file as long as it
// ever was, which on a disk that is full nobody else can use. What readers are in, or there is no
// room to copy, stays in the log, and is cut another time.
func (c *catalog) shrink(ctx context.Context) {
	if info, err := os.Stat(c.log); err != nil || info.Size() <= mostLog {
		return
	}
	one, err := c.db.Conn(ctx)
	if err != nil {
		return
	}
	defer one.Close()
	// Nobody waits for readers here.
	_, err = one.ExecContext(ctx, `PRAGMA busy_timeout = 0`)
	if err == nil {
		_, _ = one.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	_, _ = one.ExecContext(ctx, `PRAGMA busy_timeout = `+busyTime)
}

func addSegments(tx *sql.Tx, segments []*segment) error {
	for _, s := range segments {
		_, err := tx.Exec(`INSERT INTO segments (id, tenant, service, hour, min_time, max_time, rows, bytes)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			s.id, []byte(s.tenant), []byte(s.service), s.hour, s.min, s.max, s.rows, s.bytes)
		if err != nil {
			return err
		}
	}
	return nil
}

// addStacks adds the stacks of a table, some batches in a transaction: what one writes is in SQLite's own
// log before it is in its file, so that all of them at once would need the disk several times over. A
// stack that nothing names yet does no harm, and comes again.
func (c *catalog) addStacks(t *table) error {
	for rest := t.batches; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && (n == 0 || size < mostLog) {
			size += len(rest[n].stacks) + len(rest[n].frames)
			n++
		}
		if err := c.update("stacks", func(tx *sql.Tx) error { return addStacks(tx, t, rest[:n]) }); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// addStacks adds the stacks of some batches of a table, one after the other: decoded together, the frames
// of a client that makes new ones would take several times what the table does.
func addStacks(tx *sql.Tx, t *table, batches []*batch) error {
	insert, err := tx.Prepare(`INSERT OR IGNORE INTO stacks (tenant, id, frames) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	number, err := frameNumbers(tx)
	if err != nil {
		return err
	}
	var encoded []byte
	for _, b := range batches {
		var ids []int64 // of the batch's frames
		for id, stack := range b.newStacks() {
			if t.stacks[stackKey{b.source.Tenant, id}].list != stack.list {
				continue // another batch had it first
			}
			if ids == nil {
				if ids, err = frameIDs(&b.frames, number); err != nil {
					return err
				}
			}
			encoded = encoded[:0]
			for rest := stack.numbers; len(rest) > 0; {
				at, n := binary.Uvarint(rest)
				if n <= 0 || at >= uint64(len(ids)) {
					return errBatch
				}
				encoded, rest = binary.AppendUvarint(encoded, uint64(ids[at])), rest[n:]
			}
			if _, err := insert.Exec([]byte(b.source.Tenant), int64(id), encoded); err != nil {
				return err
			}
		}
	}
	return nil
}

// frameIDs returns the IDs of the frames of a list.
func frameIDs(of *frameList, number func(store.Frame) (int64, error)) ([]int64, error) {
	list, err := frameLists{}.list(of)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	for i, f := range list {
		if ids[i], err = number(*f); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// mostFrameIDs frames of a table, with mostFrameText bytes of names at most, are remembered while
// it is added: a fleet's programs have fewer.
const mostFrameIDs, mostFrameText = 1 << 16, 8 << 20

// frameNumbers gives the IDs of frames, new ones to those that have none.
func frameNumbers(tx *sql.Tx) (func(store.Frame) (int64, error), error) {
	insert, err := tx.Prepare(`INSERT OR IGNORE INTO frames (function, file, line) VALUES (?, ?, ?)`)
	if err != nil {
		return nil, err
	}
	find, err := tx.Prepare(`SELECT id FROM frames WHERE function = ? AND file = ? AND line = ?`)
	if err != nil {
		return nil, err
	}
	ids, text := map[store.Frame]int64{}, 0
	return func(f store.Frame) (int64, error) {
		if id, known := ids[f]; known {
			return id, nil
		}
		// Most are new: to insert without a question takes a third of the time.
		made, err := insert.Exec([]byte(f.Function), []byte(f.File), f.Line)
		if err != nil {
			return 0, err
		}
		id, err := made.LastInsertId()
		if n, counted := made.RowsAffected(); err != nil || counted != nil || n == 0 {
			err = find.QueryRow([]byte(f.Function), []byte(f.File), f.Line).Scan(&id)
		}
		if len(ids) >= mostFrameIDs || text >= mostFrameText {
			clear(ids)
			text = 0
		}
		ids[f] = id
		text += len(f.Function) + len(f.File)
		return id, err
	}, nil
}

// replace names a segment instead of others. Without one it drops them.
func (c *catalog) replace(old []*segment, merged ...*segment) error {
	return c.update("replacing segments", func(tx *sql.Tx) error {
		for _, s := range old {
			if _, err := tx.Exec(`DELETE FROM segments WHERE id = ?`, s.id); err != nil {
				return err
			}
		}
		return addSegments(tx, merged)
	})
}

// forget drops the IDs of batches that were seen longer ago.
func (c *catalog) forget(now time.Time, remember time.Duration) error {
	return c.update("old batches", func(tx *sql.Tx) error {
		own, err := ownTime(tx, now)
		if err == nil {
			_, err = tx.Exec(`DELETE FROM batches WHERE seen < ?`, own-remember.Milliseconds())
		}
		return err
	})
}

// mostStep is how far the store's own time goes on at once. The store looks each tidyEvery: what
// is longer is a clock that was set, or nobody ran the store, and then nobody sent it anything.
const mostStep = 2 * tidyEvery

// ownTime returns the store's own time in milliseconds, by which it forgets batches: it never goes
// back and never jumps, as clocks do. It begins with the first clock there was.
func ownTime(tx *sql.Tx, now time.Time) (own int64, err error) {
	clock := now.UnixMilli()
	last := clock
	err = tx.QueryRow(`SELECT o.value, c.value FROM meta o, meta c WHERE o.name = 'own time' AND c.name = 'clock'`).Scan(&own, &last)
	if errors.Is(err, sql.ErrNoRows) {
		own, err = clock, nil
	}
	if err != nil {
		return 0, err
	}
	own += min(max(0, clock-last), mostStep.Milliseconds())
	_, err = tx.Exec(`INSERT OR REPLACE INTO meta (name, value) VALUES ('own time', ?), ('clock', ?)`, own, clock)
	return own, err
}

// most is how many parameters one of the catalog's queries has.
const most = 500

// stacks adds the frames of those stacks of a tenant that the catalog has.
func (c *catalog) stacks(ctx context.Context, tenant string, ids []store.StackID, frames map[store.StackID][]*store.Frame) error {
	numbers := map[store.StackID][]int64{}
	wanted := map[int64]*store.Frame{}
	err := inParts(ids, func(marks string, args []any) error {
		query := `SELECT id, frames FROM stacks WHERE tenant = ? AND id IN (` + marks + `)`
		return c.each(query, func(r *sql.Rows) error {
			var id store.StackID
			var encoded []byte
			if err := r.Scan(&id, &encoded); err != nil {
				return err
			}
			if err := memory.More(ctx, stackFrames+2*frameBytes*int64(len(encoded))); err != nil {
				return err
			}
			for len(encoded) > 0 {
				number, n := binary.Uvarint(encoded)
				if n <= 0 {
					return fmt.Errorf("the frames of stack %d do not decode", id)
				}
				encoded = encoded[n:]
				numbers[id] = append(numbers[id], int64(number))
				wanted[int64(number)] = nil
			}
			return nil
		}, append([]any{[]byte(tenant)}, args...)...)
	})
	if err != nil {
		return err
	}
	if err := c.frames(ctx, wanted); err != nil {
		return err
	}
	for id, list := range numbers {
		for _, number := range list {
			f := wanted[number]
			if f == nil {
				return fmt.Errorf("catalog: frame %d of stack %d is not there", number, id)
			}
			frames[id] = append(frames[id], f)
		}
	}
	return nil
}

// frames sets the frames of the IDs in a map.
func (c *catalog) frames(ctx context.Context, wanted map[int64]*store.Frame) error {
	ids := make([]int64, 0, len(wanted))
	for id := range wanted {
		ids = append(ids, id)
	}
	pays := memory.NewBill(ctx)
	return inParts(ids, func(marks string, args []any) error {
		return c.each(`SELECT id, function, file, line FROM frames WHERE id IN (`+marks+`)`, func(r *sql.Rows) error {
			var id int64
			f := &store.Frame{}
			err := r.Scan(&id, &f.Function, &f.File, &f.Line)
			wanted[id] = f
			return errors.Join(err, pays.Add(framesCost(1, len(f.Function)+len(f.File))))
		}, args...)
	})
}

// inParts asks for as many IDs at once as a query has parameters.
func inParts[T ~int64](ids []T, ask func(marks string, args []any) error) error {
	for len(ids) > 0 {
		part := ids[:min(len(ids), most)]
		ids = ids[len(part):]
		args := make([]any, len(part))
		for i, id := range part {
			args[i] = int64(id)
		}
		if err := ask(strings.TrimSuffix(strings.Repeat("?,", len(part)), ","), args); err != nil {
			return err
		}
	}
	return nil
}
