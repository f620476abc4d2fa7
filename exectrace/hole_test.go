package exectrace

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// A generation of which a hole left the tables alone has no time. It is left out and
// counted, and the others lie where they did.
func TestHoleLeavesTablesAlone(t *testing.T) {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	b.TicksPerSecond = 1e8 // not the rate that is assumed
	var ends []int
	for n := range uint64(3) {
		at := uint64(corpus.Epoch) + n*1e8
		g := b.Generation(n+1, at) // it ends the one before
		ends = append(ends, out.Len())
		th := g.Thread(1)
		th.Event(at, corpus.ProcStatus, 0, corpus.ProcRunning)
		th.Event(at, corpus.StatusStack, 1, 1, corpus.Running, g.Stack("main.main"))
		for i := range uint64(50) {
			th.Event(at+i*1e6, corpus.GoStop, g.String("preempted"), g.Stack("main.work", "main.main"))
			th.Event(at+i*1e6+1e5, corpus.GoStart, 1, i+1)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	before, err := mustRead(t, whole).Account(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n, gen := range [][]int{{ends[0], ends[1]}, {ends[1], ends[2]}, {ends[2], len(whole)}} {
		data, lost := bytes.Clone(whole), 0
		for at := gen[0]; at < gen[1]; {
			h, ok := parseBatchHeader(data[at:])
			if !ok {
				t.Fatalf("no batch at %d", at)
			}
			size := h.size + h.body
			if typ := eventType(data[min(at+h.size, len(data)-1)]); !h.endOfGen && typ != evStrings && typ != evStacks {
				clear(data[at : at+size])
				lost += size
			}
			at += size
		}
		a, err := mustRead(t, data).Account(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Info.Generations) != 2 || a.Info.Damage.LostBytes < int64(lost) {
			t.Errorf("hole in generation %d: %d generations, %d bytes lost; want 2 and %d at least", n+1, len(a.Info.Generations), a.Info.Damage.LostBytes, lost)
		}
		if d := a.Info.End.Sub(a.Info.Start); a.Info.Start < before.Info.Start || a.Info.End > before.Info.End || d < time.Second {
			t.Errorf("hole in generation %d: from %d to %d, want within %d to %d", n+1, a.Info.Start, a.Info.End, before.Info.Start, before.Info.End)
		}
		for _, g := range a.Info.Generations {
			if g.Overlap > 0 {
				t.Errorf("hole in generation %d: generation %d overlaps the next by %v", n+1, g.Number, g.Overlap)
			}
		}
	}
}

// What goroutines wait for when the end of the trace is lost is the last that is known of them: these waits
// count as in a trace that ends where the part that can be read does.
func TestWaitsUpToTornEnd(t *testing.T) {
	data := corpusTrace(t, "chans")
	head, gens, err := corpus.Split(data)
	if err != nil || len(gens) < 2 {
		t.Fatalf("%d generations, %v", len(gens), err)
	}
	good := append(bytes.Clone(head), bytes.Join(gens[:len(gens)-1], nil)...)
	last := gens[len(gens)-1]
	want, _ := openWaits(t, good)
	tried := 0
	for _, part := range []float64{0.02, 0.05, 0.1, 0.2, 0.5, 0.9} {
		got, trusted := openWaits(t, append(bytes.Clone(good), last[:int(part*float64(len(last)))]...))
		if trusted {
			continue // what is left of it tells more than the generations before
		}
		tried++
		if len(want) == 0 || len(got) < len(want)*9/10 {
			t.Errorf("with %v of the last generation: waits at %d places go on at its end, want %d, as without it", part, len(got), len(want))
		}
		for k, n := range want {
			if m := got[k]; m > n {
				t.Errorf("with %v of the last generation: %d wait at %v, want %d at most", part, m, k, n)
			}
		}
	}
	if tried == 0 {
		t.Error("no part of the last generation is torn")
	}
}

type openAt struct {
	stack  string
	reason string
}

// openWaits counts the waits that go on at the end, by the stacks' functions, and says whether the last
// generation was read.
func openWaits(t *testing.T, data []byte) (open map[openAt]int64, trusted bool) {
	t.Helper()
	a, err := mustRead(t, data).Account(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	open = map[openAt]int64{}
	for _, w := range a.Waits {
		if w.Open == 0 {
			continue
		}
		k := openAt{reason: w.Reason}
		for _, f := range a.Stacks[w.Stack] {
			k.stack += f.Func + " "
		}
		open[k] += w.Open
	}
	return open, a.Info.Generations[len(a.Info.Generations)-1].Trusted
}

func corpusTrace(t *testing.T, program string) []byte {
	t.Helper()
	for _, s := range corpus.Specs(t) {
		if s.Program == program && s.Toolchain == "" {
			data, err := os.ReadFile(corpus.Trace(t, s))
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	t.Fatalf("no trace of %s", program)
	return nil
}

// A coroutine that ends as the first thing of a thread has no state in its generation, by a fault of Go 1.24. With
// whom the thread goes on is known, and so is all that follows.
func TestSwitchFromNobody(t *testing.T) {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 24)
	first := b.Generation(1, corpus.Epoch)
	th := first.Thread(1)
	th.Event(corpus.Epoch, corpus.ProcStatus, 0, corpus.ProcRunning)
	th.Event(corpus.Epoch, corpus.GoStatus, 7, 1, corpus.Running)
	th.Event(corpus.Epoch, corpus.GoStatus, 10, corpus.NoThread, corpus.Waiting)
	at := uint64(corpus.Epoch) + 1000
	second := b.Generation(2, at)
	th = second.Thread(1)
	th.Event(at, corpus.GoStatus, 10, corpus.NoThread, corpus.Waiting)
	th.Event(at, corpus.ProcStatus, 0, corpus.ProcRunning)
	th.Event(at+10, corpus.GoSwitchEnd, 10, 1)
	for i := range uint64(20) {
		th.Event(at+20+20*i, corpus.GoStop, second.String("preempted"), second.Stack("main.work", "main.main"))
		th.Event(at+30+20*i, corpus.GoStart, 10, i+2)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := mustRead(t, out.Bytes()).Account(context.Background(), Options{Keep: -1})
	if err != nil {
		t.Fatal(err)
	}
	if g := a.Info.Generations; len(g) != 2 || !g[1].Trusted || a.Info.Damage.LostTime > 0 {
		t.Errorf("Account() has generations %+v and damage %+v, want the second to be read", g, a.Info.Damage)
	}
	for _, g := range a.Goroutines {
		if g.ID == 10 && (g.Runs != 21 || g.Running < 200*time.Nanosecond) {
			t.Errorf("the coroutine that goes on ran %d times for %v, want 21 times for 20 pieces of ten ticks and more", g.Runs, g.Running)
		}
	}
}
