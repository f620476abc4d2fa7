// Package memory divides what a process may have among the requests that need some of it.
//
// It hides who waits for whom. A [Pool] is a part of the memory, and a [Grant] is what
// somebody took of it: before it is needed, and as much as may be needed. Who comes when
// the pool is empty waits in a queue for a bounded time, and is refused then. Where all who
// have some wait for more, none would ever get it: the last is refused at once, and may
// begin again with what it needs. Nothing is allocated here, and what takes more than its
// grant is not noticed: how much is needed is for those to know who take it.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/exposition"
)

var (
	// ErrBusy is the error where others have the memory now: later there may be enough.
	ErrBusy = errors.New("the server has no memory for it now: send it again")
	// ErrLarge is the error of what needs more than there is, whoever else there is.
	ErrLarge = errors.New("it needs more memory than the server has for it")
)

const (
	// mostWaiting bounds the queue of a pool: who waits holds a connection.
	mostWaiting = 1000
	// A grant of this part of a pool or less is small: it may overtake larger ones that wait.
	// It is a push of an SDK beside those of the largest programs.
	small = 16
)

// A Pool is an amount of memory, of which no more is granted. One that is nil has no bound.
type Pool struct {
	name string
	size int64
	wait time.Duration // that a request waits for a grant
	kept int64         // of the size, what only small grants are made of

	mu      sync.Mutex
	free    int64
	queue   []*waiter
	refused int64
}

type waiter struct {
	bytes    int64
	has      int64 // already: nobody gets it meanwhile
	answered chan struct{}
	refused  bool
}

// NewPool makes one of a size in bytes; its name is that of its metrics.
func NewPool(name string, size int64, wait time.Duration) *Pool {
	return &Pool{name: name, size: size, free: size, wait: wait}
}

// KeepForSmall has a part of a pool granted only to who takes little, and returns the pool.
func (p *Pool) KeepForSmall(bytes int64) *Pool {
	p.kept = bytes
	return p
}

// Size returns how much there is.
func (p *Pool) Size() int64 { return p.size }

// A Grant is what somebody has of a pool. One that is nil has all it asks for. Only one
// goroutine may use it at a time, but for [Grant.More].
type Grant struct {
	pool  *Pool
	mu    sync.Mutex
	bytes int64
	ahead int64 // of them, those that nobody needed yet
	short int64
}

// Take takes memory when there is some. An error is [ErrBusy], [ErrLarge] or the context's.
func (p *Pool) Take(ctx context.Context, bytes int64) (*Grant, error) {
	if p == nil {
		return nil, nil
	}
	g := &Grant{pool: p}
	return g, g.More(ctx, bytes)
}

// Ahead takes memory of which it is not known yet how much is needed: the first that More
// takes is of it. Who all take some, and then wait for more of each other, get nowhere.
func (p *Pool) Ahead(ctx context.Context, bytes int64) (*Grant, error) {
	g, err := p.Take(ctx, bytes)
	if g != nil && err == nil {
		g.ahead = bytes
	}
	return g, err
}

// More takes more.
func (g *Grant) More(ctx context.Context, bytes int64) error {
	if g == nil || bytes <= 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	known := min(bytes, g.ahead)
	g.ahead, bytes = g.ahead-known, bytes-known
	if bytes == 0 {
		return nil
	}
	if err := g.pool.Holds(g.bytes + bytes); err != nil {
		return err
	}
	err := g.pool.take(ctx, bytes, g.bytes)
	if errors.Is(err, errStuck) {
		g.short = g.bytes + bytes
	}
	if err == nil {
		g.bytes += bytes
	}
	return err
}

// Short returns how much was needed in all where it was refused because everybody who had
// some waited for more; 0 otherwise. Who takes so much before it begins again gets on.
func (g *Grant) Short() int64 {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.short
}

// errStuck is [ErrBusy] of one of those who wait for each other.
var errStuck = fmt.Errorf("%w", ErrBusy)

// Keep gives back all but n bytes.
func (g *Grant) Keep(bytes int64) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if bytes < g.bytes {
		g.pool.give(g.bytes - bytes)
		g.bytes = bytes
	}
}

// Release gives back all.
func (g *Grant) Release() { g.Keep(0) }

// Holds is [ErrLarge] of what nobody can have.
func (p *Pool) Holds(bytes int64) error {
	most := p.size - p.beyond(bytes)
	if bytes <= most {
		return nil
	}
	p.mu.Lock()
	p.refused++
	p.mu.Unlock()
	return fmt.Errorf("%w, which is %d MiB", ErrLarge, most>>20)
}

func (p *Pool) small(bytes int64) bool { return bytes <= p.size/small }

// beyond returns what somebody who takes so much cannot have.
func (p *Pool) beyond(bytes int64) int64 {
	if p.small(bytes) {
		return 0
	}
	return p.kept
}

// fits tells whether there are that many bytes for somebody now.
func (p *Pool) fits(bytes int64) bool { return bytes <= p.free-p.beyond(bytes) }

// take takes memory for somebody who has some already, or none. Who has some comes before
// those who have none: they wait for what it gives back.
func (p *Pool) take(ctx context.Context, bytes, has int64) error {
	p.mu.Lock()
	place := len(p.queue)
	if has > 0 {
		if place = slices.IndexFunc(p.queue, func(w *waiter) bool { return w.has == 0 }); place < 0 {
			place = len(p.queue)
		}
	}
	if p.fits(bytes) && (place == 0 || p.small(bytes)) {
		p.free -= bytes
		p.mu.Unlock()
		return nil
	}
	if len(p.queue) >= mostWaiting {
		p.refused++
		p.mu.Unlock()
		return ErrBusy
	}
	w := &waiter{bytes: bytes, has: has, answered: make(chan struct{})}
	p.queue = slices.Insert(p.queue, place, w)
	p.unstick()
	p.mu.Unlock()
	return p.waits(ctx, w)
}

// waits waits for an answer, as long as one of this pool may.
func (p *Pool) waits(ctx context.Context, w *waiter) error {
	late := time.NewTimer(p.wait)
	defer late.Stop()
	select {
	case <-w.answered:
	case <-late.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.queue, w)
	switch {
	case w.refused:
		return errStuck
	case i < 0: // it was granted, perhaps in the last moment
		return nil
	}
	p.queue = slices.Delete(p.queue, i, i+1)
	p.next() // what waits behind it may fit
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.refused++
	return ErrBusy
}

func (p *Pool) give(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += bytes
	p.next()
}

// next grants the first of the queue what they wait for, and small ones behind one whose
// turn has not come. The caller holds mu.
func (p *Pool) next() {
	blocked := false
	p.queue = slices.DeleteFunc(p.queue, func(w *waiter) bool {
		if !p.fits(w.bytes) || blocked && !p.small(w.bytes) {
			blocked = true
			return false
		}
		p.free -= w.bytes
		close(w.answered)
		return true
	})
	p.unstick()
}

// unstick refuses the last of those who have some where all of them wait: what it has is for
// the others. The caller holds mu.
func (p *Pool) unstick() {
	held, last := int64(0), -1
	for i, w := range p.queue {
		if held += w.has; w.has > 0 {
			last = i
		}
	}
	if last < 0 || held < p.size-p.free {
		return
	}
	w := p.queue[last]
	p.queue = slices.Delete(p.queue, last, last+1)
	w.refused = true
	p.refused++
	close(w.answered)
}

// Metrics writes a pool as Prometheus reads it.
func Metrics(w io.Writer, pools ...*Pool) {
	each := func(m exposition.Metric, value func(*Pool) int64) {
		for _, p := range pools {
			if p != nil {
				p.mu.Lock()
				v := value(p)
				p.mu.Unlock()
				m.Int(v, "for", p.name)
			}
		}
	}
	each(exposition.Gauge(w, "gowhy_fleet_memory_bytes", "Memory that requests may have."), func(p *Pool) int64 { return p.size })
	each(exposition.Gauge(w, "gowhy_fleet_memory_granted_bytes", "Memory that requests have now, as much as they may need."),
		func(p *Pool) int64 { return p.size - p.free })
	each(exposition.Gauge(w, "gowhy_fleet_memory_waiting", "Requests that wait for memory."), func(p *Pool) int64 { return int64(len(p.queue)) })
	each(exposition.Counter(w, "gowhy_fleet_memory_refused_total", "Requests refused because memory was short."), func(p *Pool) int64 { return p.refused })
}

type grantKey struct{}

// With returns a context whose work is on a grant.
func With(ctx context.Context, g *Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// More takes more for the work of a context: nothing where it has no grant.
func More(ctx context.Context, bytes int64) error {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	return g.More(ctx, bytes)
}

// Held returns what the work of a context has of its grant.
func Held(ctx context.Context) int64 {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes
}

// Back gives back what was taken for the work of a context since it had so much.
func Back(ctx context.Context, held int64) {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	g.Keep(held)
}

// A Bill is the memory of an answer that grows, taken some at a time for the work of a context.
type Bill struct {
	ctx  context.Context
	open int64
}

// NewBill returns a bill with nothing on it.
func NewBill(ctx context.Context) *Bill { return &Bill{ctx: ctx} }

// MostOpen is what of a bill is not taken yet.
const MostOpen = 64 << 10

// Add adds bytes to a bill.
func (b *Bill) Add(bytes int64) error {
	if b.open += bytes; b.open < MostOpen {
		return nil
	}
	bytes, b.open = b.open, 0
	return More(b.ctx, bytes)
}

// Scarce reports whether an error says that memory is short.
func Scarce(err error) bool { return errors.Is(err, ErrBusy) || errors.Is(err, ErrLarge) }

// Reader reads what nobody said the length of: it takes memory for as many copies of it, as
// it comes, for the work of a context.
func Reader(ctx context.Context, from io.Reader, copies int64) io.Reader {
	return &reader{ctx, from, copies, 0}
}

type reader struct {
	ctx    context.Context
	from   io.Reader
	copies int64
	have   int // what is granted beyond what was read
}

// step is how much a reader takes at once.
const step = 64 << 10

func (r *reader) Read(p []byte) (int, error) {
	if r.have <= 0 {
		if err := More(r.ctx, r.copies*step); err != nil {
			return 0, err
		}
		r.have = step
	}
	n, err := r.from.Read(p[:min(len(p), r.have)])
	r.have -= n
	return n, err
}
