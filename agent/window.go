package agent

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A busy error says that a source is in use.
type busy struct {
	what  string
	since time.Time
}

func (b *busy) Error() string {
	if b.since.IsZero() {
		return b.what + ": the program is ending"
	}
	return fmt.Sprintf("%s is already being recorded, since %s; wait, or end that with stop", b.what, b.since.Format("15:04:05 MST"))
}

// desk knows what is being recorded.
type desk struct {
	mu      sync.Mutex
	inUse   map[string]time.Time
	windows map[*window]bool
	ending  bool
}

var front = &desk{inUse: map[string]time.Time{}, windows: map[*window]bool{}}

// claim takes a source for one user. release gives it back.
func (d *desk) claim(what string) (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ending {
		return nil, &busy{what: what}
	}
	if since, ok := d.inUse[what]; ok {
		return nil, &busy{what, since}
	}
	d.inUse[what] = time.Now()
	return sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.inUse, what)
	}), nil
}

// A window is the time of one request's recording.
type window struct {
	ctx   context.Context
	d     time.Duration
	asked chan struct{} // closed when it is to end now
	once  sync.Once
	done  chan struct{} // closed when its answer was written
}

// open begins a window. Its user calls close when the answer was written.
func (d *desk) open(ctx context.Context, length time.Duration) *window {
	w := &window{ctx: ctx, d: length, asked: make(chan struct{}), done: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.windows[w] = true
	if d.ending {
		w.end()
	}
	return w
}

func (d *desk) close(w *window) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.windows, w)
	close(w.done)
}

// end ends the window as if its time had run out.
func (w *window) end() { w.once.Do(func() { close(w.asked) }) }

// wait returns when the window is over, or early.
func (w *window) wait(early <-chan struct{}) {
	t := time.NewTimer(w.d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.asked:
	case <-early:
	case <-w.ctx.Done():
	}
}

// gone reports whether nobody waits for the answer any more.
func (w *window) gone() bool { return w.ctx.Err() != nil }

// endAll ends all windows and waits until their answers were written, or ctx
// is done. It returns how many there were.
func (d *desk) endAll(ctx context.Context) int {
	d.mu.Lock()
	var ended []*window
	for w := range d.windows {
		w.end()
		ended = append(ended, w)
	}
	d.mu.Unlock()
	for _, w := range ended {
		select {
		case <-w.done:
		case <-ctx.Done():
		}
	}
	return len(ended)
}

// finishLimit is how long a program's end is delayed for a recording.
const finishLimit = 5 * time.Second

// Finish ends what is being recorded and returns when whoever records it has
// all of it, at the latest after five seconds; at once when nothing is being
// recorded. After it nothing can be recorded any more, so it belongs at the
// program's end:
//
//	func main() {
//		defer agent.Finish()
//
// A program that ends without it loses, of a recording in progress, the CPU
// profile since its last piece, the profiles of the end, and the trace's last
// second; what was sent before is kept. So does one that ends through
// os.Exit or log.Fatal, which do not run deferred functions.
func Finish() {
	ctx, cancel := context.WithTimeout(context.Background(), finishLimit)
	defer cancel()
	front.mu.Lock()
	front.ending = true
	front.mu.Unlock()
	front.endAll(ctx)
	if s := socket.Load(); s != nil {
		s.Shutdown(ctx)
	}
}
