package rules

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// A lockLine is goroutines that stand in line for a lock, each of which sleeps with it, seen
// through a window that begins somewhere in a hold. It is in balance: with the lock given
// up while they sleep, all of them sleep at the same time.
type lockLine struct {
	n            int
	hold, window time.Duration
	phase        float64 // of the hold, when the window begins
}

const (
	lineRun  = 4 * time.Microsecond // on a P, for each turn
	lineWake = 6 * time.Microsecond // from being made ready to running
	lineProc = 2
)

func (l lockLine) String() string {
	return fmt.Sprintf("%d goroutines, %v in %v", l.n, l.hold, l.window)
}

// gain is by what factor throughput grows without the wait: who slept is still to be woken.
func (l lockLine) gain() float64 {
	turn := l.hold + lineRun + 2*lineWake
	return min(float64(l.n)*float64(turn)/float64(l.hold+lineRun+lineWake), lineProc*float64(turn)/float64(lineRun))
}

// trace writes it as the runtime does: of a generation, goroutines that do nothing in it
// have a stack in their status, the others have none.
func (l lockLine) trace(t *testing.T) []byte {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	w := lineWriter{b: b, n: l.n}
	length := uint64(l.window)
	next := uint64((1 - l.phase) * float64(l.hold)) // when the holder awakes
	turn := uint64(l.hold + lineRun + 2*lineWake)
	for from, number := uint64(0), uint64(1); from < length; number++ {
		to := min(from+uint64(time.Second), length)
		turns := 0
		for at := next; at+turn-uint64(l.hold) < to; at += turn {
			turns++
		}
		w.generation(number, from, turns)
		for range turns {
			w.turn(next)
			next += turn
		}
		w.quiet(to)
		from = to
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type lineWriter struct {
	b      *corpus.Builder
	g      *corpus.Generation
	th     *corpus.Thread
	n      int
	holder int
	seq    []uint64
	lock   uint64
	unlock uint64
	sleep  uint64
	starts uint64 // of the P
}

func (w *lineWriter) id(g int) uint64 { return uint64(10 + g%w.n) }

func (w *lineWriter) generation(number, from uint64, turns int) {
	w.g = w.b.Generation(number, corpus.Epoch+from)
	w.th = w.g.Thread(1)
	w.seq = make([]uint64, w.n)
	w.lock = w.g.Stack("sync.(*Mutex).Lock", "main.ask", "main.worker")
	w.unlock = w.g.Stack("sync.(*Mutex).Unlock", "main.ask", "main.worker")
	w.sleep = w.g.Stack("time.Sleep", "main.ask", "main.worker")
	parked := w.g.Stack("runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1", "internal/sync.runtime_SemacquireMutex",
		"internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "main.ask", "main.worker")
	asleep := w.g.Stack("runtime.gopark", "time.Sleep", "main.ask", "main.worker")
	w.th.Event(corpus.Epoch+from, corpus.ProcStatus, 0, corpus.ProcIdle)
	w.th.Event(corpus.Epoch+from, corpus.ProcsChange, lineProc, 0)
	quiet := w.g.Thread(corpus.NoThread)
	for i := range w.n {
		place := parked
		if i == 0 {
			place = asleep
		}
		if i > turns || turns == 0 {
			quiet.Event(corpus.Epoch+from, corpus.StatusStack, w.id(w.holder+i), corpus.NoThread, corpus.Waiting, place)
		} else {
			quiet.Event(corpus.Epoch+from, corpus.GoStatus, w.id(w.holder+i), corpus.NoThread, corpus.Waiting)
		}
	}
	w.starts = 0
}

// turn lets the holder awake, give the lock to the next, and get in line again.
func (w *lineWriter) turn(at uint64) {
	on := func(after time.Duration, typ corpus.Type, args ...uint64) {
		w.th.Event(corpus.Epoch+at+uint64(after), typ, args...)
	}
	id, to := w.id(w.holder), w.id(w.holder+1)
	step := func(g int) uint64 { w.seq[g%w.n]++; return w.seq[g%w.n] }
	w.starts++
	on(0, corpus.ProcStart, 0, w.starts)
	on(0, corpus.GoUnblock, id, step(w.holder), 0)
	on(lineWake, corpus.GoStart, id, step(w.holder))
	on(lineWake+lineRun/2, corpus.GoUnblock, to, step(w.holder+1), w.unlock)
	on(lineWake+lineRun/2, corpus.GoBlock, w.g.String("sync"), w.lock)
	on(2*lineWake+lineRun/2, corpus.GoStart, to, step(w.holder+1))
	on(2*lineWake+lineRun, corpus.GoBlock, w.g.String("sleep"), w.sleep)
	on(2*lineWake+lineRun, corpus.ProcStop)
	w.holder = (w.holder + 1) % w.n
}

// quiet is the last event of a generation: the tracer's own.
func (w *lineWriter) quiet(at uint64) {
	w.th.Event(corpus.Epoch+at, corpus.ProcsChange, lineProc, 0)
}

// The most that a finding promises is no less than what the change brings, and where the
// lock is all there is, no more than twice that; whatever part of the waits began or ended
// in the window. Where nobody got on in it, no limit is given.
func TestBoundOfALine(t *testing.T) {
	found, open := 0, 0
	for _, n := range []int{2, 8, 40, 200} {
		for _, hold := range []time.Duration{time.Millisecond, 25 * time.Millisecond, 250 * time.Millisecond, time.Second} {
			for _, times := range []float64{0.1, 0.5, 1, 3, 10, 30, 100, 2000} {
				for _, phase := range []float64{0.05, 0.6} {
					l := lockLine{n, hold, time.Duration(times * float64(hold)), phase}
					if l.window < 100*time.Microsecond || l.window > 100*time.Second {
						continue
					}
					d := l.diagnose(t)
					f := lineFinding(d)
					if f == nil {
						if l.window >= 2*time.Second && times >= 3 && n > 2 {
							t.Errorf("%v: nothing was found: %s", l, d.Summary)
						}
						continue
					}
					found++
					if f.Bound.Kind == diagnosis.IsOpen {
						if open++; times >= 3 {
							t.Errorf("%v: no limit, and %.0f of them got on", l, times)
						}
						continue
					}
					if low := f.Bound.Value / l.gain(); low < 1-1e-3 || low > 2 {
						t.Errorf("%v: at most %.4g×, want from the gain, %.4g×, to twice that", l, f.Bound.Value, l.gain())
					}
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("lines with a finding = %d (%d without a limit), want 50 or more", found, open)
	}
}

func lineFinding(d *diagnosis.Diagnosis) *diagnosis.Finding {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Rule == "lockedio" || f.Rule == "hotmutex" {
			return f
		}
	}
	return nil
}

func (l lockLine) diagnose(t *testing.T) *diagnosis.Diagnosis {
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, l.trace(t), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := evidence.Load(t.Context(), []string{path}, evidence.Options{})
	if err != nil {
		t.Fatalf("%v: %v", l, err)
	}
	if d := m.Run.Duration.Seconds() / l.window.Seconds(); math.Abs(d-1) > 0.01 || m.Run.Coverage.Forced > 0 {
		t.Fatalf("%v: read as %v with %d events that do not fit: %v", l, m.Run.Duration, m.Run.Coverage.Forced, m.Run.Coverage.Notes)
	}
	return diagnosis.Run(m, All, diagnosis.Options{})
}
