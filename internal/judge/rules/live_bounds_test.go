package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A liveLine is goroutines that take turns to sleep, as long as a lock or the only slot of
// a channel is held. Without it all of them sleep at once.
type liveLine struct {
	name    string
	workers int
	hold    time.Duration
	lock    func() (take, give func())
}

func mutexTurn() (take, give func()) {
	mu := new(sync.Mutex)
	return mu.Lock, mu.Unlock
}

// slotTurn returns a channel that lets one in.
func slotTurn() (take, give func()) {
	slots := make(chan bool, 1)
	return func() { slots <- true }, func() { <-slots }
}

func noTurn() (take, give func()) { return func() {}, func() {} }

// pace returns the mean time from one turn's end to the next one's, of the turns that end until
// a time has passed. Who gets the lock later goes away.
func (l liveLine) pace(take, give func(), length time.Duration) time.Duration {
	var turns, last atomic.Int64
	began := time.Now()
	side(l.workers, func(int) {
		for time.Since(began) < length {
			take()
			if time.Since(began) < length {
				time.Sleep(l.hold)
				turns.Add(1)
				last.Store(int64(time.Since(began)))
			}
			give()
		}
	})
	return time.Duration(last.Load() / max(1, turns.Load()))
}

const (
	// boundNoise is how far a measured gain may be off: a sleep of 20 ms takes up to 1 ms
	// longer where the machine is busy, in one of the two runs and not in the other.
	boundNoise = 0.05
	// boundLength is how much is recorded of a program.
	boundLength = 1500 * time.Millisecond
)

// TestBoundOfPrograms: what removing a lock or a channel brings to a program that runs is measured, and
// is never more than the finding's bound, from any window of its trace; where a hold is so
// long that the lock is all there is, the bound is no more than twice that.
func TestBoundOfPrograms(t *testing.T) {
	attempt.Only(t, "records programs that run, and measures what they gain without their lock")
	var lines []liveLine
	for _, hold := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		for _, workers := range []int{2, 20, 200} {
			lines = append(lines, liveLine{fmt.Sprintf("lock, %d workers, %v", workers, hold), workers, hold, mutexTurn})
		}
	}
	for _, hold := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		lines = append(lines, liveLine{fmt.Sprintf("channel, 20 workers, %v", hold), 20, hold, slotTurn})
	}
	found := 0
	for _, l := range lines {
		t.Run(l.name, func(t *testing.T) {
			quiet(t, func() error {
				n, err := l.judge(t)
				found += n
				return err
			})
		})
	}
	if found < 8 {
		t.Errorf("windows with a bound = %d, want 8 or more", found)
	}
}

// judge compares the bounds of windows with the gain, and returns how many there were.
func (l liveLine) judge(t *testing.T) (found int, err error) {
	path := filepath.Join(t.TempDir(), "trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	take, give := l.lock()
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	sick := l.pace(take, give, boundLength)
	trace.Stop()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	take, give = noTurn()
	gain := float64(sick) / float64(l.pace(take, give, min(boundLength, max(100*time.Millisecond, 2*l.hold))))
	const from = boundLength / 20
	for _, times := range []float64{0.1, 0.5, 1, 3, 10, 100} {
		window := time.Duration(times * float64(l.hold))
		if window < 100*time.Microsecond || from+window > boundLength {
			continue
		}
		m, err := evidence.Load(t.Context(), []string{path}, evidence.Options{Window: evidence.Window{From: from, To: from + window}})
		if err != nil {
			t.Fatal(err)
		}
		f := lineFinding(diagnosis.Run(m, All, diagnosis.Options{}))
		if f == nil || f.Bound.Kind == diagnosis.IsOpen {
			continue
		}
		found++
		if f.Bound.Value < gain*(1-boundNoise) {
			return found, fmt.Errorf("%s, in %v: at most %.4g×, and %.4g× was measured", l.name, window, f.Bound.Value, gain)
		}
		if l.hold >= 20*time.Millisecond && f.Bound.Value > 2*gain*(1+boundNoise) {
			return found, fmt.Errorf("%s, in %v: at most %.4g×, more than twice the %.4g× that was measured", l.name, window, f.Bound.Value, gain)
		}
		t.Logf("%v: at most %.4g×, measured %.4g×", window, f.Bound.Value, gain)
	}
	return found, nil
}

func lineFinding(d *diagnosis.Diagnosis) *diagnosis.Finding {
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Rule == "lockedio" || f.Rule == "hotmutex" || f.Rule == "idleprocs" {
			return f
		}
	}
	return nil
}
