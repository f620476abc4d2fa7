package hostagent

import (
	"context"
	"maps"
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
		if o.UntilMemory.Share != fullMemory || !o.Redact || o.Holders != record.Looks || o.HolderBudget != holderBudget || o.Duration != boxTime {
			t.Errorf("record() until %v of the limit, redacted %v, holders %v in %d bytes, for %v, "+
				"want %v, true, %v in %d, for %v",
				o.UntilMemory.Share, o.Redact, o.Holders, o.HolderBudget, o.Duration, fullMemory, record.Looks, holderBudget, boxTime)
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

// A program that was started anew is another process of its version.
func (s *studio) restart(pid int) {
	all := slices.Clone(*s.a.recordables.Load())
	for i, p := range all {
		if p.pid == pid {
			again := *p
			again.start++
			all[i] = &again
		}
	}
	s.a.recordables.Store(&all)
}

// TestMemoryLoop has a service that is killed and begins anew again and again: it is recorded
// some times a day, so that the host has recordings left for others.
func TestMemoryLoop(t *testing.T) {
	s := newStudio(t, sampling.Options{Every: time.Hour, Length: time.Second, Most: 4})
	m := newMemoryWatch(s.a)
	m.dir = s.dir
	used := map[int]*uint64{1: new(uint64), 2: new(uint64)}
	m.open = func(pid int) (bounds, error) { return fixedBound{used[pid], new(int)}, nil }
	m.record = func(_ context.Context, _ *recordable, o record.Options) (*record.Result, error) {
		return &record.Result{Written: true, Event: &recording.Event{Kind: "memory"}}, os.WriteFile(o.Out, whole(t, s.clock), 0o600)
	}
	var mu sync.Mutex
	sent := map[string]int{}
	m.upload = func(_ context.Context, _ string, q url.Values) {
		mu.Lock()
		defer mu.Unlock()
		sent[q.Get("service")]++
	}
	*used[1] = 95
	for range 20 * 60 / 2 {
		s.clock = s.clock.Add(2 * time.Minute)
		s.restart(1)
		m.turn(t.Context(), *s.a.recordables.Load())
		s.a.work.Wait()
	}
	if len(sent) != 1 || sent["shop"]+sent["cart"] != 5 {
		t.Errorf("sent %v in 20 hours, want five of one service", sent)
	}
	*used[2] = 95
	s.clock = s.clock.Add(endlessTurn)
	m.turn(t.Context(), *s.a.recordables.Load())
	s.a.work.Wait()
	if len(sent) != 2 {
		t.Errorf("sent %v: the other service was not recorded", sent)
	}
}

// TestMemoryCalm has programs that are near their limits for ever: one that comes near later has
// a recorder at once.
func TestMemoryCalm(t *testing.T) {
	s := newStudio(t, sampling.Options{Every: time.Hour, Length: time.Second, Most: 4})
	m := newMemoryWatch(s.a)
	m.dir = s.dir
	var all []*recordable
	used := map[int]*uint64{}
	for pid := 1; pid <= mostBoxes+1; pid++ {
		all = append(all, &recordable{process: process{pid, 1}, service: string(rune('a' + pid))})
		used[pid] = new(uint64)
		*used[pid] = 86
	}
	late := all[mostBoxes]
	*used[late.pid] = 40
	m.open = func(pid int) (bounds, error) { return fixedBound{used[pid], new(int)}, nil }
	began, over := make(chan *recordable), make(chan struct{})
	m.record = func(ctx context.Context, p *recordable, o record.Options) (*record.Result, error) {
		began <- p
		select {
		case <-ctx.Done():
		case <-over: // the ten minutes
		}
		return &record.Result{Written: true}, nil
	}
	turn := func() {
		s.clock = s.clock.Add(farTurn)
		m.turn(t.Context(), all)
	}
	for range 2 {
		turn()
		for range mostBoxes {
			if p := <-began; p == late {
				t.Fatal("a recorder waits at a program that is far from its limit")
			}
		}
		if !m.boxes[all[0].key()].calm { // the first time
			for range mostBoxes {
				over <- struct{}{}
			}
			s.a.work.Wait()
		}
	}
	*used[late.pid] = 86
	turn() // which ends one of those that wait for nothing
	for len(m.places()) == mostBoxes {
		time.Sleep(time.Millisecond)
	}
	turn()
	if p := <-began; p != late {
		t.Errorf("a recorder waits at %s, want %s", p.service, late.service)
	}
	close(over)
	s.a.work.Wait()
}

// places returns the versions at which recorders wait.
func (m *memoryWatch) places() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.boxes))
}
