package exectrace

import (
	"bytes"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// A goroutine that is preempted at its first instructions, a generation after it was
// created, has a stack of one frame, which is not its start function.
func TestPreemptedAtStart(t *testing.T) {
	var out bytes.Buffer
	b := corpus.NewBuilder(&out, 26)
	at := uint64(corpus.Epoch)
	g := b.Generation(1, at)
	th := g.Thread(1)
	on := func(typ corpus.Type, args ...uint64) { at += 100; th.Event(at, typ, args...) }
	on(corpus.ProcStatus, 0, corpus.ProcRunning)
	on(corpus.StatusStack, 1, 1, corpus.Running, g.Stack("main.main"))
	on(corpus.ProcsChange, 1, 0)
	on(corpus.GoCreate, 2, g.Stack("main.work"), g.Stack("main.main"))
	on(corpus.GoBlock, g.String("chan receive"), g.Stack("main.main"))
	on(corpus.GoStart, 2, 1)

	at += 100
	g = b.Generation(2, at)
	g.Thread(corpus.NoThread).Event(at, corpus.GoStatus, 1, corpus.NoThread, corpus.Waiting)
	th = g.Thread(1)
	on(corpus.ProcStatus, 0, corpus.ProcRunning)
	on(corpus.GoStatus, 2, 1, corpus.Running)
	on(corpus.GoStop, g.String("preempted"), g.Stack("runtime.asyncPreempt"))
	on(corpus.GoStart, 2, 1)
	on(corpus.GoDestroy)
	on(corpus.ProcStop)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	a := replayAccounts(t, out.Bytes(), Options{})
	agree(t, orderedAccounts(t, out.Bytes(), Options{}), a)
	for _, w := range a.Waits {
		if s := a.Stacks[w.Stack]; len(s) > 0 && s[0].Func == "runtime.asyncPreempt" {
			if w.Group < 0 || a.Groups[w.Group].Name != "main.work" {
				t.Errorf("a wait for a P of group %d, want that of main.work: %+v", w.Group, a.Groups)
			}
			return
		}
	}
	t.Errorf("the waits are %+v, want one of runtime.asyncPreempt", a.Waits)
}
