package timeline

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/gowhy/gowhy/exectrace"
)

// A madeUp trace is what a small scheduler in the test did, cut into pieces as
// exectrace would.
type madeUp struct {
	pieces []*exectrace.Piece
	length int64
}

const madeUpOrigin = 1_000_000_007

// Pieces makes a madeUp a [Rereader]. A piece's memory is used again, as that of a
// real one would be, and what is not asked for is not there.
func (m *madeUp) Pieces(ctx context.Context, o exectrace.PieceOptions, yield func(*exectrace.Piece) bool) error {
	for _, p := range m.pieces {
		if !o.Window.IsZero() && (p.To <= o.Window.From || p.From >= o.Window.To) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c := *p
		c.Lives, c.Ranges, c.Wakes = slices.Clone(p.Lives), slices.Clone(p.Ranges), nil
		c.Spans = nil
		for s := range p.Spans.All() {
			if asked(&o, s.From, s.To) && (o.Goroutines == nil || int(s.Life) >= 0 && int(s.Life) < len(p.Lives) && slices.Contains(o.Goroutines, p.Lives[s.Life].G)) {
				if n := len(c.Spans); n == 0 || len(c.Spans[n-1]) == 1000 {
					c.Spans = append(c.Spans, nil)
				}
				last := &c.Spans[len(c.Spans)-1]
				*last = append(*last, *s)
			}
		}
		for _, w := range p.Wakes {
			if asked(&o, w.At, w.At) {
				c.Wakes = append(c.Wakes, w)
			}
		}
		more := yield(&c)
		for _, block := range c.Spans {
			clear(block)
		}
		clear(c.Lives)
		if !more {
			return nil
		}
	}
	return nil
}

// asked reports whether what lasts so long is asked for.
func asked(o *exectrace.PieceOptions, from, to exectrace.Time) bool {
	return o.Clip.IsZero() || to >= o.Clip.From && from <= o.Clip.To
}

// A madeGor is a goroutine of the test's scheduler.
type madeGor struct {
	id         int64
	group      string
	birth, end int64 // -1: before, or not at all
	spans      []exectrace.Span
	last       int64
}

type maker2 struct {
	r      *rand.Rand
	m      *madeUp
	edges  []int64
	gors   []*madeGor
	holds  []exectrace.ProcSpan
	assist []exectrace.RangeSpan
}

var madeReasons = []string{"", "chan receive", "network", "sleep", "sync.Mutex.Lock", "GC assist wait"}

// makeUp makes a trace of some pieces.
func makeUp(seed uint64, pieces, procs, gors, groups int, pieceNS int64) *madeUp {
	k := &maker2{r: rand.New(rand.NewPCG(seed, 1)), m: &madeUp{}}
	at := int64(0)
	for range pieces + 1 {
		k.edges = append(k.edges, at)
		at += pieceNS/2 + k.r.Int64N(pieceNS)
	}
	k.m.length = k.edges[pieces]
	for i := range gors {
		k.gors = append(k.gors, k.gor(i, groups))
	}
	for p := range procs {
		k.proc(p, procs)
	}
	for _, g := range k.gors {
		if g.end >= 0 {
			k.idle(g, g.end)
		} else {
			k.idle(g, k.m.length)
		}
	}
	for i := range pieces {
		k.m.pieces = append(k.m.pieces, k.piece(i))
	}
	return k.m
}

func (k *maker2) gor(i, groups int) *madeGor {
	g := &madeGor{id: int64(i + 1), group: "main.g" + strconv.Itoa(k.r.IntN(groups)), birth: -1, end: -1}
	if i%7 == 3 {
		g.group = markWorker
	}
	if k.r.IntN(2) == 0 {
		g.birth = k.r.Int64N(k.m.length)
		g.last = g.birth
	}
	if k.r.IntN(3) == 0 {
		g.end = g.last + 1 + k.r.Int64N(k.m.length-g.last)
		if g.end >= k.m.length {
			g.end = -1
		}
	}
	return g
}

// proc runs the goroutines of one P, one after the other.
func (k *maker2) proc(p, procs int) {
	at := k.r.Int64N(100_000)
	for at < k.m.length {
		g := k.gors[k.r.IntN(len(k.gors)/procs)*procs+p]
		run := min(1+k.r.Int64N(60_000), k.m.length-at)
		if at < g.last || g.end >= 0 && at+run > g.end {
			at += 1 + k.r.Int64N(5_000)
			continue
		}
		k.idle(g, at)
		st := exectrace.Running
		if k.r.IntN(5) == 0 {
			st = exectrace.Syscall
		}
		g.spans = append(g.spans, exectrace.Span{From: exectrace.Time(at), To: exectrace.Time(at + run), Proc: int16(p), Thread: int32(p), State: st})
		g.last = at + run
		if st == exectrace.Running && g.group != markWorker && k.r.IntN(4) == 0 {
			a := at + k.r.Int64N(run)
			k.assist = append(k.assist, exectrace.RangeSpan{From: exectrace.Time(a), To: exectrace.Time(a + 1 + k.r.Int64N(at+run-a)),
				Name: exectrace.RangeAssist, Goroutine: g.id, Proc: -1})
		}
		slack := k.r.Int64N(3_000)
		k.holds = append(k.holds, exectrace.ProcSpan{From: exectrace.Time(at), To: exectrace.Time(min(at+run+slack, k.m.length)), Proc: int32(p), Thread: int64(p + 100)})
		at += run + slack
		if k.r.IntN(3) == 0 {
			at += k.r.Int64N(200_000)
		}
		if k.r.IntN(200) == 0 {
			at += 20_000_000 // everybody waits for long
		}
	}
}

// idle fills the time of a goroutine until it runs.
func (k *maker2) idle(g *madeGor, to int64) {
	for g.last < to {
		n := to - g.last
		if k.r.IntN(2) == 0 {
			n = 1 + k.r.Int64N(n)
		}
		s := exectrace.Span{From: exectrace.Time(g.last), To: exectrace.Time(g.last + n), Proc: -1, Thread: -1}
		switch k.r.IntN(5) {
		case 0:
			s.State = exectrace.Runnable
		case 1:
			s.State, s.Thread = exectrace.SyscallBlocked, int32(10+g.id%3)
		case 2:
			s.State = exectrace.Unknown
		default:
			s.State, s.Reason = exectrace.Waiting, uint8(1+k.r.IntN(len(madeReasons)-1))
		}
		if s.State == exectrace.SyscallBlocked && g.id > 3 {
			s.Thread = -1 // a thread has one goroutine
		}
		g.spans = append(g.spans, s)
		g.last += n
	}
}

// piece cuts out what belongs to a piece.
func (k *maker2) piece(i int) *exectrace.Piece {
	lo, hi := k.edges[i], k.edges[i+1]
	p := &exectrace.Piece{Index: i, From: madeUpOrigin + exectrace.Time(lo), To: madeUpOrigin + exectrace.Time(hi), Trusted: true, Reasons: madeReasons}
	for t := range 20 {
		p.Threads = append(p.Threads, int64(100+t))
	}
	for _, g := range k.gors {
		k.life(p, g, lo, hi)
	}
	k.r.Shuffle(len(p.Lives), func(a, b int) {
		p.Lives[a], p.Lives[b] = p.Lives[b], p.Lives[a]
		for s := range p.Spans.All() {
			switch s.Life {
			case int32(a):
				s.Life = int32(b)
			case int32(b):
				s.Life = int32(a)
			}
		}
	})
	// Spans are mixed between lives.
	slices.SortStableFunc(p.Spans, func(a, b []exectrace.Span) int { return cmp.Compare(a[0].To, b[0].To) })
	for _, h := range k.holds {
		h.From, h.To = max(h.From, exectrace.Time(lo)), min(h.To, exectrace.Time(hi))
		if h.From < h.To {
			h.From, h.To = h.From+madeUpOrigin, h.To+madeUpOrigin
			p.Procs = append(p.Procs, h)
		}
	}
	for _, r := range k.assist {
		r.From, r.To = max(r.From, exectrace.Time(lo)), min(r.To, exectrace.Time(hi))
		if r.From < r.To {
			r.From, r.To = r.From+madeUpOrigin, r.To+madeUpOrigin
			p.Ranges = append(p.Ranges, r)
		}
	}
	k.rest(p, lo, hi)
	return p
}

func (k *maker2) life(p *exectrace.Piece, g *madeGor, lo, hi int64) {
	if g.birth >= hi || g.end >= 0 && g.end <= lo {
		return
	}
	l := exectrace.Life{G: g.id, Group: g.group, Creator: -1}
	if g.birth >= lo {
		l.Created = madeUpOrigin + exectrace.Time(g.birth)
	}
	if g.end >= 0 && g.end <= hi {
		l.Ended = madeUpOrigin + exectrace.Time(g.end)
	}
	n := int32(len(p.Lives))
	p.Lives = append(p.Lives, l)
	for _, s := range g.spans {
		a, z := max(int64(s.From), lo), min(int64(s.To), hi)
		if a >= z {
			continue
		}
		s.From, s.To, s.Life = madeUpOrigin+exectrace.Time(a), madeUpOrigin+exectrace.Time(z), n
		p.Spans = append(p.Spans, []exectrace.Span{s})
	}
}

// rest adds wake-ups, samples, regions, tasks, a collection and a pause.
func (k *maker2) rest(p *exectrace.Piece, lo, hi int64) {
	at := func() exectrace.Time { return madeUpOrigin + exectrace.Time(lo+k.r.Int64N(hi-lo)) }
	for range 20 {
		p.Samples = append(p.Samples, exectrace.SampleAt{At: at(), Goroutine: 1 + k.r.Int64N(4), Proc: 0, Thread: 100})
		a, b := at(), at()
		p.Regions = append(p.Regions, exectrace.RegionSpan{From: min(a, b), To: max(a, b) + 1, Goroutine: 1, Name: "r" + strconv.Itoa(k.r.IntN(3))})
		p.Tasks = append(p.Tasks, exectrace.TaskEvent{At: at(), ID: k.r.Uint64N(100), Name: "t", End: k.r.IntN(2) == 0})
	}
	slices.SortFunc(p.Tasks, func(a, b exectrace.TaskEvent) int { return cmp.Compare(a.At, b.At) })
	a := at()
	p.Ranges = append(p.Ranges,
		exectrace.RangeSpan{From: a, To: min(a+500_000, p.To), Name: exectrace.RangeMark, Goroutine: -1, Proc: -1},
		exectrace.RangeSpan{From: a, To: min(a+20_000, p.To), Name: "stop-the-world (GC mark termination)", Goroutine: 1, Proc: -1})
	for s := range p.Spans.All() {
		if s.State == exectrace.Waiting && s.To < p.To {
			p.Wakes = append(p.Wakes, exectrace.WakeEdge{At: s.To, Waker: p.Lives[k.r.IntN(len(p.Lives))].G, Woken: p.Lives[s.Life].G, Proc: -1})
		}
	}
}

// build makes the timeline of a trace that was made up.
func (m *madeUp) build(b *Builder) *Timeline {
	for _, p := range m.pieces {
		b.Add(p)
	}
	return b.Timeline(m, nil)
}
