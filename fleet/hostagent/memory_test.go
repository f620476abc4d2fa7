package hostagent

import (
	"context"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// A fixedBound is of a program that uses so much of 100 bytes; of 0 it has no limit.
type fixedBound struct {
	used  *uint64
	looks *int
}

func (b fixedBound) Bounds(time.Time, float64) []proc.MemoryBound {
	if *b.looks++; *b.used == 0 {
		return nil
	}
	return []proc.MemoryBound{{Of: "memory.max", Limit: 100, Used: *b.used}}
}

func (fixedBound) Close() {}

// TestMemoryMarks has programs come near their limits: recorders wait at the nearest, and what
// they keep is uploaded, once an hour of each.
func TestMemoryMarks(t *testing.T) {
	s := newStudio(t, sampling.Options{Every: time.Hour, Length: time.Second, Most: 4})
	m := newMemoryWatch(s.a)
	m.dir = s.dir
	used, looks := map[int]*uint64{1: new(uint64), 2: new(uint64)}, map[int]*int{1: new(int), 2: new(int)}
	m.open = func(pid int) (bounds, error) { return fixedBound{used[pid], looks[pid]}, nil }
	var mu sync.Mutex
	var waited, sent []string
	var reached bool
	m.record = func(_ context.Context, p *recordable, o record.Options) (*record.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		waited = append(waited, p.service)
		if o.UntilMemory.Share != fullMemory || !o.Redact || !o.Holders || o.Duration != boxTime {
			t.Errorf("options %+v", o)
		}
		res := &record.Result{Written: true}
		if reached {
			res.Event = &recording.Event{Kind: "memory"}
			o.Kept(*res.Event)
		}
		return res, os.WriteFile(o.Out, whole(t, s.clock), 0o600)
	}
	m.upload = func(_ context.Context, file string, q url.Values) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
		sent = append(sent, q.Get("service"))
	}
	turn := func(d time.Duration) {
		s.clock = s.clock.Add(d)
		m.turn(t.Context(), *s.a.recordables.Load())
		s.a.work.Wait()
	}
	turn(0)
	turn(memoryTurn)
	if *looks[1] != 1 { // it has no limit: there is time
		t.Errorf("%d looks in two turns at a program without a limit, want 1", *looks[1])
	}
	*used[1], *used[2] = 40, 84
	turn(endlessTurn)
	turn(memoryTurn)
	if *looks[1] != 2 || *looks[2] != 3 || len(waited) > 0 {
		t.Errorf("%d and %d looks, waited at %q; want more at the nearer, and no recorder yet", *looks[1], *looks[2], waited)
	}
	*used[1], *used[2] = 86, 88
	turn(farTurn)
	turn(memoryTurn) // which was not reached, so that it waits again
	slices.Sort(waited)
	if want := []string{"cart", "cart", "shop", "shop"}; !slices.Equal(waited, want) || len(sent) > 0 {
		t.Errorf("waited at %q, sent %q; want %q and nothing", waited, sent, want)
	}
	waited, reached = nil, true
	turn(memoryTurn)
	turn(memoryTurn)
	slices.Sort(sent)
	if want := []string{"cart", "shop"}; !slices.Equal(sent, want) || len(waited) != 2 {
		t.Errorf("sent %q after %d waits, want %q after two", sent, len(waited), want)
	}
	s.a.over.Store(true)
	turn(restMemory)
	turn(memoryTurn)
	if len(waited) != 2 || s.left(overHost) != 2 {
		t.Errorf("%d waits, %d left out; beyond the budget none is begun, and each program counts once", len(waited), s.left(overHost))
	}
	if left, _ := os.ReadDir(s.dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
