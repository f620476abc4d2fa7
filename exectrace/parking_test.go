package exectrace

import (
	"bytes"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// Three goroutines wait for a lock when the trace begins, as their status says. One gets
// it, the others wait on, as does one that began to in the trace.
func TestOpenWaits(t *testing.T) {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	start := uint64(corpus.Epoch)
	g := b.Generation(1, start)
	parked := g.Stack("runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1", "internal/sync.runtime_SemacquireMutex",
		"internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "main.work")
	lock := g.Stack("sync.(*Mutex).Lock", "main.work")
	quiet := g.Thread(corpus.NoThread)
	for i := range uint64(3) {
		quiet.Event(start, corpus.StatusStack, 10+i, corpus.NoThread, corpus.Waiting, parked)
	}
	th := g.Thread(1)
	at := start
	on := func(typ corpus.Type, args ...uint64) { at += 1000; th.Event(at, typ, args...) }
	on(corpus.ProcStatus, 0, corpus.ProcRunning)
	on(corpus.StatusStack, 1, 1, corpus.Running, g.Stack("main.work"))
	on(corpus.ProcsChange, 1, 0)
	on(corpus.GoUnblock, 10, 1, g.Stack("sync.(*Mutex).Unlock", "main.work"))
	on(corpus.GoBlock, g.String("sync"), lock)
	on(corpus.GoStart, 10, 2)
	on(corpus.GoStop, g.String("preempted"), g.Stack("main.work"))
	on(corpus.ProcStop)
	end := at
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*Accounts{
		"replay": replayAccounts(t, out.Bytes(), Options{}), "ordered": orderedAccounts(t, out.Bytes(), Options{}),
	} {
		var locks []Wait
		for _, w := range a.Waits {
			if w.State == Waiting {
				locks = append(locks, w)
			}
		}
		if len(locks) != 1 {
			t.Fatalf("%s: %d kinds of wait, want one: %+v", name, len(locks), locks)
		}
		w := locks[0]
		if w.Reason != "sync" || a.Stacks[w.Stack][0].Func != "sync.(*Mutex).Lock" || len(a.Stacks[w.Stack]) != 2 {
			t.Errorf("%s: a wait for %q at %+v, want that for the lock at main.work", name, w.Reason, a.Stacks[w.Stack])
		}
		if w.Count != 1 || w.Open != 3 || w.Parked != 2 {
			t.Errorf("%s: Count, Open, Parked = %d, %d, %d, want 1, 3, 2", name, w.Count, w.Open, w.Parked)
		}
		whole := int64(a.Info.End - a.Info.Start)
		ns := func(ticks uint64) int64 { return whole * int64(ticks) / int64(end-start) }
		open := 2*whole + ns(end-start-5000)
		if d := int64(w.OpenTotal) - open; d < -64 || d > 64 {
			t.Errorf("%s: OpenTotal = %d, want %d", name, w.OpenTotal, open)
		}
		if d := int64(w.Total-w.OpenTotal) - ns(4000); d < -64 || d > 64 {
			t.Errorf("%s: Total - OpenTotal = %d, want %d", name, w.Total-w.OpenTotal, ns(4000))
		}
		var blocked int64
		for _, r := range a.Groups[w.Group].Blocked {
			if r.Reason == "sync" {
				blocked += int64(r.Total)
			}
		}
		if blocked != int64(w.Total) {
			t.Errorf("%s: the group's time for the reason = %d, want that of its waits, %d", name, blocked, w.Total)
		}
	}
}

// Of those that wait for a lock when a window ends, some get it later in the same
// generation: their waits go on in the window, and one that begins later is not in it.
func TestWaitsCutByWindow(t *testing.T) {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	start := uint64(corpus.Epoch)
	g := b.Generation(1, start)
	work := g.Stack("main.work")
	parked := g.Stack("runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1", "internal/sync.runtime_SemacquireMutex",
		"internal/sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "main.work")
	lock, unlock := g.Stack("sync.(*Mutex).Lock", "main.work"), g.Stack("sync.(*Mutex).Unlock", "main.work")
	quiet := g.Thread(corpus.NoThread)
	for i := range uint64(3) {
		quiet.Event(start, corpus.StatusStack, 10+i, corpus.NoThread, corpus.Waiting, parked)
	}
	th := g.Thread(1)
	at := start
	on := func(typ corpus.Type, args ...uint64) { at += 1000; th.Event(at, typ, args...) }
	on(corpus.ProcStatus, 0, corpus.ProcRunning)
	on(corpus.StatusStack, 1, 1, corpus.Running, work)
	on(corpus.ProcsChange, 1, 0)
	on(corpus.GoUnblock, 10, 1, unlock) // at 4,000
	on(corpus.GoBlock, g.String("sync"), lock)
	on(corpus.GoStart, 10, 2)
	on(corpus.GoUnblock, 11, 1, unlock) // at 7,000, behind the windows
	on(corpus.GoUnblock, 1, 1, unlock)
	on(corpus.GoBlock, g.String("sync"), lock)
	on(corpus.GoStart, 1, 2)
	on(corpus.GoStop, g.String("preempted"), work)
	on(corpus.ProcStop)
	end := at
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	whole := replayAccounts(t, out.Bytes(), Options{})
	ns := func(ticks int64) int64 { return int64(whole.Info.End-whole.Info.Start) * ticks / int64(end-start) }
	for _, c := range []struct {
		from, to             int64 // ticks
		count, open, parked  int64
		openTotal, restTotal int64 // ticks
	}{
		{0, 6001, 1, 3, 2, 2*6001 + 1001, 4000},
		{4500, 6001, 0, 3, 2, 2*1501 + 1001, 0},
		{2000, 3001, 0, 3, 3, 3 * 1001, 0},
	} { // ordered events end a window at its last event: windows end just behind one
		w := Range{whole.Info.Start + Time(ns(c.from)), whole.Info.Start + Time(ns(c.to))}
		for name, a := range map[string]*Accounts{
			"replay":  replayAccounts(t, out.Bytes(), Options{Window: w, Keep: -1}),
			"ordered": orderedAccounts(t, out.Bytes(), Options{Window: w, Keep: -1}),
		} {
			var got Wait
			for _, x := range a.Waits {
				if x.State == Waiting {
					got.Count, got.Open, got.Parked = got.Count+x.Count, got.Open+x.Open, got.Parked+x.Parked
					got.Total, got.OpenTotal = got.Total+x.Total, got.OpenTotal+x.OpenTotal
				} else if x.Total == 0 {
					t.Errorf("%s, %v: the wait %+v takes 0 s, want more", name, w, x)
				}
			}
			if got.Count != c.count || got.Open != c.open || got.Parked != c.parked {
				t.Errorf("%s, %v: Count, Open, Parked = %d, %d, %d, want %d, %d, %d", name, w, got.Count, got.Open, got.Parked, c.count, c.open, c.parked)
			}
			rest := int64(got.Total - got.OpenTotal)
			if x, y := int64(got.OpenTotal)-ns(c.openTotal), rest-ns(c.restTotal); x < -256 || x > 256 || y < -256 || y > 256 {
				t.Errorf("%s, %v: OpenTotal and the rest = %d, %d, want %d, %d", name, w, got.OpenTotal, rest, ns(c.openTotal), ns(c.restTotal))
			}
			standing := int64(0)
			for _, s := range a.Last {
				if s.State == Waiting {
					standing += s.Count
				}
			}
			if standing != c.open {
				t.Errorf("%s, %v: %d stand waiting when the window ends, want %d", name, w, standing, c.open)
			}
		}
	}
}

func TestParking(t *testing.T) {
	for _, c := range []struct {
		stack  []string
		skip   int
		reason string
	}{
		{[]string{"runtime.gopark", "runtime.chansend", "runtime.chansend1", "main.f"}, 2, "chan send"},
		{[]string{"runtime.gopark", "runtime.chanrecv", "runtime.chanrecv2", "main.f"}, 2, "chan receive"},
		{[]string{"runtime.gopark", "runtime.selectgo", "main.f"}, 1, "select"},
		{[]string{"runtime.gopark", "time.Sleep", "main.f"}, 1, "sleep"},
		{[]string{"runtime.gopark", "runtime.netpollblock", "internal/poll.runtime_pollWait", "internal/poll.(*pollDesc).wait",
			"internal/poll.(*pollDesc).waitRead", "internal/poll.(*FD).Read", "main.f"}, 5, "network"},
		{[]string{"runtime.gopark", "runtime.goparkunlock", "sync.runtime_notifyListWait", "sync.(*Cond).Wait", "main.f"}, 3, "sync.(*Cond).Wait"},
		{[]string{"runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1", "sync.runtime_SemacquireMutex",
			"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.f"}, 5, "sync"},
		{[]string{"runtime.gopark", "runtime.goparkunlock", "runtime.semacquire1", "sync.runtime_SemacquireRWMutexR",
			"sync.(*RWMutex).RLock", "main.f"}, 4, "sync"},
		{[]string{"runtime.gopark", "runtime.block", "main.f"}, 1, "forever"},
		{[]string{"runtime.gopark", "main.odd"}, 1, ""},
		{[]string{"runtime.gopark", "runtime.goparkunlock"}, 0, ""},
		{[]string{"runtime.chanrecv1", "main.f"}, 0, ""}, // an event's stack: its reason is in the event
		{nil, 0, ""},
	} {
		skip, reason := parking(len(c.stack), func(i int) string { return c.stack[i] })
		if skip != c.skip || reason != c.reason {
			t.Errorf("parking(%v) = %d, %q, want %d, %q", c.stack, skip, reason, c.skip, c.reason)
		}
	}
}
