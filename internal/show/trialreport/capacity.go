package trialreport

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// Capacity writes what came of a search of capacity for a terminal: the rate
// that is sustained and the one that is not, why, and every step.
func Capacity(w io.Writer, r *experiment.CapacityResult, o layout.Options) error {
	t := newTexter(o)
	word, rest := capacityVerdict(r)
	t.verdict(word, rest, capacityStyle(r))
	t.Para(0, "", capacitySubject(r), layout.Dim)
	t.Line("")
	t.steps(r)
	t.remarks("Warnings", r.Warnings, t.Paint(layout.Yellow, "!"))
	t.commands(capacityNext(r))
	return t.Flush(w)
}

// verdict writes the first line of a report: a coloured word and a sentence.
func (t *texter) verdict(word, rest string, s layout.Style) {
	for i, l := range layout.FigureLines(word+" "+rest, t.Width) {
		if after, ok := strings.CutPrefix(l, word); ok && i == 0 {
			l = t.Paint(s, word) + t.Paint(layout.Bold, after)
		} else {
			l = t.Paint(layout.Bold, l)
		}
		t.Line(l)
	}
}

func capacityStyle(r *experiment.CapacityResult) layout.Style {
	if r.Low > 0 && r.High > 0 {
		return layout.Green
	}
	return layout.Yellow
}

func capacityVerdict(r *experiment.CapacityResult) (word, rest string) {
	switch {
	case r.Low == 0 && r.High > 0:
		return "capacity below " + rateText(r.High) + ":", "no rate was sustained; at the lowest " + r.Why
	case r.Low == 0:
		return "no capacity:", r.Why
	case r.High == 0:
		return "capacity at least " + rateText(r.Low) + ":", r.Why
	}
	return "capacity " + rateText(r.Low) + ":", fmt.Sprintf("sustained twice; at %s %s", rateText(r.High), r.Why)
}

func rateText(v float64) string { return figures.Number(rounded(v)) + "/s" }

// rounded keeps four figures: a bracket of 5% has no more to say.
func rounded(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-3)
	return math.Round(v/unit) * unit
}

func capacitySubject(r *experiment.CapacityResult) string {
	parts := []string{figures.Plural(len(r.Steps), "step")}
	if r.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d not counted, the machine was busy", r.Dropped))
	}
	if r.Low > 0 && r.High > 0 {
		parts = append(parts, "bracket of "+figures.Percent(r.High/r.Low-1)+", required "+figures.Percent(r.Tolerance))
	}
	if r.Took > 0 {
		parts = append(parts, figures.Duration(r.Took.Round(100*time.Millisecond)))
	}
	return strings.Join(parts, " · ")
}

// steps tables what was offered, in order.
func (t *texter) steps(r *experiment.CapacityResult) {
	rows := [][]string{{"OFFERED", "DONE", "FAILED", "P50", "P99", "BACKLOG", ""}}
	for i := range r.Steps {
		rows = append(rows, stepCells(&r.Steps[i]))
	}
	wide := columnWidths(rows)
	for i, row := range rows {
		l := ""
		for j, cell := range row[:len(row)-1] {
			l += "  " + lpad(cell, wide[j])
		}
		last := row[len(row)-1]
		switch {
		case i == 0:
			t.Line(t.Paint(layout.Dim, l))
			continue
		case r.Steps[i-1].Dropped != "":
			last = t.Paint(layout.Dim, last)
		case r.Steps[i-1].Limit != "":
			last = t.Paint(layout.Yellow, last)
		}
		t.Line(l + "  " + last)
	}
}

func stepCells(s *experiment.Step) []string {
	growth := "-"
	if g := s.Growth; g != nil {
		growth = signedQuantity(g.Value, fact.PerSec)
		if math.Abs(g.Value) < 0.005*s.Rate {
			growth = "steady"
		}
	}
	word := "sustained"
	switch {
	case s.Dropped != "":
		word = "not counted, busy"
	case s.Limit != "":
		word = layout.Safe(string(s.Limit))
	}
	return []string{rateText(s.Rate), rateText(s.Done), figures.Percent(s.Failed), latencyText(s.P50), latencyText(s.P99), growth, word}
}

func latencyText(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return figures.Duration(d)
}

// capacityNext looks at the program where it is at its limit.
func capacityNext(r *experiment.CapacityResult) [][2]string {
	if r.URL == "" || r.Low == 0 {
		return nil
	}
	return [][2]string{
		{fmt.Sprintf("gowhy load %s --rate %.0f -d 35s -o load.json &", shell.Word(r.URL), math.Max(1, rounded(r.Low))), "the load that it bears, and beside it"},
		{"gowhy record -d 30s --url " + shell.Word(serverOf(r.URL)), "find what limits it"},
	}
}

// serverOf returns a URL without its path: profiles are not below it.
func serverOf(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		scheme, rest = "http", url
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// CapacityTable writes the capacities of a table: what it allows to say first.
func CapacityTable(w io.Writer, r *experiment.CapacityTable, o layout.Options) error {
	t := newTexter(o)
	t.verdict("the limit is:", r.Conclusion.Where, layout.Green)
	t.Para(0, "", capitalize(r.Conclusion.Why)+".", layout.Plain)
	t.Line("")
	t.grid(r)
	t.Line("")
	for _, s := range r.Conclusion.Shapes {
		t.writeMarked("·", shapeText(s))
	}
	var warnings []string
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Failed != "" {
			warnings = append(warnings, c.Setting.Words(r.Axes, figures.Number)+" has no capacity: "+firstLine(c.Failed))
		}
		if c.Search != nil {
			for _, text := range c.Search.Warnings {
				warnings = append(warnings, c.Setting.Words(r.Axes, figures.Number)+": "+text)
			}
		}
	}
	t.remarks("Warnings", warnings, t.Paint(layout.Yellow, "!"))
	if r.Conclusion.Next != "" {
		t.remarks("Next", []string{r.Conclusion.Next}, "·")
	}
	return t.Flush(w)
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func shapeText(s experiment.AxisShape) string {
	if s.Shape == experiment.Unknown {
		return s.Axis + ": too few values to compare"
	}
	return fmt.Sprintf("%s in %s: ×%s for ×%s", s.Shape, s.Axis, figures.Number(s.Growth), figures.Number(s.Times))
}

// grid lays the cells out: the last axis across, the others down.
func (t *texter) grid(r *experiment.CapacityTable) {
	if len(r.Axes) == 0 {
		return
	}
	across := r.Axes[len(r.Axes)-1]
	down := r.Axes[:len(r.Axes)-1]
	columns := valuesOf(across, r.Cells)
	head := append([]string{}, strings.Join(down, " ")+" \\ "+across)
	if len(down) == 0 {
		head[0] = across
	}
	for _, v := range columns {
		head = append(head, figures.Number(v))
	}
	rows := [][]string{head}
	seen := map[string][]string{}
	for i := range r.Cells {
		c := &r.Cells[i]
		key := c.Setting.Words(down, figures.Number)
		if len(down) == 0 {
			key = "sustained"
		}
		row, ok := seen[key]
		if !ok {
			row = append([]string{key}, slices.Repeat([]string{"-"}, len(columns))...)
			seen[key] = row
			rows = append(rows, row)
		}
		row[1+slices.Index(columns, c.Setting[across])] = cellText(c)
	}
	wide := columnWidths(rows)
	for i, row := range rows {
		l := "   " + layout.Pad(layout.Safe(row[0]), wide[0])
		for j, cell := range row[1:] {
			l += "  " + lpad(cell, wide[j+1])
		}
		if i == 0 {
			l = t.Paint(layout.Dim, l)
		}
		t.Line(l)
	}
}

func cellText(c *experiment.Cell) string {
	switch {
	case c.Failed != "":
		return "failed"
	case !c.Decided() && c.Rate > 0:
		return "≥" + rateText(c.Rate)
	}
	if !(c.Rate > 0) {
		return "not found"
	}
	return rateText(c.Rate)
}

func valuesOf(axis string, cells []experiment.Cell) (list []float64) {
	for i := range cells {
		list = append(list, cells[i].Setting[axis])
	}
	slices.Sort(list)
	return slices.Compact(list)
}
