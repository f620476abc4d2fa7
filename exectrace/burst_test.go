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
