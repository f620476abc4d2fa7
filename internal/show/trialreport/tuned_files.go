package trialreport

import (
	"encoding/csv"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// TunedCSV writes a line for each point of each curve: the estimate of the goal
// in the metric's own unit with its interval, and the medians of all metrics.
func TunedCSV(w io.Writer, r *experiment.Tuned) error {
	names := tunedMetrics(r)
	head := []string{"knob", "value", "goal", "estimate", "low", "high", "ratio", "standard error", "runs", "kept", "best", "chosen", "failed"}
	for _, m := range names {
		head = append(head, layout.Safe(string(m)))
	}
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range r.Curves {
		c := &r.Curves[i]
		for j := range c.Points {
			if err := out.Write(csvPoint(c, j, names)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvPoint(c *experiment.Curve, j int, names []diagnosis.Metric) []string {
	p := &c.Points[j]
	runs := 0
	for k := range p.Visits {
		if p.Visits[k].Dropped == "" {
			runs++
		}
	}
	row := []string{layout.Safe(c.Knob.Name), csvNumber(p.Value), layout.Safe(c.Goal.String()), "", "", "", "", "",
		strconv.Itoa(runs), strconv.FormatBool(p.Kept), strconv.FormatBool(j == c.Best), strconv.FormatBool(j == c.Chosen), plainCell(firstLine(p.Failed))}
	if usable(p) {
		copy(row[3:], []string{csvNumber(p.Goal.Value), csvNumber(p.Goal.Low), csvNumber(p.Goal.High), csvNumber(p.Ratio), csvNumber(p.Error)})
	}
	for _, m := range names {
		v, ok := p.Values[m]
		if !ok {
			v = math.NaN()
		}
		row = append(row, csvNumber(v))
	}
	return row
}

// plainCell keeps a spreadsheet from taking a program's words for a formula.
func plainCell(s string) string {
	if s = layout.Safe(s); s != "" && strings.ContainsAny(s[:1], "=+-@") {
		return "'" + s
	}
	return s
}

// csvNumber returns empty for what is no number.
func csvNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func tunedMetrics(r *experiment.Tuned) []diagnosis.Metric {
	all := map[diagnosis.Metric]bool{}
	for i := range r.Curves {
		for j := range r.Curves[i].Points {
			for m := range r.Curves[i].Points[j].Values {
				all[m] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
