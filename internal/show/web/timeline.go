package web

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// patience is how long an answer waits for pieces of the trace that must be
	// read again, before it says that they are being read.
	patience = 100 * time.Millisecond
	// maxPatience is how long one waits that says it would: a report file has
	// nobody who asks again.
	maxPatience = time.Minute

	maxTileLanes = 256
	maxLanePage  = 500
	maxFrames    = 128
)

// questionContext returns how long a question may take.
func questionContext(q url.Values) (context.Context, context.CancelFunc) {
	wait := patience
	if q.Get("wait") == "1" {
		wait = maxPatience
	}
	return context.WithTimeout(context.Background(), wait)
}

// timeProblem turns a timeline's refusal into an error of the page.
func timeProblem(err error) error {
	switch {
	case errors.As(err, new(*problem.Error)):
		return err
	case errors.Is(err, timeline.ErrNoSource):
		return missing(err.Error(), "open it as a file")
	case errors.Is(err, context.Canceled):
		return refuse(http.StatusServiceUnavailable, "", "the run is being closed")
	case err != nil:
		return refuse(http.StatusInternalServerError, "is the file still there, and unchanged?", "the trace could not be read again: %w", err)
	}
	return nil
}

// lanesParam reads lanes=a,b,c; absent is none.
func lanesParam(q url.Values) ([]string, error) {
	s := q.Get("lanes")
	if s == "" {
		return nil, nil
	}
	list := strings.Split(s, ",")
	if len(list) > maxTileLanes {
		return nil, misuse("%d lanes were requested at once, at most %d are allowed", len(list), maxTileLanes)
	}
	return list, nil
}

// timeline answers api/timeline.
func (v *View) timeline(q url.Values) (any, error) {
	t := v.Timeline
	if t == nil {
		return nil, v.noTrace()
	}
	out := Timeline{DurationNS: int64(t.Length()), States: timeline.StateNames(), Damage: []Gap{}}
	out.MinLevel, out.MaxLevel = t.Levels()
	out.Lanes = sentLanes(t.Lanes())
	if k := v.kernelSamples(); k != nil {
		out.Lanes = append(out.Lanes, k.lanes()...)
	}
	for _, g := range t.Gaps() {
		out.Damage = append(out.Damage, Gap{FromNS: int64(g.From), ToNS: int64(g.To), Why: g.Why})
	}
	out.Insights = v.insights()
	return out, nil
}

// sentLanes cuts the names of lanes, which may be the timeline's own.
func sentLanes(lanes []timeline.Lane) []timeline.Lane {
	lanes = slices.Clone(lanes)
	for i := range lanes {
		l := &lanes[i]
		l.Label, l.Detail = name(l.Label), name(l.Detail)
	}
	return lanes
}

// lanes answers api/timeline/lanes.
func (v *View) lanes(q url.Values) (any, error) {
	if v.Timeline == nil {
		return nil, v.noTrace()
	}
	offset, err := integer(q, "offset", 0, 0, 1<<31)
	if err != nil {
		return nil, err
	}
	limit, err := integer(q, "limit", 100, 1, maxLanePage)
	if err != nil {
		return nil, err
	}
	f, err := timeline.ParseFilter(q.Get("q"))
	if err != nil {
		return nil, timeProblem(err)
	}
	if q.Get("parent") == kernelLane {
		return v.kernelLanes(int(offset), int(limit))
	}
	list, total, note, err := v.Timeline.Children(q.Get("parent"), f, int(offset), int(limit))
	if err != nil {
		return nil, timeProblem(err)
	}
	return Lanes{Lanes: sentLanes(list), Total: total, Note: note}, nil
}

// tiles answers api/timeline/tiles.
func (v *View) tiles(q url.Values) ([]byte, error) {
	if v.Timeline == nil {
		return nil, v.noTrace()
	}
	level, err := integer(q, "level", 0, 0, 63)
	if err != nil {
		return nil, err
	}
	tile, err := integer(q, "tile", 0, 0, 1<<62)
	if err != nil {
		return nil, err
	}
	lanes, err := lanesParam(q)
	if err != nil {
		return nil, err
	}
	ctx, done := questionContext(q)
	defer done()
	kernel, others := split(lanes)
	pictures, err := v.Timeline.Tile(ctx, int(level), tile, others)
	if err != nil {
		return nil, timeProblem(err)
	}
	pictures = append(pictures, v.kernelPictures(int(level), tile, kernel)...)
	return encodeTiles(Tiles{Level: int(level), Tile: tile}, pictures)
}

// encodeTiles writes what api.go says of Tiles.
func encodeTiles(head Tiles, pictures []timeline.Picture) ([]byte, error) {
	head.Lanes = []TileLane{}
	size := 0
	for i := range pictures {
		p := &pictures[i]
		l := TileLane{ID: p.ID, Max: p.Max, Empty: p.Empty, Pending: p.Pending, Done: p.Done, Spans: []Span{}, Marks: []int64{}}
		for _, s := range p.Spans {
			l.Spans = append(l.Spans, webSpan(s))
		}
		for _, m := range p.Moments {
			l.Marks = append(l.Marks, int64(m))
		}
		head.Lanes = append(head.Lanes, l)
		size += len(p.Shares) + len(p.Marks)
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 4, 4+len(text)+size)
	binary.LittleEndian.PutUint32(out, uint32(len(text)))
	out = append(out, text...)
	for i := range pictures {
		out = append(out, pictures[i].Shares...)
		out = append(out, pictures[i].Marks...)
	}
	return out, nil
}

func webSpan(s timeline.Span) Span {
	return Span{FromNS: int64(s.From), ToNS: int64(s.To), State: int(s.State), Reason: name(s.Reason),
		Goroutine: s.Goroutine, Group: name(s.Group), Proc: s.Proc, Thread: s.Thread}
}

// frames tells a stack, cut to what a person reads.
func frames[F timeline.Frame | model.Frame](o flame.Owners, stack []F) []Frame {
	out := make([]Frame, 0, len(stack))
	for _, x := range stack[:min(len(stack), maxFrames)] {
		f := model.Frame(x)
		out = append(out, Frame{Func: name(f.Func), File: name(f.File), Line: f.Line, Kind: o.OwnerOf(f).String()})
	}
	return out
}

// at answers api/timeline/at.
func (v *View) at(q url.Values) (any, error) {
	if v.Timeline == nil {
		return nil, v.noTrace()
	}
	at, err := integer(q, "at", 0, -1<<62, 1<<62)
	if err != nil {
		return nil, err
	}
	if lane := q.Get("lane"); isKernelLane(lane) {
		return v.kernelAt(lane, time.Duration(at))
	}
	ctx, done := questionContext(q)
	defer done()
	m, err := v.Timeline.At(ctx, q.Get("lane"), time.Duration(at))
	if err != nil {
		return nil, timeProblem(err)
	}
	o := flame.OwnersOf(v.Model)
	return Moment{Span: webSpan(m.Span), Stack: frames(o, m.Stack), Woken: webEdge(o, m.Woken), Waker: webEdge(o, m.Waker),
		Text: name(m.Text), Pending: m.Pending}, nil
}

func webEdge(o flame.Owners, e *timeline.Edge) *Edge {
	if e == nil {
		return nil
	}
	return &Edge{AtNS: int64(e.At), Waker: e.Waker, WakerGroup: name(e.WakerGroup), Woken: e.Woken, WokenGroup: name(e.WokenGroup),
		WaitedNS: int64(e.Waited), ReadyNS: int64(e.Ready), Proc: e.Proc, Stack: frames(o, e.Stack)}
}

// edges answers api/timeline/edges.
func (v *View) edges(q url.Values) (any, error) {
	e, err := inWindow(v, q, (*timeline.Timeline).Edges)
	if err != nil {
		return nil, err
	}
	out := Edges{Edges: []Edge{}, Total: e.Total, Partial: e.Partial, Pending: e.Pending}
	o := flame.OwnersOf(v.Model)
	for i := range e.Edges {
		out.Edges = append(out.Edges, *webEdge(o, &e.Edges[i]))
	}
	return out, nil
}

// inWindow asks a timeline about some lanes in a window, those of a question.
func inWindow[A any](v *View, q url.Values, about func(t *timeline.Timeline, ctx context.Context, from, to time.Duration, lanes []string) (A, error)) (answer A, err error) {
	if v.Timeline == nil {
		return answer, v.noTrace()
	}
	from, to, err := v.timelineWindow(q)
	if err != nil {
		return answer, err
	}
	lanes, err := lanesParam(q)
	if err != nil {
		return answer, err
	}
	ctx, done := questionContext(q)
	defer done()
	answer, err = about(v.Timeline, ctx, from, to, lanes)
	return answer, timeProblem(err)
}

// timelineWindow is window on the timeline, which may be longer than the model's:
// whole pieces of the trace are in it.
func (v *View) timelineWindow(q url.Values) (from, to time.Duration, err error) {
	end := int64(v.Timeline.Length())
	a, err := integer(q, "from", 0, -1<<62, 1<<62)
	if err != nil {
		return 0, 0, err
	}
	z, err := integer(q, "to", end, -1<<62, 1<<62)
	if err != nil {
		return 0, 0, err
	}
	a, z = max(a, 0), min(z, end)
	if z < a {
		return 0, 0, misuse("the window ends before it begins: from=%s to=%s", short(q.Get("from")), short(q.Get("to")))
	}
	return time.Duration(a), time.Duration(z), nil
}

// selection answers api/timeline/select.
func (v *View) selection(q url.Values) (any, error) {
	list, err := lanesParam(q)
	if err != nil {
		return nil, err
	}
	kernel, others := split(list)
	if len(kernel) > 0 && len(others) == 0 && v.Timeline != nil {
		return v.selectKernel(q, kernel)
	}
	of := url.Values{}
	maps.Copy(of, q)
	of.Set("lanes", strings.Join(others, ","))
	s, err := inWindow(v, of, (*timeline.Timeline).Select)
	if err != nil {
		return nil, err
	}
	out := v.webSelection(&s)
	if k := v.kernelSamples(); k != nil && (len(kernel) > 0 || len(others) == 0) {
		out.Kernel = k.window(s.From, s.To, kernel)
	}
	return out, nil
}

func (v *View) webSelection(s *timeline.Selection) Selection {
	out := Selection{FromNS: int64(s.From), ToNS: int64(s.To), States: []StateTotal{}, Stacks: []StackTotal{}, Wakers: []Pair{},
		Groups: slices.Clone(s.Groups), Partial: s.Partial, Pending: s.Pending}
	o := flame.OwnersOf(v.Model)
	for _, x := range s.States {
		out.States = append(out.States, StateTotal{State: x.State.String(), Reason: name(x.Reason), NS: int64(x.Time), Count: x.Count})
	}
	for _, x := range s.Stacks {
		state := x.State.String()
		if x.Sampled {
			state = "samples"
		}
		out.Stacks = append(out.Stacks, StackTotal{State: state, NS: int64(x.Time), Count: x.Count, Stack: frames(o, x.Stack)})
	}
	for _, x := range s.Wakers {
		out.Wakers = append(out.Wakers, Pair{Waker: name(x.Waker), Woken: name(x.Woken), Count: x.Count, NS: int64(x.Waited), Stack: frames(o, x.Stack)})
	}
	for i := range out.Groups {
		out.Groups[i].Group = name(out.Groups[i].Group)
	}
	return out
}

// search answers api/timeline/search.
func (v *View) search(q url.Values) (any, error) {
	if v.Timeline == nil {
		return nil, v.noTrace()
	}
	from, to, err := v.timelineWindow(q)
	if err != nil {
		return nil, err
	}
	limit, err := integer(q, "limit", 100, 1, 1000)
	if err != nil {
		return nil, err
	}
	f, err := timeline.ParseFilter(q.Get("q"))
	if err != nil {
		return nil, timeProblem(err)
	}
	ctx, done := questionContext(q)
	defer done()
	h, err := v.Timeline.Search(ctx, f, from, to, int(limit))
	if err != nil {
		return nil, timeProblem(err)
	}
	h.Hits = slices.Clone(h.Hits) // others were given them too
	for i := range h.Hits {
		x := &h.Hits[i]
		x.Label, x.Text = name(x.Label), name(x.Text)
	}
	return h, nil
}
