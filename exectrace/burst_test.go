package exectrace

import (
	"bytes"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// One goroutine that wakes ten is a burst; ten that wake one each are none, though they
// run one after the other on one thread and wake from the same line.
func TestBurst(t *testing.T) {
	const n = 10
	write := func(wakers int) []byte {
		var out bytes.Buffer
		b := corpus.NewBuilder(&out, 26)
		g := b.Generation(1, corpus.Epoch)
		waits, wakes := g.Stack("sync.runtime_notifyListWait", "main.worker"), g.Stack("main.wake")
		for i := range uint64(n) {
			g.Thread(corpus.NoThread).Event(corpus.Epoch, corpus.StatusStack, 100+i, corpus.NoThread, corpus.Waiting, waits)
		}
		th := g.Thread(1)
		at := uint64(corpus.Epoch)
		on := func(typ corpus.Type, args ...uint64) { at += 100; th.Event(at, typ, args...) }
		on(corpus.ProcStatus, 0, corpus.ProcRunning)
		on(corpus.StatusStack, 1, corpus.NoThread, corpus.Running, wakes)
		on(corpus.ProcsChange, 1, 0)
		for w := range uint64(wakers - 1) {
			on(corpus.GoCreate, 2+w, g.Stack("main.waker"), g.Stack("main.main"))
		}
		for i := range uint64(n) {
			if w := i * uint64(wakers) / n; w > 0 && i*uint64(wakers)%n == 0 {
				on(corpus.GoBlock, g.String("chan receive"), waits)
				on(corpus.GoStart, 1+w, 1)
			}
			on(corpus.GoUnblock, 100+i, 1, wakes)
		}
		on(corpus.ProcStop)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for wakers, want := range map[int]int64{1: 1, n: 0} {
		a := replayAccounts(t, write(wakers), Options{})
		got := int64(0)
		for _, b := range a.Bursts {
			got += b.Count
		}
		if got != want {
			t.Errorf("%d wake %d: got %d bursts, want %d: %+v", wakers, n, got, want, a.Bursts)
		}
	}
}

// TestBurstFutile has ten goroutines woken at once, of which those from the eighth on are followed to what they do:
// wait again, at once or behind a lock that they take again.
func TestBurstFutile(t *testing.T) {
	const n, short, long = 10, 1_000, 30_000
	for _, c := range []struct {
		name   string
		reason string // of a wait before the last, "" for none
		before uint64 // how long a goroutine runs before that, and behind it
		behind uint64
		same   bool // the last wait is where it was woken
		want   int64
	}{
		{"at once", "", 0, short, true, n - minBurst + 1},
		{"behind a lock", "sync", short, short, true, n - minBurst + 1},
		{"behind a channel", "chan receive", short, short, true, 0},
		{"behind a lock, which it takes late", "sync", long, short, true, 0},
		{"behind a lock, with work there", "sync", short, long, true, 0},
		{"at another place", "sync", short, short, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			b := corpus.NewBuilder(&out, 26)
			g := b.Generation(1, corpus.Epoch)
			waits, wakes := g.Stack("sync.runtime_notifyListWait", "main.worker"), g.Stack("main.wake")
			locks, unlocks, last := g.Stack("sync.(*Mutex).Lock", "main.worker"), g.Stack("sync.(*Mutex).Unlock", "main.worker"), waits
			if !c.same {
				last = g.Stack("sync.runtime_notifyListWait", "main.idle")
			}
			for i := range uint64(n) {
				g.Thread(corpus.NoThread).Event(corpus.Epoch, corpus.StatusStack, 100+i, corpus.NoThread, corpus.Waiting, waits)
			}
			th := g.Thread(1)
			at := uint64(corpus.Epoch)
			on := func(after uint64, typ corpus.Type, args ...uint64) { at += after; th.Event(at, typ, args...) }
			on(100, corpus.ProcStatus, 0, corpus.ProcRunning)
			on(100, corpus.StatusStack, 1, corpus.NoThread, corpus.Running, wakes)
			on(100, corpus.ProcsChange, 1, 0)
			for i := range uint64(n) {
				on(100, corpus.GoUnblock, 100+i, 1, wakes)
			}
			seq := uint64(2) // of the goroutines' next start
			if c.reason != "" {
				on(100, corpus.GoBlock, g.String("chan receive"), wakes)
				for i := range uint64(n) {
					on(100, corpus.GoStart, 100+i, seq)
					on(c.before, corpus.GoBlock, g.String(c.reason), locks)
				}
				on(100, corpus.ProcStop)
				on(100, corpus.ProcStart, 0, 1)
				on(100, corpus.GoCreate, 2, g.Stack("main.unlocker"), g.Stack("main.main"))
				on(100, corpus.GoStart, 2, 1)
				for i := range uint64(n) {
					on(200_000, corpus.GoUnblock, 100+i, seq+1, unlocks)
				}
				seq += 2
			}
			on(100, corpus.GoBlock, g.String("chan receive"), wakes)
			for i := range uint64(n) {
				on(100, corpus.GoStart, 100+i, seq)
				on(c.behind, corpus.GoBlock, g.String("sync.(*Cond).Wait"), last)
			}
			on(100, corpus.ProcStop)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			a := replayAccounts(t, out.Bytes(), Options{})
			if len(a.Bursts) != 1 || a.Bursts[0].Woken != n || a.Bursts[0].Futile != c.want {
				t.Errorf("bursts = %+v, want one of %d, %d of them for nothing", a.Bursts, n, c.want)
			}
		})
	}
}
