package trialreport

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/prove/compare"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// ComparisonOptions say how a comparison looks.
type ComparisonOptions struct {
	layout.Options
	Top int // rows of each table of functions; 0 is all that there are
}

// A ComparisonFormat writes a comparison.
type ComparisonFormat func(io.Writer, *compare.Comparison, ComparisonOptions) error

// ComparisonFormats are the formats of a comparison by name.
var ComparisonFormats = map[string]ComparisonFormat{
	"text":     Comparison,
	"markdown": ComparisonMarkdown,
	"json":     func(w io.Writer, c *compare.Comparison, _ ComparisonOptions) error { return c.Encode(w) },
}

// ComparisonFormatNames returns the names of [ComparisonFormats] in order.
func ComparisonFormatNames() []string { return slices.Sorted(maps.Keys(ComparisonFormats)) }

// Comparison writes a comparison for a terminal.
func Comparison(w io.Writer, c *compare.Comparison, o ComparisonOptions) error {
	t := newTexter(o.Options)
	prose, wide := t.Width, max(o.Width, layout.MinWidth) // figures need the whole screen
	if o.Width == 0 {
		wide = math.MaxInt // a file has no edge
	}
	for _, l := range layout.FigureLines(c.Summary, t.Width) {
		t.Line(t.Paint(layout.Bold, l))
	}
	t.Line(t.Paint(layout.Dim, "A  "+sideText(&c.A)))
	t.Line(t.Paint(layout.Dim, "B  "+sideText(&c.B)))
	t.findingChanges(c.Findings)
	for _, b := range comparisonBlocks(c, o.Top) {
		t.Title(b.title)
		t.Width = wide
		b.table.Print(t.Text, b.shownRows)
		t.Width = prose
		if b.note != "" {
			for _, l := range layout.Lines(b.note, t.Width) {
				t.Line(t.Paint(layout.Dim, l))
			}
		}
	}
	t.List("Only in A", c.OnlyA, layout.Plain)
	t.List("Only in B", c.OnlyB, layout.Plain)
	t.List("Warnings", c.Warnings, layout.Yellow)
	t.compareNext(c.Next)
	return t.Flush(w)
}

// sideText says what one side is.
func sideText(s *compare.Side) string {
	parts := []string{layout.Safe(s.Name)}
	if s.Go != "" {
		parts = append(parts, layout.Safe(s.Go))
	}
	if s.Seconds > 0 {
		parts = append(parts, layout.Safe(fact.Seconds.Format(s.Seconds)))
	}
	if s.Operations > 0 {
		parts = append(parts, figures.Number(s.Operations)+" "+layout.Safe(s.Operation))
	}
	if s.Verdict != "" {
		parts = append(parts, layout.Safe(s.Verdict))
	}
	return strings.Join(parts, " · ")
}

func (t *texter) findingChanges(fs []compare.FindingChange) {
	if len(fs) == 0 {
		return
	}
	t.Title("Findings")
	styles := map[string]layout.Style{compare.Gone: layout.Green, compare.New: layout.Red}
	for _, f := range fs {
		head := "   " + t.Paint(styles[f.State], layout.Pad(layout.Safe(f.State), 4)) + "  " + layout.Safe(f.Title) + t.Paint(layout.Dim, " ("+layout.Safe(f.Rule)+")")
		t.Line(head)
		if text := findingChangeText(&f); text != "" {
			t.Para(9, "", text, layout.Plain)
		}
	}
}

// findingChangeText says where a finding is and what it costs.
func findingChangeText(f *compare.FindingChange) string {
	var parts []string
	if f.Where.Function != "" {
		parts = append(parts, f.Where.Function)
	}
	switch {
	case f.A != nil && f.B != nil && f.A.What != "":
		parts = append(parts, fmt.Sprintf("%s → %s %s", layout.Safe(f.A.Unit.Format(f.A.Value)), layout.Safe(f.B.Unit.Format(f.B.Value)), f.B.What))
	case f.A != nil && f.A.What != "":
		parts = append(parts, "cost "+layout.Safe(f.A.Unit.Format(f.A.Value))+" "+f.A.What)
	case f.B != nil && f.B.What != "":
		parts = append(parts, "costs "+layout.Safe(f.B.Unit.Format(f.B.Value))+" "+f.B.What)
	}
	return strings.Join(parts, ": ")
}

func (t *texter) compareNext(next []compare.Command) {
	if len(next) == 0 {
		return
	}
	t.Title("Next")
	for _, n := range next {
		t.Line("   $ " + t.Paint(layout.Bold, layout.Safe(n.Run)))
		t.Para(5, "", n.Why, layout.Dim)
	}
}

// A comparisonBlock is a table with its heading.
type comparisonBlock struct {
	title, note string
	table       *layout.Grid[[]string]
	shownRows   [][]string
}

func comparisonBlocks(c *compare.Comparison, top int) (blocks []comparisonBlock) {
	blocks = append(blocks, ledgerBlock(c, "Work and memory", true), ledgerBlock(c, "Ledger, per "+string(c.Per), false))
	for i := range c.Tables {
		blocks = append(blocks, functionBlock(&c.Tables[i], top))
	}
	blocks = append(blocks, benchmarkBlocks(c)...)
	if len(c.Effects) > 0 {
		blocks = append(blocks, effectBlock(c.Effects))
	}
	if len(c.Claims) > 0 {
		blocks = append(blocks, claimBlock(c.Claims))
	}
	for i := range c.Curves {
		blocks = append(blocks, curveBlock(&c.Curves[i]))
	}
	if c.Capacity != nil {
		blocks = append(blocks, capacityBlock(c.Capacity), quantityBlock("Capacity by setting", "SETTING", c.Capacity.Cells))
	}
	return slices.DeleteFunc(blocks, func(b comparisonBlock) bool { return len(b.table.Rows) == 0 })
}

// ledgerBlock has the states, or what is divided by something.
func ledgerBlock(c *compare.Comparison, title string, states bool) comparisonBlock {
	return quantityBlock(title, "QUANTITY", slices.DeleteFunc(slices.Clone(c.Ledger), func(r compare.Row) bool { return r.State != states }))
}

func quantityBlock(title, what string, rows []compare.Row) comparisonBlock {
	t := layout.NewGrid("A", "B", "CHANGE", "<"+what)
	for i := range rows {
		r := &rows[i]
		t.Rows = append(t.Rows, []string{optionalQuantity(r.A, r.Unit), optionalQuantity(r.B, r.Unit), rowChange(r), r.Name})
	}
	return comparisonBlock{title: title, table: t, shownRows: t.Rows}
}

func optionalQuantity(v *float64, u fact.Unit) string {
	if v == nil {
		return "-"
	}
	return layout.Safe(u.Format(*v))
}

func rowChange(r *compare.Row) string {
	if r.A == nil || r.B == nil {
		return "-"
	}
	return valueChange(*r.A, *r.B)
}

// valueChange writes what became of a value.
func valueChange(a, b float64) string {
	switch {
	case a == b:
		return "="
	case a == 0:
		return "new"
	case b == 0:
		return "gone"
	}
	return ratioChange(b / a)
}

// ratioChange is Change where what hardly changed has not.
func ratioChange(ratio float64) string {
	if math.Abs(ratio-1) < 0.0005 {
		return "="
	}
	return figures.Change(ratio)
}

func functionBlock(t *compare.Table, top int) comparisonBlock {
	heads := []string{"A", "B", "CHANGE", "OF ALL", "~WITH CALLEES", "<FUNCTION"}
	cum := slices.ContainsFunc(t.Rows, func(e compare.Entry) bool { return e.CumA != 0 || e.CumB != 0 })
	if !cum {
		heads = slices.Delete(heads, 4, 5)
	}
	out := layout.NewGrid(heads...)
	for i := range t.Rows {
		row := functionRow(t, &t.Rows[i])
		if !cum {
			row = slices.Delete(row, 4, 5)
		}
		out.Rows = append(out.Rows, row)
	}
	shown := out.Rows
	if top > 0 && top < len(shown) {
		shown = shown[:top]
	}
	title := t.Name + ", per " + string(t.Per)
	if t.Per == compare.PerRun {
		title = t.Name + ", of the whole profiles"
	}
	return comparisonBlock{title: fmt.Sprintf("%s: %s → %s", title, layout.Safe(t.Unit.Format(t.TotalA)), layout.Safe(t.Unit.Format(t.TotalB))), note: t.Note, table: out, shownRows: shown}
}

func functionRow(t *compare.Table, e *compare.Entry) []string {
	name := e.Function
	if e.Reason != "" {
		name += " · " + e.Reason
	}
	return []string{layout.Safe(t.Unit.Format(e.A)), layout.Safe(t.Unit.Format(e.B)), signedQuantity(e.B-e.A, t.Unit),
		shareOf(e.A, t.TotalA) + " → " + shareOf(e.B, t.TotalB), signedQuantity(e.CumB-e.CumA, t.Unit), name}
}

func signedQuantity(v float64, u fact.Unit) string {
	switch {
	case v == 0:
		return "="
	case v > 0:
		return "+" + layout.Safe(u.Format(v))
	}
	return layout.Safe(u.Format(v))
}

func shareOf(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	if share := part / whole; share == 0 || math.Abs(share) >= leastShare {
		return figures.Percent(share)
	}
	return "<" + figures.Percent(leastShare)
}

// leastShare is the least of a whole that anybody wants to read.
const leastShare = 0.0001

// benchmarkBlocks has a table for each unit, as benchmarks are read.
func benchmarkBlocks(c *compare.Comparison) (blocks []comparisonBlock) {
	var units []string
	packages := map[string]bool{}
	for _, b := range c.Benchmarks {
		packages[b.Package] = true
		if !slices.Contains(units, b.Unit) {
			units = append(units, b.Unit)
		}
	}
	for _, unit := range units {
		t := layout.NewGrid("<VERDICT", "A", "B", "CHANGE", "95% INTERVAL", "P", "~RUNS", "<BENCHMARK")
		for i := range c.Benchmarks {
			if b := &c.Benchmarks[i]; b.Unit == unit {
				t.Rows = append(t.Rows, benchmarkRow(b, len(packages) > 1))
			}
		}
		for _, m := range c.Means {
			if m.Unit == unit {
				t.Rows = append(t.Rows, []string{"", benchmarkValue(whole(m.A), unit), benchmarkValue(whole(m.B), unit), ratioChange(m.Ratio), "", "", "",
					fmt.Sprintf("geometric mean of %d", m.Of)})
			}
		}
		blocks = append(blocks, comparisonBlock{title: layout.Safe(unit), table: t, shownRows: t.Rows})
	}
	return blocks
}

func benchmarkRow(b *compare.Benchmark, withPackage bool) []string {
	name, change, p := b.Name, valueChange(b.A, b.B), shownP(b.P)
	if withPackage && b.Package != "" {
		name = b.Package + "." + b.Name
	}
	if b.Exact {
		p = "exact"
	} else if b.Ratio != nil {
		change = ratioChange(*b.Ratio)
	}
	return []string{string(b.Verdict), benchmarkValue(b.A, b.Unit), benchmarkValue(b.B, b.Unit), change,
		rangeChange(b.Low, b.High), p, fmt.Sprintf("%d+%d", b.RunsA, b.RunsB), name}
}

// whole undoes what a mean by logarithms adds to a whole number.
func whole(v float64) float64 {
	if r := math.Round(v); math.Abs(v-r) < 1e-9*math.Abs(r) {
		return r
	}
	return v
}

// benchmarkValue writes a value in the unit of a benchmark.
func benchmarkValue(v float64, unit string) string {
	switch unit {
	case "ns/op":
		return figures.Seconds(v / 1e9)
	case "B/op":
		return figures.Bytes(v)
	}
	return figures.Number(v)
}

func rangeChange(low, high *float64) string {
	if low == nil || high == nil {
		return "-"
	}
	return ratioChange(*low) + " … " + ratioChange(*high)
}

func shownP(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(*p, 'f', 3, 64)
}

func effectBlock(effects []compare.Effect) comparisonBlock {
	t := layout.NewGrid("<VERDICT", "EFFECT IN A", "~95% OF A", "IN B", "~95% OF B", "CHANGE", "95% INTERVAL", "P", "~PAIRS", "<METRIC")
	for i := range effects {
		e := &effects[i]
		change, p := "-", shownP(e.P)
		if e.Ratio != nil {
			change = ratioChange(*e.Ratio)
		}
		if e.By == compare.ByRanges {
			p = "exact"
		}
		t.Rows = append(t.Rows, []string{string(e.Verdict), ratioChange(e.A), ownRange(e.OwnA), ratioChange(e.B), ownRange(e.OwnB), change,
			rangeChange(e.Low, e.High), p, fmt.Sprintf("%d+%d", e.PairsA, e.PairsB), string(e.Metric)})
	}
	return comparisonBlock{title: "What the change brings, of pairs of rounds", table: t, shownRows: t.Rows, note: effectNote(effects)}
}

// ownRange returns a trial's own interval.
func ownRange(own *compare.OwnResult) string {
	switch {
	case own == nil:
		return "-"
	case own.Exact:
		return "exact"
	}
	return rangeChange(own.Low, own.High)
}

// effectNote says of which metrics the intervals of both trials meet.
func effectNote(effects []compare.Effect) string {
	var apart []string
	known := 0
	for i := range effects {
		if e := &effects[i]; e.Overlap != nil {
			if known++; !*e.Overlap {
				apart = append(apart, layout.Safe(string(e.Metric)))
			}
		}
	}
	switch {
	case known == 0:
		return ""
	case len(apart) == 0:
		return "The trials' own intervals overlap in all metrics. The verdict rests on the change and its P."
	}
	return "The trials' own intervals do not overlap in " + strings.Join(apart, ", ") + ". The verdict rests on the change and its P."
}

func claimBlock(claims []compare.ClaimChange) comparisonBlock {
	t := layout.NewGrid("<BY THE CHANGE", "A", "B", "<FINDING")
	yes := map[bool]string{true: "yes", false: "no"}
	for _, c := range claims {
		t.Rows = append(t.Rows, []string{layout.Safe(c.State), yes[c.A], yes[c.B], c.Title + " (" + c.Rule + ")"})
	}
	return comparisonBlock{title: "Findings that the change removed or brought", table: t, shownRows: t.Rows}
}

func curveBlock(c *compare.Curve) comparisonBlock {
	t := layout.NewGrid("<VERDICT", "A", "B", "CHANGE", "95% INTERVAL", "P", "<"+strings.ToUpper(layout.Safe(c.Knob)))
	for i := range c.Values {
		v := &c.Values[i]
		t.Rows = append(t.Rows, []string{string(v.Verdict), goalValue(c.Goal, v.A), goalValue(c.Goal, v.B), valueChange(v.A, v.B),
			rangeChange(v.Low, v.High), shownP(v.P), c.Text(v.Value) + chosenBy(c, v.Value)})
	}
	return comparisonBlock{title: layout.Safe(string(c.Goal) + " by " + c.Knob), table: t, shownRows: t.Rows,
		note: "The interval of a change follows from those of both searches, on the log scale (Zou and Donner 2008)."}
}

// chosenBy says which side recommends a value.
func chosenBy(c *compare.Curve, v float64) string {
	a, b := c.ChosenA != nil && *c.ChosenA == v, c.ChosenB != nil && *c.ChosenB == v
	switch {
	case a && b:
		return " ← A, B"
	case a:
		return " ← A"
	case b:
		return " ← B"
	}
	return ""
}

func goalValue(m diagnosis.Metric, v float64) string {
	i := experiment.InfoOf(m)
	return layout.Safe(i.Unit.Format(v * i.Scale))
}

func capacityBlock(x *compare.CapacityChange) comparisonBlock {
	t := layout.NewGrid("A", "B", "CHANGE", "<OPERATIONS A SECOND")
	add := func(name string, a, b float64) {
		r := []string{"-", "-", "-", name}
		if a > 0 {
			r[0] = figures.Number(a)
		}
		if b > 0 {
			r[1] = figures.Number(b)
		}
		if a > 0 && b > 0 {
			r[2] = ratioChange(b / a)
		}
		t.Rows = append(t.Rows, r)
	}
	if x.A != nil && x.B != nil {
		add("sustained", x.A.Low, x.B.Low)
		add("not sustained"+limitWords(x), x.A.High, x.B.High)
	}
	return comparisonBlock{title: "Capacity", table: t, shownRows: t.Rows}
}

func limitWords(x *compare.CapacityChange) string {
	switch a, b := layout.Safe(x.A.Limit), layout.Safe(x.B.Limit); {
	case a == "" && b == "":
		return ""
	case a == b:
		return ", for " + a
	default:
		return fmt.Sprintf(", for %s in A and %s in B", cmp.Or(a, "nothing"), cmp.Or(b, "nothing"))
	}
}

// ComparisonMarkdown writes a comparison for a review comment.
func ComparisonMarkdown(w io.Writer, c *compare.Comparison, o ComparisonOptions) error {
	var m markdown
	m.P("## %s", layout.Escape(c.Summary))
	m.Item("A: %s", layout.Escape(sideText(&c.A)))
	m.Item("B: %s", layout.Escape(sideText(&c.B)))
	if len(c.Findings) > 0 {
		m.P("### Findings")
		for i := range c.Findings {
			f := &c.Findings[i]
			m.Item("**%s** %s %s", layout.Escape(f.State), layout.Escape(f.Title), layout.Escape(findingChangeText(f)))
		}
	}
	for _, b := range comparisonBlocks(c, o.Top) {
		m.P("### %s", layout.Escape(b.title))
		m.table(b)
		if b.note != "" {
			m.P("%s", layout.Escape(b.note))
		}
	}
	m.List("Only in A", c.OnlyA)
	m.List("Only in B", c.OnlyB)
	m.List("Warnings", c.Warnings)
	if len(c.Next) > 0 {
		m.P("### Next")
		for _, n := range c.Next {
			m.Item("%s %s", layout.Code(n.Run), layout.Escape(n.Why))
		}
	}
	_, err := io.WriteString(w, strings.TrimLeft(m.String(), "\n"))
	return err
}

// table writes the rows of a block.
func (m *markdown) table(b comparisonBlock) {
	heads := b.table.Heads()
	for i, h := range heads {
		heads[i] = layout.Escape(h)
	}
	rule := make([]string, len(heads))
	for i, c := range b.table.Columns {
		rule[i] = "---:"
		if c.Left {
			rule[i] = "---"
		}
	}
	m.WriteString("\n| " + strings.Join(heads, " | ") + " |\n|" + strings.Join(rule, "|") + "|\n")
	for _, r := range b.shownRows {
		cells := b.table.Cells(r)
		for i := range cells {
			cells[i] = layout.Escape(cells[i])
		}
		m.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	if hidden := len(b.table.Rows) - len(b.shownRows); hidden > 0 {
		m.P("and %d more", hidden)
	}
	m.InList = false
}
