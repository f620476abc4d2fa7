package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/figures"
	"github.com/gowhy/gowhy/internal/gate"
	"github.com/gowhy/gowhy/internal/shell"
)

// A GateFormat writes the result of a gate.
type GateFormat func(io.Writer, *gate.Result, Options) error

// GateFormats are the formats of the result of a gate by name.
var GateFormats = map[string]GateFormat{
	"text":     Gate,
	"markdown": GateMarkdown,
	"json":     func(w io.Writer, r *gate.Result, _ Options) error { return r.Encode(w) },
	"sarif":    SARIF,
	"junit":    JUnit,
	"github":   GitHub,
}

// GateFormatNames returns the names of [GateFormats] in order.
func GateFormatNames() []string { return slices.Sorted(maps.Keys(GateFormats)) }

// Gate writes the result of a gate for a terminal: the verdict, what keeps the
// change from passing, then every measure.
func Gate(w io.Writer, r *gate.Result, o Options) error {
	t := newTexter(o)
	prose := t.width
	for i, l := range wrapFigures(string(r.Verdict)+": "+r.Summary, t.width) {
		if rest, ok := strings.CutPrefix(l, string(r.Verdict)+":"); ok && i == 0 {
			t.line(t.in(gateStyle(r.Verdict), string(r.Verdict)+":") + t.in(bold, rest))
			continue
		}
		t.line(t.in(bold, l))
	}
	for _, l := range wrapFigures(gateSubject(r), t.width) {
		t.line(t.in(dim, l))
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		t.title(Safe(checkTitle(c)))
		t.gateProblems(c)
		if len(c.Measures) > 0 {
			t.width = math.MaxInt
			if o.Width > 0 {
				t.width = max(o.Width, minWidth)
			}
			b := gateTable(c.Measures)
			b.print(t, b.rows)
			t.width = prose
		}
		for _, warning := range c.Warnings {
			t.para(3, "", warning, yellow)
		}
	}
	t.list("Warnings", r.Warnings, yellow)
	if next := gateNext(r); len(next) > 0 {
		t.title("Next")
		for _, n := range next {
			if n.run != "" {
				t.line("   $ " + t.in(bold, Safe(n.run)))
				t.para(5, "", strings.TrimSuffix(n.why, ":"), dim)
				continue
			}
			t.para(3, "", n.why, plain)
		}
	}
	if inconclusive(r) {
		t.line("")
		t.para(0, "", inconclusiveNote(r), dim)
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

// gateProblems tells in full what keeps a check from passing.
func (t *texter) gateProblems(c *gate.Check) {
	if c.Problem != "" {
		t.para(3, "", c.Problem, yellow)
	}
	for i := range c.Measures {
		m := &c.Measures[i]
		if !troubled(m) {
			continue
		}
		t.para(3, "", fmt.Sprintf("%s %s: %s", string(m.Verdict), measureName(m), gateWhy(m)), gateStyle(m.Verdict))
		if at := positionText(m.At); at != "" && m.Verdict == gate.Regressed {
			t.para(5, "", at, dim)
		}
	}
}

// gateWhy is the reason of a measure's verdict, with that of its repetition.
func gateWhy(m *gate.Measure) string {
	switch m.Again {
	case "":
		return m.Why
	case m.Why:
		return m.Why + "; measured twice"
	}
	return m.Why + " (again: " + m.Again + ")"
}

func gateStyle(v gate.Verdict) style {
	switch v {
	case gate.Regressed:
		return red
	case gate.Inconclusive:
		return yellow
	}
	return green
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
		return "What could not be decided fails here: the policy says inconclusive: fail."
	}
	return "What could not be decided passes, unless the policy says inconclusive: fail."
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
	name := Safe(r.Name)
	if short := Safe(r.Commit[:min(len(r.Commit), 10)]); short != "" && !strings.HasPrefix(r.Commit, r.Name) {
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

// limitText is how far a metric may move in the direction that is bad for it.
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
	return quantity(*v*i.Scale, i.Unit)
}

func gateTable(list []gate.Measure) *table[gateRow] {
	col := func(head string, of func(gateRow) string) column[gateRow] {
		return column[gateRow]{head: head, text: of}
	}
	verdict := col("VERDICT", func(r gateRow) string { return r.verdict })
	verdict.left = true
	name := col("MEASURE", func(r gateRow) string { return r.name })
	name.left = true
	how := col("MEASURED", func(r gateRow) string { return r.how })
	how.drop = 1
	t := &table[gateRow]{columns: []column[gateRow]{verdict, col("BASE", func(r gateRow) string { return r.base }), col("NOW", func(r gateRow) string { return r.change }),
		col("CHANGE", func(r gateRow) string { return r.by }), col("LIMIT", func(r gateRow) string { return r.limit }), how, name}}
	for i := range list {
		t.rows = append(t.rows, gateRowOf(&list[i]))
	}
	return t
}

// GateMarker is at the head of every Markdown report of a gate, so that a bot
// finds its comment of the last time and replaces it.
const GateMarker = "<!-- gowhy gate -->"

// GateMarkdown writes the result of a gate as one comment of a pull request:
// what keeps it from passing in a table, everything else folded.
func GateMarkdown(w io.Writer, r *gate.Result, _ Options) error {
	var m markdown
	m.b.WriteString(GateMarker + "\n")
	m.p("### %s gowhy gate: %s", gateSign(r), md(r.Summary))
	m.gateProblems(r)
	if next := gateNext(r); len(next) > 0 {
		m.p("**What now**")
		for _, n := range next {
			m.item("%s", md(capitalised(n.why)))
			if n.run != "" {
				m.b.WriteString("  " + code(n.run) + "\n")
			}
		}
	}
	if warnings := gateWarnings(r); len(warnings) > 0 {
		m.p("**Warnings**")
		for _, warning := range warnings {
			m.item("%s", md(warning))
		}
	}
	if inconclusive(r) {
		m.p("%s", md(inconclusiveNote(r)))
	}
	m.gatePassed(r)
	m.p("<sub>%s</sub>", md(gateSubject(r)))
	_, err := io.WriteString(w, m.b.String())
	return err
}

// gateWarnings are those of the checks, with their names where there are
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
	m.p("<details><summary>%s passed</summary>", figures.Plural(n, "measure"))
	for i := range r.Checks {
		m.gateTable(r, &r.Checks[i], func(e *gate.Measure) bool { return !troubled(e) })
	}
	m.p("</details>")
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
		next = append(next, gateStep{why: "if that is the price of the change, raise the limit in " + Safe(r.Policy)})
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

// gateSign is a question mark also for what passes and decided nothing.
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
			m.p("**%s**: %s", md(checkTitle(c)), md(c.Problem))
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
				m.p("**%s**", md(checkTitle(c)))
			}
			m.p("| | measure | base | now | change | why |\n|---|---|---:|---:|---:|---|")
		}
		w := gateRowOf(e)
		name := code(w.name)
		if at := positionText(e.At); at != "" {
			name += " " + md(at)
		}
		fmt.Fprintf(&m.b, "| %s | %s | %s | %s | %s | %s |\n", md(w.verdict), cell(name), md(w.base), md(w.change), md(w.by), md(gateWhy(e)))
	}
}

// cell keeps the bar of a code span from ending a table's cell.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `\|`, "|"), "|", `\|`) }
