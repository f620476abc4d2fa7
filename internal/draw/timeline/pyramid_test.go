package timeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// A bruteLane is what a lane should be, from all spans.
type bruteLane struct {
	parts []brutePart
	marks []markAt
}

type brutePart struct {
	state    State
	n        float64
	from, to int64
}

func (b *bruteLane) add(st State, n float64, from, to int64) {
	if from < to {
		b.parts = append(b.parts, brutePart{st, n, from, to})
	}
}

// brute sorts all spans of a trace by lane, by the words of the documentation
// and without any of the code that is tested.
func brute(m *madeUp) map[string]*bruteLane {
	out := map[string]*bruteLane{}
	lane := func(id string) *bruteLane {
		if out[id] == nil {
			out[id] = &bruteLane{}
		}
		return out[id]
	}
	for _, p := range m.pieces {
		for s := range p.Spans.All() {
			l := &p.Lives[s.Life]
			for _, part := range brutePieces(p, s) {
				from, to := part.from, part.to
				lane("g:"+l.Group).add(part.state, 1, from, to)
				lane(fmt.Sprintf("go:%d", l.G)).add(part.state, 1, from, to)
				onP := s.State == exectrace.Running || s.State == exectrace.Syscall
				if onP {
					for _, id := range []string{fmt.Sprintf("p:%d", s.Proc), "ps"} {
						lane(id).add(part.state, 1, from, to)
						lane(id).add(Wait, -1, from, to)
					}
				}
				if s.Thread >= 0 && (onP || s.State == exectrace.SyscallBlocked) {
					for _, id := range []string{fmt.Sprintf("m:%d", p.Threads[s.Thread]), "threads"} {
						lane(id).add(part.state, 1, from, to)
						if onP {
							lane(id).add(Wait, -1, from, to)
						}
					}
				}
			}
			from, to := int64(s.From-madeUpOrigin), int64(s.To-madeUpOrigin)
			if s.State == exectrace.Waiting && to-from >= 10_000_000 && s.To < p.To {
				lane("g:" + l.Group).marks = append(lane("g:"+l.Group).marks, markAt{to, MarkLong})
				id := fmt.Sprintf("go:%d", l.G)
				lane(id).marks = append(lane(id).marks, markAt{to, MarkLong})
			}
		}
		for i := range p.Lives {
			for _, at := range []exectrace.Time{p.Lives[i].Created, p.Lives[i].Ended} {
				if at != 0 {
					l := lane("g:" + p.Lives[i].Group)
					l.marks = append(l.marks, markAt{int64(at - madeUpOrigin), markLife})
				}
			}
		}
		for _, h := range p.Procs {
			for _, id := range []string{fmt.Sprintf("p:%d", h.Proc), "ps", fmt.Sprintf("m:%d", h.Thread), "threads"} {
				lane(id).add(Wait, 1, int64(h.From-madeUpOrigin), int64(h.To-madeUpOrigin))
			}
		}
		for _, s := range p.Samples {
			at := int64(s.At - madeUpOrigin)
			lane("samples").add(Running, 1, max(at-samplePeriod, int64(p.From-madeUpOrigin)), at)
		}
		for _, r := range p.Regions {
			for _, id := range []string{"regions", "regions:" + r.Name} {
				lane(id).add(Running, 1, int64(r.From-madeUpOrigin), int64(r.To-madeUpOrigin))
			}
		}
	}
	bruteTasks(m, lane("tasks"))
	return out
}

// brutePieces cuts a span at the assists in it.
func brutePieces(p *exectrace.Piece, s *exectrace.Span) (out []brutePart) {
	from, to := int64(s.From-madeUpOrigin), int64(s.To-madeUpOrigin)
	st := map[exectrace.State]State{exectrace.Running: Running, exectrace.Runnable: Runnable, exectrace.Syscall: Syscall,
		exectrace.SyscallBlocked: Syscall, exectrace.Unknown: Unknown}[s.State]
	switch l := &p.Lives[s.Life]; {
	case s.State == exectrace.Waiting:
		st = []State{Wait, Sync, Net, Wait, Sync, Wait}[s.Reason]
	case s.State == exectrace.Running && l.Group == markWorker:
		st = GC
	case s.State == exectrace.Running:
		for _, r := range p.Ranges {
			a, z := int64(r.From-madeUpOrigin), int64(r.To-madeUpOrigin)
			if r.Name != exectrace.RangeAssist || r.Goroutine != l.G || z <= from || a >= to {
				continue
			}
			out = append(out, brutePart{Running, 1, from, max(a, from)}, brutePart{GC, 1, max(a, from), min(z, to)})
			from = min(z, to)
		}
	}
	return append(out, brutePart{st, 1, from, to})
}

func bruteTasks(m *madeUp, l *bruteLane) {
	open := 0
	for _, p := range m.pieces {
		at := p.From
		for _, e := range append(slices.Clone(p.Tasks), exectrace.TaskEvent{At: p.To}) {
			l.add(Running, float64(open), int64(at-madeUpOrigin), int64(e.At-madeUpOrigin))
			at = e.At
			switch {
			case e.At == p.To && e.ID == 0 && e.Name == "":
			case !e.End:
				open++
			case open > 0:
				open--
			}
		}
	}
}

// tile sums a lane up by bucket.
func (b *bruteLane) tile(level uint, tile int64) *cells {
	c := &cells{}
	v := &view{level: level, from: tile << (level + tileShift), to: (tile + 1) << (level + tileShift)}
	for _, p := range b.parts {
		for k := range int64(tileBuckets) {
			from, to := v.from+k<<level, v.from+(k+1)<<level
			if p.from < to && p.to > from {
				c.time[p.state][k] += p.n * float64(min(p.to, to)-max(p.from, from))
			}
		}
	}
	for _, m := range b.marks {
		c.mark(v, m.at, m.what)
	}
	return c
}

// laneIDs maps the test's names of lanes to those of a timeline.
func laneIDs(t *Timeline, lanes map[string]*bruteLane) map[string]string {
	out := map[string]string{}
	for id := range lanes {
		switch {
		case strings.HasPrefix(id, "g:"):
			out[id] = t.GroupLane(id[2:])
		case strings.HasPrefix(id, "regions:"):
			out[id] = fmt.Sprintf("regions:%d", slices.Index(t.regions, id[8:]))
		default:
			out[id] = id
		}
	}
	return out
}

// drawn sums a tile of a timeline up.
func drawn(t testing.TB, tl *Timeline, id string, level uint, tile int64) *cells {
	t.Helper()
	r, ok := tl.parse(id)
	if !ok {
		t.Fatalf("no lane %q", id)
	}
	v := newView(tl, level, tile)
	items, done, err := v.ready(context.Background(), &r)
	if err != nil || done < 1 {
		t.Fatalf("lane %s: done %v, %v; want 1", id, done, err)
	}
	c := &cells{}
	v.sum(&r, items, c)
	return c
}

func same(t testing.TB, what string, level uint, got, want *cells, marks bool) {
	t.Helper()
	for st := range want.time {
		for b := range want.time[st] {
			g, w := got.time[st][b], want.time[st][b]
			if math.Abs(g-w) > 0.5+math.Abs(w)*1e-5+float64(int64(1)<<level)*1e-6 {
				t.Fatalf("%s: %v in bucket %d: %v ns, want %v", what, State(st), b, g, w)
			}
		}
	}
	if marks && got.marks != want.marks {
		for b := range want.marks {
			if got.marks[b] != want.marks[b] {
				t.Fatalf("%s: bucket %d has marks %b, want %b", what, b, got.marks[b], want.marks[b])
			}
		}
	}
}

// TestTilesAgainstBruteForce compares tiles of all levels and lanes with what the
// spans add up to.
func TestTilesAgainstBruteForce(t *testing.T) {
	for _, c := range []struct {
		name                   string
		pieces, procs, gors, n int
		builder                *Builder
	}{
		{"length known", 4, 2, 12, 3, &Builder{Length: 200 * time.Millisecond}},
		{"length not known", 3, 3, 12, 2, &Builder{}},
		{"length much too short", 3, 1, 5, 1, &Builder{Length: time.Microsecond}},
		{"pieces too large", 3, 2, 10, 3, &Builder{Length: 150 * time.Millisecond, perChunk: 500}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := makeUp(uint64(len(c.name)), c.pieces, c.procs, c.gors, c.n, 40_000_000)
			tl := m.build(c.builder)
			defer tl.Close()
			lanes := brute(m)
			ids := laneIDs(tl, lanes)
			finest, coarsest := tl.Levels()
			r := rand.New(rand.NewPCG(1, 2))
			for level := uint(finest); level <= uint(coarsest); level++ {
				for name, lane := range lanes {
					if r.IntN(3) > 0 && level < uint(coarsest) {
						continue
					}
					tile := r.Int64N(tl.length>>(level+tileShift) + 1)
					if r.IntN(2) == 0 { // where two pieces meet
						tile = tl.chunks[r.IntN(len(tl.chunks))].lo >> (level + tileShift)
					}
					got := drawn(t, tl, ids[name], level, tile)
					for b := range got.marks { // the test's goroutines know no births
						if strings.HasPrefix(name, "go:") {
							got.marks[b] &^= markLife
						}
					}
					same(t, fmt.Sprintf("%s, level %d, tile %d", name, level, tile), level, got, lane.tile(level, tile), true)
				}
			}
		})
	}
}

// TestTilesMerge: a tile is the two of the level below it, side by side.
func TestTilesMerge(t *testing.T) {
	m := makeUp(3, 4, 2, 12, 3, 40_000_000)
	tl := m.build(&Builder{})
	defer tl.Close()
	finest, coarsest := tl.Levels()
	r := rand.New(rand.NewPCG(4, 4))
	for _, id := range []string{"ps", "p:0", "threads", "m:101", "g:0", "g:1", "groups", "go:1", "go:4", "gc", "stw", "regions", "samples", "tasks"} {
		for level := uint(finest); level < uint(coarsest); level++ {
			tile := r.Int64N(tl.length>>(level+1+tileShift) + 1)
			want := &cells{}
			for half := range 2 {
				c := drawn(t, tl, id, level, 2*tile+int64(half))
				for b := range tileBuckets {
					to := half*tileBuckets/2 + b/2
					for st := range c.time {
						want.time[st][to] += c.time[st][b]
					}
					want.marks[to] |= c.marks[b]
				}
			}
			same(t, fmt.Sprintf("%s, level %d, tile %d", id, level+1, tile), level+1, drawn(t, tl, id, level+1, tile), want, id[:2] != "go")
		}
	}
}

// TestSpansAreExact: narrow tiles give the very spans.
func TestSpansAreExact(t *testing.T) {
	m := makeUp(5, 3, 2, 8, 2, 40_000_000)
	tl := m.build(&Builder{perChunk: 700})
	defer tl.Close()
	const level = 10
	r := rand.New(rand.NewPCG(4, 4))
	checked := 0
	for range 300 {
		tile := r.Int64N(tl.length>>(level+tileShift) + 1)
		g := 1 + r.Int64N(8)
		pictures, err := tl.Tile(context.Background(), level, tile, []string{fmt.Sprintf("go:%d", g)})
		if err != nil {
			t.Fatal(err)
		}
		from, to := tile<<(level+tileShift), (tile+1)<<(level+tileShift)
		var want []brutePart
		for _, p := range m.pieces {
			for s := range p.Spans.All() {
				if p.Lives[s.Life].G != g {
					continue
				}
				for _, part := range brutePieces(p, s) {
					if part.from < min(to, part.to) && part.to > from {
						want = append(want, part)
					}
				}
			}
		}
		slices.SortFunc(want, func(a, b brutePart) int { return compare(a.from, b.from) })
		got := pictures[0].Spans
		sum := func(from, to int64) string { return fmt.Sprintf("%d to %d", from, to) }
		// Parts of one span that a piece's edge cut are joined: compare what covers.
		k := 0
		for _, w := range want {
			for k < len(got) && int64(got[k].To) <= w.from {
				k++
			}
			if k == len(got) || got[k].State != w.state || int64(got[k].From) > w.from || int64(got[k].To) < w.to && int64(got[k].To) < to {
				t.Fatalf("tile %d of go:%d: no span %v %s in %v", tile, g, w.state, sum(w.from, w.to), got)
			}
			checked++
		}
	}
	if checked < 300 {
		t.Fatalf("only %d spans were compared", checked)
	}
}

// TestRareSurvives: one short pause, one short run and one birth are in the
// picture of the whole.
func TestRareSurvives(t *testing.T) {
	m := &madeUp{}
	for i := range 20 {
		from := madeUpOrigin + exectrace.Time(i)*1e9
		p := &exectrace.Piece{Index: i, From: from, To: from + 1e9, Trusted: i != 5, Reasons: []string{"", "sleep"}, Threads: []int64{7}}
		p.Lives = []exectrace.Life{{G: 1, Group: "main.main", Creator: -1}}
		wait := exectrace.Span{From: from, To: from + 1e9, State: exectrace.Waiting, Reason: 1, Proc: -1, Thread: -1}
		p.Spans = exectrace.Spans{{wait}}
		if i == 7 {
			p.Lives = append(p.Lives, exectrace.Life{G: 2, Group: "main.once", Created: from + 500, Ended: from + 1500, Creator: 1})
			p.Spans = append(p.Spans, []exectrace.Span{{From: from + 500, To: from + 1500, Life: 1, State: exectrace.Running, Proc: 0, Thread: 0}})
			p.Ranges = []exectrace.RangeSpan{{From: from + 100, To: from + 300, Name: "stop-the-world (GC sweep termination)", Goroutine: 1, Proc: -1}}
		}
		m.pieces = append(m.pieces, p)
	}
	tl := m.build(&Builder{})
	defer tl.Close()
	_, coarsest := tl.Levels()
	pictures, err := tl.Tile(context.Background(), coarsest, 0, []string{tl.GroupLane("main.once"), "stw", "p:0", tl.GroupLane("main.main")})
	if err != nil {
		t.Fatal(err)
	}
	bucket := int(7e9) >> coarsest
	once := pictures[0]
	if once.Marks[bucket]&MarkRare == 0 || once.Shares[bucket*NumStates+int(Running)] == 0 {
		t.Errorf("main.once: marks %b, running %d; want it marked as rare and running", once.Marks[bucket], once.Shares[bucket*NumStates+int(Running)])
	}
	if len(pictures[1].Spans) != 1 || pictures[1].Spans[0].From != 7e9+100 {
		t.Errorf("stw: %+v, want one span from 7.0000001s", pictures[1])
	}
	if p := pictures[2]; p.Shares[bucket*NumStates+int(Running)] == 0 {
		t.Errorf("p:0 does not show a run of a microsecond in 20 s")
	}
	lost := int(55e8) >> coarsest
	for i, p := range pictures {
		if i != 1 && p.Marks[lost]&MarkLost == 0 {
			t.Errorf("%s: what was lost is not marked", p.ID)
		}
	}
}

// GroupLane returns the id of a group's lane, "" when there is none.
func (t *Timeline) GroupLane(group string) string {
	if g, ok := t.reg.byName[group]; ok {
		return "g:" + strconv.Itoa(int(g))
	}
	return ""
}

// BaseLevel returns the finest level that needs nothing of the trace.
func (t *Timeline) BaseLevel() int { return int(t.pyramid.base().level) }
