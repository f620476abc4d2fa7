package whatif

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// A tracer writes a trace of two threads with a P each, times in µs.
type tracer struct {
	*corpus.Generation
	on [3]*corpus.Thread
}

func (w *tracer) at(m int, us uint64, typ corpus.Type, args ...uint64) {
	w.on[m].Event(corpus.Epoch+us*1000, typ, args...)
}

// traced makes a trace in which goroutine 1 starts the tracer on thread 1 and
// P 0; P 1 on thread 2 runs from 2 µs on.
func traced(t testing.TB, write func(*tracer)) []byte {
	t.Helper()
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	g := b.Generation(1, corpus.Epoch)
	w := &tracer{Generation: g}
	w.on[1], w.on[2] = g.Thread(1), g.Thread(2)
	w.at(1, 0, corpus.ProcStatus, 0, corpus.ProcRunning)
	w.at(1, 0, corpus.StatusStack, 1, 1, corpus.Running, g.Stack("main.main"))
	w.at(1, 0, corpus.ProcsChange, 2, 0)
	w.at(1, 0, corpus.STWBegin, g.String("start trace"), 0)
	w.at(1, 0, corpus.STWEnd)
	w.at(2, 1, corpus.ProcStatus, 1, corpus.ProcIdle)
	w.at(2, 2, corpus.ProcStart, 1, 1)
	write(w)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func read(t testing.TB, data []byte, o Options) (*Program, error) {
	t.Helper()
	tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return Read(t.Context(), tr, o)
}

func program(t testing.TB, data []byte) *Program {
	t.Helper()
	p, err := read(t, data, Options{Cores: 2})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// joined: main starts two workers of 10 and 12 ms, waits for both, and works
// for 2 ms more.
func joined(t testing.TB) []byte {
	return traced(t, func(w *tracer) {
		wait := w.Stack("sync.(*WaitGroup).Wait", "main.main")
		w.at(1, 10, corpus.GoCreate, 2, w.Stack("main.short"), w.Stack("main.main"))
		w.at(1, 11, corpus.GoCreate, 3, w.Stack("main.long"), w.Stack("main.main"))
		w.at(1, 20, corpus.GoBlock, w.String("sync"), wait)
		w.at(1, 21, corpus.GoStart, 2, 1)
		w.at(1, 10_021, corpus.GoDestroy)
		w.at(1, 10_022, corpus.ProcStop)
		w.at(2, 21, corpus.GoStart, 3, 1)
		w.at(2, 12_021, corpus.GoUnblock, 1, 1, w.Stack("sync.(*WaitGroup).Done", "main.long"))
		w.at(2, 12_021, corpus.GoDestroy)
		w.at(2, 12_022, corpus.GoStart, 1, 2)
		w.at(2, 14_022, corpus.HeapAlloc, 1)
	})
}

// chained: main waits for a worker of 3 ms, then works 2 ms, then sleeps 1 ms.
func chained(t testing.TB) []byte {
	return traced(t, func(w *tracer) {
		w.at(1, 10, corpus.GoCreate, 2, w.Stack("main.worker"), w.Stack("main.main"))
		w.at(1, 11, corpus.GoBlock, w.String("chan receive"), w.Stack("main.main"))
		w.at(1, 12, corpus.GoStart, 2, 1)
		w.at(1, 3012, corpus.GoUnblock, 1, 1, w.Stack("main.worker"))
		w.at(1, 3012, corpus.GoDestroy)
		w.at(1, 3013, corpus.GoStart, 1, 2)
		w.at(1, 5013, corpus.GoBlock, w.String("sleep"), w.Stack("main.main"))
		w.at(1, 6013, corpus.GoUnblock, 1, 3, 0)
		w.at(1, 6014, corpus.GoStart, 1, 4)
		w.at(1, 6114, corpus.HeapAlloc, 1)
		w.at(2, 3, corpus.ProcStop)
	})
}

// contended: two workers hold a lock for 1 ms and work 0.9 ms without it, in
// turns on two Ps: the lock is held all the time.
func contended(t testing.TB) []byte {
	return traced(t, func(w *tracer) {
		lock := w.Stack("sync.(*Mutex).Lock", "main.worker")
		unlock := w.Stack("sync.(*Mutex).Unlock", "main.worker")
		w.at(1, 10, corpus.GoCreate, 2, w.Stack("main.worker"), w.Stack("main.main"))
		w.at(1, 11, corpus.GoCreate, 3, w.Stack("main.worker"), w.Stack("main.main"))
		w.at(1, 12, corpus.GoBlock, w.String("sync"), w.Stack("sync.(*WaitGroup).Wait", "main.main"))
		w.at(1, 13, corpus.GoStart, 2, 1)
		w.at(2, 13, corpus.GoStart, 3, 1)
		// Goroutine 3 comes first, 2 waits; from then on each waits for the other.
		at := uint64(20)
		seq := [4]uint64{2: 1, 3: 1}
		holder, waiter := 3, 2
		thread := [4]int{2: 1, 3: 2}
		w.at(thread[waiter], at, corpus.GoBlock, w.String("sync"), lock)
		for range 20 {
			at += 1000
			w.at(thread[holder], at, corpus.GoUnblock, uint64(waiter), seq[waiter]+1, unlock)
			w.at(thread[waiter], at+1, corpus.GoStart, uint64(waiter), seq[waiter]+2)
			seq[waiter] += 2
			holder, waiter = waiter, holder
			w.at(thread[waiter], at+900, corpus.GoBlock, w.String("sync"), lock)
		}
		at += 1000
		w.at(thread[holder], at, corpus.GoUnblock, uint64(waiter), seq[waiter]+1, unlock)
		w.at(thread[holder], at+1, corpus.GoDestroy)
		w.at(thread[holder], at+2, corpus.ProcStop)
		w.at(thread[waiter], at+1, corpus.GoStart, uint64(waiter), seq[waiter]+2)
		w.at(thread[waiter], at+1001, corpus.GoUnblock, 1, 1, w.Stack("sync.(*WaitGroup).Done", "main.worker"))
		w.at(thread[waiter], at+1001, corpus.GoDestroy)
		w.at(thread[waiter], at+1002, corpus.GoStart, 1, 2)
		w.at(thread[waiter], at+1102, corpus.HeapAlloc, 1)
	})
}

// collected: main works 4 ms; a mark worker is on the other P for 3 ms, and
// then helps on main's for 1 ms.
func collected(t testing.TB) []byte {
	return traced(t, func(w *tracer) {
		w.at(1, 10, corpus.AssistBegin, w.Stack("runtime.mallocgc", "main.main"))
		w.at(1, 1010, corpus.AssistEnd)
		w.at(1, 4010, corpus.HeapAlloc, 1)
		w.at(2, 10, corpus.StatusStack, 5, corpus.NoThread, corpus.Waiting, w.Stack("runtime.gopark", markWorker))
		w.at(2, 11, corpus.GoUnblock, 5, 1, 0)
		w.at(2, 12, corpus.GoStart, 5, 2)
		w.at(2, 3012, corpus.GoBlock, w.String("system goroutine wait"), w.Stack("runtime.gopark", markWorker))
		w.at(2, 3013, corpus.ProcStop)
	})
}

// near checks a replayed time in µs against one worked out by hand. The
// tracer's µs between events, and the replay's own costs, are the slack.
func near(t *testing.T, what string, got time.Duration, want float64) {
	t.Helper()
	if us := float64(got) / 1e3; math.Abs(us-want) > 0.005*want+30 {
		t.Errorf("%s takes %.0f µs, want about %.0f as by hand", what, us, want)
	}
}

func TestSchedulesByHand(t *testing.T) {
	type try struct {
		edits []Edit
		want  float64 // µs
	}
	for _, c := range []struct {
		name  string
		trace []byte
		tries []try
	}{
		{"joined", joined(t), []try{
			{nil, 14_000},
			{[]Edit{WithProcs(1)}, 24_000},
			{[]Edit{WithScale("main.long", 0.5)}, 12_000}, // now the short one is the last
			{[]Edit{WithScale("main.short", 0.5)}, 14_000},
			{[]Edit{WithScale("main.short", 2)}, 22_000},
			{[]Edit{WithScale("main.long", 0.5), WithProcs(1)}, 18_000},
			{[]Edit{WithScale("main.long", 0)}, 12_000},
		}},
		{"chained", chained(t), []try{
			{nil, 6100},
			{[]Edit{WithScale("main.worker", 0.5)}, 4600},
			{[]Edit{WithProcs(1)}, 6100},
			{[]Edit{WithProcs(8)}, 6100},
		}},
		{"contended", contended(t), []try{
			{nil, 22_100},
			// 11 holds and 10 times 0.9 ms without the lock, for each; the second
			// one waits for the first hold, and then never again.
			{[]Edit{WithLock("main.worker", 0.1)}, 11*100 + 9000 + 100 + 100},
			{[]Edit{WithLock("main.worker", 0.5)}, 11*500 + 9000 + 500 + 100},
			{[]Edit{WithLock("main.worker", 0)}, 11*1000 + 9000 + 100},
			{[]Edit{WithProcs(1)}, 22*1000 + 18_000 + 100},
		}},
		{"collected", collected(t), []try{
			{nil, 4010},
			{[]Edit{WithGC(0.5)}, 3510},
			{[]Edit{WithGC(0)}, 3010},
			{[]Edit{WithProcs(1)}, 7010}, // the collector goes first
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, c.trace)
			if !p.Ends || p.Procs != 2 {
				t.Fatalf("ends %v, %d Ps; want an end and 2", p.Ends, p.Procs)
			}
			for _, try := range c.tries {
				res, err := p.Run(try.edits...)
				if err != nil {
					t.Fatal(err)
				}
				near(t, strings.Join(res.Edits, " "), res.Elapsed, try.want)
				if res.Forced > 0 {
					t.Errorf("%v: %d forced waits, want 0", res.Edits, res.Forced)
				}
			}
		})
	}
}
