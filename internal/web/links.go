package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/flame"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/timeline"
)

// From a finding to what it rests on.
//
// A fact says where it comes from in words ("trace: sync waits", "CPU profile ×
// rusage"), for a reader of the report. Here these words become places of the
// page: the table sourceKinds knows how every source begins, and which screen
// shows what it measures. Where that screen has nothing to show, because a fact
// from a trace is looked at without the trace, the next best is taken, and at
// last the list of sources, which always says what was recorded.
//
// What a place is narrowed to comes from the finding: its goroutine groups, the
// functions that it names, and the window in which these groups were most in the
// state that the fact is about.

// Links are where the page shows what each finding of the diagnosis rests on, in
// their order.
func (v *View) Links() []FindingLinks {
	if v.Diagnosis == nil {
		return nil
	}
	l := &linker{v: v, screens: v.screens(), charts: map[string]bool{}, trees: map[string]bool{}, peaks: map[peakKey]window{}}
	if v.Timeline != nil {
		l.find = v.Timeline.Peak
	}
	for _, c := range v.charts(window{}) {
		l.charts[c.Name] = slices.ContainsFunc(c.Series, rises)
	}
	for _, k := range flame.Kinds(v.Model) {
		l.trees[k.Name] = k.Total != 0
	}
	out := make([]FindingLinks, len(v.Diagnosis.Findings))
	for i := range v.Diagnosis.Findings {
		out[i] = l.finding(&v.Diagnosis.Findings[i])
	}
	return out
}

// A linker makes the links of a run's findings.
type linker struct {
	v       *View
	screens []string
	charts  map[string]bool // that the run has, and that say more than nothing
	trees   map[string]bool // of stacks
	// find is where a group is most in a state, for a width; nil without a trace.
	find   func(group string, s timeline.State, width time.Duration) (from, to time.Duration, ok bool)
	peaks  map[peakKey]window    // that were asked for already
	shares map[[2]string]float64 // of functions in trees, by both
	f      *diagnosis.Finding    // the one at hand
	groups []string              // it is about
}

type peakKey struct {
	group string
	state timeline.State
}

func (l *linker) finding(f *diagnosis.Finding) FindingLinks {
	l.f = f
	l.groups = l.groupsOf(f)
	kinds := make([]*sourceKind, len(f.Evidence))
	out := FindingLinks{}
	for i := range f.Evidence {
		fact := &f.Evidence[i]
		if kinds[i] = kindOf(fact.Source); kinds[i] == nil {
			out.Evidence = append(out.Evidence, "")
			continue
		}
		out.Evidence = append(out.Evidence, l.fact(kinds[i], fact))
	}
	main := mainKind(kinds)
	for _, w := range f.Where {
		out.Where = append(out.Where, l.where(main, w))
	}
	out.Cost = l.cost(main, f, out.Evidence)
	out.Bound = l.bound(main, f, out.Evidence)
	out.More = l.more(main)
	for i := range f.Symptoms {
		out.Symptoms = append(out.Symptoms, l.finding(&f.Symptoms[i]))
	}
	return out
}

// fact is the place that shows a fact.
func (l *linker) fact(k *sourceKind, fact *fact.Fact) string {
	if k.text {
		return "sources"
	}
	table := ""
	if k.anyState { // the table has all of them
		table = l.goroutinesOf(k)
	}
	return cmp.Or(l.timelineOf(k, l.stateOf(k, fact)), l.stops(k), table, l.flame(counting(k, fact), l.function()), l.chart(k), l.goroutinesOf(k),
		l.flameWith(everyTree, l.function()), l.anything(), "sources")
}

// where is the place that shows a line of the user's code.
func (l *linker) where(main *sourceKind, w diagnosis.Place) string {
	if group := l.groupNamed(w.Function); group != "" && main.goroutines {
		return l.goroutineTable(group)
	}
	return cmp.Or(l.flameWith(main.trees, w.Function), l.flameWith(everyTree, w.Function),
		l.groupBy(w.Function), l.timelineOf(main, l.stateOf(main, nil)), l.stops(main), l.chart(main), "sources")
}

// groupBy is the table of the goroutines that a function is about without being in
// any of their stacks: those that the finding names, else those that it starts.
func (l *linker) groupBy(function string) string {
	if len(l.groups) > 0 {
		return l.goroutineTable(l.groups[0])
	}
	m := l.v.Model
	if m.Sched == nil {
		return ""
	}
	i := slices.IndexFunc(m.Sched.Groups, func(g model.Group) bool {
		return slices.ContainsFunc(m.Stacks.Frames(g.Creator), func(f model.Frame) bool { return f.Func == function })
	})
	if i < 0 {
		return ""
	}
	return l.goroutineTable(m.Sched.Groups[i].Name)
}

// more are whole screens for a finding.
func (l *linker) more(main *sourceKind) (list []Link) {
	add := func(title, to string) {
		if to != "" {
			list = append(list, Link{Title: title, To: to})
		}
	}
	// Any finding that says which goroutines it is about can be followed to them.
	with := *main
	with.goroutines = with.goroutines || len(l.groups) > 0
	add("link.timeline", l.timelineOf(&with, l.stateOf(main, nil)))
	if len(l.groups) > 0 {
		add("link.goroutines", l.goroutineTable(l.groups[0]))
	} else if main.goroutines && l.has("goroutines") {
		add("link.goroutines", "goroutines")
	}
	add("link.flame", cmp.Or(l.flameWith(main.trees, l.function()), l.flameWith(everyTree, l.function()), l.flameOf(main.trees)))
	add("link.runtime", cmp.Or(l.chart(main), l.stops(main)))
	return list
}

func (l *linker) has(screen string) bool { return slices.Contains(l.screens, screen) }

// anything is a screen for what is shown nowhere better.
func (l *linker) anything() string {
	for _, s := range []string{"timeline", "goroutines", "runtime", "flame"} {
		if l.has(s) {
			return s
		}
	}
	return ""
}
