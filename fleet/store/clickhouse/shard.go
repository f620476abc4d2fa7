package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// A shard is one of the parts of a store: a server or copies of one, what waits to be
// written there, and what is known of it.
type shard struct {
	name   string // for people
	number int    // from 1 on
	nodes  []*node

	queue chan *request
	room  room

	mu    sync.Mutex
	first int                   // the node that answered last
	known map[stackKey]struct{} // stacks that the server has; not all of them
	cause error                 // why the last attempt to write failed
	rest  time.Time             // until when it is not asked what it need not answer
}

type stackKey struct {
	tenant string
	id     store.StackID
}

// mostKnown bounds the stacks that are remembered as known: about 100 MB. Beyond it all
// are forgotten; they are written once more.
const mostKnown = 1 << 20

func newShard(nodes []*node) *shard {
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.address)
	}
	n := nodes[0]
	return &shard{
		name:   fmt.Sprintf("shard %d of %d (%s)", n.shard, n.of, strings.Join(addresses, ", ")),
		number: n.shard, nodes: nodes,
		queue: make(chan *request, mostWaiting), known: map[stackKey]struct{}{},
	}
}

// withNode does something with a node of the shard that can: the one that could last time, else
// the next.
func (s *shard) withNode(ctx context.Context, do func(*node) error) error {
	s.mu.Lock()
	first := s.first
	s.mu.Unlock()
	var all error
	for i := range s.nodes {
		number := (first + i) % len(s.nodes)
		n := s.nodes[number]
		err := n.prepare(ctx)
		if err == nil {
			err = do(n)
		}
		if err == nil {
			s.mu.Lock()
			s.first = number
			s.mu.Unlock()
			return nil
		}
		if len(s.nodes) > 1 {
			err = fmt.Errorf("%s: %w", n.address, err)
		}
		if all = also(all, err); ctx.Err() != nil || memory.Scarce(err) {
			break
		}
	}
	return all
}

// also returns two errors in one line.
func also(all, err error) error {
	if all == nil {
		return err
	}
	return fmt.Errorf("%w; %w", all, err)
}

// shardOf returns where a service's rows are.
func (s *Store) shardOf(tenant, service string) *shard {
	h := fnv.New64a()
	for _, text := range []string{tenant, "\x00", service} {
		h.Write([]byte(text))
	}
	return s.shards[h.Sum64()%uint64(len(s.shards))]
}

// shardsOf returns the shards that have rows of a selection.
func (s *Store) shardsOf(selected store.Selection) []*shard {
	if selected.Service != "" {
		return []*shard{s.shardOf(selected.Tenant, selected.Service)}
	}
	return s.shards
}

// query asks the shard. A connection that broke is tried once more.
func (s *shard) query(ctx context.Context, query string, begin func(), row func(*decoder)) error {
	var err error
	for range 2 {
		err = s.withNode(ctx, func(n *node) error {
			begin()
			return n.ask(ctx, query, row)
		})
		var answered *answerError
		if err == nil || errors.As(err, &answered) || errors.Is(err, errLayout) || errors.Is(err, context.DeadlineExceeded) || memory.Scarce(err) || ctx.Err() != nil {
			break
		}
	}
	return err
}

// absences are the shards that did not answer, and why.
type absences map[*shard]error

// missing names them for people.
func (a absences) missing() store.Missing {
	var names store.Missing
	for _, s := range slices.SortedFunc(maps.Keys(a), func(x, y *shard) int { return cmp.Compare(x.number, y.number) }) {
		names = append(names, fmt.Sprintf("%s: %v", s.name, a[s]))
	}
	return names
}

// ask asks shards at the same time and gives the rows of those that answered, by shard.
// It is an error when none did, and where memory is short: that is no shard's fault.
func ask[T any](ctx context.Context, shards []*shard, query string, row func(*decoder) T) ([]T, absences, error) {
	answers := make([][]T, len(shards))
	errs := make([]error, len(shards))
	var asked sync.WaitGroup
	for i, s := range shards {
		asked.Go(func() {
			errs[i] = s.query(ctx, query, func() { answers[i] = nil }, func(d *decoder) { answers[i] = append(answers[i], row(d)) })
		})
	}
	asked.Wait()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	absent := absences{}
	var all error
	for i, s := range shards {
		if memory.Scarce(errs[i]) {
			return nil, nil, errs[i]
		}
		if errs[i] != nil {
			absent[s] = errs[i]
			all = also(all, fmt.Errorf("%s: %w", s.name, errs[i]))
		}
	}
	if len(absent) == len(shards) {
		return nil, nil, all
	}
	return slices.Concat(answers...), absent, nil
}

// A pause is what is between attempts, each twice the one before.
type pause struct{ next time.Duration }

func newPause() *pause { return &pause{20 * time.Millisecond} }

// wait reports whether to go on.
func (p *pause) wait(ctx context.Context) bool {
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	p.next = min(2*p.next, time.Second)
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
