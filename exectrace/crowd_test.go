package exectrace

import (
	"bytes"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// crowd returns a trace of many threads, each of which has one batch of events that
// wait for something that never comes.
func crowd(t testing.TB, threads int, kind string) []byte {
	var buf bytes.Buffer
	b := corpus.NewBuilder(&buf, 26)
	g := b.Generation(1, 1000)
	first := g.Thread(1)
	first.Event(1001, corpus.ProcStatus, 0, 1)
	first.Event(1002, corpus.GoStatus, 1, 1, 2)
	first.Flush()
	for m := range uint64(threads) {
		th := g.Thread(m + 2)
		at := 2000 + 10*(uint64(threads)-m)
		switch kind {
		case "same goroutine":
			th.Event(at, corpus.GoUnblock, 1, 7+m, 0)
		case "same P":
			th.Event(at, corpus.ProcStart, 0, 7+m)
			th.Event(at+1, corpus.ProcStop)
		case "own P":
			th.Event(at, corpus.ProcStart, 1+m, 7)
		case "own goroutine":
			th.Event(at, corpus.GoUnblock, 2+m, 7, 0)
			th.Event(at, corpus.GoUnblock, 2+m, 9, 0)
		case "creations":
			th.Event(at, corpus.GoCreateSys, 1)
		}
		th.Flush()
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// TestCrowds bounds the work by counting: a test of time would measure the machine.
func TestCrowds(t *testing.T) {
	const threads = 20_000
	for _, c := range []struct {
		kind string
		all  bool // is read, in its accounts and as events
	}{{"own P", true}, {"same goroutine", false}, {"same P", false}, {"creations", false}, {"own goroutine", false}} {
		data := crowd(t, threads, c.kind)
		tr, err := NewReaderAt(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		acc, err := tr.Account(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if lost := acc.Info.Damage.LostBytes; (lost == 0) != c.all {
			t.Errorf("%s: %d bytes of %d lost, want all to be read: %v", c.kind, lost, len(data), c.all)
		}
		var damage Damage
		n := 0
		for _, err := range tr.Events(EventOptions{Damage: &damage}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if c.all && n < threads {
			t.Errorf("%s: %d events, want one of each of %d threads", c.kind, n, threads)
		}
		if told := damage.LostEvents > 0 || n >= threads; !told {
			t.Errorf("%s: %d events, and nothing is said of the others", c.kind, n)
		}
	}
}
