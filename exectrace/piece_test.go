package exectrace_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// A ledger adds up pieces, and checks that they fit together.
type ledger struct {
	done   map[lifeKey]*lifeSum
	living map[int64]*lifeSum
	held   map[int32]time.Duration
	heldTo map[int32]exectrace.Time
	to     exectrace.Time
	begun  bool
	twice  int // lives that cannot be told from another
	err    error
}

// A lifeKey names a goroutine in accounts: ids can be used again.
type lifeKey struct {
	g       int64
	created exectrace.Time
}

// A lifeSum is what the spans of a goroutine add up to.
type lifeSum struct {
	key   lifeKey
	group string
	ended exectrace.Time
	at    exectrace.Time // its spans reach to here
	state [exectrace.Dead]time.Duration
	wait  map[string]time.Duration
}

func newLedger() *ledger {
	return &ledger{
		done: map[lifeKey]*lifeSum{}, living: map[int64]*lifeSum{},
		held: map[int32]time.Duration{}, heldTo: map[int32]exectrace.Time{},
	}
}

func (l *ledger) fail(format string, a ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, a...)
	}
}

// add adds the next piece.
func (l *ledger) add(p *exectrace.Piece) {
	if l.begun && p.From != l.to {
		l.fail("piece %d begins at %d, the one before ends at %d", p.Index, p.From, l.to)
	}
	l.begun, l.to = true, p.To
	order := make([]int, len(p.Lives))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Lives[a].Created, p.Lives[b].Created) })
	sums := make([]*lifeSum, len(p.Lives))
	for _, i := range order {
		sums[i] = l.life(p, &p.Lives[i])
	}
	for x := range p.Spans.All() {
		l.span(p, x, sums[x.Life])
	}
	for i, s := range sums {
		switch x := &p.Lives[i]; {
		case x.Ended != 0 && s.at != x.Ended:
			l.fail("goroutine %d ends at %d, its spans at %d", x.G, x.Ended, s.at)
		case x.Ended == 0 && s.at < p.To:
			l.fail("goroutine %d has no spans from %d to the end of piece %d at %d", x.G, s.at, p.Index, p.To)
		}
	}
	for _, s := range p.Procs {
		if s.From > s.To || s.From < l.heldTo[s.Proc] {
			l.fail("P %d is held from %d to %d, and until %d before", s.Proc, s.From, s.To, l.heldTo[s.Proc])
		}
		l.heldTo[s.Proc] = s.To
		l.held[s.Proc] += s.To.Sub(s.From)
	}
}

// life returns the sum of a goroutine that a piece has.
func (l *ledger) life(p *exectrace.Piece, x *exectrace.Life) *lifeSum {
	s := l.living[x.G]
	if x.Created != 0 || s == nil {
		s = &lifeSum{key: lifeKey{x.G, x.Created}, wait: map[string]time.Duration{}, at: x.Created}
		if x.Created == 0 {
			s.at = p.From
		}
		if l.done[s.key] != nil {
			l.twice++ // in a damaged trace only
		}
		l.done[s.key] = s
	}
	s.group, s.ended = cmp.Or(x.Group, s.group), x.Ended
	if l.living[x.G] = s; x.Ended != 0 {
		delete(l.living, x.G)
	}
	return s
}

func (l *ledger) span(p *exectrace.Piece, x *exectrace.Span, s *lifeSum) {
	if x.From != s.at {
		l.fail("piece %d: goroutine %d has spans to %d, and the next from %d", p.Index, s.key.g, s.at, x.From)
	}
	if x.To < x.From {
		l.fail("goroutine %d: a span from %d to %d", s.key.g, x.From, x.To)
	}
	if int(x.Stack) >= p.NumStacks() || int(x.Thread) >= len(p.Threads) {
		l.fail("goroutine %d: a span of stack %d and thread %d, want them below %d and %d",
			s.key.g, x.Stack, x.Thread, p.NumStacks(), len(p.Threads))
	}
	s.at = x.To
	s.state[x.State] += x.To.Sub(x.From)
	if x.State == exectrace.Waiting {
		s.wait[p.Reasons[x.Reason]] += x.To.Sub(x.From)
	}
}

// compare checks a ledger of the whole trace with its accounts.
func (l *ledger) compare(a *exectrace.Accounts) {
	if len(l.done) != len(a.Goroutines) || l.twice > 0 {
		l.fail("%d lives, want %d", len(l.done), len(a.Goroutines))
	}
	for _, g := range a.Goroutines {
		s := l.done[lifeKey{g.ID, g.Created}]
		if s == nil {
			l.fail("goroutine %d, created at %d, is in no piece", g.ID, g.Created)
			continue
		}
		var wait []exectrace.ReasonTime
		for r, d := range s.wait {
			wait = append(wait, exectrace.ReasonTime{Reason: r, Total: d})
		}
		got := fmt.Sprint(s.ended, s.group, s.state[exectrace.Running], s.state[exectrace.Runnable], s.state[exectrace.Syscall],
			s.state[exectrace.SyscallBlocked], s.state[exectrace.Unknown], reasons(wait, "none"))
		want := fmt.Sprint(g.Ended, a.Groups[g.Group].Name, g.Running, g.Runnable, g.Syscall, g.SyscallBlocked, g.Unknown, reasons(g.Blocked, "none"))
		if got != want {
			l.fail("goroutine %d, created at %d:\n got %s\nwant %s", g.ID, g.Created, got, want)
		}
	}
	for _, p := range a.Procs {
		held := a.Window.To.Sub(a.Window.From) - p.Idle - p.Unknown
		if p.Idle > 0 && l.held[int32(p.ID)] != held {
			l.fail("P %d was held for %v, want %v", p.ID, l.held[int32(p.ID)], held)
		}
	}
}

// pieced is a trace that has pieces.
func pieced(t *testing.T, f func(t *testing.T, s subject)) {
	each(t, func(t *testing.T, s subject) {
		if s.old() {
			t.Skip("the old format has no pieces")
		}
		f(t, s)
	})
}

func open(t testing.TB, data []byte) *exectrace.Trace {
	t.Helper()
	tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// The spans of every goroutine lie side by side from its birth to its end, over
// all pieces, and add up to its account to the nanosecond; so do those of Ps.
func TestPiecesAddUp(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		l := newLedger()
		a := account(t, s.data, exectrace.Options{Keep: -1, Piece: l.add})
		if l.compare(a); l.err != nil {
			t.Fatal(l.err)
		}
		mustEqual(t, "accounts beside pieces", comparable(account(t, s.data, exectrace.Options{Keep: keep(s)})),
			account(t, s.data, exectrace.Options{Keep: keep(s), Piece: func(*exectrace.Piece) {}}))
	})
}

// With a window, pieces are clipped to it as accounts are.
func TestPiecesOfWindow(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		info, err := open(t, s.data).Info()
		if err != nil {
			t.Fatal(err)
		}
		const tick = 64 // of a trace made on Linux
		third := (info.End - info.Start) / 3 / tick * tick
		w := exectrace.Range{From: info.Start + third, To: info.Start + 2*third}
		if third == 0 {
			t.Skip("too short")
		}
		l := newLedger()
		a := account(t, s.data, exectrace.Options{Keep: -1, Window: w, Piece: func(p *exectrace.Piece) {
			if l.add(p); p.From < w.From || p.To > w.To || p.From == p.To {
				t.Errorf("piece = %d to %d, want a part of %+v", p.From, p.To, w)
			}
		}})
		want := statesOf(a)
		var got [exectrace.Dead]time.Duration
		for _, s := range l.done {
			for i, d := range s.state {
				got[i] += d
			}
		}
		if got != want || l.err != nil {
			t.Errorf("times of spans by state = %v, %v, want %v", got, l.err, want)
		}
	})
}

// statesOf returns the time of all goroutines by state.
func statesOf(a *exectrace.Accounts) (sum [exectrace.Dead]time.Duration) {
	for _, g := range a.Groups {
		sum[exectrace.Running] += g.Running
		sum[exectrace.Runnable] += g.Runnable
		sum[exectrace.Syscall] += g.Syscall
		sum[exectrace.SyscallBlocked] += g.SyscallBlocked
		sum[exectrace.Unknown] += g.Unknown
		for _, r := range g.Blocked {
			sum[exectrace.Waiting] += r.Total
		}
	}
	return sum
}

// texts describes a piece wholly, with stacks by their frames.
func texts(p *exectrace.Piece) string {
	names := make([]string, p.NumStacks())
	stack := func(s exectrace.Stack) string {
		if names[s] == "" {
			for _, f := range p.Frames(s) {
				names[s] += fmt.Sprintf("%x %s %d;", f.PC, f.Func, f.Line)
			}
			names[s] += "."
		}
		return names[s]
	}
	var b []byte
	b = fmt.Appendln(b, p.Index, p.From, p.To, p.Trusted, p.Threads, p.Procs)
	for i := range p.Lives {
		x := &p.Lives[i]
		b = numbers(b, x.G, int64(x.Created), int64(x.Ended), x.Creator)
		b = append(append(append(b, x.Group...), stack(x.Cause)...), '\n')
	}
	for x := range p.Spans.All() {
		b = numbers(b, int64(x.From), int64(x.To), int64(x.Life), int64(x.Thread), int64(x.Proc), int64(x.State))
		b = append(append(append(b, p.Reasons[x.Reason]...), stack(x.Stack)...), '\n')
	}
	for _, x := range p.Wakes {
		b = numbers(b, int64(x.At), x.Waker, x.Woken, int64(x.Proc))
		b = append(append(b, stack(x.Stack)...), '\n')
	}
	for _, x := range p.Ranges {
		b = fmt.Appendln(b, x.From, x.To, x.Name, x.Goroutine, x.Proc, stack(x.Stack))
	}
	for _, x := range p.Samples {
		b = fmt.Appendln(b, x.At, x.Goroutine, x.Proc, x.Thread, stack(x.Stack))
	}
	b = fmt.Appendf(b, "%+v\n%+v\n%+v\n%+v\n", p.Regions, p.Tasks, p.Logs, p.Labels)
	return string(b)
}

func numbers(b []byte, list ...int64) []byte {
	for _, n := range list {
		b = append(strconv.AppendInt(b, n, 10), ' ')
	}
	return b
}

func pieces(t *testing.T, tr *exectrace.Trace, o exectrace.PieceOptions) (out []string) {
	t.Helper()
	if err := tr.Pieces(context.Background(), o, func(p *exectrace.Piece) bool {
		out = append(out, texts(p))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func mustBeSame(t *testing.T, what string, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: pieces = %d, want %d", what, len(got), len(want))
	}
	for i := range want {
		if want[i] == got[i] {
			continue
		}
		x, y := strings.Split(want[i], "\n"), strings.Split(got[i], "\n")
		for k := range min(len(x), len(y)) {
			if x[k] != y[k] {
				t.Fatalf("%s: piece %d, line %d:\nwant %.3000s\n got %.3000s", what, i, k, x[k], y[k])
			}
		}
		t.Fatalf("%s: lines of piece %d = %d, want %d", what, i, len(y), len(x))
	}
}

// However pieces are read, they are the same.
func TestPiecesAreTheSame(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		if len(s.data) > 4<<20 {
			t.Skip("a smaller one will do")
		}
		tr := open(t, s.data)
		one := pieces(t, tr, exectrace.PieceOptions{Workers: 1})
		mustBeSame(t, "3 workers", one, pieces(t, tr, exectrace.PieceOptions{Workers: 3}))
		var beside []string
		var ranges []exectrace.Range
		a := account(t, s.data, exectrace.Options{Piece: func(p *exectrace.Piece) {
			beside = append(beside, texts(p))
			ranges = append(ranges, exectrace.Range{From: p.From, To: p.To})
		}})
		mustBeSame(t, "beside accounts", one, beside)
		stream, err := exectrace.NewReader(bytes.NewBuffer(s.data))
		if err != nil {
			t.Fatal(err)
		}
		mustBeSame(t, "from a stream", one, pieces(t, stream, exectrace.PieceOptions{}))
		if err := stream.Pieces(t.Context(), exectrace.PieceOptions{}, nil); !errors.Is(err, exectrace.ErrStreamRead) {
			t.Errorf("a second time from a stream: %v", err)
		}
		for i, r := range ranges {
			if r.To-r.From < 3 || i > 1 && i+1 < len(ranges) && i%8 != 0 {
				continue
			}
			middle := r.From + (r.To-r.From)/2
			got := pieces(t, tr, exectrace.PieceOptions{Window: exectrace.Range{From: middle, To: middle + 1}})
			mustBeSame(t, fmt.Sprint("window in piece ", i), around(a.Info.Generations, one, i, middle), got)
		}
	})
}

// around returns the pieces of the generations that have a part in a moment:
// that at i, and those before it that run into it.
func around(generations []exectrace.Generation, all []string, i int, at exectrace.Time) []string {
	first := i
	for first > 0 && generations[first-1].End > at {
		first--
	}
	return all[first : i+1]
}

// Bare pieces have the same states and none of the details.
func TestBarePieces(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		if len(s.data) > 2<<20 {
			t.Skip("a smaller one will do")
		}
		l := newLedger()
		a := account(t, s.data, exectrace.Options{Keep: -1, BarePieces: true, Piece: func(p *exectrace.Piece) {
			l.add(p)
			if len(p.Wakes)+len(p.Logs)+len(p.Labels) > 0 {
				t.Errorf("piece %d has %d wakes, %d logs and %d labels, want none", p.Index, len(p.Wakes), len(p.Logs), len(p.Labels))
			}
		}})
		if l.compare(a); l.err != nil {
			t.Fatal(l.err)
		}
	})
}

// A system call that lasts over all of a piece is on the thread that it is on before
// and after, though that writes nothing there.
func TestSilentThreads(t *testing.T) {
	silent := 0
	pieced(t, func(t *testing.T, s subject) {
		tr := open(t, s.data)
		on := map[int64]int64{} // thread by goroutine, in the piece before
		if err := tr.Pieces(t.Context(), exectrace.PieceOptions{Bare: true}, func(p *exectrace.Piece) bool {
			now := map[int64]int64{}
			for x := range p.Spans.All() {
				if x.State != exectrace.Syscall && x.State != exectrace.SyscallBlocked || !p.Trusted || x.To < p.To {
					continue
				}
				g := p.Lives[x.Life].G
				if x.Thread < 0 {
					t.Errorf("thread of goroutine %d, in a system call at the end of piece %d, = none, want one", g, p.Index)
					continue
				}
				now[g] = p.Threads[x.Thread]
				if before, ok := on[g]; ok && x.From <= p.From {
					if silent++; before != now[g] {
						t.Errorf("thread of goroutine %d in a system call = %d, want %d as before", g, now[g], before)
					}
				}
			}
			on = now
			return true
		}); err != nil {
			t.Fatal(err)
		}
	})
	if silent == 0 {
		t.Error("system calls over a whole piece = 0, want some in the traces")
	}
}

// spanTexts describes single spans, and the lives that they are of.
func spanTexts(p *exectrace.Piece, keep func(g int64, from, to exectrace.Time) bool) []string {
	var out []string
	for x := range p.Spans.All() {
		l := &p.Lives[x.Life]
		if keep(l.G, x.From, x.To) {
			out = append(out, fmt.Sprint(l.G, l.Created, l.Ended, l.Group, l.Creator, p.Frames(l.Cause), x.From, x.To, x.State,
				p.Reasons[x.Reason], p.Frames(x.Stack), x.Thread, x.Proc))
		}
	}
	slices.Sort(out)
	return out
}

// What is taken block by block is what would be there, and is gone afterwards.
func TestTake(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		var want, got []exectrace.Span
		account(t, s.data, exectrace.Options{Piece: func(p *exectrace.Piece) {
			for x := range p.Spans.All() {
				want = append(want, *x)
			}
		}})
		account(t, s.data, exectrace.Options{Workers: 3, Piece: func(p *exectrace.Piece) {
			n := p.Spans.Len()
			for block := range p.Take() {
				got = append(got, block...)
				n -= len(block)
			}
			if n != 0 || p.Spans.Len() != 0 {
				t.Errorf("Take() left out %d spans and left %d, want 0", n, p.Spans.Len())
			}
		}})
		if !slices.Equal(want, got) {
			t.Errorf("Take() = %d spans, want the same %d as Spans", len(got), len(want))
		}
	})
}

// What is clipped has all that touches the clip, and the same as without one.
func TestClippedPieces(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		if len(s.data) > 2<<20 {
			t.Skip("a smaller one will do")
		}
		tr := open(t, s.data)
		tr.SetMarkEvery(max(int64(len(s.data)/200), 1000))
		var windows []exectrace.Range
		if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
			if part := (p.To - p.From) / 50; part > 0 && len(windows) < 8 {
				for _, at := range [][2]exectrace.Time{{20, 30}, {0, 1}, {33, 34}, {48, 50}} {
					windows = append(windows, exectrace.Range{From: p.From + at[0]*part, To: p.From + at[1]*part})
				}
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		for _, w := range windows {
			checkClip(t, tr, w)
		}
		marks, generations := tr.Marks()
		t.Logf("%d windows, %d marks in %d generations", len(windows), marks, generations)
	})
}

// beside returns what a piece has beside spans, as far as a clip leaves it there.
func beside(p *exectrace.Piece, clip exectrace.Range) []string {
	out := []string{fmt.Sprint("edges ", p.From, p.To)}
	add := func(x any) { out = append(out, fmt.Sprintf("%T %v", x, x)) }
	for _, x := range p.Procs {
		if x.To >= clip.From && x.From <= clip.To {
			add(x)
		}
	}
	for _, x := range p.Wakes {
		if x.At >= clip.From && x.At <= clip.To {
			add(x)
		}
	}
	for _, x := range p.Ranges {
		add(x)
	}
	for _, x := range p.Regions {
		add(x)
	}
	for _, x := range p.Tasks {
		add(x)
	}
	for _, x := range p.Logs {
		add(x)
	}
	for _, x := range p.Labels {
		add(x)
	}
	for _, x := range p.Samples {
		add(x)
	}
	slices.Sort(out)
	return out
}

func checkClip(t *testing.T, tr *exectrace.Trace, w exectrace.Range) {
	t.Helper()
	touches := func(_ int64, from, to exectrace.Time) bool { return to >= w.From && from <= w.To }
	// Where coroutines switch, spans as short as a tick of the clock follow each other.
	near := func(_ int64, from, to exectrace.Time) bool { return to >= w.From-1000 && from <= w.To+1000 }
	middle := w.From + (w.To-w.From)/2 // of one generation, also where those beside it have a part in its edges
	read := func(o exectrace.PieceOptions, look func(p *exectrace.Piece)) {
		o.Window = exectrace.Range{From: middle, To: middle + 1}
		if err := tr.Pieces(t.Context(), o, func(p *exectrace.Piece) bool { look(p); return true }); err != nil {
			t.Fatal(err)
		}
	}
	var want, got, rest, single []string // spans that touch, all else, spans of one goroutine
	some := int64(-1)
	read(exectrace.PieceOptions{}, func(p *exectrace.Piece) {
		if len(p.Lives) == 0 {
			return
		}
		if some < 0 {
			some = p.Lives[len(p.Lives)/2].G
		}
		want = append(want, spanTexts(p, touches)...)
		single = append(single, spanTexts(p, func(g int64, _, _ exectrace.Time) bool { return g == some })...)
		rest = append(rest, beside(p, w)...)
	})
	var clippedRest []string
	read(exectrace.PieceOptions{Clip: w}, func(p *exectrace.Piece) {
		if len(p.Lives) == 0 {
			return
		}
		got = append(got, spanTexts(p, touches)...)
		ends := make([]exectrace.Time, len(p.Lives))
		for x := range p.Spans.All() {
			if x.From < ends[x.Life] {
				t.Errorf("goroutine %d: From = %d, want %d or later, where the span before ends", p.Lives[x.Life].G, x.From, ends[x.Life])
			}
			ends[x.Life] = x.To
		}
		clippedRest = append(clippedRest, beside(p, w)...)
		outside := p.Spans.Len() - len(spanTexts(p, near))
		for i := range p.Lives {
			if p.Lives[i].Created == 0 {
				outside -= 2 // the state that it was found in; a system call has two
			}
		}
		if outside > 0 {
			t.Errorf("spans outside of the clip = %d more than states at the begin, want 0", outside)
		}
	})
	mustBeSame(t, "spans of a clip", want, got)
	mustBeSame(t, "the rest with a clip", rest, clippedRest)
	var alone []string
	read(exectrace.PieceOptions{Goroutines: []int64{some}}, func(p *exectrace.Piece) {
		if len(p.Lives) > 0 {
			alone = append(alone, spanTexts(p, func(int64, exectrace.Time, exectrace.Time) bool { return true })...)
		}
	})
	mustBeSame(t, fmt.Sprint("spans of goroutine ", some), single, alone)
}

// Details are as many as the single events say.
func TestPiecesHaveDetails(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		want := map[string]int{}
		tr := open(t, s.data)
		for e, err := range tr.Events(exectrace.EventOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			switch e.Kind {
			case exectrace.EventSample, exectrace.EventLabel, exectrace.EventLog, exectrace.EventTaskBegin, exectrace.EventTaskEnd, exectrace.EventRegionBegin:
				want[e.Kind.String()]++
			case exectrace.EventRangeBegin:
				name, _, _ := e.Range()
				want[name]++
			}
			if e.Name() == "GoUnblock" || strings.HasPrefix(e.Name(), "GoSwitch") {
				want["wakes"]++
			}
		}
		got := map[string]int{}
		err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
			got["Sample"] += len(p.Samples)
			got["Label"] += len(p.Labels)
			got["Log"] += len(p.Logs)
			got["wakes"] += len(p.Wakes)
			for _, x := range p.Tasks {
				if x.End {
					got["TaskEnd"]++
				} else {
					got["TaskBegin"]++
				}
			}
			for _, x := range p.Regions {
				if x.Began {
					got["RegionBegin"]++
				}
			}
			for _, r := range p.Ranges {
				if r.From > p.From || r.Stack != 0 {
					got[r.Name]++
				}
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		for k, n := range want {
			if got[k] != n {
				t.Errorf("count of %s = %d, want %d", k, got[k], n)
			}
		}
	})
}

// Damage does not keep the spans of a goroutine from lying side by side.
func TestDamagedPieces(t *testing.T) {
	pieced(t, func(t *testing.T, s subject) {
		if len(s.data) > 2<<20 {
			t.Skip("a smaller one will do")
		}
		for _, d := range corpus.Damages {
			for seed := range uint64(2) {
				checkPieces(t, fmt.Sprint(d.Name, " ", seed), d.Do(s.data, seed))
			}
		}
	})
}

func checkPieces(t *testing.T, what string, data []byte) {
	t.Helper()
	tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	l := newLedger()
	err = tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
		l.add(p)
		return true
	})
	if err != nil && !errors.Is(err, exectrace.ErrNoEvents) {
		t.Errorf("%s: %v", what, err)
	}
	if l.err != nil {
		t.Errorf("%s: %v", what, l.err)
	}
}

// FuzzPieces checks that pieces of any bytes fit together, do not depend on
// how they are read, and take memory in proportion.
func FuzzPieces(f *testing.F) {
	files, err := filepath.Glob("testdata/text/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no traces in testdata/text", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		data, err := corpus.ParseText(bytes.NewReader(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)*2/3])
		f.Add(append(bytes.Clone(data), data[16:]...))
	}
	for _, c := range corpus.Sick() {
		f.Add(c.Trace)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<18 {
			return
		}
		tr, err := exectrace.NewReaderAt(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		l := newLedger()
		var first, second []string
		var middle exectrace.Time
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = tr.Pieces(t.Context(), exectrace.PieceOptions{Workers: 1}, func(p *exectrace.Piece) bool {
			l.add(p)
			first = append(first, texts(p))
			middle = p.From
			return true
		})
		runtime.ReadMemStats(&after)
		if err != nil {
			return
		}
		if l.err != nil {
			t.Error(l.err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 128<<20+1<<16*uint64(len(data)) {
			t.Errorf("Pieces of %d bytes allocate %d, want %d at most", len(data), got, 128<<20+1<<16*uint64(len(data)))
		}
		if _, err := tr.Account(t.Context(), exectrace.Options{Workers: 2, Piece: func(p *exectrace.Piece) { second = append(second, texts(p)) }}); err != nil {
			t.Fatal(err)
		}
		mustBeSame(t, "beside accounts", first, second)
		if err := tr.Pieces(t.Context(), exectrace.PieceOptions{Window: exectrace.Range{From: middle, To: middle + 1}}, func(p *exectrace.Piece) bool {
			texts(p)
			return true
		}); err != nil {
			t.Error(err)
		}
		tr.SetMarkEvery(100)
		for _, clip := range []exectrace.Range{{From: middle, To: middle + 1000}, {From: middle + 1000, To: middle + 100_000}} {
			if err := tr.Pieces(t.Context(), exectrace.PieceOptions{Window: clip, Clip: clip}, func(p *exectrace.Piece) bool {
				texts(p)
				return true
			}); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestPiecesOfOldTraces(t *testing.T) {
	tr := open(t, []byte("go 1.21 trace\x00\x00\x00\x01\x02"))
	if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, nil); !errors.Is(err, exectrace.ErrOldFormat) {
		t.Error(err)
	}
}

// Pieces can be left, and a context ends them.
func TestPiecesCanBeLeft(t *testing.T) {
	var b bytes.Buffer
	if err := corpus.Synthetic(&b, corpus.Shape{Threads: 8, Events: 200_000, Cross: 10, Minor: 25}); err != nil {
		t.Fatal(err)
	}
	tr := open(t, b.Bytes())
	n := 0
	if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(*exectrace.Piece) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("Pieces that stop at once = %d, %v, want 1, nil", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tr.Pieces(ctx, exectrace.PieceOptions{}, func(*exectrace.Piece) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkPieces(b *testing.B) {
	path, err := corpus.Make(b.Context(), corpus.Specs(b)[0]) // those that are kept are small
	if err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	tr := open(b, data)
	var events int64
	a, err := tr.Account(b.Context(), exectrace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, g := range a.Info.Generations {
		events += g.Events
	}
	keep := func(*exectrace.Piece) {}
	for _, c := range []struct {
		name string
		read func() error
	}{
		{"Account", func() error { _, err := tr.Account(b.Context(), exectrace.Options{Workers: 1}); return err }},
		{"AccountAndPieces", func() error {
			_, err := tr.Account(b.Context(), exectrace.Options{Workers: 1, Piece: keep})
			return err
		}},
		{"AccountAndBare", func() error {
			_, err := tr.Account(b.Context(), exectrace.Options{Workers: 1, Piece: keep, BarePieces: true})
			return err
		}},
		{"Pieces", func() error {
			return tr.Pieces(b.Context(), exectrace.PieceOptions{Workers: 1}, func(*exectrace.Piece) bool { return true })
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := c.read(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}
