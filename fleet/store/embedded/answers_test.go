package embedded

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// TestAnswersPay asks about many services, processes and moments: an answer takes memory for
// what it keeps at least, and fails where there is not enough.
func TestAnswersPay(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	begin := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	const services, each = 200, 8
	var all sync.WaitGroup
	for i := range services * each {
		all.Go(func() {
			b := &store.Batch{ID: [16]byte{byte(i), byte(i >> 8), 1}, Source: store.Source{Service: fmt.Sprintf("service-%d", i/each), Version: "v1", Instance: fmt.Sprintf("host-%d", i)}}
			b.From, b.Until = begin, begin.Add(time.Duration(1+i%each)*time.Minute)
			for _, kind := range []store.Type{store.CPU, store.AllocSpace, store.InuseSpace} {
				b.Profiles = append(b.Profiles, store.Profile{Type: kind, Samples: []store.Sample{{Value: 1}}})
			}
			if err := s.Write(t.Context(), b); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	selected := store.Selection{From: begin, Until: begin.Add(time.Hour)}
	typed := selected
	typed.Type = store.CPU
	for _, flushed := range []bool{false, true} {
		if flushed {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for name, ask := range map[string]func(ctx context.Context) (any, error){
			"services":  func(ctx context.Context) (any, error) { return s.Services(ctx, selected) },
			"instances": func(ctx context.Context) (any, error) { return s.Instances(ctx, selected) },
			"series": func(ctx context.Context) (any, error) {
				return s.Series(ctx, typed, time.Second, store.ByInstance)
			},
			"values": func(ctx context.Context) (any, error) { return s.Values(ctx, selected, store.ByInstance) },
		} {
			t.Run(fmt.Sprint(name, " flushed=", flushed), func(t *testing.T) {
				kept, took := storetest.MeasureMemory(t, ask)
				if took+memory.MostOpen < kept || took > 20*max(kept, 100_000) {
					t.Errorf("took %d bytes for an answer of %d", took, kept)
				}
				few, _ := memory.NewPool("questions", 50<<10, 0).Take(t.Context(), 1)
				if _, err := ask(memory.With(t.Context(), few)); !errors.Is(err, memory.ErrLarge) {
					t.Errorf("with little memory: %v", err)
				}
			})
		}
	}
}

// longNames returns a batch of functions whose names have 4 kB each, that no other has.
func longNames(number, functions int) *store.Batch {
	b := &store.Batch{ID: [16]byte{byte(number), 2}, Source: store.Source{Service: "shop", Version: "v1", Instance: "host"}}
	b.From = time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	b.Until = b.From.Add(time.Minute)
	b.Stacks = map[store.StackID][]*store.Frame{}
	p := store.Profile{Type: store.CPU}
	for i := range functions {
		stack := []*store.Frame{{Function: fmt.Sprintf("%04000d", 1000*number+i)}}
		id := store.IDOf(stack)
		b.Stacks[id] = stack
		p.Samples = append(p.Samples, store.Sample{Stack: id, Value: 1})
	}
	b.Profiles = []store.Profile{p}
	return b
}

// TestLongNamesPay asks for stacks whose functions have names of 4 kB: an answer takes memory for
// these, from a table and from the catalog.
func TestLongNamesPay(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Options{})
	const functions = 1000
	if err := s.Write(t.Context(), longNames(1, functions)); err != nil {
		t.Fatal(err)
	}
	b := longNames(1, 0)
	ask := store.Selection{Type: store.CPU, From: b.From, Until: b.Until.Add(time.Minute)}
	for _, flushed := range []bool{false, true} {
		if flushed {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		granted, _ := memory.NewPool("questions", 1<<30, 0).Take(t.Context(), 1)
		ctx := memory.With(t.Context(), granted)
		answer, err := s.Stacks(ctx, ask)
		if err != nil || len(answer.Frames) != functions {
			t.Fatalf("flushed=%v: %d stacks, %v", flushed, len(answer.Frames), err)
		}
		if took := memory.Held(ctx); took < 3*4000*functions || took > 6*4000*functions {
			t.Errorf("flushed=%v: took %d bytes for names of %d", flushed, took, 4000*functions)
		}
		few, _ := memory.NewPool("questions", 4000*functions, 0).Take(t.Context(), 1)
		if _, err := s.Stacks(memory.With(t.Context(), few), ask); !errors.Is(err, memory.ErrLarge) {
			t.Errorf("flushed=%v, with little memory: %v", flushed, err)
		}
	}
}

// TestTableFits has many write at once what is large: a table takes no more than it may, though
// what comes together is one group for the log.
func TestTableFits(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	disk := &hookDisk{before: func(what string) error {
		if what == "rename" { // of a segment
			<-release
		}
		return nil
	}}
	const room = 1 << 20
	s := mustOpen(t, t.TempDir(), Options{disk: disk, Memory: room})
	var all sync.WaitGroup
	var kept, refused atomic.Int64
	for i := range 20 {
		all.Go(func() {
			switch err := s.Write(t.Context(), longNames(i, 75)); {
			case err == nil:
				kept.Add(1)
			case errors.Is(err, store.ErrFull):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, table := range s.tables() {
		if table.bytes > room || table.bytes < room/2 {
			t.Errorf("a table of %d bytes has %d", room, table.bytes)
		}
	}
	if kept.Load() != 6 || refused.Load() != 14 {
		t.Errorf("%d are kept, %d refused; want three in each table", kept.Load(), refused.Load())
	}
}
