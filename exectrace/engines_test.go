package exectrace

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// Pieces of large generations wait for each other's memory, and go on as soon as
// the one before is being taken.
func TestEnginesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newEngines(2, true)
		g := &generation{end: maxPieceMemory/firstTimes - 1}
		take := func() *engine { <-s.free; return s.get(g) }
		first := take()
		var second *engine
		go func() { second = take() }()
		if synctest.Wait(); second != nil {
			t.Error("get of a second engine = one, want it to wait for room")
		}
		s.empty(first, g)
		if synctest.Wait(); second == nil {
			t.Error("get of a second engine waits, want one, as there is room")
		}
		s.put(first, g) // counts once
		s.put(second, g)
		if s.bytes != 0 {
			t.Errorf("bytes after both were put back = %d, want 0", s.bytes)
		}
	})
}

// A replay that nobody wants any more ends where it is.
func TestReplayStops(t *testing.T) {
	text, err := os.ReadFile("testdata/text/channel.txt")
	if err != nil {
		t.Fatal(err)
	}
	data, err := corpus.ParseText(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	events := func(stopped bool) int64 {
		tr, err := NewReaderAt(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		w, err := tr.walk()
		if err != nil {
			t.Fatal(err)
		}
		g, err := w.next()
		if err != nil {
			t.Fatal(err)
		}
		defer g.lease.release()
		e := newEngine()
		e.stop = new(atomic.Bool)
		e.stop.Store(stopped)
		e.reset(g, Options{Keep: 1})
		e.replay()
		return e.events
	}
	// What stands outside of the threads' batches is counted in any case.
	if all, rest := events(false), events(true); all < 10 || rest > 1 {
		t.Errorf("replay() = %d events, want 10 or more; stopped, = %d, want 1 at most", all, rest)
	}
}

// Marks of all generations stay within their memory, and those used last are kept.
func TestMarksHaveRoom(t *testing.T) {
	all := map[int]*marks{}
	for i := range 10 {
		all[i] = &marks{bytes: marksMemory / 4, used: int64(i * 7 % 10)}
		makeRoom(all, i)
	}
	if len(all) != 4 || all[9] == nil || all[7] == nil || all[4] == nil || all[1] == nil {
		t.Errorf("makeRoom left %v, want 9, 7, 4 and 1, used last", slices.Sorted(maps.Keys(all)))
	}
	all[0] = &marks{bytes: 2 * marksMemory}
	if makeRoom(all, 0); len(all) != 1 || all[0] == nil {
		t.Errorf("makeRoom left %v, want 0 alone, which is too large", slices.Sorted(maps.Keys(all)))
	}
}
