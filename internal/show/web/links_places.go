package web

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// timelineOf returns a window of the timeline.
func (l *linker) timelineOf(k *picture) string {
	if !l.has("timeline") || k.lanes == "" && !k.goroutines {
		return ""
	}
	group, w := "", window{}
	if k.goroutines && len(l.groups) > 0 {
		group = l.groups[0]
		w = l.peak(group, k.state)
	}
	switch {
	case w.to > w.from:
	case k.lanes == "gc":
		w = l.busiestCycle()
	case k.lanes == "stw":
		w = l.longestStop()
	}
	pairs := []string{"g", pageName(group), "lanes", k.lanes}
	if w.to > w.from {
		pairs = append([]string{"from", ns(w.from), "to", ns(w.to)}, pairs...)
	}
	return linkTo("timeline", pairs...)
}

// holdersIn has a link to the timeline say who held what the finding's goroutines wait for.
func (l *linker) holdersIn(link string) string {
	if link == "" || l.number == "" || len(l.groups) == 0 || l.v.queue(l.f) == "" {
		return link
	}
	return link + "&" + url.Values{"finding": {l.number}, "panel": {"holds"}}.Encode()
}

func ns(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }

// peakWidth returns how much of the run a link opens: a screen of some hundred single
// stretches where goroutines take turns every 100 µs, and never more than a tenth of the run.
func (l *linker) peakWidth() time.Duration {
	return max(min(100*time.Millisecond, l.v.duration()/10), 1)
}

// peak returns where a group is most in a state.
func (l *linker) peak(group string, s timeline.State) window {
	key := peakKey{group, s}
	w, ok := l.peaks[key]
	if !ok {
		if from, to, found := l.find(group, s, l.peakWidth()); found {
			w = window{from, to}
		}
		l.peaks[key] = w
	}
	return w
}

// widen widens a stretch, so that what led to it can be seen.
func (l *linker) widen(from, to time.Duration) window {
	wide := max(to-from, l.peakWidth()/10)
	return window{max(from-wide/2, 0), min(to+wide/2, l.v.duration())}
}

// busiestCycle returns the longest collection, with its surroundings.
func (l *linker) busiestCycle() (w window) {
	if l.v.Model.GC == nil {
		return w
	}
	var most time.Duration
	for _, c := range l.v.Model.GC.Cycles {
		if c.Begin >= 0 && c.End-c.Begin > most {
			most = c.End - c.Begin
			w = l.widen(c.Begin, c.End)
		}
	}
	return w
}

// longestStop returns the longest stop of the world, with its surroundings.
func (l *linker) longestStop() (w window) {
	if l.v.Model.GC == nil {
		return w
	}
	var most time.Duration
	for _, p := range l.v.Model.GC.Pauses {
		if p.Duration > most {
			most = p.Duration
			w = l.widen(p.At, p.At+p.Duration)
		}
	}
	return w
}

// stops returns the time around the longest stop of the world on the screen of charts,
// which have stops marked: the place for them where there is no timeline. It is ""
// for what is not about stops.
func (l *linker) stops(k *picture) string {
	if k.lanes != "stw" || !l.has("runtime") || !slices.Contains(slices.Collect(maps.Values(l.charts)), true) {
		return ""
	}
	w := l.longestStop()
	if w.to <= w.from {
		return ""
	}
	// Counters are read ten times a second: a window of milliseconds has none of them.
	wide := max(l.peakWidth(), l.v.duration()/10)
	w = window{max(w.from-wide, 0), min(w.to+wide, l.v.duration())}
	chart := "" // of all that there are
	if i := slices.IndexFunc(k.charts, func(c string) bool { return l.charts[c] }); i >= 0 {
		chart = k.charts[i]
	}
	return linkTo("runtime", "from", ns(w.from), "to", ns(w.to), "chart", chart)
}

// chart returns the first chart of a kind that the run has.
func (l *linker) chart(k *picture) string {
	if !l.has("runtime") {
		return ""
	}
	for _, c := range k.charts {
		if l.charts[c] {
			return linkTo("runtime", "chart", c)
		}
	}
	return ""
}

// goroutineTable returns the table of one group's goroutines.
func (l *linker) goroutineTable(group string) string {
	if !l.has("goroutines") {
		return ""
	}
	if group == "" { // the group without a name; linkTo leaves out what is empty
		return "goroutines?group="
	}
	return linkTo("goroutines", "group", pageName(group))
}

// flameOf returns the first of some trees that the run has.
func (l *linker) flameOf(trees []string) string {
	if i := slices.IndexFunc(trees, l.hasTree); i >= 0 {
		return linkTo("flame", "kind", trees[i])
	}
	return ""
}

// flameWith returns the first of some trees in which a function can be seen, with it
// marked; else one that has it at all, turned to it, however thin it is.
func (l *linker) flameWith(trees []string, function string) string {
	for _, t := range trees {
		if l.shareIn(t, function) >= seenFrom {
			return linkTo("flame", "kind", t, "q", pageName(function))
		}
	}
	for _, t := range trees {
		if l.shareIn(t, function) > 0 {
			return linkTo("flame", "kind", t, "view", "sandwich", "fn", pageName(function))
		}
	}
	return ""
}

// source returns the link to a line of the user's code, beside what its lines cost in the
// first tree that has the function; "" where none has.
func (l *linker) source(main *picture, w diagnosis.Place) string {
	if w.File == "" || w.Line == 0 {
		return ""
	}
	for _, t := range slices.Concat(main.trees, everyTree) {
		// In the tree of states a function may be a group's name, without a line.
		if t != "states" && l.shareIn(t, w.Function) > 0 {
			return linkTo("flame", "kind", t, "src", "1", "focus", pageName(w.Function), "line", strconv.Itoa(w.Line))
		}
	}
	return ""
}

// seenFrom is the share of a tree from which a function is wider than a pixel of a
// screen.
const seenFrom = 1e-3

// shareIn returns how much of a tree is a function with all that it calls. Facts of a finding
// ask again and again for the same.
func (l *linker) shareIn(tree, function string) float64 {
	if function == "" || !l.hasTree(tree) {
		return 0
	}
	key := [2]string{tree, function}
	share, known := l.shares[key]
	if !known {
		if l.shares == nil {
			l.shares = map[[2]string]float64{}
		}
		share = shareOf(l.v.Model, tree, function)
		l.shares[key] = share
	}
	return share
}

func (l *linker) hasTree(t string) bool { return l.has("flame") && l.trees[t] }

// everyTree are the trees in which a function is looked for, those that say what
// it costs first.
var everyTree = []string{"cpu", "kernel", "alloc_space", "sync", "syscall", "net", "inuse_space", "block", "mutex", "goroutine", "sched", "states"}

// function returns the function that a finding names first. Where no line of the user's is
// to blame, it names none ("the program's libraries"): it is then the innermost one of
// the finding's largest stack.
func (l *linker) function() string {
	name := ""
	if len(l.f.Where) > 0 {
		name = l.f.Where[0].Function
	}
	if len(l.f.Stacks) == 0 || slices.ContainsFunc(l.f.Stacks, func(s model.Stack) bool { return l.in(s, name) }) {
		return name
	}
	if frames := l.v.Model.Stacks.Frames(l.f.Stacks[0]); len(frames) > 0 && !l.hasPlace(name) {
		return frames[0].Func
	}
	return name
}

func (l *linker) in(s model.Stack, function string) bool {
	return slices.ContainsFunc(l.v.Model.Stacks.Frames(s), func(f model.Frame) bool { return f.Func == function })
}

// hasPlace reports whether a function can be shown anywhere.
func (l *linker) hasPlace(function string) bool {
	return l.groupNamed(function) != "" || l.flameWith(everyTree, function) != ""
}

// shareOf returns how much of a tree is a function with all that it calls.
func shareOf(m *model.Model, kind, function string) float64 {
	var its, all int64
	add := func(s model.Stack, value int64) {
		all += value
		if slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool { return f.Func == function }) {
			its += value
		}
	}
	switch p := fact.ProfileOf(m, kind); {
	case p != nil:
		column := columnOf(p, kind)
		for _, s := range p.Samples {
			if column < len(s.Values) {
				add(s.Stack, s.Values[column])
			}
		}
	case m.Sched != nil && kind == "states":
		for s := range m.Sched.StateTimes() {
			if s.Group.Name == function {
				its, all = its+int64(s.Total), all+int64(s.Total)
				continue
			}
			add(s.Stack, int64(s.Total))
		}
	case m.Sched != nil:
		for _, w := range m.Sched.Waits {
			if string(w.Kind) == kind {
				add(w.Stack, int64(w.Total))
			}
		}
	}
	if its <= 0 || all <= 0 {
		return 0
	}
	return float64(its) / float64(all)
}

// columnOf returns which of a profile's values a tree is of: that of its name, else the
// last, which is the time of those that count as well.
func columnOf(p *model.Profile, kind string) int {
	i := slices.IndexFunc(p.Types, func(t model.ValueType) bool { return t.Name == kind })
	if i < 0 {
		i = max(len(p.Types)-1, 0)
	}
	return i
}

// rises reports whether a line is ever other than zero.
func rises(s Series) bool {
	return slices.ContainsFunc(s.Value, func(v *float64) bool { return v != nil && *v != 0 })
}
