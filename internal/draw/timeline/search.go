package timeline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Hits are what a search found: goroutines and moments that match a filter, like
// `func:worker state:waiting reason:"chan receive" stack:ReadFile label:x dur>10ms id:17`.
type Hits struct {
	Hits  []Hit  `json:"hits"`
	Total int    `json:"total"` // that match
	Note  string `json:"note"`  // what was searched, and which of the hits these are
	// Pending: ask again with the same query; Done is how much was searched, 0 to 1.
	Pending bool    `json:"pending"`
	Done    float64 `json:"done"`
}

// A Hit is a place in the timeline: a goroutine, or a stretch of its time.
type Hit struct {
	Lane  string        `json:"lane"`
	Label string        `json:"label"`
	From  time.Duration `json:"from_ns"`
	To    time.Duration `json:"to_ns"`
	Text  string        `json:"text"`
}

// maxHits bounds what a search tells.
const maxHits = 1000

// Search finds goroutines in a window, or, when the filter says more than
// functions and ids, stretches of their time. For these it reads the trace in the
// background, and is Pending until asked again.
func (t *Timeline) Search(ctx context.Context, f Filter, from, to time.Duration, limit int) (Hits, error) {
	a, z := t.cut(from, to)
	limit = min(max(limit, 1), maxHits)
	if !f.has(^(termFunc | termID)) {
		h := t.searchTable(f, a, z, limit)
		deep, ok := f.onStacks()
		if h.Total > 0 || !ok || t.src == nil {
			return h, nil
		}
		f = deep
	}
	text := strconv.FormatInt(a, 36) + " " + strconv.FormatInt(z, 36) + " " + strconv.Itoa(limit) + " " + f.String()
	it := t.want(itemKey{kind: itemSearch, text: text})
	ok, err := wait(ctx, it)
	if err != nil {
		return Hits{}, err
	}
	if !ok {
		return Hits{Pending: true, Done: it.done()}, nil
	}
	return it.value.(Hits), nil
}

// facts returns what the table knows of a goroutine.
func (t *Timeline) facts(i uint32) goFacts {
	g := &t.gors.list[i]
	from, to := t.life(i)
	return goFacts{g.id, t.reg.groups[g.group].name, to - from}
}

// searchTable finds goroutines without reading anything.
func (t *Timeline) searchTable(f Filter, a, z int64, limit int) Hits {
	var list []uint32
	for i := range t.gors.list {
		from, to := t.life(uint32(i))
		if from < z && to >= a && f.goroutine(t.facts(uint32(i))) {
			list = append(list, uint32(i))
		}
	}
	h := Hits{Total: len(list), Done: 1}
	slices.SortStableFunc(list, func(x, y uint32) int { return compare(t.gors.list[y].run, t.gors.list[x].run) })
	for _, i := range list[:min(limit, len(list))] {
		from, to := t.life(i)
		l := t.goLane(i)
		h.Hits = append(h.Hits, Hit{l.ID, l.Label, time.Duration(from), time.Duration(to),
			fmt.Sprintf("ran %s in a life of %s", durationText(int64(l.Total)), durationText(to-from))})
	}
	h.Note = "goroutines, those that ran most first"
	if t.gors.lost > 0 {
		h.Note += fmt.Sprintf("; %d that ran least were not kept", t.gors.lost)
	}
	return h
}

// A seeker searches the pieces of a window for spans.
type seeker struct {
	t       *Timeline
	f       Filter
	a, z    int64
	limit   int
	hits    []rawHit
	total   int
	left    int // of the recording itself
	stackOf map[exectrace.Stack][]Frame
	own     map[exectrace.Stack]bool // of the recording itself
	parts   map[stackPart]bool
}

type stackPart struct {
	stack exectrace.Stack
	part  string
}

// A rawHit is a hit that is not yet told in words.
type rawHit struct {
	g        int64
	group    string
	from, to int64
	state    State
	reason   string
	stack    []Frame
}

// find makes an answer for the cache.
func (t *Timeline) find(ctx context.Context, it *item) {
	s := &seeker{t: t}
	var err error
	if s.a, s.z, s.limit, s.f, err = splitSearch(it.key.text); err != nil {
		it.err = err
		return
	}
	if t.src == nil {
		it.err = ErrNoSource
		return
	}
	window := t.times(s.a, s.z)
	it.err = t.src.Pieces(ctx, exectrace.PieceOptions{Window: window, Clip: window}, func(p *exectrace.Piece) bool {
		s.piece(p)
		it.setProgress(float64(int64(p.To)-t.origin-s.a) / float64(max(s.z-s.a, 1)))
		return ctx.Err() == nil
	})
	if it.err == nil {
		it.err = ctx.Err()
	}
	it.value = s.hitList()
	it.bytes = int64(len(s.hits)) * 256
}

func splitSearch(text string) (a, z int64, limit int, f Filter, err error) {
	var first, second string
	n := 0
	if _, err = fmt.Sscanf(text, "%s %s %d", &first, &second, &limit); err != nil {
		return
	}
	for range 3 {
		for n < len(text) && text[n] != ' ' {
			n++
		}
		n++
	}
	if a, err = strconv.ParseInt(first, 36, 64); err != nil {
		return
	}
	if z, err = strconv.ParseInt(second, 36, 64); err != nil {
		return
	}
	f, err = ParseFilter(text[min(n, len(text)):])
	return
}

// piece looks at all spans of a piece.
func (s *seeker) piece(p *exectrace.Piece) {
	s.stackOf, s.parts, s.own = map[exectrace.Stack][]Frame{}, map[stackPart]bool{}, map[exectrace.Stack]bool{}
	c := newClassifier(p.Reasons)
	labels := map[int64]string{}
	for i := range p.Labels {
		labels[p.Labels[i].Goroutine] = p.Labels[i].Label
	}
	lo, hi := int64(p.From)-s.t.origin, int64(p.To)-s.t.origin
	names := make([]string, len(p.Lives))
	for i := range p.Lives {
		if g := s.t.groupOf(&p.Lives[i], lo, hi); g >= 0 {
			names[i] = s.t.reg.groups[g].name
		}
	}
	facts := spanFacts{}
	for x := range p.Spans.All() {
		from, to := int64(x.From)-s.t.origin, int64(x.To)-s.t.origin
		if uint(x.Life) >= uint(len(names)) || to <= from || from >= s.z || to <= s.a || to > maxTime {
			continue
		}
		facts.id, facts.group = p.Lives[x.Life].G, names[x.Life]
		facts.state, facts.dur = c.of(x, facts.group == markWorker), to-from
		facts.reason, facts.label = "", labels[facts.id]
		if int(x.Reason) < len(p.Reasons) {
			facts.reason = p.Reasons[x.Reason]
		}
		stack := x.Stack
		facts.stack = func(part string) bool { return s.contains(p, stack, part) }
		if s.f.span(&facts) {
			s.hit(p, x, &facts, from, to)
		}
	}
	s.prune(s.limit)
}

// contains reports whether a function of a stack has a part in its name.
func (s *seeker) contains(p *exectrace.Piece, stack exectrace.Stack, part string) bool {
	key := stackPart{stack, part}
	in, ok := s.parts[key]
	if !ok {
		in = slices.ContainsFunc(s.frames(p, stack), func(f Frame) bool { return containsFold(f.Func, part) })
		s.parts[key] = in
	}
	return in
}

func (s *seeker) frames(p *exectrace.Piece, stack exectrace.Stack) []Frame {
	f, ok := s.stackOf[stack]
	if !ok {
		f = p.Frames(stack)
		s.stackOf[stack] = f
	}
	return f
}

// ofRecording reports whether a span is the recording's own, and nobody asked for it by name.
func (s *seeker) ofRecording(p *exectrace.Piece, stack exectrace.Stack) bool {
	if s.f.has(termFunc | termStack | termID) {
		return false
	}
	own, ok := s.own[stack]
	if !ok {
		var frames []model.Frame
		for _, f := range s.frames(p, stack) {
			frames = append(frames, model.Frame(f))
		}
		own = model.OfRecording(frames)
		s.own[stack] = own
	}
	return own
}

func (s *seeker) hit(p *exectrace.Piece, x *exectrace.Span, f *spanFacts, from, to int64) {
	if s.ofRecording(p, x.Stack) {
		s.left++
		return
	}
	s.total++
	s.hits = append(s.hits, rawHit{f.id, f.group, from, to, f.state, f.reason, s.frames(p, x.Stack)})
	if len(s.hits) >= 4*s.limit {
		s.prune(s.limit)
	}
}

// prune keeps the longest.
func (s *seeker) prune(n int) {
	slices.SortStableFunc(s.hits, func(x, y rawHit) int { return compare(y.to-y.from, x.to-x.from) })
	s.hits = s.hits[:min(n, len(s.hits))]
}

func (s *seeker) hitList() Hits {
	h := Hits{Total: s.total, Done: 1, Note: fmt.Sprintf("stretches of time from %v to %v, the longest first; spans are cut at trace piece boundaries",
		time.Duration(s.a).Round(time.Millisecond), time.Duration(s.z).Round(time.Millisecond))}
	if s.left > 0 {
		h.Note += fmt.Sprintf("; %d of the recording itself are left out", s.left)
	}
	for i := range s.hits {
		x := &s.hits[i]
		lane := "go:" + strconv.FormatInt(x.g, 10)
		if n, ok := s.t.gors.during(x.g, x.from, x.to); ok {
			lane = s.t.goID(n)
		}
		text := x.state.String()
		if x.reason != "" {
			text += " (" + x.reason + ")"
		}
		h.Hits = append(h.Hits, Hit{lane, x.group + " #" + strconv.FormatInt(x.g, 10), time.Duration(x.from), time.Duration(x.to),
			fmt.Sprintf("%s for %s%s", text, durationText(x.to-x.from), in(x.stack))})
	}
	return h
}
