package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
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
				pool := memory.NewPool("questions", 1<<30, 0)
				granted, err := pool.Take(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				ctx := memory.With(t.Context(), granted)
				before := heap()
				answer, err := ask(ctx)
				if err != nil {
					t.Fatal(err)
				}
				kept := heap() - before
				runtime.KeepAlive(answer)
				if took := memory.Held(ctx); took+mostOpen < kept || took > 20*max(kept, 100_000) {
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

// heap returns the bytes that are alive.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
