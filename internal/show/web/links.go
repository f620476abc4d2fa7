package web

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// From a finding to what it rests on.
//
// A fact has an origin: what was counted, and in which evidence. The table
// pictures says which screen shows each kind of origin; a link carries the fact's
// address (see [View.factAt]), and the screen marks what was counted until the
// reader dismisses it. What no picture shows to the last digit, because a chart has
// points and not their sum, leads to the screen of the number itself: how it was
// computed, and what was counted.

// Links returns where the page shows what each finding of the diagnosis rests on, in their
// order.
func (v *View) Links() []FindingLinks {
	if v.Diagnosis == nil {
		return nil
	}
	l := newLinker(v)
	out := make([]FindingLinks, len(v.Diagnosis.Findings))
	for i := range v.Diagnosis.Findings {
		out[i] = l.finding(&v.Diagnosis.Findings[i], strconv.Itoa(i))
	}
	return out
}

// accountLinks returns where the page shows what each account of the diagnosis counts.
func (v *View) accountLinks() []FindingLinks {
	if v.Diagnosis == nil {
		return nil
	}
	l := newLinker(v)
	out := make([]FindingLinks, len(v.Diagnosis.Accounts))
	for i := range v.Diagnosis.Accounts {
		a := &v.Diagnosis.Accounts[i]
		f := rowsOf(a)
		out[i] = l.finding(f, accountAddress+strconv.Itoa(i))
		out[i].Where = make([]string, len(a.Rows))
		for r := range a.Rows {
			if w := a.Rows[r].Where; w != nil {
				out[i].Where[r] = l.lineLink(pictureOf(&lead(&f.Evidence[r]).Origin), *w)
			}
		}
	}
	return out
}

// rowsOf returns an account's rows as the evidence of a finding, which the page's numbers are of.
func rowsOf(a *diagnosis.Account) *diagnosis.Finding {
	f := &diagnosis.Finding{Title: a.Text}
	for _, r := range a.Rows {
		f.Evidence = append(f.Evidence, r.Value)
	}
	return f
}

func newLinker(v *View) *linker {
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
	return l
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
	number string                // its place in the diagnosis, from 1; "" for one that explains another, or none
	groups []string              // it is about
}

type peakKey struct {
	group string
	state timeline.State
}

func (l *linker) finding(f *diagnosis.Finding, address string) FindingLinks {
	l.f, l.number = f, ""
	if i, err := strconv.Atoi(address); err == nil {
		l.number = strconv.Itoa(i + 1)
	}
	l.groups = l.groupsOf(f)
	out := FindingLinks{Cost: l.fact(f.Cost.Fact(), address+".c"), Bound: l.fact(f.Bound.Fact(), address+".b")}
	for i, e := range f.Evidence {
		out.Evidence = append(out.Evidence, l.fact(e, address+".e"+strconv.Itoa(i)))
	}
	main := l.main(f)
	for _, w := range f.Where {
		out.Where = append(out.Where, l.lineLink(main, w))
		out.Source = append(out.Source, l.source(main, w))
	}
	out.More = l.screenLinks(main)
	for i := range f.Symptoms {
		out.Symptoms = append(out.Symptoms, l.finding(&f.Symptoms[i], address+".s"+strconv.Itoa(i)))
	}
	return out
}

// fact returns the place that shows a fact.
func (l *linker) fact(f fact.Fact, address string) FactLink {
	out := FactLink{To: l.to(&lead(&f).Origin, address)}
	for i, o := range f.Operands {
		out.Operands = append(out.Operands, l.fact(o, address+".o"+strconv.Itoa(i)))
	}
	return out
}

// lead returns the measured fact that a computed one is shown by: the first of its
// operands that has a picture of its own, else the first.
func lead(f *fact.Fact) *fact.Fact {
	if f.Measured() || len(f.Operands) == 0 {
		return f
	}
	first := lead(&f.Operands[0])
	for i := range f.Operands {
		if o := lead(&f.Operands[i]); hasPicture(&o.Origin) {
			return o
		}
	}
	return first
}

// hasPicture reports whether a kind has a picture that marks what was counted. What was in
// use when the window began has none.
func hasPicture(o *fact.Origin) bool {
	return o.Fold == "" && (o.Kind == fact.Samples || o.Kind == fact.Waits || o.Kind == fact.Goroutines)
}

// to returns the screen that shows what an origin counts, with the fact marked.
func (l *linker) to(o *fact.Origin, address string) string {
	switch {
	case !hasPicture(o):
	case o.Kind == fact.Goroutines && l.has("goroutines"):
		return linkTo("goroutines", "col", o.Columns[0], "fact", address)
	case l.hasTree(o.Tree):
		return linkTo("flame", "kind", o.Tree, "fact", address)
	}
	return linkTo("number", "fact", address)
}

// A picture is what shows a kind of origin beside the number itself.
type picture struct {
	lanes      string // of the timeline; with goroutines, those of the finding's groups
	goroutines bool
	state      timeline.State // that the fact is about
	trees      []string       // the first of these that the run has
	charts     []string       // the same
}

// pictures is the table from origin to view, but for what the origin itself says:
// its tree, its columns and its counter.
var pictures = map[fact.Kind]picture{
	fact.Samples:      {charts: []string{"cpu"}},
	fact.Waits:        {goroutines: true, state: timeline.Sync},
	fact.Wakes:        {goroutines: true, state: timeline.Running, trees: []string{"sched"}},
	fact.Goroutines:   {goroutines: true, state: timeline.Running, trees: []string{"states"}},
	fact.Processors:   {lanes: "ps", charts: []string{"procs"}},
	fact.LoadResults:  {charts: []string{"latency", "load"}},
	fact.Collector:    {lanes: "gc", charts: []string{"gc", "heap"}},
	fact.Timeline:     {lanes: "ps", charts: []string{"procs", "runqueue"}},
	fact.Standings:    {trees: []string{"goroutine"}},
	fact.Held:         {},
	fact.Generations:  {lanes: "ps", charts: []string{"procs"}},
	fact.Account:      {trees: []string{"cpu", "kernel"}, charts: []string{"cpu"}},
	fact.Metric:       {charts: []string{"heap", "goroutines", "memory"}},
	fact.Syscalls:     {charts: []string{"syscalls"}},
	fact.Process:      {charts: []string{"cpu", "machine"}},
	fact.Machine:      {charts: []string{"machine", "pressure"}},
	fact.ControlGroup: {charts: []string{"pressure", "cpu", "memory"}},
	fact.Printed:      {},
	fact.Counted:      {},
	fact.Setting:      {},
	fact.Window:       {},
	fact.Series:       {},
	fact.Published:    {},
	fact.Computed:     {},
	fact.Untyped:      {},
}

// counterCharts are the charts of counters that are not in the first of their kind.
var counterCharts = map[string]string{
	"threads": "threads", "files": "threads", "rss": "memory", "voluntary": "switches", "involuntary": "switches",
	"cpu_stall": "pressure", "memory": "memory", "usage": "cpu",
	"/sched/goroutines:goroutines": "goroutines", "/sched/goroutines-created:goroutines": "goroutines",
	"/gc/cycles/total:gc-cycles": "gc", "/memory/classes/total:bytes": "memory",
}

// columnStates are the states of goroutines that a column counts.
var columnStates = map[string]timeline.State{
	"running": timeline.Running, "runnable": timeline.Runnable, "delay_p50": timeline.Runnable, "delay_p99": timeline.Runnable,
	"delay_max": timeline.Runnable, "syscall": timeline.Syscall, "syscall_blocked": timeline.Syscall, "blocked": timeline.Sync,
	"blocked:network": timeline.Net,
}

// waitStates are the states of waits by their tree.
var waitStates = map[string]timeline.State{
	"sync": timeline.Sync, "net": timeline.Net, "syscall": timeline.Syscall, "sched": timeline.Runnable, "other": timeline.Wait,
}

// pictureOf returns the picture of an origin.
func pictureOf(o *fact.Origin) *picture {
	p := pictures[o.Kind]
	if o.Tree != "" {
		p.trees = []string{o.Tree}
	}
	if s, ok := waitStates[o.Tree]; ok {
		p.state = s
	}
	for _, c := range o.Columns {
		if s, ok := columnStates[c]; ok && o.Kind == fact.Goroutines {
			p.state = s
			break
		}
	}
	if c, ok := counterCharts[o.Name]; ok {
		p.charts = append([]string{c}, p.charts...)
	}
	return &p
}

// main returns the picture of what a finding rests on most: the first of its evidence that
// has a picture.
func (l *linker) main(f *diagnosis.Finding) *picture {
	for _, e := range f.Evidence {
		if p := pictureOf(&lead(&e).Origin); p.lanes != "" || p.goroutines || len(p.trees)+len(p.charts) > 0 {
			return p
		}
	}
	return &picture{}
}

// lineLink returns the place that shows a line of the user's code.
func (l *linker) lineLink(main *picture, w diagnosis.Place) string {
	if group := l.groupNamed(w.Function); group != "" && main.goroutines {
		return l.goroutineTable(group)
	}
	return cmp.Or(l.flameWith(main.trees, w.Function), l.flameWith(everyTree, w.Function),
		l.groupBy(w.Function), l.timelineOf(main), l.stops(main), l.chart(main), "sources")
}

// groupBy returns the table of the goroutines that a function is about without being in
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

// screenLinks are whole screens for a finding.
func (l *linker) screenLinks(main *picture) (list []Link) {
	add := func(title, to string) {
		if to != "" {
			list = append(list, Link{Title: title, To: to})
		}
	}
	// Any finding that says which goroutines it is about can be followed to them.
	with := *main
	with.goroutines = with.goroutines || len(l.groups) > 0
	add("link.timeline", l.holdersIn(l.timelineOf(&with)))
	if len(l.groups) > 0 {
		add("link.goroutines", l.goroutineTable(l.groups[0]))
	} else if main.goroutines && l.has("goroutines") {
		add("link.goroutines", "goroutines")
	}
	if l.has("standing") && slices.ContainsFunc(l.f.Evidence, ofMoment) {
		add("link.standing", "standing")
	}
	add("link.flame", cmp.Or(l.flameWith(main.trees, l.function()), l.flameWith(everyTree, l.function()), l.flameOf(main.trees)))
	add("link.memory", l.memory())
	add("link.runtime", cmp.Or(l.chart(main), l.stops(main)))
	return list
}

// memory returns the screen of the memory for a finding about it, with the holder open that it names.
func (l *linker) memory() string {
	if !l.has("memory") || l.f.Bound.Goal != diagnosis.MemoryGoal {
		return ""
	}
	for i := range l.f.Evidence {
		if o := lead(&l.f.Evidence[i]).Origin; o.Kind == fact.Held && o.Name != "" {
			return linkTo("memory", "held", o.Names[0]+" "+pageName(o.Name))
		}
	}
	return "memory"
}

// ofMoment reports whether a number is about what goroutines stand at.
func ofMoment(f fact.Fact) bool { return lead(&f).Origin.Kind == fact.Standings }

func (l *linker) has(screen string) bool { return slices.Contains(l.screens, screen) }
