package evidence

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

const holdingSource = `package main

import "sync"

type told interface{ left(string) }

type store struct {
	mu   sync.Mutex
	told told
}

func (s *store) add(k string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known {
		return
	}
	s.told.left(k)
}

func (s *store) tell(k string) {
	s.mu.Lock()
	s.mu.Unlock()
	s.told.left(k)
}
`

// TestHolding: what a goroutine waits for while it holds a lock is found behind an early return and through an interface, and nothing
// is looked for where nobody waits for locks.
func TestHolding(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     string // what calls left, and the line
		line  int
		queue time.Duration
		o     Options
		taken int // line; 0 where no lock is held
	}{
		{"behind an early return", "main.(*store).add", 18, time.Second, Options{}, 13},
		{"the lock is given back", "main.(*store).tell", 24, time.Second, Options{}, 0},
		{"nobody waits for it", "main.(*store).add", 18, 90 * time.Millisecond, Options{}, 0},
		{"no source", "main.(*store).add", 18, time.Second, Options{NoSource: true}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(holdingSource), 0o600); err != nil {
				t.Fatal(err)
			}
			l := newLoader(t.Context(), c.o)
			at := model.Frame{Func: c.f, File: file, Line: c.line}
			s := l.m.Stacks.Add([]model.Frame{{Func: "runtime.gopark"}, {Func: "main.(*fleet).left", File: "fleet.go", Line: 9}, at})
			l.m.Run.Duration = time.Second
			l.m.Sched = &model.Sched{Waits: []model.Wait{{Reason: "sync", Total: c.queue}, {Kind: model.Net, Stack: s, Total: 80 * time.Millisecond}}}
			l.joinHolding()
			held := l.m.Sched.Holding[s]
			if c.taken == 0 && len(held) == 0 {
				return
			}
			if len(held) != 1 || held[0].At.Line != c.line || held[0].Taken.Line != c.taken {
				t.Errorf("it holds %v, want what line %d took", held, c.taken)
			}
		})
	}
}
