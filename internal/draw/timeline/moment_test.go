package timeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

const origin = exectrace.Time(madeUpOrigin)

// handMade returns a trace of two pieces: goroutine 2 waits over the edge between
// them until goroutine 1 wakes it.
func handMade() *madeUp {
	at := func(ms float64) exectrace.Time { return origin + exectrace.Time(ms*1e6) }
	span := func(from, to float64, life int32, st exectrace.State, reason uint8, proc int16) exectrace.Span {
		s := exectrace.Span{From: at(from), To: at(to), Life: life, State: st, Reason: reason, Proc: proc, Thread: -1}
		if proc >= 0 {
			s.Thread = 0
		}
		return s
	}
	base := exectrace.Piece{Trusted: true, Reasons: []string{"", "chan receive"}, Threads: []int64{70},
		Lives: []exectrace.Life{{G: 1, Group: "main.main", Creator: -1}, {G: 2, Group: "main.worker", Creator: 1}}}
	a, b := base, base
	a.From, a.To, a.Index = at(0), at(100), 0
	a.Spans = exectrace.Spans{{
		span(0, 100, 0, exectrace.Running, 0, 0),
		span(0, 40, 1, exectrace.Runnable, 0, -1), span(40, 100, 1, exectrace.Waiting, 1, -1),
	}}
	a.Procs = []exectrace.ProcSpan{{From: at(0), To: at(100), Proc: 0, Thread: 70}}
	b.From, b.To, b.Index = at(100), at(200), 1
	b.Spans = exectrace.Spans{{
		span(100, 160, 0, exectrace.Running, 0, 0), span(160, 200, 0, exectrace.Waiting, 1, -1),
		span(100, 150, 1, exectrace.Waiting, 1, -1), span(150, 165, 1, exectrace.Runnable, 0, -1), span(165, 200, 1, exectrace.Running, 0, 0),
	}}
	b.Procs = []exectrace.ProcSpan{{From: at(100), To: at(200), Proc: 0, Thread: 70}}
	b.Wakes = []exectrace.WakeEdge{{At: at(150), Waker: 1, Woken: 2, Proc: 0}}
	return &madeUp{pieces: []*exectrace.Piece{&a, &b}, length: 200e6}
}

func TestAt(t *testing.T) {
	tl := handMade().build(&Builder{})
	defer tl.Close()
	for _, c := range []struct {
		lane string
		at   time.Duration
		from time.Duration
		to   time.Duration
		text string
	}{
		{"go:2", 50e6, 40e6, 150e6, "Goroutine 2 (main.worker) waited 110 ms for chan receive, until goroutine 1 (main.main) woke it."},
		{"go:2", 120e6, 40e6, 150e6, "Goroutine 2 (main.worker) waited 110 ms for chan receive, until goroutine 1 (main.main) woke it."},
		{"go:2", 155e6, 150e6, 165e6, "Goroutine 2 (main.worker) was ready and waited 15.0 ms for a P; goroutine 1 (main.main) had made it ready."},
		{"go:2", 170e6, 165e6, 200e6, "Goroutine 2 (main.worker) ran for 35.0 ms on P 0; goroutine 1 (main.main) had made it ready."},
		{"p:0", 170e6, 165e6, 200e6, "Goroutine 2 (main.worker) ran for 35.0 ms on P 0; goroutine 1 (main.main) had made it ready."},
		{"p:0", 162e6, 100e6, 200e6, "Held by a thread that looked for work."},
		{"m:70", 20e6, 0, 100e6, "Goroutine 1 (main.main) ran for 100 ms on P 0."},
		{"groups", 20e6, 20e6, 20e6 + 64, "At this moment: 1 running, 1 runnable."},
		{"stw", 20e6, 20e6, 20e6, "Not at this moment."},
	} {
		m, err := tl.At(context.Background(), c.lane, c.at)
		if err != nil || m.Text != c.text || m.Span.From != c.from || m.Span.To != c.to {
			t.Errorf("%s at %v: %v to %v, %q, %v; want %v to %v, %q", c.lane, c.at, m.Span.From, m.Span.To, m.Text, err, c.from, c.to, c.text)
		}
	}
	if _, err := tl.At(context.Background(), "go:3", 0); err == nil {
		t.Error("a goroutine that is not there has a moment")
	}
}

func TestEdges(t *testing.T) {
	tl := handMade().build(&Builder{})
	defer tl.Close()
	for lanes, want := range map[string]int{"": 1, "go:1": 1, "go:2": 1, tl.GroupLane("main.worker"): 1, "groups": 1, "p:0": 0} {
		var list []string
		if lanes != "" {
			list = []string{lanes}
		}
		e, err := tl.Edges(context.Background(), 0, tl.Length(), list)
		if err != nil || len(e.Edges) != want || e.Total != want {
			t.Fatalf("Edges(%q) = %+v, %v; want %d", lanes, e, err, want)
		}
		if want == 0 {
			continue
		}
		got := e.Edges[0]
		got.Stack = nil
		// What it waited before the piece began is not known here.
		if got.At != 150e6 || got.Waker != 1 || got.WokenGroup != "main.worker" || got.Waited != 50e6 || got.Ready != 15e6 {
			t.Errorf("edge %+v, want goroutine 1 waking main.worker at 150ms after 50ms, 15ms until it runs", got)
		}
	}
}

func TestSelect(t *testing.T) {
	tl := handMade().build(&Builder{})
	defer tl.Close()
	s, err := tl.Select(context.Background(), 30e6, 160e6, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Duration{}
	for _, x := range s.States {
		got[x.State.String()+" "+x.Reason] = x.Time
	}
	want := map[string]time.Duration{"running ": 130e6, "runnable ": 20e6, "sync chan receive": 110e6}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("times of states = %v, want %v", got, want)
	}
	if len(s.Wakers) != 1 || s.Wakers[0].Waker != "main.main" || s.Wakers[0].Count != 1 {
		t.Errorf("wakers %+v, want main.main once", s.Wakers)
	}
	if len(s.Groups) != 2 || s.Groups[0].Group != "main.main" || s.Groups[0].Count != 2 && s.Groups[0].Count != 1 {
		t.Errorf("groups %+v, want two, main.main first", s.Groups)
	}
}

// TestSelectIsExact: totals of any window and lane are those of the spans,
// whether details or the pyramid give them.
func TestSelectIsExact(t *testing.T) {
	m := makeUp(9, 7, 2, 12, 2, 30_000_000)
	tl := m.build(&Builder{perChunk: 900})
	defer tl.Close()
	lanes := brute(m)
	ids := laneIDs(tl, lanes)
	r := rand.New(rand.NewPCG(3, 3))
	for range 60 {
		a := r.Int64N(tl.length)
		z := a + 1 + r.Int64N(tl.length-a)
		for _, name := range []string{"g:main.g0", "g:main.g1", "p:0", "ps", "m:101", "threads"} {
			var want [NumStates]float64
			for _, p := range lanes[name].parts {
				if from, to := max(p.from, a), min(p.to, z); from < to {
					want[p.state] += p.n * float64(to-from)
				}
			}
			s, err := tl.Select(context.Background(), time.Duration(a), time.Duration(z), []string{ids[name]})
			if err != nil {
				t.Fatal(err)
			}
			var got [NumStates]float64
			for _, x := range s.States {
				got[x.State] += float64(x.Time)
			}
			for st := range want {
				if math.Abs(got[st]-want[st]) > 10+1e-5*want[st] {
					t.Fatalf("%s from %d to %d: %v %v, want %v", name, a, z, State(st), got[st], want[st])
				}
			}
		}
	}
}

func TestSearch(t *testing.T) {
	tl := handMade().build(&Builder{})
	defer tl.Close()
	for text, want := range map[string]string{
		"worker":                         "[go:2 0s-200ms]",
		"main":                           "[go:1 0s-200ms go:2 0s-200ms]",
		"func:worker state:waiting":      "[go:2 40ms-100ms go:2 100ms-150ms]",
		"dur>60ms":                       "[go:1 0s-100ms]",
		"state:running -worker dur<70ms": "[go:1 100ms-160ms]",
		"state:net":                      "[]",
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := tl.Search(context.Background(), f, 0, tl.Length(), 10)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, x := range h.Hits {
			got = append(got, fmt.Sprintf("%s %v-%v", x.Lane, x.From, x.To))
		}
		if fmt.Sprint(got) != want || h.Total != len(got) || h.Note == "" {
			t.Errorf("Search(%s) = %v (%d, %q), want %v", text, got, h.Total, h.Note, want)
		}
	}
}

func TestPeak(t *testing.T) {
	tl := handMade().build(&Builder{})
	defer tl.Close()
	from, to, ok := tl.Peak("main.worker", Runnable, 20*time.Millisecond)
	if !ok || from < 0 || to > 41e6 || to-from < 19e6 {
		t.Errorf("Peak(runnable) = %v to %v, %v; want 20ms before 41ms", from, to, ok)
	}
	if from, to, ok = tl.Peak("main.worker", Running, 10*time.Millisecond); !ok || from < 160e6 || to > 200e6 {
		t.Errorf("Peak(running) = %v to %v, %v; want 160ms to 200ms", from, to, ok)
	}
	if _, _, ok = tl.Peak("main.worker", Net, time.Millisecond); ok {
		t.Error("there is a peak of what never was")
	}
}

func TestStretches(t *testing.T) {
	tl := handMade().build(&Builder{})
	defer tl.Close()
	list := tl.Stretches("main.worker", Running, 100)
	if len(list) == 0 {
		t.Fatal("a group that runs has no stretch of running")
	}
	for i, g := range list {
		if g.To <= g.From || i > 0 && g.From <= list[i-1].To {
			t.Errorf("stretch %d is %v to %v behind %v", i, g.From, g.To, list[max(0, i-1)].To)
		}
	}
	one := tl.Stretches("main.worker", Running, 1)
	if len(one) != 1 || one[0].From != list[0].From || one[0].To != list[len(list)-1].To {
		t.Errorf("as one stretch: %v, want %v to %v", one, list[0].From, list[len(list)-1].To)
	}
	if got := tl.Stretches("main.worker", Net, 100); got != nil {
		t.Errorf("stretches of what never was: %v", got)
	}
}

func TestLanes(t *testing.T) {
	m := handMade()
	for _, p := range m.pieces {
		m.pieces[0].Ranges = []exectrace.RangeSpan{{From: p.From, To: p.From + 10, Name: exectrace.RangeMark, Goroutine: -1, Proc: -1}}
	}
	b := &Builder{}
	for _, p := range m.pieces {
		b.Add(p)
	}
	tl := b.Timeline(m, &model.Model{Sched: &model.Sched{Groups: []model.Group{{Name: "main.worker", Start: model.Frame{File: "w.go", Line: 3}}}}})
	defer tl.Close()
	got := ""
	for _, l := range tl.Lanes() {
		got += fmt.Sprintf("%s<%s %d/%d %v %.3g %s\n", l.ID, l.Parent, l.Count, l.Children, l.Total, l.Peak, l.Detail)
	}
	want := `gc< 1/0 0s 1 
stw< 0/0 0s 1 
ps< 1/1 195ms 1 
p:0<ps 1/0 195ms 1 
threads< 1/1 195ms 1 
groups< 2/2 0s 2 
g:0<groups 1/1 160ms 1 
g:1<groups 1/1 35ms 1 w.go:3
`
	if got != want {
		t.Errorf("lanes %s, want\n%s", got, want)
	}
	lanes, total, note, err := tl.Children("g:1", Filter{}, 0, 10)
	if err != nil || total != 1 || note != "" || len(lanes) != 1 || lanes[0].ID != "go:2" || lanes[0].Parent != "g:1" {
		t.Errorf("Children(g:1) = %v, %d, %q, %v; want go:2 alone, without a note", lanes, total, note, err)
	}
	f, _ := ParseFilter("state:running")
	if _, _, _, err = tl.Children("g:1", f, 0, 10); err == nil || !strings.Contains(err.Error(), `"state:running"`) {
		t.Errorf("a state chose among goroutines: %v, want an error that names it", err)
	}
}

// TestStream: without the trace there are the picture and the totals.
func TestStream(t *testing.T) {
	b := &Builder{}
	for _, p := range handMade().pieces {
		b.Add(p)
	}
	tl := b.Timeline(nil, nil)
	defer tl.Close()
	finest, _ := tl.Levels()
	pictures, err := tl.Tile(context.Background(), finest, 0, []string{"p:0", "go:1"})
	if err != nil || pictures[0].Shares == nil || !pictures[1].Empty {
		t.Errorf("Tile() without pieces = %v, %v; want shares of p:0, nothing of go:1", pictures, err)
	}
	s, err := tl.Select(context.Background(), 0, tl.Length(), []string{"p:0"})
	if err != nil || len(s.States) != 2 || (s.States[0].Time-195e6).Abs() > 1<<19 || s.Partial == "" {
		t.Errorf("Select() without pieces = %+v, %v; want 2 states, about 195ms running, and that it is partial", s, err)
	}
	if _, err := tl.At(context.Background(), "p:0", 0); err != ErrNoSource {
		t.Error(err)
	}
}

// TestUsedAgain: two goroutines that had one id have a lane each.
func TestUsedAgain(t *testing.T) {
	p := &exectrace.Piece{From: origin, To: origin + 1000, Trusted: true, Reasons: []string{""},
		Lives: []exectrace.Life{{G: 5, Group: "a", Ended: origin + 300}, {G: 5, Group: "b", Created: origin + 600}},
		Spans: exectrace.Spans{{{From: origin, To: origin + 300, State: exectrace.Running, Proc: 0, Thread: -1},
			{From: origin + 600, To: origin + 1000, Life: 1, State: exectrace.Runnable, Proc: -1, Thread: -1}}}}
	tl := (&madeUp{pieces: []*exectrace.Piece{p}}).build(&Builder{})
	defer tl.Close()
	pictures, err := tl.Tile(context.Background(), minLevel, 0, []string{"go:5", "go:5@600", "go:5@7"})
	if err != nil || len(pictures) != 2 {
		t.Fatalf("Tile(go:5) = %v, %v; want 2 lanes, one for each life", pictures, err)
	}
	for i, want := range []State{Running, Runnable} {
		if s := pictures[i].Spans; len(s) != 1 || s[0].State != want {
			t.Errorf("lane %s: spans %+v, want one, %v", pictures[i].ID, s, want)
		}
	}
}

// TestPending: nobody waits for the trace longer than he wants, and who asks
// again gets it.
func TestPending(t *testing.T) {
	m := handMade()
	gate := make(chan struct{})
	b := &Builder{}
	for _, p := range m.pieces {
		b.Add(p)
	}
	tl := b.Timeline(gated{m, gate}, nil)
	defer tl.Close()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	ask := func(ctx context.Context) Picture {
		p, err := tl.Tile(ctx, minLevel, 1, []string{"go:1", "gc"})
		if err != nil || len(p) != 2 || p[1].Pending {
			t.Fatalf("Tile(go:1) = %+v, %v; want 2 pictures, that of gc not pending", p, err)
		}
		return p[0]
	}
	if p := ask(now); !p.Pending || p.Done >= 1 {
		t.Errorf("picture %+v, want it pending while it is made", p)
	}
	close(gate)
	if p := ask(context.Background()); p.Pending || len(p.Spans) != 1 {
		t.Errorf("picture %+v, want one span", p)
	}
	if p := ask(now); p.Pending {
		t.Error("what was read is not kept")
	}
}

// A gated source gives nothing before its gate is open.
type gated struct {
	*madeUp
	gate chan struct{}
}

func (g gated) Pieces(ctx context.Context, o exectrace.PieceOptions, yield func(*exectrace.Piece) bool) error {
	select {
	case <-g.gate:
		return g.madeUp.Pieces(ctx, o, yield)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestCloseStopsReading: closing does not wait for a trace that does not come.
func TestCloseStopsReading(t *testing.T) {
	m := handMade()
	b := &Builder{}
	for _, p := range m.pieces {
		b.Add(p)
	}
	tl := b.Timeline(gated{m, make(chan struct{})}, nil)
	done := make(chan error)
	go func() {
		_, err := tl.Tile(context.Background(), minLevel, 0, []string{"go:1"})
		done <- err
	}()
	for tl.cache.clockNow() == 0 { // until it was asked
		runtime.Gosched()
	}
	tl.Close()
	if err := <-done; err != context.Canceled {
		t.Error(err)
	}
	if _, err := tl.Tile(context.Background(), minLevel, 1, []string{"go:1"}); err != context.Canceled {
		t.Error(err)
	}
}

// A question about all of a trace, whose parts do not fit into the cache at a time, is
// answered nevertheless, however little patience each asking has.
func TestSelectEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := makeUp(11, 4, 2, 12, 3, 10_000_000)
		tl := m.build(&Builder{perChunk: 100})
		defer tl.Close()
		tl.cache.budget = tl.chunks[len(tl.chunks)/2].weight * 4
		impatient, stop := context.WithCancel(t.Context())
		stop()
		const most = 20
		for range most {
			s, err := tl.Select(impatient, 0, tl.Length(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Pending {
				if s.Partial == "" || len(tl.chunks) <= maxExact {
					t.Errorf("%d chunks, partial %q; want more than %d and that it is partial", len(tl.chunks), s.Partial, maxExact)
				}
				return
			}
			synctest.Wait() // what is asked for is made meanwhile
		}
		t.Errorf("Select(all) is pending %d times, want an answer by then", most)
	})
}

// TestAtTheSameTime asks everything from many goroutines, with so little room
// that all is made many times.
func TestAtTheSameTime(t *testing.T) {
	m := makeUp(11, 4, 2, 12, 3, 10_000_000)
	tl := m.build(&Builder{perChunk: 400})
	defer tl.Close()
	tl.cache.budget = 200_000
	f, _ := ParseFilter("state:waiting dur>100us")
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			ctx := context.Background()
			r := rand.New(rand.NewPCG(uint64(n), 7))
			finest, coarsest := tl.Levels()
			for range 25 {
				level := finest + r.IntN(coarsest-finest+1)
				at := r.Int64N(tl.length)
				_, err1 := tl.Tile(ctx, level, at>>(level+tileShift), []string{"ps", "p:1", "g:0", "go:3", "go:5", "threads", "samples", "tasks"})
				_, err2 := tl.At(ctx, "go:2", time.Duration(at))
				_, err3 := tl.Select(ctx, time.Duration(at), time.Duration(at+5e6), nil)
				_, err4 := tl.Edges(ctx, time.Duration(at), tl.Length(), []string{"go:1"})
				_, err5 := tl.Search(ctx, f, time.Duration(at), tl.Length(), 5)
				_, _, _, err6 := tl.Children("g:0", Filter{}, 0, 5)
				for _, err := range []error{err1, err2, err3, err4, err5, err6} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if tl.cache.bytes > 2*tl.cache.budget {
		t.Errorf("%d bytes are kept, want at most twice %d", tl.cache.bytes, tl.cache.budget)
	}
}

// clockNow tells how often something was asked for.
func (s *cache) clockNow() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

// Goroutines of the runtime and of the recording stand under a head of their own, and a
// name is found under either.
func TestHeads(t *testing.T) {
	for group, want := range map[string]string{
		"main.main": groupsOfUser, "runtime.main": groupsOfUser, "": groupsOfUser, "example.com/runtime.work": groupsOfUser,
		"runtime.bgsweep": groupsOfSystem, "runtime/trace.Start.func1": groupsOfSystem, "github.com/gowhy/gowhy/agent.serve": groupsOfSystem,
	} {
		if got := headOf(group); got != want {
			t.Errorf("headOf(%q) = %s, want %s", group, got, want)
		}
	}
	m := handMade()
	for _, p := range m.pieces {
		p.Lives = append(p.Lives[:1:1], exectrace.Life{G: 2, Group: "runtime.bgsweep", Creator: 1})
	}
	tl := m.build(&Builder{})
	for parent, want := range map[string]string{"groups": "main.main", "system": "runtime.bgsweep"} {
		lanes, n, _, err := tl.Children(parent, Filter{}, 0, 10)
		if err != nil || n != 1 || lanes[0].Label != want || lanes[0].Parent != parent {
			t.Errorf("Children(%s) = %+v, %d, %v; want %s", parent, lanes, n, err, want)
		}
	}
	f, err := ParseFilter("bgsweep")
	if err != nil {
		t.Fatal(err)
	}
	if lanes, n, _, err := tl.Children("groups", f, 0, 10); err != nil || n != 1 || lanes[0].Parent != "system" {
		t.Errorf("Children(groups, bgsweep) = %+v, %d, %v; want that of the runtime", lanes, n, err)
	}
}
