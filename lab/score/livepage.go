package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// What is to be reached.
const (
	liveLimit = 30 * time.Second // until the verdict is right
	liveRight = 0.80             // of the sick programs
	liveQuiet = 10 * time.Minute // without a false line
)

// A LiveRow is a sick program: what was said of it without a trace and with one.
type LiveRow struct {
	w             watching
	plain, traced *LiveAnswer // nil when it was not watched so
	needsTrace    bool
}

// A LiveWell is a well program.
type LiveWell struct {
	w      watching
	answer *LiveAnswer
	lines  []falseLine
}

// A liveTally is everything that LIVE.md says.
type liveTally struct {
	rows    []LiveRow
	wells   []LiveWell
	out     []leftOut
	missing []watching // not watched yet
	failed  int
	hours   float64 // that well programs were watched
	aside   map[string]int
}

// tallyLive puts answers beside what is true.
func tallyLive(l *Live, cases []*truth.Case) *liveTally {
	t := &liveTally{aside: map[string]int{}}
	sick, well, out := watchings(cases)
	t.out = out
	answers, unchecked := map[string]*LiveAnswer{}, []string{}
	for i := range l.Answers {
		a := &l.Answers[i]
		answers[a.key()] = a
		if !a.Trace {
			unchecked = append(unchecked, a.Unchecked...)
		}
	}
	find := func(w watching) *LiveAnswer {
		a := answers[w.key()]
		switch {
		case a == nil:
			t.missing = append(t.missing, w)
		case a.LeftOut != "":
			t.out = append(t.out, leftOut{w.key(), a.LeftOut})
			return nil
		case a.Failed != "":
			t.failed++
		}
		return a
	}
	for i := 0; i+1 < len(sick); i += 2 {
		r := LiveRow{w: sick[i], plain: find(sick[i]), traced: find(sick[i+1])}
		r.needsTrace = slices.Contains(unchecked, r.w.ill.Rule)
		if r.plain != nil || r.traced != nil {
			t.rows = append(t.rows, r)
		}
	}
	for _, w := range append(well, withTrace(well)...) {
		if w.trace && answers[w.key()] == nil {
			continue // that was not asked for
		}
		if a := find(w); a != nil {
			t.wells = append(t.wells, LiveWell{w, a, falseLines(a, w.allowed)})
			t.hours += a.Seconds / 3600
			for _, rule := range machineLines(a) {
				t.aside[rule]++
			}
		}
	}
	return t
}

// A liveFigures is how often the verdict was right in time, of some sick programs.
type liveFigures struct{ first, rule, shown, held Share }

func (f *liveFigures) add(a *LiveAnswer, ill *truth.Illness) {
	m, limit := judgeLive(a, ill.Rule, ill.Where), liveLimit.Seconds()
	f.first.add(m.first <= limit)
	f.rule.add(m.rule <= limit)
	f.shown.add(m.shown <= limit)
	f.held.add(m.held)
}

// The ways in which right verdicts are counted.
const (
	plainAll    = "without a trace, all"
	plainUsable = "without a trace, those whose rule needs none"
	tracedAll   = "with `--trace`, all"
)

// figures counts in one way.
func (t *liveTally) figures(way string) (f liveFigures) {
	for _, r := range t.rows {
		switch a := r.plain; {
		case way == tracedAll && r.traced != nil:
			f.add(r.traced, r.w.ill)
		case way == plainAll && a != nil, way == plainUsable && a != nil && !r.needsTrace:
			f.add(a, r.w.ill)
		}
	}
	return f
}

// quiet returns the well programs without a false line; long enough those watched for ten minutes.
func (t *liveTally) quiet() (s Share, short int) {
	for _, w := range t.wells {
		s.add(len(w.lines) == 0 && w.answer.Failed == "")
		if w.answer.Seconds < liveQuiet.Seconds()-10 {
			short++
		}
	}
	return s, short
}

// bars holds the figures to what is to be reached.
func (t *liveTally) bars() (all []bar) {
	for _, way := range []string{plainUsable, plainAll, tracedAll} {
		s := t.figures(way).first
		all = append(all, bar{fmt.Sprintf("the first line is right within %v: %s", liveLimit, way), "≥ " + percent(liveRight), share(s), s.Rate() >= liveRight})
	}
	quiet, short := t.quiet()
	have := share(quiet)
	if short > 0 {
		have += fmt.Sprintf("; %d were watched for less", short)
	}
	return append(all, bar{fmt.Sprintf("no false line of a well program in %.0f min", liveQuiet.Minutes()), "all", have, quiet.N > 0 && quiet.K == quiet.N && short == 0})
}

// A livePage writes LIVE.md.
type livePage struct {
	page
	l *Live
	t *liveTally
}

// write writes LIVE.md: the same bytes for the same answers and truth.
func (p *livePage) write(w io.Writer) error {
	p.head()
	p.sick()
	p.missed()
	p.well()
	p.out()
	p.method()
	_, err := io.WriteString(w, strings.TrimRight(strings.ReplaceAll(p.String(), "\n\n\n", "\n\n"), "\n")+"\n")
	return err
}

func (p *livePage) head() {
	p.line("# Right while it runs")
	p.line("")
	p.line("How often `gowhy top` is right, on programs of which it is known what is wrong with them")
	p.line("(`truth.yaml` beside each), while they run. Made by `go run ./lab/score -live` from")
	p.line("`lab/live.json`, not by hand; shares have Wilson's 95 %% interval behind them.")
	var rows [][]string
	for _, b := range p.t.bars() {
		met := "yes"
		if !b.met {
			met = "**no**"
		}
		rows = append(rows, []string{b.what, b.want, b.have, met})
	}
	p.table(1, []string{"what", "to reach", "reached", ""}, rows)
	rows = nil
	for _, way := range []string{plainUsable, plainAll, tracedAll} {
		f := p.t.figures(way)
		rows = append(rows, []string{way, share(f.first), share(f.rule), share(f.shown), share(f.held)})
	}
	p.table(1, []string{fmt.Sprintf("within %v", liveLimit), "right rule and function first", "right rule first", "right among those shown", "first at the end"}, rows)
	p.taken(p.l.Taken, "")
	for _, a := range p.l.Anew {
		p.taken(a, "Anew, or only then: ")
	}
	if p.t.failed > 0 {
		p.line("%d runs failed, and count as wrong.", p.t.failed)
	}
	if len(p.t.missing) > 0 {
		p.line("")
		p.line("**Not watched yet: %s.**", p.t.missingWords())
	}
	p.line("")
}

// missingWords names what was not watched yet: of each case whether all of it.
func (t *liveTally) missingWords() string {
	n, seen, names := map[string]int{}, map[string]bool{}, []string{}
	for _, r := range t.rows {
		seen[r.w.c.Name] = true
	}
	for _, w := range t.wells {
		seen[w.w.c.Name] = true
	}
	for _, w := range t.missing {
		if seen[w.c.Name] {
			names = append(names, code(w.key()))
		} else if n[w.c.Name]++; n[w.c.Name] == 1 {
			names = append(names, "all of "+code(w.c.Name))
		}
	}
	return list(names)
}

func (p *livePage) taken(t Provenance, before string) {
	of := "all cases"
	if t.Cases != "" {
		of = code(t.Cases)
	}
	p.line("%s%s on %s, commit %s, %s, %d cores of %s, %s (seed %d, %.0f min).", before, of, safe(t.Date), code(t.Commit), safe(t.Go), t.Cores, safe(t.CPU), safe(t.Kernel), t.Seed, t.TookMins)
}

func (p *livePage) sick() {
	p.line("## Sick programs")
	p.line("")
	p.line("Seconds from the start of `gowhy top` until the right finding was the first line, and until")
	p.line("it was shown at all; – is never.")
	var rows [][]string
	for _, r := range p.t.rows {
		needs := ""
		if r.needsTrace {
			needs = "yes"
		}
		row := []string{safe(r.w.c.Name), safe(r.w.name), code(r.w.ill.Rule), needs}
		rows = append(rows, slices.Concat(row, liveCells(r.plain, r.w.ill), liveCells(r.traced, r.w.ill)))
	}
	p.table(4, []string{"case", "illness", "rule", "needs a trace", "first", "shown", "others' CPU", "first with `--trace`", "shown with it", "others' CPU then"}, rows)
}

func liveCells(a *LiveAnswer, ill *truth.Illness) []string {
	if a == nil {
		return []string{"not watched", "", ""}
	}
	m := judgeLive(a, ill.Rule, ill.Where)
	first := moment(m.first)
	if m.first < never && !m.held {
		first += ", not at the end"
	}
	return []string{first, moment(m.shown), fmt.Sprintf("%.2f", a.Others)}
}

func moment(t float64) string {
	if t == never {
		return "–"
	}
	return fmt.Sprintf("%.0f", math.Ceil(t))
}

func (p *livePage) missed() {
	p.line("## Each miss")
	p.line("")
	p.line("What was shown is of the end of the %.0f seconds, and where that differs of the end of the run.", liveLimit.Seconds())
	p.line("Pieces are the pieces of time that were recorded, with what `gowhy diagnose` says of each.")
	var rows [][]string
	for _, r := range p.t.rows {
		for _, a := range []*LiveAnswer{r.plain, r.traced} {
			if a == nil {
				continue
			}
			m := judgeLive(a, r.w.ill.Rule, r.w.ill.Where)
			if m.first <= liveLimit.Seconds() {
				continue
			}
			said := a.viewAt(liveLimit.Seconds()).words()
			if end := a.viewAt(never).words(); end != said {
				said += "; then " + end
			}
			rows = append(rows, []string{safe(a.key()), code(r.w.ill.Rule), safe(said), safe(pieceWords(a.Pieces)), safe(whyMissed(a, m, r.w.ill.Rule, liveLimit.Seconds()))})
		}
	}
	if len(rows) == 0 {
		p.line("")
		p.line("There is none.")
		p.line("")
		return
	}
	p.table(5, []string{"run", "wanted", "shown", "pieces", "why"}, rows)
}

// pieceWords says what each piece of time has.
func pieceWords(pieces []Piece) string {
	var words []string
	for _, p := range pieces {
		var rules []string
		for _, f := range p.Findings {
			rule := f.Rule
			if f.Remark {
				rule += " as a remark"
			}
			rules = append(rules, rule)
		}
		if len(rules) == 0 {
			rules = []string{p.Verdict}
		}
		words = append(words, strings.Join(rules, ", "))
	}
	return strings.Join(words, "; ")
}

func (p *livePage) well() {
	p.line("## Well programs")
	p.line("")
	p.line("%d programs were watched for %.1f hours in all. Those with a number beside them were watched", len(p.t.wells), p.t.hours)
	p.line("while so many others were.")
	var rows [][]string
	for _, w := range p.t.wells {
		a, lines := w.answer, "none"
		if len(w.lines) > 0 {
			lines = safe(falseWords(w.lines))
		}
		if a.Failed != "" {
			lines = "the run failed: " + safe(a.Failed)
		}
		beside := ""
		if a.Beside > 0 {
			beside = fmt.Sprint(a.Beside)
		}
		rows = append(rows, []string{safe(a.key()), lines, fmt.Sprintf("%.1f", a.Seconds/60), fmt.Sprint(a.Judged), beside, fmt.Sprintf("%.2f", a.Cores), fmt.Sprintf("%.2f", a.Others)})
	}
	p.table(2, []string{"run", "false lines", "minutes", "pieces", "beside", "CPU", "others' CPU"}, rows)
	if len(p.t.aside) > 0 {
		p.line("Said of the machine or of the evidence, and neither right nor wrong here: %s.", countedMap(p.t.aside))
		p.line("")
	}
}

func countedMap(n map[string]int) string {
	var all []string
	for rule, k := range n {
		for range k {
			all = append(all, rule)
		}
	}
	return counted(all)
}

// falseWords names false lines, with when they came.
func falseWords(lines []falseLine) string {
	var words []string
	for _, l := range lines {
		w := l.finding.Rule
		if l.finding.Function != "" {
			w += " in " + l.finding.Function
		}
		words = append(words, fmt.Sprintf("%s after %.0f s", w, l.at))
	}
	return strings.Join(words, ", ")
}

func (p *livePage) out() {
	p.line("## Left out")
	if len(p.t.out) == 0 {
		p.line("")
		p.line("Nothing.")
		p.line("")
		return
	}
	var rows [][]string
	for _, x := range p.t.out {
		rows = append(rows, []string{safe(x.what), safeReason(x.why)})
	}
	p.table(2, []string{"run", "why"}, rows)
}

func (p *livePage) method() {
	p.line("## How it was judged")
	p.line("")
	p.line("Each run is a process of its own that has run for %v before `gowhy top --json PID` is", settle)
	p.line("started: time counts from there. What is right is what `truth.yaml` wants first: the rule, and")
	p.line("where it names functions one of them as the place that is shown. As in SCORE.md a remark")
	p.line("accuses nobody, and nor do %s,", codes(aside))
	p.line("which are about the machine and the evidence. A false line is any other problem that was")
	p.line("shown at any time of a well program, each rule once. Whether a rule needs a trace is what")
	p.line("gowhy says of it (`unchecked`). A program that ends before it was watched for its time is a")
	p.line("failed run, and counts as wrong. Others' CPU is what all of the machine used but the")
	p.line("program and gowhy: its load, its broker, and strangers.")
}
