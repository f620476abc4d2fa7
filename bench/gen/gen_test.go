package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestWrite makes a small trace of each kind that has no end of its own and
// reads it with the reference reader, which checks every state.
func TestWrite(t *testing.T) {
	for _, k := range Kinds {
		if k.Fixed {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			// How much a program does while its trace is stopped is the machine's.
			if err := attempt.Repeat(t, func() error { return written(k) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// written makes a trace and returns what is wrong with it.
func written(k Kind) error {
	const size = 400_000
	procs, gogc := runtime.GOMAXPROCS(0), debug.SetGCPercent(100)
	defer func() { runtime.GOMAXPROCS(procs); debug.SetGCPercent(gogc) }()
	var out bytes.Buffer
	if err := k.Write(&out, size); err != nil {
		return err
	}
	// What is in the tracer's buffers when it is told to stop comes on
	// top: a generation at most, which on a busy machine is large.
	if n := out.Len(); n < size*3/4 || n > size+30_000_000 {
		return fmt.Errorf("%d bytes, want about %d", n, size)
	}
	events, threads := 0, map[trace.ThreadID]bool{}
	err := read(out.Bytes(), func(e trace.Event) {
		events++
		if e.Kind() == trace.EventStateTransition {
			threads[e.Thread()] = true
		}
	})
	if err != nil {
		return err
	}
	if events < size/20 {
		return fmt.Errorf("only %d events", events)
	}
	var want int
	if n, _ := fmt.Sscanf(k.Name, "ms%d", &want); n == 1 && len(threads) < want {
		return fmt.Errorf("%d threads, want %d", len(threads), want)
	}
	return nil
}

// read calls each for the events of a trace.
func read(b []byte, each func(trace.Event)) error {
	r, err := trace.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	for {
		e, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(e)
	}
}

// TestMeter: a full disk ends the writing, not the traced program.
func TestMeter(t *testing.T) {
	full := errors.New("full")
	m := &meter{w: writerFunc(func(b []byte) (int, error) { return 0, full })}
	for range 3 {
		if n, err := m.Write(make([]byte, 10)); n != 10 || err != nil {
			t.Errorf("Write() = %d, %v; want 10", n, err)
		}
	}
	if m.written.Load() != 30 || m.err != full {
		t.Errorf("counted %d, error %v; want 30, %v", m.written.Load(), m.err, full)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds {
		if seen[k.Name] || k.Doc == "" || k.write == nil {
			t.Errorf("kind %+v, want a name of its own, a doc and a writer", k)
		}
		seen[k.Name] = true
		if f, ok := Find(k.Name); !ok || f.Doc != k.Doc {
			t.Errorf("Find(%q) = %v, want %q", k.Name, f, k.Doc)
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("found a kind that is none")
	}
}
