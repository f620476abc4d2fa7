package evidence

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A piece is what a request hands to another goroutine.
type piece struct{ done chan bool }

// askFor hands a piece over and waits for its end.
func askFor(to chan piece) {
	p := piece{make(chan bool)}
	to <- p
	<-p.done
}

// lingering answers all pieces that come within a time of the first.
func lingering(from chan piece) {
	for p := range from {
		batch, end := []piece{p}, time.After(5*time.Millisecond)
	gather:
		for {
			select {
			case p := <-from:
				batch = append(batch, p)
			case <-end:
				break gather
			}
		}
		for _, p := range batch {
			close(p.done)
		}
	}
}

// resting rests after each piece, unless quit is closed.
func resting(from chan piece, quit chan bool) {
	for p := range from {
		select {
		case <-time.After(2 * time.Millisecond):
		case <-quit:
			return
		}
		close(p.done)
	}
}

// pausing rests after each piece.
func pausing(from chan piece) {
	for p := range from {
		time.Sleep(2 * time.Millisecond)
		close(p.done)
	}
}

// questioning asks another process for each piece.
func questioning(t *testing.T, from chan piece) {
	c := echoes(t)
	for p := range from {
		askEcho(c)
		close(p.done)
	}
}

// computing works for each piece.
func computing(from chan piece) {
	for p := range from {
		for at := time.Now(); time.Since(at) < time.Millisecond; {
		}
		close(p.done)
	}
}

// relaying has another goroutine do it.
func relaying(from, to chan piece) {
	for p := range from {
		askFor(to)
		close(p.done)
	}
}

// deferring lets a timer answer all pieces that came until then.
type deferring struct {
	mu    sync.Mutex
	batch []piece
}

func (d *deferring) ask() {
	p := piece{make(chan bool)}
	d.mu.Lock()
	if d.batch = append(d.batch, p); len(d.batch) == 1 {
		time.AfterFunc(5*time.Millisecond, d.flush)
	}
	d.mu.Unlock()
	<-p.done
}

func (d *deferring) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.batch {
		close(p.done)
	}
	d.batch = nil
}

// giveUp waits for what does not come, until its own time is over.
func giveUp(ctx context.Context, from chan piece) {
	select {
	case <-from:
	case <-ctx.Done():
	}
}

// What requests hand to other goroutines is followed to what these wait for, be it through
// another one or a timer.
func TestChains(t *testing.T) {
	mux := http.NewServeMux()
	var pieces []chan piece
	handle := func(path string, run func(chan piece)) {
		to := make(chan piece, 16)
		pieces = append(pieces, to)
		go run(to)
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) { askFor(to) })
	}
	handle("/lingering", lingering)
	handle("/pausing", pausing)
	handle("/resting", func(from chan piece) { resting(from, make(chan bool)) })
	handle("/asking", func(from chan piece) { questioning(t, from) })
	handle("/computing", computing)
	behind := make(chan piece)
	pieces = append(pieces, behind)
	go pausing(behind)
	handle("/relaying", func(from chan piece) { relaying(from, behind) })
	var d deferring
	mux.HandleFunc("/deferring", func(http.ResponseWriter, *http.Request) { d.ask() })
	late := func(path string, after time.Duration) {
		mux.HandleFunc(path, func(_ http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), after)
			defer cancel()
			giveUp(ctx, make(chan piece))
		})
	}
	late("/late", 3*time.Millisecond)
	late("/overlong", 1100*time.Millisecond) // the trace's next generation tells once more that it waits
	s := httptest.NewServer(mux)
	defer s.Close()
	recorded := traceHere(t)
	ask := func(path string) {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Error(err)
			return
		}
		r.Body.Close()
	}
	var overlong sync.WaitGroup
	overlong.Go(func() { ask("/overlong") })
	for _, path := range []string{"/lingering", "/pausing", "/resting", "/asking", "/computing", "/relaying", "/deferring", "/late"} {
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() {
				for range 20 {
					ask(path)
				}
			})
		}
		clients.Wait()
	}
	overlong.Wait()
	file := recorded()
	for _, c := range pieces {
		close(c)
	}
	m := load(t, Options{}, file)
	found := map[string]model.ChainLink{}
	for _, c := range m.Sched.Chains {
		if c.Done == 0 || c.Waited <= 0 || c.Waited > c.Took {
			t.Errorf("%s: %d operations wait %v of %v, want some operations, some wait, no longer than they took",
				c.Operation.Func, c.Done, c.Waited, c.Took)
		}
		if f, _ := model.UserFrame(m.Stacks.Frames(c.Stack)); strings.HasSuffix(f.Func, ".giveUp") {
			t.Errorf("%s waits for another goroutine in %s, want no chain: its own deadline ends it",
				c.Operation.Func, f.Func)
		}
		for _, l := range c.Links {
			f, ok := model.UserFrame(m.Stacks.Frames(l.Stack))
			if !ok {
				f = l.Goroutine
			}
			key := string(l.Kind) + " " + f.Func[strings.LastIndexByte(f.Func, '.')+1:]
			if _, twice := found[key]; !twice { // the longest
				found[key] = l
			}
		}
	}
	for _, c := range []struct {
		key         string
		gathers     bool
		least, most int64 // times
		leastFor    int64 // for operations
		leastTime   time.Duration
	}{
		{"waits for the clock lingering", true, 15, 40, 60, // four at once, 80 in all, but for one that is under way when a generation ends
			250 * time.Millisecond},
		{"waits for the clock flush", false, 70, 80, 70, 300 * time.Millisecond},
		// Half of them is what is behind another goroutine.
		{"waits for the clock pausing", false, 150, 160, 300, 600 * time.Millisecond},
		{"waits for the clock resting", false, 75, 80, 150, 300 * time.Millisecond}, // a select, which gathers nothing
		{"waits for an answer askEcho", false, 75, 80, 150, 60 * time.Millisecond},
		{"runs computing", false, 1, 320, 80, 100 * time.Millisecond},
	} {
		l, ok := found[c.key]
		if !ok || l.Gathers != c.gathers || l.Count < c.least || l.Count > c.most || l.For < c.leastFor || l.Time < c.leastTime {
			t.Errorf("%s: %+v, want %d to %d times, for %d operations and more, in all %v and more", c.key, l, c.least, c.most, c.leastFor, c.leastTime)
		}
	}
}
