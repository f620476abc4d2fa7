// Package clickhouse keeps a fleet's profiles in ClickHouse, on one server or on several.
//
// It is a [store.Store]. It hides a schema, HTTP with rows in binary both ways, and the
// merging of what several servers answer. It needs no client library; ClickHouse 18.16,
// which Debian has, and newer ones do.
//
//   - A batch is a row for each type of profile in the table profiles, with the stacks as
//     arrays; one without profiles has a row without a type. All its rows are of one day,
//     in one INSERT: they become visible at once, or never.
//   - [Store.Write] returns nil when the server has the batch. Batches that come within
//     Options.Gather of each other are one INSERT. What is not yet there is nowhere else:
//     a server that is gone is tried again and again until the context of Write ends or
//     Options.Patience has passed, then Write returns [store.ErrFull], as it does at once
//     when too much waits already. So nothing that was acknowledged is lost when a server
//     is gone for minutes, and clients have to keep and repeat what was not, as they do.
//   - IDs of batches are in the table ids, written last; a known one is not written again.
//     The same batch may still be there twice: two processes wrote it at the same moment,
//     or the answer to an INSERT was lost. Every query takes a row of a batch and type
//     once. Two batches that differ and have one ID, written at the same moment by two
//     processes, would both count: IDs are made of what was sent, so there are none.
//   - Frames are in the table stacks, findings in the table of their name. What was
//     written first counts; what is first the clocks of those who wrote decide.
//   - What is older than Options.Keep goes by whole days. Stacks stay.
//
// A kill of the server loses nothing that was acknowledged. A power cut may on servers older
// than 21.1, which do not wait for the disk; newer ones get the setting.
//
// # Several servers
//
// A service of a tenant is on one of Options.Shards, by a hash. A question about one
// service is for its shard, others are for all. A shard that does not answer is in Missing;
// when none answers it is an error. Writes to the others go on. The number and order of
// shards stay what they were when the tables were made, which [Open] checks.
//
// With Options.Replicated a shard may be several servers, which copy the tables through
// ZooKeeper. A batch is acknowledged when most of them have it, and a server answers only
// when it has all that was acknowledged; else the store asks the next. Of two copies, one
// that is gone leaves answers, and writes wait for it; of three, one that is gone stops
// nothing.
//
// The package reads the clock for what is old and for which frames and findings are
// first, never for an answer.
package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Options are where a store is and how long it tries. All but Shards have a default.
type Options struct {
	// Shards are the addresses of the servers of each shard, like http://127.0.0.1:8123:
	// one, or its copies where Replicated is set. The number and order of the shards may
	// not change, nor the order of copies.
	Shards [][]string
	// Replicated is a path in the servers' ZooKeeper, like /gowhy, under which the tables
	// are that copy themselves from server to server. Where it is empty they do not.
	Replicated string
	// Database is the one of the tables, which Open makes; gowhy where it is empty.
	Database string
	// User and Password are for all servers; the server's default user where they are
	// empty.
	User, Password string
	// Keep is how old a batch or finding may become; for ever where it is 0. Days go
	// when all of them is older. The store looks when it opens and each hour.
	Keep time.Duration
	// Remember is how long the ID of a batch is known at least after it came: a client
	// that sends something else under it later is not recognized. Two days where it is 0.
	Remember time.Duration
	// Patience is how long a write tries; 10 s where it is 0.
	Patience time.Duration
	// Timeout is how long one request to a server may take; 30 s where it is 0.
	Timeout time.Duration
	// Gather is how long a write waits for others to share an INSERT: servers bear few
	// of them a second. 50 ms where it is 0.
	Gather time.Duration
	// Problem is called with what went wrong in the background, where it is set.
	Problem func(error)

	now func() time.Time // a test's
}

func (o Options) orDefault() Options {
	o.Database = cmp.Or(o.Database, "gowhy")
	o.Remember = cmp.Or(o.Remember, 48*time.Hour)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Gather = cmp.Or(o.Gather, 50*time.Millisecond)
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	if o.now == nil {
		o.now = time.Now
	}
	return o
}

var replicatedPath = regexp.MustCompile(`^(/[A-Za-z0-9_-]{1,63}){1,8}$`)

var databaseName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

func (o Options) check() error {
	if len(o.Shards) == 0 {
		return errors.New("no server is named (hint: set Shards, like http://127.0.0.1:8123)")
	}
	all := slices.Concat(o.Shards...)
	for i, address := range all {
		if err := checkAddress(address); err != nil {
			return err
		}
		if slices.Contains(all[:i], address) {
			return fmt.Errorf("%q is there twice; each shard and copy is a server of its own", address)
		}
	}
	for i, addresses := range o.Shards {
		if len(addresses) == 0 {
			return fmt.Errorf("shard %d has no server", i+1)
		}
		if len(addresses) > 1 && o.Replicated == "" {
			return fmt.Errorf("shard %d has %d servers, and nothing copies the tables from one to the other "+
				"(hint: set Replicated to a path in their ZooKeeper, or name one)", i+1, len(addresses))
		}
	}
	if o.Replicated != "" && !replicatedPath.MatchString(o.Replicated) {
		return fmt.Errorf("%q is no path in ZooKeeper (hint: write it like /gowhy)", o.Replicated)
	}
	if !databaseName.MatchString(o.Database) {
		return fmt.Errorf("%q is no name for a database: letters, digits and _, 63 at most, no digit first", o.Database)
	}
	for _, d := range []time.Duration{o.Keep, o.Remember, o.Patience, o.Timeout, o.Gather} {
		if d < 0 {
			return fmt.Errorf("a duration of %v is negative", d)
		}
	}
	return nil
}

// A Store is a database, on each of its shards. All its methods may run at the same time.
type Store struct {
	options Options
	shards  []*shard

	closing chan struct{}
	running context.Context // until Close
	close   func() error
	workers sync.WaitGroup

	mu   sync.Mutex
	last uint64 // what age gave
}

var _ store.Store = (*Store)(nil)

// Open reaches the servers and makes the tables where they are not there yet. Servers that
// do not answer are tried again when they are needed; when none answers it is an error.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.orDefault()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("clickhouse store: %w", err)
	}
	return open(ctx, o, o.nodes())
}

// nodes returns the servers of each shard.
func (o Options) nodes() [][]*node {
	client := newClient()
	var shards [][]*node
	for i, addresses := range o.Shards {
		var nodes []*node
		for j, address := range addresses {
			n := &node{
				address: address, database: o.Database, user: o.User, password: o.Password,
				timeout: o.Timeout, client: client,
				shard: i + 1, of: len(o.Shards), copy: j + 1, preparing: make(chan struct{}, 1),
			}
			if o.Replicated != "" {
				n.path = fmt.Sprintf("%s/%s/%d", o.Replicated, o.Database, i+1)
			}
			if len(addresses) > 1 {
				n.quorum = len(addresses)/2 + 1
			}
			nodes = append(nodes, n)
		}
		shards = append(shards, nodes)
	}
	return shards
}

func open(ctx context.Context, o Options, shards [][]*node) (*Store, error) {
	s := &Store{options: o, closing: make(chan struct{})}
	running, cancel := context.WithCancel(context.Background())
	s.running = running
	for _, nodes := range shards {
		s.shards = append(s.shards, newShard(nodes))
	}
	s.close = sync.OnceValue(func() error {
		close(s.closing)
		cancel()
		s.workers.Wait()
		for _, n := range slices.Concat(shards...) {
			n.client.CloseIdleConnections()
		}
		return nil
	})
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("clickhouse store: %w", err), s.close())
	}
	for _, one := range s.shards {
		s.workers.Go(func() { s.commit(one) })
	}
	s.workers.Go(s.tidy)
	return s, nil
}

// prepare makes the tables on all servers that answer.
func (s *Store) prepare(ctx context.Context) error {
	var nodes []*node
	for _, one := range s.shards {
		nodes = append(nodes, one.nodes...)
	}
	errs := make([]error, len(nodes))
	var preparing sync.WaitGroup
	for i, n := range nodes {
		preparing.Go(func() {
			if err := n.prepare(ctx); err != nil {
				errs[i] = fmt.Errorf("%s: %w", n.address, err)
			}
		})
	}
	preparing.Wait()
	var all error
	for _, err := range errs {
		if err != nil {
			all = also(all, err)
		}
	}
	if !slices.Contains(errs, nil) || errors.Is(all, errLayout) {
		return all
	}
	if all != nil {
		s.options.Problem(all)
	}
	return nil
}

// tidy drops what is old until the store closes.
func (s *Store) tidy() {
	hours := time.NewTicker(time.Hour)
	defer hours.Stop()
	for {
		s.tidyOnce()
		select {
		case <-s.closing:
			return
		case <-hours.C:
		}
	}
}

func (s *Store) tidyOnce() {
	now := s.options.now()
	for _, one := range s.shards {
		err := one.withNode(s.running, func(n *node) error {
			err := n.tidy(s.running, ids, now.Add(-s.options.Remember))
			for _, t := range []table{profiles, findings} {
				if err == nil && s.options.Keep > 0 {
					err = n.tidy(s.running, t, now.Add(-s.options.Keep))
				}
			}
			return err
		})
		if err != nil && s.running.Err() == nil {
			s.options.Problem(fmt.Errorf("%s: %w", one.name, err))
		}
	}
}

// Close ends the store. What was acknowledged is on the servers; Close does not wait for
// what was not.
func (s *Store) Close() error { return s.close() }

// age returns the key by which one of two copies of a row is kept: the largest, which is the
// first.
func (s *Store) age() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last+1, uint64(s.options.now().UnixNano()))
	return ^s.last
}
