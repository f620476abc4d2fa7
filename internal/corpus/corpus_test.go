package corpus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

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
			t.Errorf("%s: %d events, %v", c.Name, n, err)
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
		t.Fatalf("%d generations, %v", len(gens), err)
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
		t.Errorf("%d events in all, %d in the pieces, %v", all-1-len(gens), alone, err)
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
			t.Errorf("%s: %d, want %d", version, got, want)
		}
	}
}

func TestMake(t *testing.T) {
	t.Setenv("GOWHY_CORPUS", t.TempDir())
	ctx := context.Background()
	s := Spec{Program: "spawn", Duration: 50 * time.Millisecond, Advance: 10 * time.Millisecond}
	path := Trace(t, s)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := count(data); err != nil || n < 100 {
		t.Errorf("%d events, %v", n, err)
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
