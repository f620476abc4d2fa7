package corpus

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"golang.org/x/exp/trace"
)

func synthetic(t *testing.T, s Shape) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Synthetic(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func count(data []byte) (n int, err error) {
	r, err := trace.NewReader(bytes.NewReader(data))
	for err == nil {
		if _, err = r.ReadEvent(); err == nil {
			n++
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func TestSickAreValid(t *testing.T) {
	for _, c := range Sick() {
		if n, err := count(c.Trace); err != nil || n == 0 {
			t.Errorf("%s: %d events, %v; want some", c.Name, n, err)
		}
		if len(c.Want) == 0 || c.Story == "" {
			t.Errorf("%s: nothing to check", c.Name)
		}
	}
}

func TestBuilderTables(t *testing.T) {
	for _, minor := range []int{22, 23, 25, 26} {
		var out bytes.Buffer
		b := NewBuilder(&out, minor)
		g := b.Generation(1, Epoch)
		m := g.Thread(1)
		m.Event(Epoch, ProcStatus, 0, ProcRunning)
		m.Event(Epoch, GoStatus, 1, NoThread, Running)
		// More strings and stacks than a batch of each holds.
		for i := range 6000 {
			name := string(bytes.Repeat([]byte{'a' + byte(i%26)}, 1+i%40)) + string(rune('0'+i))
			m.Event(Epoch+uint64(i), GoLabel, g.String(name))
			m.Event(Epoch+uint64(i), ProcsChange, 1, g.Stack(name, "main.main"))
		}
		g.Sample(Epoch+5, 1, 0, 1, g.Stack("main.main"))
		if minor >= 23 {
			g.Experiment(1, 1, Epoch, []byte{1, 2, 3})
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		n, err := count(out.Bytes())
		if want := 2 + 2*6000 + 1 + 2; err != nil || n != want {
			t.Errorf("1.%d: %d events, want %d, error %v", minor, n, want, err)
		}
	}
}

func TestSyntheticIsReproducible(t *testing.T) {
	s := Shape{Threads: 5, Events: 10_000, Cross: 50, Seed: 7}
	if !bytes.Equal(synthetic(t, s), synthetic(t, s)) {
		t.Error("two runs differ")
	}
	if err := Synthetic(io.Discard, Shape{Threads: 0}); err == nil {
		t.Error("no threads were accepted")
	}
}

// Several generations, each with all goroutines accounted for.
func TestSplit(t *testing.T) {
	data := synthetic(t, Shape{Threads: 4, Events: 5_000_000, Cross: 10})
	head, gens, err := Split(data)
	if err != nil || len(gens) < 2 {
		t.Fatalf("%d generations, %v; want 2 or more", len(gens), err)
	}
	if !bytes.Equal(append(bytes.Clone(head), bytes.Join(gens, nil)...), data) {
		t.Error("the pieces do not make the whole")
	}
	alone := 0
	for _, g := range gens {
		n, err := count(append(bytes.Clone(head), g...))
		if err != nil {
			t.Fatal(err)
		}
		alone += n - 2 // the reader's own Sync events
	}
	if all, err := count(data); err != nil || all-1-len(gens) != alone {
		t.Errorf("%d events in all, %v; want %d as in the pieces", all-1-len(gens), err, alone)
	}
	if _, _, err := Split(data[:len(data)-100]); err == nil {
		t.Error("a torn trace was split")
	}
}

func TestDamages(t *testing.T) {
	data := synthetic(t, Shape{Threads: 4, Events: 50_000, Cross: 10})
	kept := bytes.Clone(data)
	for _, d := range Damages {
		changed := 0
		for seed := range uint64(20) {
			x := d.Do(data, seed)
			if !bytes.Equal(x, d.Do(data, seed)) {
				t.Errorf("%s: not reproducible", d.Name)
			}
			if !bytes.Equal(x, data) {
				changed++
			}
		}
		if changed < 15 {
			t.Errorf("%s: only %d of 20 did anything", d.Name, changed)
		}
		for _, short := range [][]byte{nil, data[:3], data[:headerSize], data[:headerSize+1]} {
			d.Do(short, 1)
		}
	}
	if !bytes.Equal(kept, data) {
		t.Error("a damage changed its argument")
	}
}

func TestMinorOf(t *testing.T) {
	for version, want := range map[string]int{"go1.21.13": 21, "go1.26": 26, "go1.27rc1": 27, "devel +abc": 1024} {
		if got := minorOf(version); got != want {
			t.Errorf("minorOf(%s) = %d, want %d", version, got, want)
		}
	}
}

func TestMake(t *testing.T) {
	attempt.Only(t, "makes a recording, which wants a quiet machine")
	t.Setenv("GOWHY_CORPUS", t.TempDir())
	ctx := context.Background()
	s := Spec{Program: "spawn", Duration: 50 * time.Millisecond, Advance: 10 * time.Millisecond}
	path := Trace(t, s)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := count(data); err != nil || n < 100 {
		t.Errorf("%d events, %v; want 100 or more", n, err)
	}
	if again, err := Make(ctx, s); err != nil || again != path {
		t.Errorf("made again as %s, %v", again, err)
	}
	s.Size = 3
	if other, err := Make(ctx, s); err != nil || other == path {
		t.Errorf("another size gave the same trace %s, %v", other, err)
	}
	if _, err := Make(ctx, Spec{Program: "none"}); err == nil {
		t.Error("a program that does not exist was run")
	}
	var missing *Unavailable
	if _, err := Make(ctx, Spec{Program: "spawn", Toolchain: "go1.21.not-a-release"}); !errors.As(err, &missing) {
		t.Errorf("a toolchain that does not exist gave %v", err)
	}
}

// Every recording can be made while nothing else runs: the packages that read them find them made,
// and can be tested side by side.
func TestAllAreMade(t *testing.T) {
	attempt.Only(t, "makes all recordings, which wants a quiet machine")
	specs := Specs(t)
	for _, program := range OldPrograms {
		specs = append(specs, Old(program))
	}
	for _, s := range specs {
		t.Run(s.String(), func(t *testing.T) {
			if n, err := os.Stat(Trace(t, s)); err != nil || n.Size() == 0 {
				t.Errorf("Trace(%v) = a file of %v, %v, want some bytes", s, n, err)
			}
		})
	}
}

func TestFit(t *testing.T) {
	cpus := time.Duration(runtime.NumCPU())
	second := machine{busy: cpus * time.Second, all: cpus * time.Second}
	for _, c := range []struct {
		own, starved time.Duration
		want         bool
	}{
		{cpus * time.Second, 10 * time.Second, true}, // more Ps than processors
		{cpus * 890 * time.Millisecond, time.Second, true},
		{cpus * 500 * time.Millisecond, time.Second, false},
		{0, 90 * time.Millisecond, true}, // it had little to do
		{0, 110 * time.Millisecond, false},
	} {
		err := fit(machine{}, second, c.own, c.starved)
		var unfit *Unfit
		if (err == nil) != c.want || err != nil && !errors.As(err, &unfit) {
			t.Errorf("fit of a program with %v of CPU time, starved for %v = %v, want fit: %v", c.own, c.starved, err, c.want)
		}
	}
	if err := fit(machine{}, machine{}, time.Second, time.Second); err != nil {
		t.Errorf("fit where the system does not say = %v, want nil", err)
	}
}

var update = flag.Bool("update", false, "make the recordings that are missing in testdata/recordings")

// TestRecordings: each trace that tests ask for is kept, and has generations.
// To make one anew, remove it and run with -update on a quiet machine; all tests
// that read it must pass, for good.
func TestRecordings(t *testing.T) {
	for _, s := range recordedSpecs() {
		if s.unpackRecording(t) == "" && *update {
			if err := keep(t.Context(), s); err != nil {
				t.Errorf("keep(%v): %v, want nil", s, err)
			}
			continue
		}
		data, err := os.ReadFile(s.unpackRecording(t))
		if err != nil {
			t.Errorf("%s is not kept: run with -update", s)
			continue
		}
		if n, err := count(data); err != nil || n < 50 {
			t.Errorf("%s has %d events, %v, want 50 or more", s, n, err)
		}
	}
}

func keep(ctx context.Context, s Spec) error {
	name := filepath.Join(recordingsDir, s.file())
	s = s.small()
	path, err := Make(ctx, s)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err == nil && int64(len(data)) > 4*s.Bytes {
		err = errors.Join(os.Remove(path), fmt.Errorf("it has %d bytes, want about %d", len(data), s.Bytes))
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// A coroutine that ends as the first thing of a thread has no state in its generation; whatever tells it, or comes
// before, makes the trace one that can be read.
func TestNameless(t *testing.T) {
	for _, c := range []struct {
		name  string
		first []func(m *Thread, at uint64)
		want  bool
	}{
		{"a switch that ends it", nil, true},
		{"its state", []func(m *Thread, at uint64){func(m *Thread, at uint64) { m.Event(at, GoStatus, 7, 1, Running) }}, false},
		{"the state of another thread's", []func(m *Thread, at uint64){func(m *Thread, at uint64) { m.Event(at, GoStatus, 7, 2, Running) }}, true},
		{"one that waits", []func(m *Thread, at uint64){func(m *Thread, at uint64) { m.Event(at, GoStatus, 9, NoThread, Waiting) }}, true},
		{"a start", []func(m *Thread, at uint64){func(m *Thread, at uint64) { m.Event(at, GoStart, 7, 1) }}, false},
	} {
		var out bytes.Buffer
		b := NewBuilder(&out, 24)
		m := b.Generation(1, Epoch).Thread(1)
		m.Event(Epoch, ProcStatus, 0, ProcRunning)
		for _, f := range c.first {
			f(m, Epoch)
		}
		m.Event(Epoch, GoSwitchEnd, 10, 1)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got := nameless(out.Bytes()); got != c.want {
			t.Errorf("nameless(%s) = %v, want %v", c.name, got, c.want)
		}
	}
}

// A goroutine that a thread of C makes is there once until it is gone.
func TestMadeTwice(t *testing.T) {
	for _, c := range []struct {
		name string
		gone bool // before it is made again
		want bool
	}{
		{"made twice", false, true},
		{"made again when it was gone", true, false},
	} {
		var out bytes.Buffer
		b := NewBuilder(&out, 22)
		g := b.Generation(1, Epoch)
		first, second := g.Thread(1), g.Thread(2)
		first.Event(Epoch, GoCreateSys, 7)
		if c.gone {
			first.Event(Epoch+1, GoDestroySys)
		}
		second.Event(Epoch+2, GoCreateSys, 7)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got := madeTwice(out.Bytes()); got != c.want {
			t.Errorf("madeTwice(%s) = %v, want %v", c.name, got, c.want)
		}
	}
}
