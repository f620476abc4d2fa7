package timeline

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// TestManyGroups: a trace of a million start functions, threads and goroutines takes
// what the bounds say.
func TestManyGroups(t *testing.T) {
	m := &madeUp{}
	b := &Builder{}
	for i := range 2 {
		p := &exectrace.Piece{Index: i, From: origin + exectrace.Time(i)*1e9, To: origin + exectrace.Time(i+1)*1e9, Trusted: true, Reasons: []string{""}}
		for n := range 150_000 {
			at := p.From + exectrace.Time(n)*6000
			p.Lives = append(p.Lives, exectrace.Life{G: int64(n + i<<40), Group: "f" + strconv.Itoa(n), Created: at, Ended: at + 5000})
			p.Spans = append(p.Spans, []exectrace.Span{{From: at, To: at + 5000, Life: int32(n), State: exectrace.Running, Proc: int16(n), Thread: int32(n)}})
			p.Threads = append(p.Threads, int64(n))
		}
		m.pieces = append(m.pieces, p)
		b.Add(p)
	}
	tl := b.Timeline(m, nil)
	defer tl.Close()
	if n := len(tl.reg.lanes); n > 4*(maxLanes+1)+numFixed {
		t.Errorf("%d lanes, want at most %d", n, 4*(maxLanes+1)+numFixed)
	}
	if n := tl.pyramid.bytes(); n > 2*baseBytes {
		t.Errorf("the pyramid takes %d bytes, want at most %d", n, 2*baseBytes)
	}
	if n := int64(cap(b.fold.sum))*8 + int64(cap(b.fold.diff))*4; n > 3*maxScratch {
		t.Errorf("folding takes %d bytes, want at most %d", n, 3*maxScratch)
	}
	_, coarsest := tl.Levels()
	for _, level := range []int{minLevel, tl.BaseLevel() - 1, coarsest} {
		pictures, err := tl.Tile(context.Background(), level, 0, []string{"groups", "ps", "threads", "g:4096", "m:7", "go:0"})
		if err != nil || len(pictures) != 6 {
			t.Fatalf("level %d: %d pictures, %v; want 6", level, len(pictures), err)
		}
	}
	lanes, total, _, err := tl.Children("groups", Filter{}, 0, 3)
	if err != nil || total != maxLanes+1 || lanes[0].Label != otherGroups {
		t.Errorf("%d groups, first %v, %v; want %d, %s first", total, lanes, err, maxLanes+1, otherGroups)
	}
}

// TestGoroutineTableIsBounded: those that ran least are forgotten, and counted.
func TestGoroutineTableIsBounded(t *testing.T) {
	var table gorTable
	table.init()
	p := &exectrace.Piece{To: 1e9}
	var run []int64
	const each = 100_000
	p.Lives = make([]exectrace.Life, each)
	run, groups := make([]int64, each), make([]uint32, each)
	for piece := range maxGors/each + 5 {
		for i := range p.Lives {
			id := int64(piece*each + i)
			p.Lives[i] = exectrace.Life{G: id, Created: 1 + exectrace.Time(id), Ended: 2 + exectrace.Time(id)}
			run[i] = id % 1000
		}
		table.add(p, run, groups, 0)
	}
	all := (maxGors/each + 5) * each
	if len(table.list) > maxGors || len(table.list)+table.lost != all || table.counts[0] != all {
		t.Errorf("%d are kept, %d forgotten, %d counted; want at most %d kept, and all %d counted", len(table.list), table.lost, table.counts[0], maxGors, all)
	}
	most := 0
	for i := range table.list {
		if table.list[i].run >= 900 {
			most++
		}
	}
	if most != all/10 {
		t.Errorf("%d of the %d that ran most are kept, want all", most, all/10)
	}
}

// hostile makes a piece of nonsense.
func hostile(r *rand.Rand, index int) *exectrace.Piece {
	odd := func() int64 {
		switch r.IntN(8) {
		case 0:
			return r.Int64()
		case 1:
			return -r.Int64()
		case 2:
			return math.MaxInt64 - r.Int64N(3)
		case 3:
			return math.MinInt64 + r.Int64N(3)
		}
		return r.Int64N(2e9) - 5e8
	}
	at := func() exectrace.Time { return exectrace.Time(odd()) }
	p := &exectrace.Piece{Index: index, From: exectrace.Time(index) * 1e9, To: exectrace.Time(index+1) * 1e9, Trusted: r.IntN(2) == 0}
	if r.IntN(6) == 0 {
		p.From, p.To = at(), at()
	}
	p.Reasons = make([]string, r.IntN(300))
	for range r.IntN(20) {
		p.Threads = append(p.Threads, odd())
		p.Lives = append(p.Lives, exectrace.Life{G: odd(), Group: strconv.Itoa(r.IntN(9)), Created: at(), Ended: at()})
	}
	for range r.IntN(100) {
		p.Spans = append(p.Spans, []exectrace.Span{{From: at(), To: at(), Life: int32(r.IntN(30) - 3), Stack: exectrace.Stack(odd()), Thread: int32(r.IntN(30) - 3),
			Proc: int16(odd()), Reason: uint8(r.IntN(256)), State: exectrace.State(r.IntN(12))}})
	}
	for range r.IntN(20) {
		p.Procs = append(p.Procs, exectrace.ProcSpan{From: at(), To: at(), Proc: int32(odd()), Thread: odd()})
		name := []string{exectrace.RangeAssist, exectrace.RangeMark, exectrace.RangeSweep, "stop-the-world (x)", ""}[r.IntN(5)]
		p.Ranges = append(p.Ranges, exectrace.RangeSpan{From: at(), To: at(), Name: name, Goroutine: odd(), Proc: int32(odd())})
		p.Wakes = append(p.Wakes, exectrace.WakeEdge{At: at(), Waker: odd(), Woken: odd(), Proc: int32(odd()), Stack: exectrace.Stack(odd())})
		p.Samples = append(p.Samples, exectrace.SampleAt{At: at(), Goroutine: odd(), Proc: int32(odd())})
		p.Regions = append(p.Regions, exectrace.RegionSpan{From: at(), To: at(), Name: "r"})
		p.Tasks = append(p.Tasks, exectrace.TaskEvent{At: at(), End: r.IntN(2) == 0})
		p.Labels = append(p.Labels, exectrace.LabelAt{At: at(), Goroutine: odd()})
	}
	return p
}

// FuzzTile: whatever pieces say and whatever is asked, there is an answer of the
// right size or an error, and no panic.
func FuzzTile(f *testing.F) {
	f.Add(uint64(1), 20, int64(0), "ps", "state:waiting")
	f.Add(uint64(2), 6, int64(100), "go:5@-3", "dur>1s")
	f.Add(uint64(3), -1, int64(-1), "g:99999999999999999999", "")
	f.Add(uint64(4), 33, int64(1)<<60, "task:18446744073709551615", "id:3-1")
	f.Add(uint64(5), 12, int64(7), "regions:-1", "stack:x")
	f.Fuzz(func(t *testing.T, seed uint64, level int, tile int64, lane, filter string) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := &madeUp{}
		b := &Builder{Length: time.Duration(r.Int64N(5e9) - 1e9), perChunk: 1 + r.IntN(100)}
		for i := range 1 + r.IntN(3) {
			p := hostile(r, i)
			m.pieces = append(m.pieces, p)
			b.Add(p)
		}
		tl := b.Timeline(m, nil)
		if tl == nil {
			return
		}
		defer tl.Close()
		lanes := []string{lane}
		for _, l := range tl.Lanes() {
			lanes = append(lanes, l.ID)
			tl.Children(l.ID, Filter{}, 0, 5)
		}
		for i := range tl.gors.list {
			lanes = append(lanes, tl.goID(uint32(i)))
		}
		finest, coarsest := tl.Levels()
		for _, at := range []struct {
			level int
			tile  int64
		}{{level, tile}, {coarsest, 0}, {(finest + coarsest) / 2, 0}, {finest + r.IntN(3), 0}} {
			pictures, err := tl.Tile(context.Background(), at.level, at.tile, lanes)
			if err != nil && !problem.Is(err, problem.Misuse) {
				continue // a piece that cannot be read again
			}
			for _, p := range pictures {
				if want := !p.Empty && p.Spans == nil; want != (len(p.Shares) == tileBuckets*NumStates && len(p.Marks) == tileBuckets) {
					t.Errorf("lane %s: %+v, want all shares and marks unless it is empty or has spans", p.ID, p)
				}
			}
		}
		now, end := time.Duration(tile), tl.Length()
		tl.At(context.Background(), lane, now)
		tl.Edges(context.Background(), now, end, []string{lane})
		tl.Select(context.Background(), now, end, []string{lane})
		tl.Select(context.Background(), 0, end/2, nil)
		if f, err := ParseFilter(filter); err == nil {
			tl.Search(context.Background(), f, now, end, 10)
		}
	})
}

// benchTrace returns a piece like those of a busy server: half a million spans of
// a hundred goroutines.
func benchTrace() *madeUp {
	p := &exectrace.Piece{From: origin, To: origin + 1e9, Trusted: true, Reasons: madeReasons, Threads: []int64{1, 2, 3, 4}}
	r := rand.New(rand.NewPCG(1, 1))
	const gors = 100
	at := [gors]exectrace.Time{}
	for g := range gors {
		p.Lives = append(p.Lives, exectrace.Life{G: int64(g + 1), Group: "main.g" + strconv.Itoa(g%20), Creator: -1})
		at[g] = origin
	}
	var spans []exectrace.Span
	for t := origin + 1; t < p.To; {
		g := r.IntN(gors)
		run := exectrace.Time(1000 + r.IntN(6000))
		if at[g] >= t {
			continue
		}
		spans = append(spans,
			exectrace.Span{From: at[g], To: t - (t-at[g])/8, Life: int32(g), State: exectrace.Waiting, Reason: uint8(1 + r.IntN(4)), Proc: -1, Thread: -1},
			exectrace.Span{From: t - (t-at[g])/8, To: t, Life: int32(g), State: exectrace.Runnable, Proc: -1, Thread: -1},
			exectrace.Span{From: t, To: t + run, Life: int32(g), State: exectrace.Running, Proc: int16(g % 4), Thread: int32(g % 4)})
		at[g] = t + run
		t += 6000
	}
	p.Spans = exectrace.Spans{spans}
	return &madeUp{pieces: []*exectrace.Piece{p}, length: 1e9}
}

// BenchmarkFold is what a span costs when a trace is read.
func BenchmarkFold(b *testing.B) {
	m := benchTrace()
	builder := &Builder{Length: 45 * time.Second}
	p := *m.pieces[0]
	b.ReportAllocs()
	for b.Loop() {
		builder.lastTo, builder.chunks = 0, nil
		builder.Add(&p)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(p.Spans.Len()), "ns/span")
}

// BenchmarkDetail is what it costs to make a chunk's spans ready to be drawn,
// once its piece is read.
func BenchmarkDetail(b *testing.B) {
	m := benchTrace()
	tl := m.build(&Builder{perChunk: math.MaxInt})
	defer tl.Close()
	mk := &maker{detailInputs: &tl.detailInputs}
	for b.Loop() {
		mk.detail(m.pieces[0], &tl.chunks[0])
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(m.pieces[0].Spans.Len()), "ns/span")
}

// BenchmarkTile draws all lanes from each layer.
func BenchmarkTile(b *testing.B) {
	tl := benchTrace().build(&Builder{Length: 45 * time.Second, perChunk: math.MaxInt})
	defer tl.Close()
	var lanes []string
	for _, l := range tl.Lanes() {
		lanes = append(lanes, l.ID)
	}
	base := tl.BaseLevel()
	for name, level := range map[string]int{"base": base, "strips": base - 1, "spans": base - 5, "narrow": minLevel + 2} {
		b.Run(name, func(b *testing.B) {
			last := tl.length >> (level + tileShift)
			for i := int64(0); b.Loop(); i++ {
				if _, err := tl.Tile(context.Background(), level, i%(last+1), lanes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	runtime.KeepAlive(lanes)
}

// bytes returns what all levels hold.
func (p *pyramid) bytes() (n int64) {
	for _, s := range p.levels {
		n += s.bytes
	}
	return n
}
