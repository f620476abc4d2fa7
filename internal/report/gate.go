package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/diagnosis"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/gate"
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
		if m.Verdict != gate.Regressed && m.Verdict != gate.Inconclusive {
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
	if c.Name == c.Package {
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
		parts = append(parts, "noise of this machine "+percent(r.Floor))
	}
	if r.Took > 0 {
		parts = append(parts, "took "+duration(r.Took))
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
		return "-" + percent(1-1/(1+m.Limit))
	}
	return "+" + percent(m.Limit)
}

// metricValue writes a value of a metric; "-" for one that was not measured.
func metricValue(m diagnosis.Metric, v *float64) string {
	if v == nil {
		return "-"
	}
	i := experiment.InfoOf(m)
	switch {
	case !i.Known:
		return figures(*v)
	case m == "MB/s":
		return figures(*v) + " MB/s"
	}
	return fineQuantity(*v*i.Scale, i.Unit)
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
	m.p("### %s gowhy gate: %s", gateSign(r.Verdict), md(r.Summary))
	m.gateProblems(r)
	m.p("<details><summary>%s</summary>", md("All measures"))
	for i := range r.Checks {
		c := &r.Checks[i]
		m.p("**%s**: %s", md(checkTitle(c)), md(cmp.Or(c.Problem, string(c.Verdict))))
		m.gateTable(c.Measures, func(*gate.Measure) bool { return true })
		m.inList = false
		for _, warning := range c.Warnings {
			m.item("%s", md(warning))
		}
	}
	m.p("</details>")
	m.list("Warnings", r.Warnings)
	if inconclusive(r) {
		m.p("%s", md(inconclusiveNote(r)))
	}
	m.p("<sub>%s</sub>", md(gateSubject(r)))
	_, err := io.WriteString(w, m.b.String())
	return err
}

func gateSign(v gate.Verdict) string {
	switch v {
	case gate.Regressed:
		return "❌"
	case gate.Inconclusive:
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
		m.gateTable(c.Measures, func(e *gate.Measure) bool { return e.Verdict == gate.Regressed || e.Verdict == gate.Inconclusive })
	}
}

func (m *markdown) gateTable(list []gate.Measure, show func(*gate.Measure) bool) {
	head := false
	for i := range list {
		e := &list[i]
		if !show(e) {
			continue
		}
		if !head {
			head = true
			m.p("| | measure | base | now | change | why |\n|---|---|---:|---:|---:|---|")
		}
		r := gateRowOf(e)
		name := code(r.name)
		if at := positionText(e.At); at != "" {
			name += " " + md(at)
		}
		fmt.Fprintf(&m.b, "| %s | %s | %s | %s | %s | %s |\n", md(r.verdict), cell(name), md(r.base), md(r.change), md(r.by), md(gateWhy(e)))
	}
}

// cell keeps the bar of a code span from ending a table's cell.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, `\|`, "|"), "|", `\|`) }
