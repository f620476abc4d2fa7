package trialreport

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// knobText returns a value of a knob for the eye.
func knobText(k *experiment.Knob, v float64) string {
	switch {
	case k.Bytes:
		return figures.Bytes(v)
	case k.Integer:
		return figures.Number(v)
	}
	return k.Format(v)
}

// A plot is a curve as rows of text: value, estimate, interval on an axis, and
// the memory that it costs.
type plot struct {
	c                 *experiment.Curve
	low, high         float64 // of the axis
	log               bool
	axis              int // columns
	wideValue, wideAt int
	memory            map[int]string
	wideMemory        int
}

const (
	leastAxis = 16
	mostAxis  = 60
	// manyTimes is the ratio of ends from which an axis is logarithmic: a curve
	// that falls to a tenth is flat in its interesting part otherwise.
	manyTimes = 8
)

// usable reports whether a point has something to be drawn.
func usable(p *experiment.Point) bool { return p.Ratio > 0 && p.Goal.Value > 0 }

func newPlot(c *experiment.Curve, width int) *plot {
	p := &plot{c: c, memory: map[int]string{}, wideValue: utf8.RuneCountInString(plotName(c)), wideAt: utf8.RuneCountInString(layout.Safe(string(c.Goal.Metric)))}
	for i := range c.Points {
		pt := &c.Points[i]
		p.wideValue = max(p.wideValue, utf8.RuneCountInString(knobText(&c.Knob, pt.Value)))
		if !usable(pt) {
			continue
		}
		p.wideAt = max(p.wideAt, utf8.RuneCountInString(metricText(c.Goal.Metric, pt.Goal.Value)))
		if rss := pt.Values[diagnosis.PeakRSS]; rss > 0 && c.Goal.Metric != diagnosis.PeakRSS {
			p.memory[i] = figures.Bytes(rss)
			p.wideMemory = max(p.wideMemory, len("peak rss"), utf8.RuneCountInString(p.memory[i]))
		}
	}
	p.low, p.high = span(c)
	p.log = p.high/p.low > manyTimes
	// Two for the mark, two between columns each.
	p.axis = min(max(width-2-p.wideValue-2-p.wideAt-2-2-p.wideMemory, leastAxis), mostAxis)
	return p
}

// plotName returns the knob's name where the axis needs the room.
func plotName(c *experiment.Curve) string { return middle(layout.Safe(c.Knob.Name), leastAxis) }

// span returns the least and the greatest that is drawn, a little room beside.
func span(c *experiment.Curve) (low, high float64) {
	low, high = math.Inf(1), 0.0
	for i := range c.Points {
		p := &c.Points[i]
		if !usable(p) {
			continue
		}
		low, high = min(low, p.Goal.Value), max(high, p.Goal.Value)
		if p.Goal.Low > 0 {
			low = min(low, p.Goal.Low)
		}
		if !math.IsInf(p.Goal.High, 1) {
			high = max(high, p.Goal.High)
		}
	}
	if high <= 0 {
		return 1, 2
	}
	if high <= low*1.02 {
		return low * 0.99, high * 1.01
	}
	return low, high
}

// at returns the column of a value.
func (p *plot) at(v float64) int {
	v = min(max(v, p.low), p.high)
	share := (v - p.low) / (p.high - p.low)
	if p.log {
		share = math.Log(v/p.low) / math.Log(p.high/p.low)
	}
	return min(max(int(math.Round(share*float64(p.axis-1))), 0), p.axis-1)
}

// bar returns the interval and the estimate on the axis.
func (p *plot) bar(i int) string {
	g := p.c.Points[i].Goal
	row := []rune(strings.Repeat(" ", p.axis))
	for x := p.at(g.Low); x <= p.at(g.High); x++ {
		row[x] = '─'
	}
	row[p.at(g.Value)] = '●'
	return string(row)
}

// curve draws a curve. The recommended point is marked, and so are the best one
// and those that break a limit.
func (t *texter) curve(c *experiment.Curve, keep []experiment.Keep) {
	p := newPlot(c, t.Width)
	head := "  " + lpad(plotName(c), p.wideValue) + "  " + lpad(layout.Safe(string(c.Goal.Metric)), p.wideAt) + "  " + p.scale()
	if p.wideMemory > 0 {
		head += "  " + lpad("peak rss", p.wideMemory)
	}
	t.Line(t.Paint(layout.Dim, head))
	for i := range c.Points {
		t.curveRow(p, i, keep)
	}
}

// scale names the ends of the axis.
func (p *plot) scale() string {
	low, high := metricText(p.c.Goal.Metric, p.low), metricText(p.c.Goal.Metric, p.high)
	middle := ""
	if p.log {
		middle = "log"
	}
	free := p.axis - utf8.RuneCountInString(low) - utf8.RuneCountInString(high) - len(middle)
	if free < 2 {
		return strings.Repeat(" ", p.axis)
	}
	return low + strings.Repeat(" ", free/2) + middle + strings.Repeat(" ", free-free/2) + high
}

func (t *texter) curveRow(p *plot, i int, keep []experiment.Keep) {
	pt := &p.c.Points[i]
	mark, s := "  ", layout.Plain
	if i == p.c.Chosen {
		mark, s = "→ ", layout.Green
	}
	value := mark + lpad(knobText(&p.c.Knob, pt.Value), p.wideValue) + "  "
	if !usable(pt) {
		t.Line(value + t.Paint(layout.Dim, layout.Shorten(layout.Safe(whyUnusable(pt)), max(layout.LeastName, t.Width-utf8.RuneCountInString(value)))))
		return
	}
	row := t.Paint(s, value+lpad(metricText(p.c.Goal.Metric, pt.Goal.Value), p.wideAt)) + "  " + t.Paint(s, p.bar(i))
	if p.wideMemory > 0 {
		row += "  " + lpad(p.memory[i], p.wideMemory)
	}
	t.Line(row)
	if broken := brokenLimits(pt, keep); broken != "" {
		t.Line(t.Paint(layout.Yellow, strings.Repeat(" ", p.wideValue+4)+"✗ "+layout.Safe(broken)))
	}
}

// brokenLimits says which limits a point does not hold.
func brokenLimits(p *experiment.Point, keep []experiment.Keep) string {
	if p.Kept {
		return ""
	}
	var list []string
	for _, k := range keep {
		v, ok := p.Values[k.Metric]
		switch {
		case !ok:
			list = append(list, string(k.Metric)+" not measured")
		case k.AtMost && v > k.Limit || !k.AtMost && v < k.Limit:
			list = append(list, string(k.Metric)+" "+metricText(k.Metric, v))
		}
	}
	return strings.Join(list, ", ")
}

func keepText(k experiment.Keep) string {
	sign := "≥"
	if k.AtMost {
		sign = "≤"
	}
	return string(k.Metric) + " " + sign + " " + metricText(k.Metric, k.Limit)
}

// whyUnusable says why there is nothing to draw of a point.
func whyUnusable(p *experiment.Point) string {
	if p.Failed == "" {
		return "not measured: the search ended before"
	}
	return "failed: " + firstLine(p.Failed)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// lpad puts spaces before s.
func lpad(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

// law tells the fit of the universal scalability law.
func (t *texter) law(c *experiment.Curve) {
	if c.Knob.Counts == "" {
		return
	}
	t.Title("Universal scalability law")
	if c.USL == nil {
		t.writeMarked("·", "not fitted: "+cmp.Or(c.NoUSL, "the search ended before"))
		return
	}
	u := c.USL
	rows := [][2]string{
		{"λ", estimateText(u.Lambda, " "+u.Unit) + ", throughput of one"},
		{"σ", estimateText(u.Sigma, "") + ", share that only one can do at a time"},
		{"κ", estimateText(u.Kappa, "") + ", cost of each pair having to agree"},
		{"N*", "not shown: " + u.NoPeak},
		{"R²", figures.Number(u.R2) + fmt.Sprintf(", tested %s to %s", figures.Number(u.Tested[0]), figures.Number(u.Tested[1]))},
	}
	if u.Peak != nil {
		rows[3][1] = estimateText(*u.Peak, "") + ", where throughput is greatest"
	}
	for _, r := range rows {
		t.Para(7, r[0], r[1], layout.Plain)
	}
	if u.R2 < poorFit {
		t.Para(7, "", "The law does not describe this program well: go by the curve.", layout.Yellow)
	}
}

// poorFit is the share of the variance below which a law of three parameters
// says little.
const poorFit = 0.9

// estimateText returns an estimate with its interval.
func estimateText(i experiment.Interval, unit string) string {
	return fmt.Sprintf("%s%s (95%%: %s to %s)", figures.Number(i.Value), unit, figures.Number(i.Low), figures.Number(i.High))
}

// formulas tables what the literature says of worker counts.
func (t *texter) formulas(c *experiment.Curve) {
	if len(c.Formulas) == 0 {
		if c.NoFormulas != "" {
			t.Title("Formulas for worker counts")
			t.writeMarked("·", "not computed: "+c.NoFormulas)
		}
		return
	}
	t.Title("Formulas for worker counts, from a trace at each count")
	at := formulaCounts(c)
	rows := [][]string{{"measured at " + layout.Safe(c.Knob.Name) + " ="}}
	for _, v := range at {
		rows[0] = append(rows[0], figures.Number(v))
	}
	for i := range c.Formulas {
		f := &c.Formulas[i]
		row := []string{layout.Safe(f.Name) + " says"}
		for _, v := range at {
			row = append(row, formulaCell(f, v))
		}
		rows = append(rows, row)
	}
	wide := columnWidths(rows)
	for i, row := range rows {
		l := "   " + layout.Pad(row[0], wide[0])
		for j, cell := range row[1:] {
			l += "  " + lpad(cell, wide[j+1])
		}
		if i == 0 {
			l = t.Paint(layout.Dim, l)
		}
		t.Line(l)
	}
	if c.Chosen >= 0 {
		t.Line("   " + layout.Pad("the curve says", wide[0]) + "  " + t.Paint(layout.Green, figures.Number(c.Points[c.Chosen].Value)))
	}
	for i := range c.Formulas {
		f := &c.Formulas[i]
		t.writeMarked("·", f.Name+", "+f.Text+": "+f.Why+verdictOfFormula(f))
	}
}

func verdictOfFormula(f *experiment.Formula) string {
	switch n := len(f.Says); {
	case n < 2:
		return "."
	case f.Stable:
		return ". It says about the same wherever it is measured."
	default:
		return fmt.Sprintf(". Here it says %s to %s for one and the same program.", figures.Number(slices.Min(f.Says)), figures.Number(slices.Max(f.Says)))
	}
}

// formulaCounts returns the counts that any of the formulas was measured at.
func formulaCounts(c *experiment.Curve) (at []float64) {
	for i := range c.Formulas {
		at = append(at, c.Formulas[i].At...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

func formulaCell(f *experiment.Formula, at float64) string {
	if i := slices.Index(f.At, at); i >= 0 && i < len(f.Says) {
		return figures.Number(f.Says[i])
	}
	return "-"
}

func columnWidths(rows [][]string) []int {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			wide[j] = max(wide[j], utf8.RuneCountInString(cell))
		}
	}
	return wide
}
