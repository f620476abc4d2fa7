package diagnosis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Options say what the reader wants from a diagnosis. The zero Options rank
// by benefit alone and keep defaultMax findings.
type Options struct {
	// Goal puts findings whose fix serves it first.
	Goal Goal
	// Max is the largest number of causes kept; 0 means defaultMax.
	Max int
}

// defaultMax is how many causes a diagnosis keeps when nobody asked
// otherwise. Nobody repairs ten things at once, and each fix moves the
// figures of the others: what is left shows itself in the next recording.
const defaultMax = 10

// Run lets every rule whose sources are there look at the model and returns
// what they found, ranked. The same model, rules and options give the same
// diagnosis. A rule that panics is named in the warnings, and the others go on.
func Run(m *model.Model, rules []*Rule, o Options) *Diagnosis {
	m = m.Frozen()
	r := runner{m: m, d: &Diagnosis{Schema: Schema, Goal: o.Goal, Files: slices.Clone(m.Run.Files)}}
	for i, rule := range rules {
		if missing := rule.Missing(m); len(missing) > 0 {
			r.skip(rule, missing)
			continue
		}
		r.run(rule, i)
	}
	r.reportSkipped()
	r.dropAnecdotes()
	r.lowerConfidence()
	r.d.Findings = r.keep(r.rank(r.fold(o.Goal), o.Goal), o.Max)
	r.d.Time = timeShares(m)
	r.d.Trace = traceInfo(m)
	r.d.Accounts = accountsOf(m)
	r.d.CPU = cpuOf(m)
	r.d.Operation = operationOf(m)
	if m.Run.Death != nil {
		r.d.Death = m.Run.Death.String()
	}
	r.d.Recording = recordingOf(m)
	r.d.Warnings = append(slices.Clone(m.Run.Coverage.Notes), r.d.Warnings...)
	r.judge(len(rules))
	r.d.fill()
	return r.d
}

// A runner is the state of one Run.
type runner struct {
	m     *model.Model
	d     *Diagnosis
	found []found
	// skipped holds the names of rules by the sources they lacked.
	skipped []skipped
	// lacking are rules that ran and could not look, by what they lack.
	lacking []Unchecked
	// doubts keep the program from being called well.
	doubts []Unchecked
	ran    int
}

// A found is a finding with what ranking and folding must know of its rule.
type found struct {
	Finding
	order      int // place of the rule in the suite, then of the finding in the rule
	disturbing bool
	parent     int // index of its cause; -1 for none
	groups     map[string]bool
	stacks     map[model.Stack]bool
}

type skipped struct {
	missing []model.Source
	names   []string
}

// Missing returns the sources for lack of which the rule is not run.
func (r *Rule) Missing(m *model.Model) (s []model.Source) {
	if slices.ContainsFunc(r.Instead, m.Has) {
		return nil
	}
	for _, n := range r.Needs {
		if !m.Has(n) {
			s = append(s, n)
		}
	}
	return s
}

func (r *runner) warn(format string, args ...any) {
	r.d.Warnings = append(r.d.Warnings, fmt.Sprintf(format, args...))
}

func (r *runner) run(rule *Rule, order int) {
	before, ran := len(r.found), 1
	defer func() {
		if e := recover(); e != nil {
			// Half a rule's findings would be ranked as if it had finished.
			r.found = r.found[:before]
			r.warn("rule %s failed and was left out: %v", rule.Name, e)
		}
	}()
	unchecked := func(what, why, how string) {
		r.d.Unchecked = append(r.d.Unchecked, Unchecked{What: what, Why: why, How: how, Rules: []string{rule.Name}})
	}
	rule.Check(&Pass{
		Meter:  fact.Meter{Model: r.m},
		Rule:   rule,
		Goal:   r.d.Goal,
		Report: func(f Finding) { r.add(rule, f, order) },
		Fine:   func(s string) { r.d.Fine = append(r.d.Fine, Fine{rule.Name, s}) },
		Obsolete: func(pattern, since, why string) {
			if o := (Obsolete{rule.Name, pattern, since, why}); !slices.Contains(r.d.Obsolete, o) {
				r.d.Obsolete = append(r.d.Obsolete, o)
			}
		},
		Unchecked: unchecked,
		Doubt: func(what, why, how string) {
			unchecked(what, why, how)
			r.doubts = append(r.doubts, Unchecked{What: what, Why: why})
		},
		Lacks: func(why, how string) {
			ran = 0
			r.lack(rule, why, how)
		},
	})
	r.ran += ran
}

// lack remembers a rule that could not look, together with those that lack the same.
func (r *runner) lack(rule *Rule, why, how string) {
	for i := range r.lacking {
		if l := &r.lacking[i]; l.Why == why && l.How == how {
			l.Rules = append(l.Rules, rule.Name)
			return
		}
	}
	r.lacking = append(r.lacking, Unchecked{Why: why, How: how, Rules: []string{rule.Name}})
}

func (r *runner) add(rule *Rule, f Finding, order int) {
	if f.Rule == "" {
		f.Rule = rule.Name
	}
	if f.Title == "" {
		f.Title = rule.Title
	}
	if f.Explains == nil {
		f.Explains = slices.Clone(rule.Explains)
	}
	if !f.finite() {
		r.warn("rule %s reported a number that is not finite; its finding was left out", rule.Name)
		return
	}
	f.fill()
	if len(f.Where) == 0 && f.Scope == "" {
		f.Scope = scopeOf(rule, &f)
	}
	f.Cost.Share = min(max(f.Cost.Share, 0), 1)
	f.Bound.Share = min(max(f.Bound.Share, 0), 1)
	r.prove(&f)
	f.Where = ownFirst(r.m, f.Where)
	n := found{Finding: f, order: order, disturbing: rule.Disturbing, parent: -1}
	n.groups, n.stacks = r.about(&f)
	r.found = append(r.found, n)
}

// ownFirst puts places in the reader's own module before those in libraries, where it is
// known which is which: nobody changes a library first.
func ownFirst(m *model.Model, places []Place) []Place {
	if m.Build == nil || m.Build.Module == "" {
		return places
	}
	own := func(p Place) bool {
		return strings.HasPrefix(p.Function, "main.") || strings.HasPrefix(p.Function, m.Build.Module+"/") || strings.HasPrefix(p.Function, m.Build.Module+".")
	}
	out := slices.Clone(places)
	slices.SortStableFunc(out, func(a, b Place) int {
		switch {
		case own(a) == own(b):
			return 0
		case own(a):
			return -1
		}
		return 1
	})
	return out
}

// The scopes of findings without a place.
const (
	wholeProgram = "the whole program"
	noLineKnown  = "not known: the evidence names no line of the program"
)

// scopeOf says what a finding without a place is of, or that it is not known.
func scopeOf(rule *Rule, f *Finding) string {
	switch {
	case rule.Whole:
		return wholeProgram
	case len(f.Groups) > 0:
		return "goroutines of " + strings.Join(f.Groups, ", ")
	}
	return noLineKnown
}

// finite reports whether every number of the finding can be ranked and saved.
func (f *Finding) finite() bool {
	v := []float64{f.Cost.Value, f.Cost.Share, f.Bound.Value, f.Bound.Share}
	if f.Experiment != nil {
		for _, p := range f.Experiment.Promised {
			v = append(v, p.Best)
		}
	}
	return !slices.ContainsFunc(f.Evidence, func(e fact.Fact) bool { return !e.Finite() }) &&
		!slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// skip remembers rules that lack sources, together where they lack the same:
// one line with the command that helps them all.
func (r *runner) skip(rule *Rule, missing []model.Source) {
	for i := range r.skipped {
		if slices.Equal(r.skipped[i].missing, missing) {
			r.skipped[i].names = append(r.skipped[i].names, rule.Name)
			return
		}
	}
	r.skipped = append(r.skipped, skipped{missing, []string{rule.Name}})
}

func (r *runner) reportSkipped() {
	for _, s := range r.skipped {
		var words, how []string
		for _, m := range s.missing {
			words = append(words, m.Words())
			if h := HowToGet(&r.m.Run, m); !slices.Contains(how, h) {
				how = append(how, h)
			}
		}
		r.d.Unchecked = append(r.d.Unchecked, Unchecked{
			What: strings.Join(s.names, ", "),
			Why:  "needs " + strings.Join(words, " and ") + ", which was not given",
			How:  strings.Join(how, " && "),

			Rules: s.names,
		})
	}
	for _, l := range r.lacking {
		l.What = strings.Join(l.Rules, ", ")
		r.d.Unchecked = append(r.d.Unchecked, l)
	}
}

// dropAnecdotes leaves out what was found in a trace both too short and too small for a
// rate: one system call in 192 ns is not five million a second. What stands still does so
// in any trace.
func (r *runner) dropAnecdotes() {
	if !r.m.Has(model.Trace) || r.m.Run.Duration >= ThinWindow {
		return
	}
	if e := r.m.Run.Coverage.Events; e == 0 || e >= ThinEvents {
		return
	}
	r.found = slices.DeleteFunc(r.found, func(f found) bool { return !f.Stalls && traced(f.Cost.Fact()) })
}

// traced reports whether a fact rests on what the trace counted.
func traced(f fact.Fact) bool {
	return f.Origin.Source == model.Trace || slices.ContainsFunc(f.Operands, traced)
}

// worthAccusing is the cost from which a finding accuses. A time that others stretched counts
// as what is left of it without them: of five repaired demonstrations beside twice as much work
// as there were CPUs one had a lock that cost 13% and 3% without them, and sick ones kept 18 to 34%.
const worthAccusing = 0.10

// lowerConfidence lowers what rests on numbers that something disturbed, and on a
// window too short to be typical. A finding is as sure as what its cost was computed
// from: other programs stretch times, and no count, size or stack. One that others may have
// made is a remark.
func (r *runner) lowerConfidence() {
	disturbances := disturbances(r.m)
	short := r.m.Has(model.Trace) && r.m.Run.Duration < ThinWindow
	waited, beside := waitedForOthers(r.m)
	for i := range r.found {
		f := &r.found[i]
		cost := f.Cost.Fact()
		by := cost.DisturbedBy()
		for _, d := range disturbances {
			if by&d.of != 0 && !f.disturbing && f.Confidence != Low {
				f.Confidence = Low
				f.Reasons = append(f.Reasons, "lowered: "+d.why)
			}
		}
		if left := (1 - waited) * f.Bound.Share; beside && by&fact.Starvation != 0 && !f.disturbing && !f.Stalls && !f.Fails && !f.Remark &&
			f.Bound.Goal != MemoryGoal && f.Bound.Share > 0 && left < worthAccusing {
			f.Remark = true
			f.Reasons = append(f.Reasons, fmt.Sprintf("a remark: without what others took it is worth %.1f%% at least, and nobody knows what more", 100*left))
		}
		if short && f.Confidence == High {
			f.Confidence = Medium
			f.Reasons = append(f.Reasons, fmt.Sprintf("lowered: the trace covers only %s", fact.Seconds.Format(r.m.Run.Duration.Seconds())))
		}
	}
}

// rank orders findings by what their fix can bring, those that serve the
// goal first. A cause counts with the best of its symptoms: curing it brings
// that too.
func (r *runner) rank(fs []tree, goal Goal) []Finding {
	slices.SortFunc(fs, func(a, b tree) int { return compare(a, b, goal) })
	out := make([]Finding, len(fs))
	for i, f := range fs {
		out[i] = f.finding(goal)
	}
	return out
}

func (r *runner) keep(fs []Finding, most int) []Finding {
	if most <= 0 {
		most = defaultMax
	}
	if len(fs) <= most {
		return fs
	}
	var names []string
	for _, f := range fs[most:] {
		if !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	r.warn("%d smaller findings are left out (%s); fix the first ones and record again", len(fs)-most, strings.Join(names, ", "))
	return fs[:most]
}

// A tree is a finding and those that it explains.
type tree struct {
	*found
	symptoms []tree
}

func (t tree) finding(goal Goal) Finding {
	f := t.Finding
	slices.SortFunc(t.symptoms, func(a, b tree) int { return compare(a, b, goal) })
	for _, s := range t.symptoms {
		f.Symptoms = append(f.Symptoms, s.finding(goal))
	}
	return f
}

// serves reports whether the fix of t or of anything it explains is what
// the reader asked for.
func (t tree) serves(goal Goal) bool {
	return t.Bound.Goal == goal || slices.ContainsFunc(t.symptoms, func(s tree) bool { return s.serves(goal) })
}

// benefit returns the largest share that the fix can bring to the goal, or to
// any goal when none was asked for or none is served.
func (t tree) benefit(goal Goal) float64 {
	any := goal == AnyGoal || !t.serves(goal)
	var b float64
	if any || t.Bound.Goal == goal {
		b = t.Bound.Share
	}
	// Of a program that mostly waits, half of its CPU is little of its time.
	if any && t.Bound.Goal == CPUGoal && t.Bound.Unit == fact.Cores {
		b = min(b, t.Bound.Value)
	}
	for _, s := range t.symptoms {
		if any || s.serves(goal) {
			b = max(b, s.benefit(goal))
		}
	}
	return b
}

func compare(a, b tree, goal Goal) int {
	if a.Remark != b.Remark {
		if b.Remark {
			return -1
		}
		return 1
	}
	if goal != AnyGoal {
		if sa, sb := a.serves(goal), b.serves(goal); sa != sb {
			if sa {
				return -1
			}
			return 1
		}
	}
	if a.disturbing != b.disturbing && a.Remark { // what is the program's own comes first
		if b.disturbing {
			return -1
		}
		return 1
	}
	if a.Stalls != b.Stalls {
		if a.Stalls {
			return -1
		}
		return 1
	}
	if a.Fails != b.Fails {
		if a.Fails {
			return -1
		}
		return 1
	}
	if a.Grows != b.Grows && !a.Remark {
		if a.Grows {
			return -1
		}
		return 1
	}
	benefit := cmp.Compare(b.benefit(goal), a.benefit(goal))
	if a.Remark { // nobody knows what it brings
		benefit = 0
	}
	return cmp.Or(
		benefit,
		cmp.Compare(b.Cost.Share, a.Cost.Share),
		cmp.Compare(a.order, b.order),
		cmp.Compare(a.Summary, b.Summary),
	)
}
