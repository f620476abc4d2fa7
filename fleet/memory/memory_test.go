package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What is granted is never more than there is, whoever asks for what.
func TestBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1000
		p := NewPool("pushes", size, time.Minute)
		var now, most, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				n := int64(1 + (i*37)%400)
				g, err := p.Take(t.Context(), n)
				if err != nil {
					refused.Add(1)
					return
				}
				sum := now.Add(n)
				for old := most.Load(); sum > old && !most.CompareAndSwap(old, sum); old = most.Load() {
				}
				time.Sleep(time.Second)
				now.Add(-n)
				g.Release()
			})
		}
		all.Wait()
		if most.Load() > size || most.Load() < size/2 || refused.Load() > 0 || p.free != size {
			t.Errorf("%d of %d at once, %d refused, %d free", most.Load(), size, refused.Load(), p.free)
		}
	})
}

func TestGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool("pushes", 1000, 3*time.Second)
		g, err := p.Take(t.Context(), 900)
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := p.Take(t.Context(), 200); !errors.Is(err, ErrBusy) || time.Since(begin) != 3*time.Second {
			t.Errorf("%v after %v, want busy after 3s", err, time.Since(begin))
		}
		if _, err := p.Take(t.Context(), 1001); !errors.Is(err, ErrLarge) {
			t.Errorf("%v", err)
		}
		if err := g.More(t.Context(), 101); !errors.Is(err, ErrLarge) {
			t.Errorf("more: %v", err)
		}
		// A small one overtakes a large one that waits, which gets its turn.
		var large error
		done := make(chan struct{})
		go func() { _, large = p.Take(t.Context(), 600); close(done) }()
		synctest.Wait()
		if _, err := p.Take(t.Context(), 50); err != nil {
			t.Errorf("a small one: %v", err)
		}
		g.Keep(300)
		if <-done; large != nil || p.free != 50 {
			t.Errorf("a large one: %v, %d free", large, p.free)
		}
		// Who gives up leaves the queue, and lets those behind it have their turn.
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := p.Take(ctx, 999); ended <- err }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) || len(p.queue) != 0 {
			t.Errorf("%v, %d wait", err, len(p.queue))
		}
	})
}

// What was taken ahead is used first.
func TestAhead(t *testing.T) {
	p := NewPool("questions", 100, 0)
	g, err := p.Ahead(t.Context(), 60)
	if err != nil || p.free != 40 {
		t.Fatal(err, p.free)
	}
	for _, step := range []struct{ more, free int64 }{{50, 40}, {10, 40}, {15, 25}} {
		if err := g.More(t.Context(), step.more); err != nil || p.free != step.free {
			t.Errorf("%d more: %v, %d free, want %d", step.more, err, p.free, step.free)
		}
	}
	if g.Release(); p.free != 100 {
		t.Errorf("%d free in the end", p.free)
	}
	if _, err := (*Pool)(nil).Ahead(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// Those who have some and wait for each other do not wait in vain: the last is refused at
// once, says how much it needs, and the others get on.
func TestStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool("questions", 100, 10*time.Second)
		begin := time.Now()
		var answered, again atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for need := int64(25); need > 0; {
					g, err := p.Ahead(t.Context(), need)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Millisecond) // all have their quarter
					if err = g.More(t.Context(), 60); err == nil {
						answered.Add(1)
						time.Sleep(time.Second)
					} else if again.Add(1); !errors.Is(err, ErrBusy) || g.Short() != 60 {
						t.Errorf("%v, short of %d", err, g.Short())
					}
					need = g.Short()
					g.Release()
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); answered.Load() != 4 || again.Load() == 0 || took > 5*time.Second || p.free != 100 {
			t.Errorf("%d of 4 answered, %d began again, after %v, %d free", answered.Load(), again.Load(), took, p.free)
		}
	})
}

// Who has some and waits comes before those who have none: else each waits for the other.
func TestGrowsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool("questions", 100, 10*time.Second)
		g, _ := p.Take(t.Context(), 60)
		later := make(chan error, 1)
		go func() { _, err := p.Take(t.Context(), 80); later <- err }()
		synctest.Wait()
		begin := time.Now()
		if err := g.More(t.Context(), 30); err != nil || time.Since(begin) != 0 {
			t.Errorf("more: %v after %v", err, time.Since(begin))
		}
		g.Release()
		if err := <-later; err != nil {
			t.Error(err)
		}
	})
}

// What is read takes its memory as it comes, and stops where there is none.
func TestReader(t *testing.T) {
	p := NewPool("pushes", 5*step, 0)
	g, _ := p.Take(t.Context(), 0)
	data, err := io.ReadAll(Reader(With(t.Context(), g), strings.NewReader(strings.Repeat("x", 3*step)), 2))
	if !errors.Is(err, ErrLarge) || len(data) != 2*step || p.free != step {
		t.Errorf("%d bytes, %v, %d free", len(data), err, p.free)
	}
	data, err = io.ReadAll(Reader(t.Context(), strings.NewReader(strings.Repeat("x", 3*step)), 2))
	if err != nil || len(data) != 3*step {
		t.Errorf("without a bound: %d bytes, %v", len(data), err)
	}
}

// Without a bound all is granted.
func TestNoBound(t *testing.T) {
	var p *Pool
	g, err := p.Take(t.Context(), 1<<60)
	if err == nil {
		err = More(With(t.Context(), g), 1<<60)
	}
	g.Keep(1)
	g.Release()
	if err != nil || More(t.Context(), 1) != nil {
		t.Error(err)
	}
}

func TestContext(t *testing.T) {
	p := NewPool("questions", 100, 0)
	g, _ := p.Take(t.Context(), 10)
	ctx := With(t.Context(), g)
	if err := More(ctx, 90); err != nil || p.free != 0 {
		t.Errorf("%v, %d free", err, p.free)
	}
	if _, err := p.Take(t.Context(), 1); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	var b strings.Builder
	Metrics(&b, p, nil)
	for _, want := range []string{"bytes", "granted_bytes"} {
		if line := fmt.Sprintf("gowhy_fleet_memory_%s{for=\"questions\"} 100\n", want); !strings.Contains(b.String(), line) {
			t.Errorf("no %s in %s", line, b.String())
		}
	}
	if !strings.Contains(b.String(), "refused_total{for=\"questions\"} 1\n") {
		t.Error(b.String())
	}
}
