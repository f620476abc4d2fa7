package exectrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// defaultKeep is how many goroutines of a group are kept when nobody says.
const defaultKeep = 8

// Account reads the whole trace, or the window of it that o names, and sums
// up what happened. Damage does not make it fail: what was lost is in
// Accounts.Info.Damage. It fails when nothing can be read, when the source
// fails, and when ctx ends.
func (t *Trace) Account(ctx context.Context, o Options) (*Accounts, error) {
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	var a *Accounts
	var err error
	if t.old() {
		a, err = t.accountOrdered(ctx, o)
	} else {
		a, err = t.accountParallel(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	a.Info.Version = fmt.Sprintf("go1.%d", t.minor)
	if a.Info.Size == 0 {
		a.Info.Size = t.size
	}
	t.mu.Lock()
	info := a.Info
	t.info = &info
	t.mu.Unlock()
	return a, nil
}

// A job is one generation on its way through replay to the stitcher.
type job struct {
	piece
	e    *engine
	done chan struct{}
	err  error
}

// accountParallel replays generations on several cores and joins them in order.
func (t *Trace) accountParallel(ctx context.Context, o Options) (*Accounts, error) {
	w, err := t.walk()
	if err != nil {
		return nil, err
	}
	st := newStitcher(o.Keep, o.Window)
	c := &cutter{w: w}
	var pieces *pieceJoin
	if o.Piece != nil {
		c.ahead, o.wish.bare = true, o.BarePieces
		pieces = newPieceJoin(nil, nil)
		if o.Window.IsZero() {
			pieces.write = newPieceMemory()
		}
	}
	err = replayAll(ctx, c, o, func(j *job) bool {
		st.add(j.e)
		if pieces != nil && j.g.batches > 0 {
			j.close(st.acc.Info.End, o.Window)
			if p := pieces.add(j.e); o.Window.IsZero() || p.From < p.To {
				o.Piece(p)
			}
		}
		if m, ok := w.in.(*mapping); ok && m.drop != nil {
			m.drop(int(j.g.off), int(j.g.end))
		}
		if o.Progress != nil {
			o.Progress(j.g.end, t.size)
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case len(st.acc.Info.Generations) == 0 && st.acc.Info.Damage.LostBytes > 0:
		return nil, fmt.Errorf("%w: none of its %d bytes can be read", ErrNoEvents, w.in.offset())
	case len(st.acc.Info.Generations) == 0:
		return nil, fmt.Errorf("%w: it has a header and nothing after it", ErrNoEvents)
	}
	if pieces != nil && pieces.write != nil {
		t.remember(pieces.write, c.cuts)
	}
	a := st.finish()
	a.Info.Size = w.in.offset()
	return a, nil
}

// replayAll replays generations on several cores and gives them to add in
// their order, until it returns false.
func replayAll(ctx context.Context, c *cutter, o Options, add func(*job) bool) error {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()

	engines := newEngines(workers, o.Piece != nil)
	todo := make(chan *job)
	inOrder := make(chan *job, workers+1)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range todo {
				j.e.stop = &stop
				j.err = j.replay(o)
				if stop.Load() {
					j.err = cmp.Or(j.err, ctx.Err())
				}
				close(j.done)
			}
		})
	}
	var readErr error
	wg.Go(func() {
		defer close(inOrder)
		defer close(todo)
		readErr = feed(ctx, c, o, engines, todo, inOrder)
	})

	var failed error
	enough := false
	for j := range inOrder {
		<-j.done
		if failed == nil && !enough {
			failed = j.err
		}
		if failed == nil && !enough {
			if n := j.e.notes; n != nil {
				n.p.onTake = func() { engines.empty(j.e, j.g) }
			}
			enough = !add(j)
			j.g.lease.release()
		}
		if failed != nil || enough {
			cancel()
		}
		engines.put(j.e, j.g)
	}
	wg.Wait()
	engines.giveBack()
	switch {
	case failed != nil:
		return failed
	case enough || errors.Is(readErr, io.EOF):
		return nil
	}
	return readErr
}

// ErrNoEvents is returned for a trace that holds no event that can be read.
var ErrNoEvents = errors.New("the trace is empty")

// feed cuts the trace into jobs.
func feed(ctx context.Context, c *cutter, o Options, engines *engines, todo, inOrder chan<- *job) error {
	for {
		select {
		case <-engines.free:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil { // even if an engine is free as well
			return err
		}
		p, err := c.next()
		if err != nil {
			return err
		}
		if !o.Window.IsZero() {
			if p.g.begin() >= o.Window.To {
				return io.EOF // all that follows lies behind the window
			}
		}
		j := &job{piece: p, e: engines.get(p.g), done: make(chan struct{})}
		select {
		case inOrder <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
		todo <- j
	}
}

// replay runs a job. Reading a mapped file that somebody cuts short faults;
// that ends the reading, not the program.
func (j *job) replay(o Options) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if f, ok := r.(interface{ Addr() uintptr }); ok {
				err = fmt.Errorf("the trace was changed while it was read (fault at %#x)", f.Addr())
				return
			}
			panic(r)
		}
	}()
	j.e.reset(j.g, o)
	j.e.replay()
	if j.bounded {
		j.close(j.until, o.Window)
	}
	return nil
}

// Info returns what is known of the trace. Before Account has run, the
// generations are those that the headers of batches tell; of a stream,
// nothing is known yet.
func (t *Trace) Info() (Info, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.info != nil {
		return *t.info, nil
	}
	info := Info{Version: fmt.Sprintf("go1.%d", t.minor), Size: t.size}
	if t.old() || t.size == 0 {
		return info, nil
	}
	w, err := t.walk()
	if err != nil {
		return info, err
	}
	for {
		g, err := w.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return info, err
			}
			break
		}
		info.add(g)
		g.lease.release()
	}
	t.info = &info
	return info, nil
}

// add adds a generation as its batch headers show it.
func (info *Info) add(g *generation) {
	c := g.readClock()
	rec := Generation{
		Number: g.number, Offset: g.off, Bytes: g.end - g.off, Batches: g.batches,
		Start: Time(c.ns(int64(g.start()))), LostBytes: g.lost, Trusted: true,
	}
	ms := map[uint64]bool{}
	for i := range g.events {
		ms[g.events[i].m] = true
		rec.End = max(rec.End, Time(c.ns(int64(g.events[i].time))))
	}
	rec.Threads = len(ms)
	if len(info.Generations) == 0 {
		info.Start = rec.Start
	}
	info.End = max(info.End, rec.End)
	info.Damage.LostBytes += g.lost
	if c.snap.Mono != 0 {
		info.Clock = c.snap
	}
	info.Generations = append(info.Generations, rec)
}
