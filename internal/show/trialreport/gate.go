package trialreport

import (
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/gate"
)

// A GateFormat writes the result of a gate.
type GateFormat func(io.Writer, *gate.Result, layout.Options) error

// GateFormats are the formats of the result of a gate by name.
var GateFormats = map[string]GateFormat{
	"text":     Gate,
	"markdown": GateMarkdown,
	"json":     func(w io.Writer, r *gate.Result, _ layout.Options) error { return r.Encode(w) },
	"sarif":    SARIF,
	"junit":    JUnit,
	"github":   GitHub,
}

// GateFormatNames returns the names of [GateFormats] in order.
func GateFormatNames() []string { return slices.Sorted(maps.Keys(GateFormats)) }

// Gate writes the result of a gate for a terminal: the verdict, what keeps the
// change from passing, then every measure.
func Gate(w io.Writer, r *gate.Result, o layout.Options) error {
	t := newTexter(o)
	prose := t.Width
	for i, l := range layout.FigureLines(string(r.Verdict)+": "+r.Summary, t.Width) {
		if rest, ok := strings.CutPrefix(l, string(r.Verdict)+":"); ok && i == 0 {
			t.Line(t.Paint(gateStyle(r.Verdict), string(r.Verdict)+":") + t.Paint(layout.Bold, rest))
			continue
		}
		t.Line(t.Paint(layout.Bold, l))
	}
	for _, l := range layout.FigureLines(gateSubject(r), t.Width) {
		t.Line(t.Paint(layout.Dim, l))
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		t.Title(layout.Safe(checkTitle(c)))
		t.gateProblems(c)
		if len(c.Measures) > 0 {
			t.Width = math.MaxInt
			if o.Width > 0 {
				t.Width = max(o.Width, layout.MinWidth)
			}
			b := gateTable(c.Measures)
			b.Print(t.Text, b.Rows)
			t.Width = prose
		}
		for _, warning := range c.Warnings {
			t.Para(3, "", warning, layout.Yellow)
		}
	}
	t.List("Warnings", r.Warnings, layout.Yellow)
	if next := gateNext(r); len(next) > 0 {
		t.Title("Next")
		for _, n := range next {
			if n.run != "" {
				t.Line("   $ " + t.Paint(layout.Bold, layout.Safe(n.run)))
				t.Para(5, "", strings.TrimSuffix(n.why, ":"), layout.Dim)
				continue
			}
			t.Para(3, "", n.why, layout.Plain)
		}
	}
	if inconclusive(r) {
		t.Line("")
		t.Para(0, "", inconclusiveNote(r), layout.Dim)
	}
	return t.Flush(w)
}

// gateProblems tells in full what keeps a check from passing.
func (t *texter) gateProblems(c *gate.Check) {
	if c.Problem != "" {
		t.Para(3, "", c.Problem, layout.Yellow)
	}
	for i := range c.Measures {
		m := &c.Measures[i]
		if !troubled(m) {
			continue
		}
		t.Para(3, "", fmt.Sprintf("%s %s: %s", string(m.Verdict), measureName(m), gateWhy(m)), gateStyle(m.Verdict))
		if at := positionText(m.At); at != "" && m.Verdict == gate.Regressed {
			t.Para(5, "", at, layout.Dim)
		}
	}
}

// gateWhy returns the reason of a measure's verdict, with that of its repetition.
func gateWhy(m *gate.Measure) string {
	switch m.Again {
	case "":
		return m.Why
	case m.Why:
		return m.Why + "; measured twice"
	}
	return m.Why + " (again: " + m.Again + ")"
}

func gateStyle(v gate.Verdict) layout.Style {
	switch v {
	case gate.Regressed:
		return layout.Red
	case gate.Inconclusive:
		return layout.Yellow
	}
	return layout.Green
}

// inconclusive reports whether anything could not be decided.
func inconclusive(r *gate.Result) bool {
	return slices.ContainsFunc(r.Checks, func(c gate.Check) bool {
		return c.Problem != "" || slices.ContainsFunc(c.Measures, func(m gate.Measure) bool { return m.Verdict == gate.Inconclusive })
	})
}

// inconclusiveNote says what an inconclusive result means for the exit code.
func inconclusiveNote(r *gate.Result) string {
	if r.InconclusiveFails {
		return "What is inconclusive fails here: the policy says inconclusive: fail."
	}
	return "What is inconclusive passes, unless the policy says inconclusive: fail."
}

// checkTitle names a check with what it is of.
func checkTitle(c *gate.Check) string {
	switch {
	case c.Name == c.Package && strings.Trim(c.Name, "./") == "":
		return "package " + c.Name // dots alone are no name
	case c.Name == c.Package:
		return c.Name
	}
	return c.Name + " (" + c.Package + ")"
}

func measureName(m *gate.Measure) string {
	return strings.TrimSpace(m.Benchmark + " " + string(m.Metric))
}

func positionText(p gate.Position) string {
	if p.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// gateSubject says what was compared.
func gateSubject(r *gate.Result) string {
	parts := []string{"base " + revisionText(r.Base), "change " + revisionText(r.Head)}
	if r.Floor > 0 {
		parts = append(parts, "noise of this machine "+figures.Percent(r.Floor))
	}
	if r.Took > 0 {
		parts = append(parts, "took "+figures.Duration(r.Took))
	}
	return strings.Join(parts, " · ")
}

func revisionText(r gate.Revision) string {
	name := layout.Safe(r.Name)
	if short := layout.Safe(r.Commit[:min(len(r.Commit), 10)]); short != "" && !strings.HasPrefix(r.Commit, r.Name) {
		name += " (" + short + ")"
	}
	if r.Modified {
		name += " with changes"
	}
	return name
}

// A gateRow is a measure as it is shown.
type gateRow struct{ verdict, base, change, by, limit, how, name string }

func gateRowOf(m *gate.Measure) gateRow {
	r := gateRow{verdict: string(m.Verdict), base: metricValue(m.Metric, m.A), change: metricValue(m.Metric, m.B), by: "-",
		limit: limitText(m), how: fmt.Sprintf("%d pairs", m.Pairs), name: measureName(m)}
	if m.Exact {
		r.how = "exact"
	} else if m.Pairs == 0 {
		r.how = "-"
	}
	switch {
	case m.Ratio != nil:
		r.by = ratioChange(*m.Ratio)
	case m.A != nil && m.B != nil:
		r.by = valueChange(*m.A, *m.B)
	}
	return r
}

// limitText returns how far a metric may move in the direction that is bad for it.
func limitText(m *gate.Measure) string {
	if experiment.InfoOf(m.Metric).More {
		return "-" + figures.Percent(1-1/(1+m.Limit))
	}
	return "+" + figures.Percent(m.Limit)
}

// metricValue writes a value of a metric; "-" for one that was not measured.
func metricValue(m diagnosis.Metric, v *float64) string {
	if v == nil {
		return "-"
	}
	i := experiment.InfoOf(m)
	switch {
	case !i.Known:
		return figures.Number(*v)
	case m == "MB/s":
		return figures.Number(*v) + " MB/s"
	}
	return layout.Safe(i.Unit.Format(*v * i.Scale))
}

func gateTable(list []gate.Measure) *layout.Grid[[]string] {
	t := layout.NewGrid("<VERDICT", "BASE", "NOW", "CHANGE", "LIMIT", "~MEASURED", "<MEASURE")
	for i := range list {
		r := gateRowOf(&list[i])
		t.Rows = append(t.Rows, []string{r.verdict, r.base, r.change, r.by, r.limit, r.how, r.name})
	}
	return t
}

// GateMarker is at the head of every Markdown report of a gate, so that a bot
// finds its comment of the last time and replaces it.
const GateMarker = "<!-- gowhy gate -->"

// GateMarkdown writes the result of a gate as one comment of a pull request:
// what keeps it from passing in a table, everything else folded.
func GateMarkdown(w io.Writer, r *gate.Result, _ layout.Options) error {
	var m markdown
	m.WriteString(GateMarker + "\n")
	m.P("### %s gowhy gate: %s", gateSign(r), layout.Escape(r.Summary))
	m.gateProblems(r)
	if next := gateNext(r); len(next) > 0 {
		m.P("**What now**")
		for _, n := range next {
			m.Item("%s", layout.Escape(capitalize(n.why)))
			if n.run != "" {
				m.WriteString("  " + layout.Code(n.run) + "\n")
			}
		}
	}
	if warnings := gateWarnings(r); len(warnings) > 0 {
		m.P("**Warnings**")
		for _, warning := range warnings {
			m.Item("%s", layout.Escape(warning))
		}
	}
	if inconclusive(r) {
		m.P("%s", layout.Escape(inconclusiveNote(r)))
	}
	m.gatePassed(r)
	m.P("<sub>%s</sub>", layout.Escape(gateSubject(r)))
	_, err := io.WriteString(w, m.String())
	return err
}

// gateWarnings returns those of the checks, with their names where there are
// several, and of all.
func gateWarnings(r *gate.Result) (list []string) {
	for i := range r.Checks {
		for _, warning := range r.Checks[i].Warnings {
			if len(r.Checks) > 1 {
				warning = checkTitle(&r.Checks[i]) + ": " + warning
			}
			list = append(list, warning)
		}
	}
	return append(list, r.Warnings...)
}

// troubled reports whether a measure keeps a change from passing for certain.
func troubled(m *gate.Measure) bool {
	return m.Verdict == gate.Regressed || m.Verdict == gate.Inconclusive
}

// gatePassed folds away what nobody has to look at.
func (m *markdown) gatePassed(r *gate.Result) {
	n := 0
	for i := range r.Checks {
		for j := range r.Checks[i].Measures {
			if !troubled(&r.Checks[i].Measures[j]) {
				n++
			}
		}
	}
	if n == 0 {
		return
	}
	m.P("<details><summary>%s passed</summary>", figures.Plural(n, "measure"))
	for i := range r.Checks {
		m.gateTable(r, &r.Checks[i], func(e *gate.Measure) bool { return !troubled(e) })
	}
	m.P("</details>")
}

// A gateStep is something to do about a result.
type gateStep struct{ run, why string }

// gateNext says what to do about the first measure that regressed in each
// check: the others mostly have the same cause.
func gateNext(r *gate.Result) (next []gateStep) {
	for i := range r.Checks {
		c := &r.Checks[i]
		at := slices.IndexFunc(c.Measures, func(m gate.Measure) bool { return m.Verdict == gate.Regressed })
		if at < 0 {
			continue
		}
		if len(next) < maxGateNext {
			next = append(next, gateLook(r, c, &c.Measures[at]))
		}
	}
	if len(next) > 0 {
		next = append(next, gateStep{why: "if that is the price of the change, raise the limit in " + layout.Safe(r.Policy)})
	}
	return next
}

// maxGateNext is how many checks are worth a command each.
const maxGateNext = 3

// gateLook shows where the cost is now, or measures a command again.
func gateLook(r *gate.Result, c *gate.Check, m *gate.Measure) gateStep {
	if m.Benchmark == "" {
		return gateStep{"gowhy verify --base " + shell.Word(r.Base.Commit[:min(len(r.Base.Commit), 10)]) + " --package " + shell.Word(c.Package) + " --primary " + shell.Word(string(m.Metric)) + " -- " + c.Command,
			"measure it here, with the other metrics beside it:"}
	}
	parts := strings.Split("Benchmark"+m.Benchmark, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	profile, why := "cpu", "see where its time goes now:"
	if m.Metric == diagnosis.AllocsOp || m.Metric == diagnosis.BytesOp {
		profile, why = "mem", "see where it allocates now:"
	}
	return gateStep{fmt.Sprintf("go test -run '^$' -bench %s -%sprofile %s.pprof %s && gowhy %s.pprof", shell.Word(strings.Join(parts, "/")), profile, profile, shell.Word(c.Package), profile), why}
}

// gateSign returns a question mark also for what passes and decided nothing.
func gateSign(r *gate.Result) string {
	decided := slices.ContainsFunc(r.Checks, func(c gate.Check) bool {
		return slices.ContainsFunc(c.Measures, func(m gate.Measure) bool { return m.Verdict != gate.Inconclusive })
	})
	switch {
	case r.Verdict == gate.Regressed:
		return "❌"
	case r.Verdict == gate.Inconclusive || !decided:
		return "❔"
	}
	return "✅"
}

// gateProblems lists what did not pass.
func (m *markdown) gateProblems(r *gate.Result) {
	for i := range r.Checks {
		c := &r.Checks[i]
		if c.Problem != "" {
			m.P("**%s**: %s", layout.Escape(checkTitle(c)), layout.Escape(c.Problem))
		}
		m.gateTable(r, c, troubled)
	}
}

// gateTable has the measures of a check that are to be shown, below its name
// where there are several.
func (m *markdown) gateTable(r *gate.Result, c *gate.Check, show func(*gate.Measure) bool) {
	head := false
	for i := range c.Measures {
		e := &c.Measures[i]
		if !show(e) {
			continue
		}
		if !head {
			head = true
			if len(r.Checks) > 1 {
				m.P("**%s**", layout.Escape(checkTitle(c)))
			}
			m.P("| | measure | base | now | change | why |\n|---|---|---:|---:|---:|---|")
		}
		w := gateRowOf(e)
		name := layout.Code(w.name)
		if at := positionText(e.At); at != "" {
			name += " " + layout.Escape(at)
		}
		fmt.Fprintf(m, "| %s | %s | %s | %s | %s | %s |\n", layout.Escape(w.verdict), cell(name), layout.Escape(w.base), layout.Escape(w.change), layout.Escape(w.by), layout.Escape(gateWhy(e)))
	}
}

// cell keeps the bar of a code span from ending a table's cell.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `\|`, "|"), "|", `\|`) }
