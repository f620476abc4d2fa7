package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/internal/flame"
	"github.com/gowhy/gowhy/internal/timeline"
	"github.com/gowhy/gowhy/model"
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
	for _, c := range v.charts() {
		l.charts[c.Name] = true
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
	charts  map[string]bool // that the run has
	trees   map[string]bool // of stacks
	// find is where a group is most in a state, for a width; nil without a trace.
	find   func(group string, s timeline.State, width time.Duration) (from, to time.Duration, ok bool)
	peaks  map[peakKey]window // that were asked for already
	f      *diagnosis.Finding // the one at hand
	groups []string           // it is about
}

type peakKey struct {
	group string
	state timeline.State
}

// A window is a piece of the run; that of no length is all of it.
type window struct{ from, to time.Duration }

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
	out.More = l.more(main)
	for i := range f.Symptoms {
		out.Symptoms = append(out.Symptoms, l.finding(&f.Symptoms[i]))
	}
	return out
}

// mainKind is what a finding rests on most: the first kind of its evidence that
// was measured and not computed.
func mainKind(kinds []*sourceKind) *sourceKind {
	i := slices.IndexFunc(kinds, func(k *sourceKind) bool { return k != nil && !k.derived })
	if i < 0 {
		return &sourceKind{}
	}
	return kinds[i]
}

// A sourceKind is a way in which sources of facts begin, and what shows them.
type sourceKind struct {
	prefix string
	// tree shows it by function; the first of these that the run has.
	trees []string
	// chart shows it over time.
	charts []string
	// lanes of the timeline show it; with goroutines, those of the finding's groups.
	lanes      string
	goroutines bool
	state      timeline.State // that the fact is about
	anyState   bool           // it is about all of them
	// derived is set for what was computed from other facts.
	derived bool
	// text is set for what has no picture: it stands in the list of sources.
	text bool
}

// sourceKinds are how the sources of facts begin, those that say more before
// those that say less. A rule with a new kind of source adds its line here;
// TestFindingsCanBeFollowed finds those that did not.
var sourceKinds = []sourceKind{
	// The collector, in a trace.
	{prefix: "trace: collect", lanes: "gc", charts: []string{"gc", "heap"}},
	{prefix: "trace: heap", lanes: "gc", charts: []string{"heap", "gc"}},
	{prefix: "trace: mark assist", lanes: "gc", goroutines: true, state: timeline.GC, charts: []string{"gc"}},
	{prefix: "trace: stops", lanes: "stw", charts: []string{"gc"}},
	// Ps, in a trace.
	{prefix: "trace: Ps", lanes: "ps", charts: []string{"procs"}},
	{prefix: "trace: GOMAXPROCS", lanes: "ps", charts: []string{"procs"}},
	{prefix: "trace: timeline", lanes: "ps", charts: []string{"procs", "runqueue"}},
	{prefix: "trace: generations", lanes: "ps", charts: []string{"procs"}},
	// Goroutines, in a trace.
	{prefix: "trace: waits for a P", goroutines: true, state: timeline.Runnable, trees: []string{"sched"}},
	{prefix: "trace: waits for the network", goroutines: true, state: timeline.Net, trees: []string{"net"}},
	{prefix: "trace: network", goroutines: true, state: timeline.Net, trees: []string{"net"}},
	{prefix: "trace: sync", goroutines: true, state: timeline.Sync, trees: []string{"sync"}},
	{prefix: "trace: waits", goroutines: true, state: timeline.Sync, trees: []string{"sync"}},
	{prefix: "trace: sleeps", goroutines: true, state: timeline.Wait, trees: []string{"other"}},
	{prefix: "trace: wake-ups", goroutines: true, anyState: true, trees: []string{"sched"}},
	{prefix: "trace: system calls", goroutines: true, state: timeline.Syscall, trees: []string{"syscall"}},
	{prefix: "trace: running", goroutines: true, state: timeline.Running, trees: []string{"states"}},
	{prefix: "trace: on a P", goroutines: true, state: timeline.Running, trees: []string{"states"}},
	{prefix: "trace: ran", goroutines: true, state: timeline.Running, trees: []string{"states"}},
	{prefix: "trace", goroutines: true, anyState: true, trees: []string{"states"}},

	// Profiles.
	{prefix: "cpu profile", trees: []string{"cpu", "kernel"}, charts: []string{"cpu"}},
	{prefix: "kernel", trees: []string{"kernel", "cpu"}, charts: []string{"cpu"}},
	{prefix: "allocs profile", trees: []string{"alloc_space", "alloc_objects"}, charts: []string{"heap"}},
	{prefix: "heap profile", trees: []string{"inuse_space", "inuse_objects"}, charts: []string{"heap"}},
	{prefix: "goroutine", trees: []string{"goroutine"}, charts: []string{"goroutines"}},
	{prefix: "block profile", trees: []string{"block"}},
	{prefix: "mutex profile", trees: []string{"mutex"}},

	// What was counted over time.
	{prefix: "runtime/metrics", charts: []string{"goroutines", "heap", "gc", "memory"}},
	{prefix: "metrics: /gc/heap", charts: []string{"heap", "memory"}},
	{prefix: "metrics: /gc", charts: []string{"gc", "heap"}},
	{prefix: "metrics: /cpu", charts: []string{"cpu"}},
	{prefix: "metrics: /memory", charts: []string{"memory", "heap"}},
	{prefix: "metrics: /sched", charts: []string{"goroutines", "runqueue"}},
	{prefix: "metrics: /cgo", charts: []string{"syscalls"}},
	{prefix: "metrics", charts: []string{"heap", "goroutines", "memory"}},
	{prefix: "gctrace", charts: []string{"gc", "heap"}},
	{prefix: "schedtrace", charts: []string{"runqueue", "procs"}},
	{prefix: "/proc/stat", charts: []string{"machine"}},
	{prefix: "/proc: threads", charts: []string{"threads"}},
	{prefix: "/proc: resident", charts: []string{"memory"}},
	{prefix: "/proc: voluntary", charts: []string{"switches"}},
	{prefix: "/proc", charts: []string{"cpu", "machine"}},
	{prefix: "psi", charts: []string{"pressure", "machine"}},
	{prefix: "control group: limits", charts: []string{"cpu", "memory"}},
	{prefix: "control group", charts: []string{"pressure", "cpu"}},
	{prefix: "system calls", charts: []string{"syscalls"}},
	{prefix: "load result: backlog", charts: []string{"load", "latency"}},
	{prefix: "load result", charts: []string{"latency", "load"}},

	// What is written down somewhere, and not a measurement over time.
	{prefix: "benchmarks", text: true},
	{prefix: "build info", text: true},
	{prefix: "release notes", text: true},
	{prefix: "gomaxprocs of the run", text: true},
	{prefix: "affinity", text: true},
	{prefix: "not recorded", text: true},
	{prefix: "go 1.", text: true}, // what a version of Go does

	// What was computed from the facts beside it.
	{prefix: "as the last collection", charts: []string{"heap"}, derived: true},
	{prefix: "as collections", charts: []string{"heap"}, derived: true},
	{prefix: "collections ÷", charts: []string{"gc", "heap"}, lanes: "gc", derived: true},
	{prefix: "what the heap", charts: []string{"heap"}, derived: true},
	{prefix: "(limit", charts: []string{"memory"}, derived: true},
	{prefix: "lower end", charts: []string{"memory", "goroutines"}, derived: true},
	{prefix: "8 kib", charts: []string{"goroutines"}, derived: true},
	{prefix: "waiters of a queue", goroutines: true, state: timeline.Sync, derived: true},
	{prefix: "p ×", goroutines: true, anyState: true, derived: true},
	{prefix: "1.5 × cores", charts: []string{"cpu", "procs"}, derived: true},
	{prefix: "from code", trees: []string{"cpu", "kernel"}, derived: true},
	{prefix: "most of them", trees: []string{"cpu", "kernel"}, derived: true},
}

// kindOf is what a fact's source is; nil when the page does not know it.
func kindOf(source string) *sourceKind {
	s := strings.ToLower(source)
	for i := range sourceKinds {
		if strings.HasPrefix(s, strings.ToLower(sourceKinds[i].prefix)) {
			return &sourceKinds[i]
		}
	}
	return nil
}

// fact is the place that shows a fact.
func (l *linker) fact(k *sourceKind, fact *diagnosis.Fact) string {
	if k.text {
		return "sources"
	}
	table := ""
	if k.anyState { // the table has all of them
		table = l.goroutinesOf(k)
	}
	return cmp.Or(l.timelineOf(k, l.stateOf(k, fact)), table, l.flame(k, l.function()), l.chart(k), l.goroutinesOf(k), l.anything(), "sources")
}

// where is the place that shows a line of the user's code.
func (l *linker) where(main *sourceKind, w diagnosis.Place) string {
	if group := l.groupNamed(w.Function); group != "" && main.goroutines {
		return l.goroutineTable(group)
	}
	return cmp.Or(l.flameWith(main.trees, w.Function), l.flameWith(everyTree, w.Function),
		l.flameOf(main.trees), l.goroutinesOf(&sourceKind{goroutines: true}), "sources")
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
	add("link.runtime", l.chart(main))
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

// stateOf is the state that a fact is about: what its source says, or else its
// name, for "goroutine groups" are the source of all states.
func (l *linker) stateOf(k *sourceKind, fact *diagnosis.Fact) stateChoice {
	if !k.anyState || fact == nil {
		return stateChoice{k.state, !k.anyState && k.goroutines}
	}
	n := strings.ToLower(fact.Name)
	for _, w := range []struct {
		word  string
		state timeline.State
	}{
		{"for a p", timeline.Runnable}, {"ready", timeline.Runnable}, {"runnable", timeline.Runnable},
		{"network", timeline.Net}, {"system call", timeline.Syscall}, {"assist", timeline.GC},
		{"blocked", timeline.Sync}, {"wait", timeline.Sync}, {"running", timeline.Running}, {"ran ", timeline.Running},
	} {
		if strings.Contains(n, w.word) {
			return stateChoice{w.state, true}
		}
	}
	return stateChoice{}
}

// A stateChoice is a state, or any.
type stateChoice struct {
	state timeline.State
	one   bool
}

// timelineOf is a window of the timeline.
func (l *linker) timelineOf(k *sourceKind, s stateChoice) string {
	if !l.has("timeline") || k.lanes == "" && !k.goroutines {
		return ""
	}
	group, w := "", window{}
	if k.goroutines && len(l.groups) > 0 {
		group = l.groups[0]
		w = l.peak(group, s)
	}
	switch {
	case w.to > w.from:
	case k.lanes == "gc":
		w = l.busiestCycle()
	case k.lanes == "stw":
		w = l.longestStop()
	}
	pairs := []string{"g", sent(group), "lanes", k.lanes}
	if w.to > w.from {
		pairs = append([]string{"from", ns(w.from), "to", ns(w.to)}, pairs...)
	}
	return linkTo("timeline", pairs...)
}

func ns(d time.Duration) string { return strconv.FormatInt(int64(d), 10) }

// peakWidth is how much of the run a link opens: a screen of some hundred
// single stretches where goroutines take turns every 100 µs, and never more than
// a tenth of the run.
func (l *linker) peakWidth() time.Duration {
	return max(min(100*time.Millisecond, l.v.duration()/10), 1)
}

// peak is where a group is most in a state.
func (l *linker) peak(group string, s stateChoice) window {
	if !s.one {
		s.state = timeline.Running // where it does most
	}
	key := peakKey{group, s.state}
	w, ok := l.peaks[key]
	if !ok {
		if from, to, found := l.find(group, s.state, l.peakWidth()); found {
			w = window{from, to}
		}
		l.peaks[key] = w
	}
	return w
}

// around widens a stretch, so that what led to it can be seen.
func (l *linker) around(from, to time.Duration) window {
	wide := max(to-from, l.peakWidth()/10)
	return window{max(from-wide/2, 0), min(to+wide/2, l.v.duration())}
}

// busiestCycle is the longest collection, with its surroundings.
func (l *linker) busiestCycle() (w window) {
	if l.v.Model.GC == nil {
		return w
	}
	var most time.Duration
	for _, c := range l.v.Model.GC.Cycles {
		if c.Begin >= 0 && c.End-c.Begin > most {
			most = c.End - c.Begin
			w = l.around(c.Begin, c.End)
		}
	}
	return w
}

// longestStop is the longest stop of the world, with its surroundings.
func (l *linker) longestStop() (w window) {
	if l.v.Model.GC == nil {
		return w
	}
	var most time.Duration
	for _, p := range l.v.Model.GC.Pauses {
		if p.Duration > most {
			most = p.Duration
			w = l.around(p.At, p.At+p.Duration)
		}
	}
	return w
}

// chart is the first chart of a kind that the run has.
func (l *linker) chart(k *sourceKind) string {
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

// goroutinesOf is the table's row of the finding's goroutines.
func (l *linker) goroutinesOf(k *sourceKind) string {
	if !k.goroutines || !l.has("goroutines") {
		return ""
	}
	if len(l.groups) == 0 {
		return "goroutines"
	}
	return l.goroutineTable(l.groups[0])
}

// goroutineTable is the table of one group's goroutines.
func (l *linker) goroutineTable(group string) string {
	if !l.has("goroutines") {
		return ""
	}
	if group == "" { // the group without a name; linkTo leaves out what is empty
		return "goroutines?group="
	}
	return linkTo("goroutines", "group", sent(group))
}

// flame is the first tree of a kind that has the function, with it marked; else
// the first one that the run has.
func (l *linker) flame(k *sourceKind, function string) string {
	return cmp.Or(l.flameWith(k.trees, function), l.flameOf(k.trees))
}

func (l *linker) flameOf(trees []string) string {
	if i := slices.IndexFunc(trees, l.hasTree); i >= 0 {
		return linkTo("flame", "kind", trees[i])
	}
	return ""
}

func (l *linker) flameWith(trees []string, function string) string {
	for _, t := range trees {
		if function != "" && l.hasTree(t) && inTree(l.v.Model, t, function) {
			return linkTo("flame", "kind", t, "q", sent(function))
		}
	}
	return ""
}

func (l *linker) hasTree(t string) bool { return l.has("flame") && l.trees[t] }

// everyTree are the trees in which a function is looked for, those that say what
// it costs first.
var everyTree = []string{"cpu", "kernel", "alloc_space", "sync", "syscall", "net", "inuse_space", "block", "mutex", "goroutine", "sched", "states"}

// function is the function that a finding names first.
func (l *linker) function() string {
	if len(l.f.Where) > 0 {
		return l.f.Where[0].Function
	}
	return ""
}

// profileOf is the profile that a tree is made of, nil for those of a trace.
func profileOf(m *model.Model, kind string) *model.Profile {
	switch kind {
	case "cpu":
		return m.CPU
	case "kernel":
		if m.Kernel != nil {
			return m.Kernel.CPU
		}
	case "alloc_space", "alloc_objects":
		return m.Heap
	case "inuse_space", "inuse_objects":
		return m.LiveHeap.End
	case "block":
		return m.Block
	case "mutex":
		return m.Mutex
	case "goroutine":
		return m.Goroutines.End
	}
	return nil
}

// inTree reports whether a function is anywhere in a tree.
func inTree(m *model.Model, kind, function string) bool {
	calls := func(s model.Stack) bool {
		return slices.ContainsFunc(m.Stacks.Frames(s), func(f model.Frame) bool { return f.Func == function })
	}
	if p := profileOf(m, kind); p != nil {
		return slices.ContainsFunc(p.Samples, func(s model.Sample) bool { return calls(s.Stack) })
	}
	if m.Sched == nil {
		return false
	}
	return slices.ContainsFunc(m.Sched.Waits, func(w model.Wait) bool {
		return (kind == "states" || string(w.Kind) == kind) && calls(w.Stack)
	}) || kind == "states" && m.Sched.Group(function) != nil
}

// groupNamed is a group by its start function, "" when that starts none.
func (l *linker) groupNamed(function string) string {
	if s := l.v.Model.Sched; s != nil && function != "" && s.Group(function) != nil {
		return function
	}
	return ""
}

// groupsOf are the goroutine groups that a finding is about: those that it says,
// else those that its functions start, else those that waited where it says.
func (l *linker) groupsOf(f *diagnosis.Finding) (list []string) {
	m := l.v.Model
	if m.Sched == nil {
		return nil
	}
	add := func(group string) {
		if !slices.Contains(list, group) && m.Sched.Group(group) != nil {
			list = append(list, group)
		}
	}
	for _, g := range f.Groups {
		add(g)
	}
	for _, w := range f.Where {
		if g := l.groupNamed(w.Function); g != "" {
			add(g)
		}
	}
	if len(list) > 0 {
		return list
	}
	// Waits are in the order of their length.
	for _, w := range m.Sched.Waits {
		if w.Kind != model.SchedWait && l.isOf(f, w.Stack) {
			add(w.Group)
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// isOf reports whether a stack is one that a finding is about.
func (l *linker) isOf(f *diagnosis.Finding, s model.Stack) bool {
	if slices.Contains(f.Stacks, s) {
		return true
	}
	for _, frame := range l.v.Model.Stacks.Frames(s) {
		if slices.ContainsFunc(f.Where, func(w diagnosis.Place) bool { return w.Function == frame.Func }) {
			return true
		}
	}
	return false
}
