package trialreport

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// Trial writes a trial for a terminal: the conclusion, what was compared, what
// happened to each metric, what was promised, under which conditions, and the
// next commands. Metrics that nobody guards or counts and that did not change are
// named only, but with Options.Verbose.
func Trial(w io.Writer, tr *experiment.Trial, o layout.Options) error {
	t := newTexter(o)
	t.trialHead(tr)
	t.arms(&tr.About)
	rows, rest := trialRows(tr, o.Verbose)
	t.effects(tr, rows)
	if note := opposedText(rows); note != "" {
		rest = append([]string{note}, rest...)
	}
	for _, l := range rest {
		t.Para(3, "", l, layout.Dim)
	}
	t.promise(tr)
	t.remarks("Conditions", conditions(tr), "·")
	t.claims(&tr.About)
	t.remarks("Warnings", trialWarnings(tr), t.Paint(layout.Yellow, "!"))
	t.commands(trialNext(tr))
	return t.Flush(w)
}

func conclusionStyle(c experiment.Conclusion) layout.Style {
	switch c {
	case experiment.Confirmed, experiment.NoDifference:
		return layout.Green
	case experiment.Rejected:
		return layout.Red
	}
	return layout.Yellow
}

func (t *texter) trialHead(tr *experiment.Trial) {
	t.verdict(layout.Safe(string(tr.Conclusion))+":", tr.Why, conclusionStyle(tr.Conclusion))
	t.subject(trialSubject(tr))
}

// subject says what the verdict is about and rests on.
func (t *texter) subject(text string) {
	for _, l := range layout.FigureLines(text, t.Width) {
		t.Line(t.Paint(layout.Dim, l))
	}
}

// trialSubject says how much was run.
func trialSubject(tr *experiment.Trial) string {
	var parts []string
	if tr.Primary != "" {
		parts = append(parts, "primary metric: "+string(tr.Primary))
	}
	if tr.Pairs > 0 {
		parts = append(parts, figures.Plural(tr.Pairs, "pair")+" of runs")
	}
	if n := len(slices.DeleteFunc(slices.Clone(tr.Rounds), func(r experiment.Round) bool { return !r.Count })); n > 0 {
		parts = append(parts, fmt.Sprintf("%d with everything counted", n))
	}
	if tr.Took > 0 {
		parts = append(parts, figures.Duration(tr.Took))
	}
	return strings.Join(parts, " · ")
}

// arms says what was compared, as one would type it.
func (t *texter) arms(a *experiment.About) {
	if len(a.A.Command) == 0 && len(a.B.Command) == 0 && a.A.Name == "" && a.B.Name == "" {
		return
	}
	t.Line("")
	at := 6
	if a.Load != "" || a.Finding != nil || len(a.B.Differs) > 0 {
		at = 10
	}
	t.Para(at, "A", a.A.String(), layout.Plain)
	t.Para(at, "B", a.B.String(), layout.Plain)
	if len(a.B.Differs) > 0 {
		t.Para(at, "differs", strings.Join(a.B.Differs, "; "), layout.Plain)
	}
	if a.Load != "" {
		t.Para(at, "load", a.Load, layout.Plain)
	}
	if f := a.Finding; f != nil {
		t.Para(at, "tries", f.Title+" ("+f.Rule+")"+fromText(f.From), layout.Plain)
	}
}

func fromText(file string) string {
	if file == "" {
		return ""
	}
	return ", found in " + file
}

// trialRows parts the metrics into those worth a row and lines that name the
// others. What is counted comes first and has its row always: it hardly varies, and
// says something when no time does.
func trialRows(tr *experiment.Trial, all bool) (rows []*experiment.Effect, rest []string) {
	by := map[experiment.Verdict][]string{}
	for i := range tr.Effects {
		e := &tr.Effects[i]
		if math.IsNaN(e.A) && math.IsNaN(e.B) && e.Metric != tr.Primary {
			continue // guarded and not measured, of which a warning tells
		}
		moved := e.Verdict == experiment.Improved || e.Verdict == experiment.Regressed
		if all || moved || e.Metric == tr.Primary || e.Guarded || counts(e) {
			rows = append(rows, e)
			continue
		}
		by[e.Verdict] = append(by[e.Verdict], string(e.Metric))
	}
	if same := by[experiment.Same]; len(same) > 0 {
		rest = append(rest, "the same: "+strings.Join(same, ", "))
	}
	if open := by[experiment.Inconclusive]; len(open) > 0 {
		rest = append(rest, "inconclusive, not part of the verdict: "+strings.Join(open, ", "))
	}
	slices.SortStableFunc(rows, func(a, b *experiment.Effect) int {
		return cmp.Compare(countedRank(a), countedRank(b))
	})
	return rows, rest
}

// counts reports whether a metric counts what a program does, and not when things
// happen. Of system calls most are what it does.
func counts(e *experiment.Effect) bool {
	info := experiment.InfoOf(e.Metric)
	return info.Counter && (e.Exact || !info.Chance || e.Metric == diagnosis.Syscalls)
}

// countedRank puts counters that are decided before all else.
func countedRank(e *experiment.Effect) int {
	if counts(e) && e.Verdict != experiment.Inconclusive {
		return 0
	}
	return 1
}

// effects writes the table of metrics. The columns that tell most come first: what
// a narrow terminal has no room for falls off on the right.
func (t *texter) effects(tr *experiment.Trial, rows []*experiment.Effect) {
	if len(rows) == 0 {
		return
	}
	cells := [][]string{{"metric", "A", "B", "change", "95% interval", "verdict", "p"}}
	for _, e := range rows {
		cells = append(cells, []string{layout.Safe(string(e.Metric)), metricText(e.Metric, e.A), metricText(e.Metric, e.B),
			movedText(e), intervalText(e), effectWord(e), pText(e)})
	}
	if !slices.ContainsFunc(cells[1:], func(row []string) bool { return row[6] != "" }) {
		cells[0][6] = "" // counted exactly, all of it
	}
	wide := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	// A benchmark's name may be longer than a line.
	wide[0] = min(wide[0], max(13, t.Width-3-sum(wide[1:6])-2*5))
	t.Line("")
	for i, row := range cells {
		t.effectLine(i, row, wide, tr, rows)
	}
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

func (t *texter) effectLine(i int, row []string, wide []int, tr *experiment.Trial, rows []*experiment.Effect) {
	var b strings.Builder
	b.WriteString("   ")
	used := 3
	for k, c := range row {
		left := k == 0 || k == 4 || k == 5
		if k > 3 && used+2+wide[k] > t.Width {
			break
		}
		if k > 0 {
			b.WriteString("  ")
			used += 2
		}
		used += wide[k]
		c = middle(c, wide[k])
		gap := strings.Repeat(" ", max(0, wide[k]-utf8.RuneCountInString(c)))
		switch {
		case i == 0:
			c = t.Paint(layout.Dim, c)
		case k == 5:
			c = t.Paint(effectStyle(rows[i-1]), c)
		case k == 0 && rows[i-1].Metric == tr.Primary:
			c = t.Paint(layout.Bold, c)
		}
		if left {
			b.WriteString(c + gap)
		} else {
			b.WriteString(gap + c)
		}
	}
	t.Line(b.String())
}

func effectStyle(e *experiment.Effect) layout.Style {
	switch {
	case e.Broken || e.Verdict == experiment.Regressed && !e.Guarded:
		return layout.Red
	case e.Verdict == experiment.Improved:
		return layout.Green
	case e.Guarded && !e.Unclear: // held
		return layout.Plain
	case e.Unclear || e.Verdict == experiment.Inconclusive:
		return layout.Yellow
	}
	return layout.Plain
}

// promise puts what was expected beside what was measured.
func (t *texter) promise(tr *experiment.Trial) {
	lines := promiseLines(tr)
	if len(lines) == 0 {
		return
	}
	t.Title("Promise and measurement")
	for _, l := range lines {
		t.Para(labelled, l[0], l[1], layout.Plain)
	}
}

// claims lists the findings that one arm has and the other has not.
func (t *texter) claims(a *experiment.About) {
	if len(a.Gone)+len(a.Came) == 0 {
		return
	}
	t.Title("Findings of the counted runs")
	for _, c := range a.Gone {
		t.writeMarked(t.Paint(layout.Green, "✓"), "gone: "+claimText(c))
	}
	for _, c := range a.Came {
		t.writeMarked(t.Paint(layout.Yellow, "!"), "new: "+claimText(c))
	}
}

func claimText(c experiment.Claim) string {
	s := c.Title + " (" + c.Rule + ")"
	if c.Summary != "" {
		s += ": " + c.Summary
	}
	return s
}

// remarks writes a list whose figures stay with their units.
func (t *texter) remarks(title string, items []string, mark string) {
	if len(items) == 0 {
		return
	}
	t.Title(title)
	for _, item := range items {
		t.writeMarked(mark, item)
	}
}

func (t *texter) writeMarked(mark, text string) {
	for i, l := range layout.FigureLines(text, t.Width-5) {
		if i == 0 {
			t.Line("   " + mark + " " + l)
		} else {
			t.Line("     " + l)
		}
	}
}

// commands writes the lines to paste, each with its reason where there is room.
func (t *texter) commands(next [][2]string) {
	if len(next) == 0 {
		return
	}
	t.Title("Next")
	for _, n := range next {
		l := "   " + layout.Safe(n[0])
		if utf8.RuneCountInString(l)+2+utf8.RuneCountInString(n[1]) <= t.Width {
			l += "  " + t.Paint(layout.Dim, n[1])
		}
		t.Line(l)
	}
}

// TrialMarkdown writes a trial for a review comment.
func TrialMarkdown(w io.Writer, tr *experiment.Trial, _ layout.Options) error {
	var m markdown
	m.P("## %s: %s", layout.Escape(string(tr.Conclusion)), layout.Escape(tr.Why))
	m.P("%s", layout.Escape(trialSubject(tr)))
	if a := tr.About.A.String(); a != "" {
		m.Item("**A** %s", layout.Code(a))
		m.Item("**B** %s", layout.Code(tr.About.B.String()))
		if d := tr.About.B.Differs; len(d) > 0 {
			m.Item("**differs** %s", layout.Escape(strings.Join(d, "; ")))
		}
	}
	if tr.About.Load != "" {
		m.Item("**load** %s", layout.Code(tr.About.Load))
	}
	if f := tr.About.Finding; f != nil {
		m.Item("**tries** %s", layout.Escape(f.Title+" ("+f.Rule+")"+fromText(f.From)))
	}
	m.effects(tr)
	if lines := promiseLines(tr); len(lines) > 0 {
		m.P("### Promise and measurement")
		for _, l := range lines {
			m.Item("**%s** %s", layout.Escape(l[0]), layout.Escape(l[1]))
		}
	}
	m.List("Conditions", conditions(tr))
	m.claims(&tr.About)
	m.List("Warnings", trialWarnings(tr))
	if next := trialNext(tr); len(next) > 0 {
		m.P("### Next")
		for _, n := range next {
			m.Item("%s %s", layout.Code(n[0]), layout.Escape(n[1]))
		}
	}
	_, err := io.WriteString(w, strings.TrimLeft(m.String(), "\n"))
	return err
}

func (m *markdown) effects(tr *experiment.Trial) {
	rows, rest := trialRows(tr, false)
	if len(rows) == 0 {
		return
	}
	m.P("| metric | A | B | change | 95%% interval | verdict | p |\n|---|---:|---:|---:|---|---|---:|")
	for _, e := range rows {
		name := layout.Escape(string(e.Metric))
		if e.Metric == tr.Primary {
			name = "**" + name + "**"
		}
		fmt.Fprintf(m, "| %s | %s | %s | %s | %s | %s | %s |\n", name, metricText(e.Metric, e.A), metricText(e.Metric, e.B),
			movedText(e), intervalText(e), layout.Escape(effectWord(e)), pText(e))
	}
	if note := opposedText(rows); note != "" {
		rest = append([]string{note}, rest...)
	}
	for _, l := range rest {
		m.P("%s", layout.Escape(l))
	}
}

func (m *markdown) claims(a *experiment.About) {
	if len(a.Gone)+len(a.Came) == 0 {
		return
	}
	m.P("### Findings of the counted runs")
	for _, c := range a.Gone {
		m.Item("gone: %s", layout.Escape(claimText(c)))
	}
	for _, c := range a.Came {
		m.Item("new: %s", layout.Escape(claimText(c)))
	}
}

// trialNext lists the commands that a reader would run now.
func trialNext(tr *experiment.Trial) [][2]string {
	var next [][2]string
	again := tr.About.Again
	if p := primaryEffect(tr); tr.Conclusion == experiment.Undecided && len(again) > 1 && p != nil && p.Need > tr.Pairs && p.Need <= experiment.MaxPairs {
		args := slices.Insert(slices.Clone(again), 1, "--pairs", fmt.Sprint(p.Need))
		next = append(next, [2]string{"gowhy " + shell.Words(args), "enough pairs, as far as one can tell" + takesText(tr, p.Need)})
	}
	f := tr.About.Finding
	if f == nil {
		return next
	}
	if f.Tune != "" && tr.Conclusion != experiment.Undecided {
		next = append(next, [2]string{tuneCommand(tr, f), "which value is best"})
	}
	return append(next, [2]string{"gowhy explain " + shell.Word(f.Rule), "how it is recognised, and what it is not"})
}

// takesText says how long that number of pairs would take; empty when nobody knows.
func takesText(tr *experiment.Trial, pairs int) string {
	if tr.Took <= 0 || tr.Pairs+tr.Dropped == 0 {
		return ""
	}
	each := tr.Took / time.Duration(tr.Pairs+tr.Dropped)
	return ", in about " + figures.Duration((each * time.Duration(pairs)).Round(time.Second))
}

// tuneCommand searches the value of which one was tried.
func tuneCommand(tr *experiment.Trial, f *experiment.Claim) string {
	goal := "min"
	if experiment.InfoOf(tr.Primary).More {
		goal = "max"
	}
	args := []string{"gowhy", "tune", "--knob", f.Tune, "--goal", goal + "(" + string(tr.Primary) + ")"}
	if tr.About.Load != "" {
		args = append(args, "--load", tr.About.Load)
	}
	if tr.About.Ready != "" {
		args = append(args, "--ready", tr.About.Ready)
	}
	return shell.Words(append(append(args, "--"), tr.About.A.Command...))
}

func primaryEffect(tr *experiment.Trial) *experiment.Effect {
	i := slices.IndexFunc(tr.Effects, func(e experiment.Effect) bool { return e.Metric == tr.Primary })
	if i < 0 {
		return nil
	}
	return &tr.Effects[i]
}

// trialWarnings returns those that are read.
func trialWarnings(tr *experiment.Trial) []string {
	list := slices.Clone(tr.Warnings)
	if more := len(list) - mostWarnings; more > 0 {
		list = append(list[:mostWarnings:mostWarnings], fmt.Sprintf("and %d more; --format json has them", more))
	}
	return list
}

// mostWarnings is how many are read; runs may each have their own.
const mostWarnings = 8

// conditions say how quiet the machine was, and which runs did not count.
func conditions(tr *experiment.Trial) []string {
	var list []string
	if tr.Floor > 0 && tr.Floor < absurd {
		list = append(list, fmt.Sprintf("noise of this machine: a program compared with itself in ten pairs differs by up to %s", figures.Percent(tr.Floor)))
	}
	if m := tr.SameWithin(); m > 0 && m < absurd {
		list = append(list, fmt.Sprintf("what differs by less than %s is called the same", figures.Percent(m)))
	}
	list = append(list, droppedText(tr)...)
	if s := busyText(tr.Rounds); s != "" {
		list = append(list, s)
	}
	return list
}

// A dropReason is why pairs did not count; those that differ in a figure only
// are one reason.
type dropReason struct {
	before, after string
	low, high     float64 // the figures between
	pairs         []int
}

var aFigure = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)

func (d *dropReason) String() string {
	figure := ""
	if d.low <= d.high {
		figure = figures.Number(d.low)
	}
	if d.low < d.high {
		figure += " to " + figures.Number(d.high)
	}
	return figures.Plural(len(d.pairs), "pair") + " not counted: " + d.before + figure + d.after
}

// dropReasons returns why rounds did not count, the most frequent reason first.
func dropReasons(rounds []experiment.Round) (list []*dropReason) {
	by := map[[2]string]*dropReason{}
	for _, r := range rounds {
		if r.Dropped == "" || r.Pair == 0 { // what warms up counts nowhere
			continue
		}
		key, value, known := [2]string{r.Dropped}, 0.0, false
		if at := aFigure.FindStringIndex(r.Dropped); at != nil {
			if v, err := strconv.ParseFloat(r.Dropped[at[0]:at[1]], 64); err == nil {
				key, value, known = [2]string{r.Dropped[:at[0]], r.Dropped[at[1]:]}, v, true
			}
		}
		d := by[key]
		if d == nil {
			d = &dropReason{before: key[0], after: key[1], low: math.Inf(1), high: math.Inf(-1)}
			by[key] = d
			list = append(list, d)
		}
		if known {
			d.low, d.high = min(d.low, value), max(d.high, value)
		}
		if !slices.Contains(d.pairs, r.Pair) {
			d.pairs = append(d.pairs, r.Pair)
		}
	}
	slices.SortStableFunc(list, func(a, b *dropReason) int { return cmp.Compare(len(b.pairs), len(a.pairs)) })
	return list
}

// droppedText tells the first of many reasons.
func droppedText(tr *experiment.Trial) (list []string) {
	const most = 3
	reasons := dropReasons(tr.Rounds)
	for _, d := range reasons[:min(len(reasons), most)] {
		list = append(list, d.String())
	}
	if more := len(reasons) - most; more > 0 {
		list = append(list, fmt.Sprintf("and for %s; --format json has them", figures.Plural(more, "other reason")))
	}
	return list
}

// busyText returns how busy the machine was with others in the runs that count.
func busyText(rounds []experiment.Round) string {
	var others, steal, queue []float64
	for _, r := range rounds {
		if r.Conditions.RunQueue > mostWaiting {
			r.Conditions.RunQueue = -1
		}
		if r.Dropped != "" || r.Count {
			continue
		}
		for _, x := range []struct {
			v    float64
			list *[]float64
		}{{r.Conditions.Others, &others}, {r.Conditions.Steal, &steal}, {r.Conditions.RunQueue, &queue}} {
			if x.v >= 0 && x.v < absurd {
				*x.list = append(*x.list, x.v)
			}
		}
	}
	var parts []string
	say := func(format string, list []float64, write func(float64) string) {
		if len(list) > 0 {
			slices.Sort(list)
			parts = append(parts, fmt.Sprintf(format, write(list[len(list)/2]), write(list[len(list)-1])))
		}
	}
	say("others used %s of the CPUs (at most %s)", others, figures.Percent)
	say("the hypervisor took %s (at most %s)", steal, figures.Percent)
	say("for each second running, threads waited %s for a CPU (at most %s)", queue, figures.Seconds)
	return strings.Join(parts, "; ")
}

// mostWaiting is how often its own CPU time the threads of a program can have
// waited for a CPU for that to be worth telling: one that hardly ran may show any
// number.
const mostWaiting = 100

// absurd is a share or factor that only a damaged file has.
const absurd = 1e6

// middle shortens s to n columns by leaving out what is in the middle: of a
// benchmark's metric both ends tell.
func middle(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	tail := (n - 1) * 2 / 3
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}
