package timeline

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// lockMade returns a trace of three goroutines and a lock: 1 gives it to 2 at 40 ms, 2 to 3 at
// 60 ms, but takes it again before 3 runs and gives it to 1 at 80 ms.
func lockMade() *madeUp {
	at := func(ms int64) exectrace.Time { return origin + exectrace.Time(ms*1e6) }
	span := func(from, to int64, life int32, st exectrace.State) exectrace.Span {
		s := exectrace.Span{From: at(from), To: at(to), Life: life, State: st, Proc: -1, Thread: -1}
		if st == exectrace.Waiting {
			s.Reason = 1
		}
		return s
	}
	p := exectrace.Piece{Trusted: true, Reasons: []string{"", "sync"}, From: at(0), To: at(100),
		Lives: []exectrace.Life{{G: 1, Group: "main.main", Creator: -1}, {G: 2, Group: "main.worker", Creator: 1}, {G: 3, Group: "main.worker", Creator: 1}}}
	p.Spans = exectrace.Spans{{
		span(0, 45, 0, exectrace.Runnable), span(45, 80, 0, exectrace.Waiting), span(80, 100, 0, exectrace.Runnable),
		span(0, 40, 1, exectrace.Waiting), span(40, 100, 1, exectrace.Runnable),
		span(0, 10, 2, exectrace.Runnable), span(10, 60, 2, exectrace.Waiting), span(60, 65, 2, exectrace.Runnable), span(65, 100, 2, exectrace.Waiting),
	}}
	p.Wakes = []exectrace.WakeEdge{{At: at(40), Waker: 1, Woken: 2, Proc: -1}, {At: at(60), Waker: 2, Woken: 3, Proc: -1}, {At: at(80), Waker: 2, Woken: 1, Proc: -1}}
	return &madeUp{pieces: []*exectrace.Piece{&p}, length: 100e6}
}

func TestHolds(t *testing.T) {
	tl := lockMade().build(&Builder{})
	defer tl.Close()
	any := func([]Frame) bool { return true }
	for _, c := range []struct {
		from, to time.Duration
		of       func([]Frame) bool
		want     string
	}{
		{0, 100e6, any, "2 of 2: g2 40ms-60ms, g2 60ms-80ms at the earliest; holders main.worker 2 40ms; waiters main.worker 2 90ms, main.main 1 35ms"},
		{41e6, 50e6, any, "1 of 1: g2 40ms-60ms; holders main.worker 1 20ms; waiters main.worker 1 50ms"},
		{85e6, 100e6, any, "0 of 0: ; holders ; waiters "},
		{0, 100e6, func([]Frame) bool { return false }, "0 of 0: ; holders ; waiters "},
	} {
		h, err := tl.Holds(context.Background(), c.from, c.to, c.of)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%d of %d: ", len(h.List), h.Total)
		for i, x := range h.List {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("g%d %v-%v", x.Goroutine, x.From, x.To)
			if !x.Sure {
				got += " at the earliest"
			}
		}
		if got += "; holders " + partyText(h.Holders) + "; waiters " + partyText(h.Waiters); got != c.want {
			t.Errorf("%v to %v:\n got %s\nwant %s", c.from, c.to, got, c.want)
		}
	}
}

func partyText(list []Party) (text string) {
	for i, p := range list {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d %v", p.Group, p.Count, p.Time)
	}
	return text
}
