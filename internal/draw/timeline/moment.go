package timeline

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A Frame is one function of a call stack, leaf first in a stack.
type Frame = exectrace.Frame

// A Moment is what one lane did at one time.
type Moment struct {
	Span  Span
	Stack []Frame
	// Woken is the wake-up that ended the span, when it is a wait; Waker the one
	// that the goroutine's present run goes back to. Nil when not known.
	Woken, Waker *Edge
	Text         string // in one sentence
	Pending      bool
}

// An Edge is a wake-up.
type Edge struct {
	At           time.Duration
	Waker, Woken int64 // goroutines; Waker is -1 for the runtime (a timer, the network)
	WakerGroup   string
	WokenGroup   string
	Waited       time.Duration // how long it had waited, as far as the piece of the trace tells
	Ready        time.Duration // how long it then waited for a P
	Proc         int           // of the waker; -1 for none
	Stack        []Frame       // of the waker
	stack        uint32
}

// details returns the details of chunks, as far as they are there in time.
func (t *Timeline) details(ctx context.Context, chunks []int) (out []*detail, pending bool, err error) {
	items := make([]*item, len(chunks))
	for i := len(chunks) - 1; i >= 0; i-- { // the first is wanted first
		items[i] = t.want(itemKey{kind: itemDetail, n: uint32(chunks[i])})
	}
	for _, it := range items {
		ok, err := wait(ctx, it)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			pending = true
			continue
		}
		out = append(out, it.value.(*detail))
	}
	return out, pending, nil
}

// At tells what a lane did at a moment.
func (t *Timeline) At(ctx context.Context, lane string, at time.Duration) (Moment, error) {
	ref, ok := t.parse(lane)
	if !ok {
		return Moment{}, errLane(lane)
	}
	moment := min(max(int64(at), 0), t.length-1)
	switch ref.kind {
	case "gc":
		return t.intervalAt(t.cycles.list, moment, "a collection"), nil
	case "stw":
		return t.intervalAt(t.pauses.list, moment, "the world was stopped"), nil
	case "task":
		from, to := t.taskTimes(ref.task)
		return Moment{Span: Span{From: time.Duration(from), To: time.Duration(to), Reason: t.tasks[ref.task].Name, Goroutine: -1, Proc: -1, Thread: -1},
			Text: fmt.Sprintf("Task %q took %s.", t.tasks[ref.task].Name, durationText(to-from))}, nil
	case "go", "p", "m":
		return t.spanAt(ctx, &ref, moment)
	}
	return t.countsAt(ctx, &ref, moment)
}

func nothing(at int64, text string) Moment {
	return Moment{Span: Span{From: time.Duration(at), To: time.Duration(at), State: Unknown, Goroutine: -1, Proc: -1, Thread: -1}, Text: text}
}

func (t *Timeline) intervalAt(list []interval, at int64, what string) Moment {
	for _, in := range intervalsIn(list, at, at+1) {
		if in.from <= at && at < max(in.to, in.from+1) {
			return Moment{Span: Span{From: time.Duration(in.from), To: time.Duration(in.to), State: GC, Reason: in.name, Goroutine: in.g, Proc: -1, Thread: -1},
				Text: fmt.Sprintf("For %s: %s (%s).", durationText(in.to-in.from), what, in.name)}
		}
	}
	return nothing(at, "Not at this moment.")
}

// reach is over how many pieces a wait is followed to its begin and its end,
// as far as those pieces are there. One further piece is read for the end.
const reach = 8

// spanAt finds the span of a goroutine, P or thread.
func (t *Timeline) spanAt(ctx context.Context, ref *laneRef, at int64) (Moment, error) {
	chunks := t.chunksIn(at, at+1)
	ds, pending, err := t.details(ctx, chunks)
	if err != nil || pending {
		return Moment{Span: nothing(at, "").Span, Pending: pending}, err
	}
	for _, d := range ds {
		s := t.spanOf(d, ref, at)
		if s == nil {
			continue
		}
		m := Moment{Span: t.span(d, s), Stack: t.stacks.resolve(s.stack)}
		m.Woken, m.Waker = t.wakeAfter(d, s), t.wakeBefore(d, s)
		if ref.kind == "go" {
			t.follow(ctx, ref, &m)
		}
		m.Text = m.sentence()
		return m, nil
	}
	if ref.kind == "go" {
		return nothing(at, "The goroutine did not exist, or what it did is not known."), nil
	}
	for _, d := range ds {
		for _, h := range d.heldIn(ref.lane, at, at+1) {
			if from, to := d.time(h.from), d.time(h.to); from <= at && at < to {
				m := nothing(at, "Held by a thread that looked for work.")
				m.Span = Span{From: time.Duration(from), To: time.Duration(to), State: Wait, Reason: lookingForWork, Goroutine: -1, Proc: int(h.proc), Thread: h.thread}
				return m, nil
			}
		}
	}
	return nothing(at, "Idle."), nil
}

// spanOf returns the span of a lane at a moment.
func (t *Timeline) spanOf(d *detail, ref *laneRef, at int64) *span {
	x := d.offset(at)
	if ref.kind == "go" {
		for _, s := range d.goroutine(t, ref.gor, at, at+1<<d.unit) {
			if s.from <= x && x < s.to {
				return &s
			}
		}
		return nil
	}
	for _, i := range d.windowOf(d.onLane[ref.lane], at, at+1) {
		if s := &d.spans[i]; s.from <= x && x < s.to {
			return s
		}
	}
	return nil
}

// follow joins the span with its parts in the pieces before and after, and
// finds the wake-up at its end there.
func (t *Timeline) follow(ctx context.Context, ref *laneRef, m *Moment) {
	asked := false
	for range reach {
		at := int64(m.Span.To)
		if m.Woken != nil || at >= t.length || !m.Span.State.blocked() {
			break
		}
		d, next := t.neighbour(ref, at)
		if next == nil && !asked {
			asked = true
			if _, pending, err := t.details(ctx, t.chunksIn(at, at+1)); err == nil && !pending {
				d, next = t.neighbour(ref, at)
			}
		}
		if next == nil || !t.goesOn(d, next, m.Span.To, &m.Span) {
			break
		}
		m.Span.To = time.Duration(d.time(next.to))
		if m.Stack == nil {
			m.Stack = t.stacks.resolve(next.stack)
		}
		m.Woken = t.wakeAfter(d, next)
	}
	for range reach {
		at := int64(m.Span.From)
		if at == 0 {
			break
		}
		d, before := t.neighbour(ref, at-1)
		if before == nil || time.Duration(d.time(before.to)) != m.Span.From || !t.goesOn(d, before, time.Duration(d.time(before.from)), &m.Span) {
			break
		}
		m.Span.From = time.Duration(d.time(before.from))
		if m.Stack == nil {
			m.Stack = t.stacks.resolve(before.stack)
		}
	}
}

// goesOn reports whether a span is a part of another that a piece's edge has cut.
func (t *Timeline) goesOn(d *detail, s *span, from time.Duration, of *Span) bool {
	return time.Duration(d.time(s.from)) == from && s.state == of.State && t.reasons.text(s.reason) == of.Reason
}

// neighbour finds the span of a goroutine at a moment, when the piece with it
// is there.
func (t *Timeline) neighbour(ref *laneRef, at int64) (*detail, *span) {
	for _, c := range t.chunksIn(at, at+1) {
		it := t.cache.peek(itemKey{kind: itemDetail, n: uint32(c)})
		if it == nil || it.err != nil {
			continue
		}
		d := it.value.(*detail)
		if s := t.spanOf(d, ref, at); s != nil {
			return d, s
		}
	}
	return nil, nil
}

// wakeAfter returns the wake-up that ended a wait.
func (t *Timeline) wakeAfter(d *detail, s *span) *Edge {
	if !s.state.blocked() {
		return nil
	}
	return t.wakeAt(d, s.life, s.to)
}

// wakeBefore returns the wake-up that a runnable or running span goes back to.
func (t *Timeline) wakeBefore(d *detail, s *span) *Edge {
	own := d.of(s.life)
	i := sort.Search(len(own), func(i int) bool { return own[i].from > s.from }) - 1
	for ; i > 0; i-- {
		switch own[i].state {
		case Runnable, Running, Syscall, GC:
			if own[i-1].state.blocked() {
				return t.wakeAt(d, s.life, own[i].from)
			}
		default:
			return nil
		}
	}
	return nil
}

// wakeAt finds the wake-up of a life at a moment.
func (t *Timeline) wakeAt(d *detail, life int32, at uint32) *Edge {
	i := sort.Search(len(d.wakes), func(i int) bool { return d.wakes[i].at >= at })
	for ; i < len(d.wakes) && d.wakes[i].at == at; i++ {
		if d.wakes[i].woken == life {
			e := t.edge(d, &d.wakes[i])
			e.Stack = t.stacks.resolve(e.stack)
			return &e
		}
	}
	return nil
}

// edge tells a wake-up, without its stack.
func (t *Timeline) edge(d *detail, w *wake) Edge {
	e := Edge{At: time.Duration(d.time(w.at)), Waker: -1, Woken: -1, Proc: int(w.proc), stack: w.stack}
	name := func(life int32) (int64, string) {
		if l := &d.lives[life]; l.group >= 0 {
			return l.g, t.reg.groups[l.group].name
		}
		return d.lives[life].g, ""
	}
	if w.waker >= 0 {
		e.Waker, e.WakerGroup = name(w.waker)
	}
	if w.woken < 0 {
		return e
	}
	e.Woken, e.WokenGroup = name(w.woken)
	_, waited, ready := d.wakeLatency(w)
	e.Waited, e.Ready = time.Duration(waited), time.Duration(ready)
	return e
}

// wakeLatency returns the wait that a wake-up ended, nil where the piece does not have it,
// how long that was, and how long the goroutine waited for a P after it, in ns.
func (d *detail) wakeLatency(w *wake) (wait *span, waited, ready int64) {
	own := d.of(w.woken)
	i := sort.Search(len(own), func(i int) bool { return own[i].to >= w.at })
	if i < len(own) && own[i].to == w.at && own[i].state.blocked() {
		wait, waited = &own[i], int64(own[i].to-own[i].from)<<d.unit
		i++
	}
	if i < len(own) && own[i].from == w.at && own[i].state == Runnable {
		ready = int64(own[i].to-own[i].from) << d.unit
	}
	return wait, waited, ready
}

// sentence tells a moment of a goroutine, P or thread.
func (m *Moment) sentence() string {
	s := &m.Span
	who := fmt.Sprintf("Goroutine %d", s.Goroutine)
	if s.Group != "" {
		who = fmt.Sprintf("Goroutine %d (%s)", s.Goroutine, s.Group)
	}
	d := durationText(int64(s.To - s.From))
	switch s.State {
	case Running, GC:
		what := "ran"
		if s.State == GC {
			what = "marked for the collector"
		}
		text := fmt.Sprintf("%s %s for %s", who, what, d)
		if s.Proc >= 0 {
			text += fmt.Sprintf(" on P %d", s.Proc)
		}
		if m.Waker != nil {
			text += fmt.Sprintf("; %s had made it ready", m.Waker.wakerName())
		}
		return text + "."
	case Runnable:
		text := fmt.Sprintf("%s was ready and waited %s for a P", who, d)
		if m.Waker != nil {
			text += fmt.Sprintf("; %s had made it ready%s", m.Waker.wakerName(), m.Waker.where())
		}
		return text + "."
	case Syscall:
		return fmt.Sprintf("%s was in a system call for %s%s.", who, d, in(m.Stack))
	case Unknown:
		return fmt.Sprintf("What %s did for %s is not known.", lowerFirst(who), d)
	}
	reason := s.Reason
	if reason == "" {
		reason = "a reason from before the trace began"
	}
	text := fmt.Sprintf("%s waited %s for %s%s", who, d, reason, in(m.Stack))
	if m.Woken != nil {
		text += fmt.Sprintf(", until %s woke it%s", m.Woken.wakerName(), m.Woken.where())
	}
	return text + "."
}

// durationText tells a number of nanoseconds.
func durationText(ns int64) string { return figures.Duration(time.Duration(ns)) }

func lowerFirst(s string) string { return "g" + s[1:] }

// in names the place that a stack shows best: its innermost function outside
// of the runtime.
func in(stack []Frame) string {
	for _, f := range stack {
		if !isRuntime(f.Func) {
			return " in " + f.Func
		}
	}
	if len(stack) > 0 {
		return " in " + stack[0].Func
	}
	return ""
}

func isRuntime(fn string) bool {
	return len(fn) > len("runtime.") && (fn[:len("runtime.")] == "runtime." || len(fn) > 9 && fn[:9] == "internal/")
}

func (e *Edge) wakerName() string {
	if e.Waker < 0 {
		return "the runtime"
	}
	if e.WakerGroup == "" {
		return fmt.Sprintf("goroutine %d", e.Waker)
	}
	return fmt.Sprintf("goroutine %d (%s)", e.Waker, e.WakerGroup)
}

func (e *Edge) where() string { return in(e.Stack) }

// countsAt tells a moment of a lane that is many.
func (t *Timeline) countsAt(ctx context.Context, ref *laneRef, at int64) (Moment, error) {
	level := uint(minLevel)
	if t.src == nil {
		level = t.pyramid.base().level
	}
	v := newView(t, level, at>>(level+tileShift))
	items, done, err := v.ready(ctx, ref)
	if err != nil || done < 1 {
		return Moment{Span: nothing(at, "").Span, Pending: done < 1}, err
	}
	var c cells
	v.sum(ref, items, &c)
	text := ""
	width := float64(int64(1) << level)
	for st := range c.time {
		if n := c.time[st][(at-v.from)>>level] / width; n > noise {
			text += fmt.Sprintf(", %s %s", figures.Number(n), State(st).name())
		}
	}
	if text == "" {
		return nothing(at, "Nothing at this moment."), nil
	}
	m := nothing(at, "At this moment: "+text[2:]+".")
	m.Span.To += time.Duration(int64(1) << level)
	return m, nil
}

// Edges are the wake-ups of a window.
type Edges struct {
	Edges   []Edge // in order of time
	Total   int    // in the window
	Partial string // which part of a long window was looked at
	Pending bool
}

// MaxEdges bounds the wake-ups of one window.
const MaxEdges = 2000

// maxExact is how many chunks are read for one question at most. Fewer are where
// they are large: all of them have to be there at a time, in half of the cache.
const maxExact = 16

// exact returns how many of some chunks can be read for one question.
func (t *Timeline) exact(chunks []int) int {
	heaviest := int64(1)
	for _, c := range chunks {
		heaviest = max(heaviest, t.chunks[c].weight)
	}
	return int(min(max(t.cache.budget/2/heaviest, 1), maxExact))
}

// Edges tells the wake-ups of a window that ended the longest waits. With lanes
// only those from or to one of them.
func (t *Timeline) Edges(ctx context.Context, from, to time.Duration, lanes []string) (Edges, error) {
	pick, err := t.pick(lanes)
	if err != nil {
		return Edges{}, err
	}
	a, z := t.cut(from, to)
	chunks, partial := t.sample(t.chunksIn(a, z), a, z)
	ds, pending, err := t.details(ctx, chunks)
	if err != nil {
		return Edges{}, err
	}
	out := Edges{Pending: pending, Partial: partial}
	var all []Edge
	for _, d := range ds {
		for i := d.firstWake(a); i < len(d.wakes); i++ {
			w := &d.wakes[i]
			if d.time(w.at) >= z {
				break
			}
			if d.time(w.at) < a || !pick.life(d, w.woken, t) && !pick.life(d, w.waker, t) {
				continue
			}
			out.Total++
			all = append(all, t.edge(d, w))
			if len(all) >= 4*MaxEdges {
				all = longest(all)
			}
		}
	}
	if len(all) > MaxEdges {
		all = longest(all)
	}
	slices.SortStableFunc(all, func(x, y Edge) int { return compare(int64(x.At), int64(y.At)) })
	for i := range all {
		all[i].Stack = t.stacks.resolve(all[i].stack)
	}
	out.Edges = all
	return out, nil
}

func longest(all []Edge) []Edge {
	slices.SortStableFunc(all, func(x, y Edge) int { return compare(int64(y.Waited), int64(x.Waited)) })
	return all[:MaxEdges]
}

func (d *detail) firstWake(at int64) int {
	x := d.offset(at)
	return sort.Search(len(d.wakes), func(i int) bool { return d.wakes[i].at >= x })
}

// cut brings a window into the timeline.
func (t *Timeline) cut(from, to time.Duration) (a, z int64) {
	a = min(max(int64(from), 0), t.length)
	return a, min(max(int64(to), a), t.length)
}

// sample chooses chunks of a window that is too long to read all of it, spread
// evenly over it, and says so.
func (t *Timeline) sample(chunks []int, a, z int64) ([]int, string) {
	n := t.exact(chunks)
	if len(chunks) <= n {
		return chunks, ""
	}
	var out []int
	read := int64(0)
	for i := range n {
		c := chunks[(2*i+1)*len(chunks)/(2*n)]
		out = append(out, c)
		read += min(t.chunks[c].hi, z) - max(t.chunks[c].lo, a)
	}
	return out, fmt.Sprintf("of %s these are %d stretches of %s in all, spread evenly", durationText(z-a), n, durationText(read))
}

// A picker knows which goroutines, Ps and threads are asked for.
type picker struct {
	all    bool
	groups map[int32]bool
	gors   map[uint32]bool
	lanes  map[int32]bool // of Ps and threads
}

func (t *Timeline) pick(ids []string) (*picker, error) {
	p := &picker{all: len(ids) == 0, groups: map[int32]bool{}, gors: map[uint32]bool{}, lanes: map[int32]bool{}}
	for _, id := range ids {
		r, ok := t.parse(id)
		if !ok {
			return nil, errLane(id)
		}
		switch r.kind {
		case groupsOfUser, groupsOfSystem:
			p.groups[-1] = r.kind == groupsOfUser // those whose start function is not known
			for g := range t.reg.groups {
				if headOf(t.reg.groups[g].name) == r.kind {
					p.groups[int32(g)] = true
				}
			}
		case "g":
			p.groups[r.group] = true
		case "go":
			p.gors[r.gor] = true
		case "ps", "threads":
			for l, known := range t.reg.lanes {
				if known.kind == laneProc && r.kind == "ps" || known.kind == laneThread && r.kind == "threads" {
					p.lanes[int32(l)] = true
				}
			}
		case "p", "m":
			p.lanes[r.lane] = true
		}
	}
	return p, nil
}

// life reports whether a goroutine is asked for, alone or with its group.
func (p *picker) life(d *detail, life int32, t *Timeline) bool {
	if life < 0 {
		return false
	}
	if p.all || p.groups[d.lives[life].group] {
		return true
	}
	for g := range p.gors {
		if t.gors.list[g].id == d.lives[life].g {
			return true
		}
	}
	return false
}

// span reports whether a span is asked for.
func (p *picker) span(d *detail, s *span, t *Timeline) bool {
	if p.life(d, s.life, t) {
		return true
	}
	return len(p.lanes) > 0 && (s.thread >= 0 && p.lanes[s.thread] || s.proc >= 0 && p.lanes[t.laneByID(laneProc, int64(s.proc))])
}
