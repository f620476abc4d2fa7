package trialreport

import (
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
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

// csvNumber is empty for what is no number.
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

// The picture, in units of its own view box.
const (
	svgWidth  = 720
	svgLeft   = 76
	svgRight  = 16
	svgTop    = 44
	svgGoal   = 240 // height of the goal's part
	svgMemory = 90
	svgGap    = 30
	svgBottom = 46
)

// svgStyle follows the reader's preference of light or dark. The colours keep a
// contrast of 4.5 to their ground in both.
const svgStyle = `svg text.g{stroke:none}.g{font:13px system-ui,sans-serif;fill:#1f2328}.m{fill:#59636e}.t{font-weight:600;font-size:15px}` +
	`.l{stroke:#d1d9e0;stroke-width:1}.i{stroke:#0969da;stroke-width:2}.p{fill:#0969da}.c{fill:#1a7f37;stroke:#1a7f37}` +
	`.u{fill:none;stroke:#bc4c00;stroke-width:1.5;stroke-dasharray:5 4}.x{fill:#bc4c00}.n{fill:none;stroke:#8250df;stroke-width:2}.nd{fill:#8250df}.b{fill:#fff}` +
	`@media (prefers-color-scheme:dark){.g{fill:#e6edf3}.m{fill:#9198a1}.l{stroke:#3d444d}.i{stroke:#4493f8}.p{fill:#4493f8}.c{fill:#3fb950;stroke:#3fb950}` +
	`.u{stroke:#f0883e}.x{fill:#f0883e}.n{stroke:#ab7df8}.nd{fill:#ab7df8}.b{fill:#0d1117}}`

// TunedSVG draws the curves, one below the other, each with its intervals, the
// law fitted to it and its cost in memory. The picture needs nothing else.
func TunedSVG(w io.Writer, r *experiment.Tuned) error {
	var s svg
	height := 0
	for i := range r.Curves {
		height += curveHeight(&r.Curves[i])
	}
	word, rest := tunedVerdict(r)
	s.p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t d">`, svgWidth, max(height, svgTop))
	s.p(`<title id="t">%s</title><desc id="d">%s</desc><style>%s</style>`, esc(word+" "+rest), esc(tunedSubject(r)), svgStyle)
	s.p(`<rect class="b" width="%d" height="%d"/>`, svgWidth, max(height, svgTop))
	for i := range r.Curves {
		s.curve(r, &r.Curves[i])
	}
	s.p(`</svg>`)
	_, err := io.WriteString(w, s.b.String())
	return err
}

// esc makes text of any origin safe in XML and HTML.
func esc(s string) string { return html.EscapeString(layout.Safe(s)) }

// An svg is a picture being written; y is where the next curve begins.
type svg struct {
	b strings.Builder
	y float64
}

func (s *svg) p(format string, args ...any) { fmt.Fprintf(&s.b, format+"\n", args...) }

func curveHeight(c *experiment.Curve) int {
	if hasMemory(c) {
		return svgTop + svgGoal + svgGap + svgMemory + svgBottom
	}
	return svgTop + svgGoal + svgBottom
}

// hasMemory reports whether a curve of memory is worth drawing beside the goal.
func hasMemory(c *experiment.Curve) bool {
	return c.Goal.Metric != diagnosis.PeakRSS && slices.ContainsFunc(c.Points, func(p experiment.Point) bool {
		return usable(&p) && p.Values[diagnosis.PeakRSS] > 0
	})
}

// mostTitle is how much of a title fits beside the scale's.
const mostTitle = 70

// An axis maps values to positions; logarithmic when log is set.
type axis struct {
	low, high, from, to float64
	log                 bool
}

func (a axis) at(v float64) float64 {
	v = min(max(v, a.low), a.high)
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return a.from // a saved file may hold any number
	}
	return a.from + (a.to-a.from)*share
}

func (s *svg) curve(r *experiment.Tuned, c *experiment.Curve) {
	x := knobAxis(c)
	low, high := span(c)
	y := axis{low: low, high: high, log: high/low > manyTimes, from: s.y + svgTop + svgGoal, to: s.y + svgTop}
	title := layout.Shorten(string(c.Goal.Metric)+" over "+c.Knob.Name+othersText(r, c), mostTitle)
	if y.log {
		title += ", log scale"
	}
	s.p(`<text class="g t" x="12" y="%.0f">%s</text>`, s.y+22, esc(title))
	if !y.log {
		room := (high - low) * 0.06
		y.low, y.high = max(0, low-room), high+room
	}
	s.grid(c, y)
	s.lawLine(c, x, y)
	s.points(c, x, y)
	bottom := y.from
	if hasMemory(c) {
		bottom += svgGap + svgMemory
		s.memory(c, x, bottom)
	}
	s.ticks(c, x, bottom)
	s.y += float64(curveHeight(c))
}

// knobAxis is logarithmic where the knob is above 0, as its grid is.
func knobAxis(c *experiment.Curve) axis {
	a := axis{low: 0, high: 1, from: svgLeft, to: svgWidth - svgRight - 14}
	if n := len(c.Points); n > 0 {
		a.low, a.high = c.Points[0].Value, c.Points[n-1].Value
	}
	if a.high <= a.low {
		a.low, a.high = a.low-1, a.high+1
	}
	a.log = a.low > 0 && a.high/a.low > 3
	return a
}

func (s *svg) grid(c *experiment.Curve, y axis) {
	const lines = 4
	for i := range lines + 1 {
		share := float64(i) / lines
		v := y.low + share*(y.high-y.low)
		if y.log {
			v = y.low * math.Pow(y.high/y.low, share)
		}
		s.p(`<line class="l" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="g m" x="%d" y="%.1f" text-anchor="end">%s</text>`,
			svgLeft-6, svgWidth-svgRight, y.at(v), y.at(v), svgLeft-10, y.at(v)+4, esc(metricText(c.Goal.Metric, v)))
	}
}

// points draws each point with its interval. Those that break a limit are
// hollow, the recommended one is larger.
func (s *svg) points(c *experiment.Curve, x, y axis) {
	for i := range c.Points {
		p := &c.Points[i]
		at := x.at(p.Value)
		if !usable(p) {
			s.p(`<text class="x" x="%.1f" y="%.1f" text-anchor="middle">✗<title>%s</title></text>`, at, y.from-4, esc(assignment(&c.Knob, p.Value)+" "+whyUnusable(p)))
			continue
		}
		class, size := "p", 4.0
		if i == c.Chosen {
			class, size = "c", 7
		} else if !p.Kept {
			class = "b i"
		}
		s.p(`<g><title>%s</title><line class="i" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><circle class="%s" cx="%.1f" cy="%.1f" r="%.0f"/></g>`,
			esc(pointText(c, p)), at, at, y.at(p.Goal.Low), y.at(p.Goal.High), class, at, y.at(p.Goal.Value), size)
	}
}

// pointText returns the text of a point that is pointed at.
func pointText(c *experiment.Curve, p *experiment.Point) string {
	s := fmt.Sprintf("%s: %s %s", assignment(&c.Knob, p.Value), c.Goal.Metric, metricText(c.Goal.Metric, p.Goal.Value))
	if p.Goal.Low > 0 && !math.IsInf(p.Goal.High, 1) {
		s += fmt.Sprintf(" (95%%: %s to %s)", metricText(c.Goal.Metric, p.Goal.Low), metricText(c.Goal.Metric, p.Goal.High))
	}
	return s
}

// hasLaw reports whether there is a law to be drawn.
func hasLaw(c *experiment.Curve) bool {
	return c.USL != nil && c.USL.Tested[1] > c.USL.Tested[0] && c.USL.Tested[0] >= 1
}

// lawPieces is how many straight pieces the law is drawn with.
const lawPieces = 120

// lawLine draws the law inside the tested range, brought to the goal's unit by
// the points themselves.
func (s *svg) lawLine(c *experiment.Curve, x, y axis) {
	if !hasLaw(c) {
		return
	}
	u := c.USL
	goal := func(n float64) float64 {
		if c.Goal.Metric == diagnosis.OpsPerSec {
			return u.At(n)
		}
		return 1 / u.At(n)
	}
	sum, count := 0.0, 0.0
	for i := range c.Points {
		if p := &c.Points[i]; usable(p) && p.Value >= 1 {
			sum, count = sum+math.Log(p.Goal.Value/goal(p.Value)), count+1
		}
	}
	scale := math.Exp(sum / max(1, count))
	var path []string
	for i := range lawPieces + 1 {
		n := u.Tested[0] * math.Pow(u.Tested[1]/u.Tested[0], float64(i)/lawPieces)
		if v := scale * goal(n); v > 0 && !math.IsInf(v, 1) {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(n), y.at(v)))
		}
	}
	s.p(`<polyline class="u" points="%s"><title>%s</title></polyline>`, strings.Join(path, " "), esc("universal scalability law, R² "+figures.Number(u.R2)))
}

// memory draws peak memory from 0 upwards: its cost is absolute.
func (s *svg) memory(c *experiment.Curve, x axis, bottom float64) {
	most := 0.0
	for i := range c.Points {
		if usable(&c.Points[i]) {
			most = max(most, c.Points[i].Values[diagnosis.PeakRSS])
		}
	}
	y := axis{low: 0, high: most, from: bottom, to: bottom - svgMemory}
	for _, v := range []float64{0, most} {
		s.p(`<line class="l" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="g m" x="%d" y="%.1f" text-anchor="end">%s</text>`,
			svgLeft-6, svgWidth-svgRight, y.at(v), y.at(v), svgLeft-10, y.at(v)+4, esc(figures.Bytes(v)))
	}
	s.p(`<text class="g m" x="%d" y="%.1f">peak memory</text>`, svgLeft, y.to-8)
	var path []string
	for i := range c.Points {
		p := &c.Points[i]
		v := p.Values[diagnosis.PeakRSS]
		if !usable(p) || !(v > 0) {
			continue
		}
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(p.Value), y.at(v)))
		s.p(`<circle class="nd" cx="%.1f" cy="%.1f" r="3"><title>%s</title></circle>`, x.at(p.Value), y.at(v), esc(assignment(&c.Knob, p.Value)+": "+figures.Bytes(v)))
	}
	s.p(`<polyline class="n" points="%s"/>`, strings.Join(path, " "))
}

// ticks names the points below the axis, as many as there is room for. The
// recommended one has the first right to it.
func (s *svg) ticks(c *experiment.Curve, x axis, bottom float64) {
	var taken []float64
	label := func(i int, class string) {
		text := knobText(&c.Knob, c.Points[i].Value)
		at, room := x.at(c.Points[i].Value), 14+7*float64(len(text))
		for _, t := range taken {
			if math.Abs(t-at) < room {
				return
			}
		}
		taken = append(taken, at)
		s.p(`<text class="g %s" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, class, at, bottom+18, esc(text))
	}
	if c.Chosen >= 0 {
		label(c.Chosen, "t c")
	}
	if last := len(c.Points) - 1; last >= 0 {
		label(last, "m")
	}
	for i := range c.Points {
		label(i, "m")
	}
	s.p(`<text class="g m" x="%d" y="%.1f" text-anchor="end">%s</text>`, svgWidth-svgRight, bottom+36, esc(middle(c.Knob.Name, mostKnobName)))
	s.legend(c, bottom+36)
}

// mostKnobName leaves the legend its room.
const mostKnobName = 24

// legend says what the marks mean that this curve has.
func (s *svg) legend(c *experiment.Curve, y float64) {
	x := float64(svgLeft)
	entry := func(mark, text string) {
		s.p(`%s<text class="g m" x="%.1f" y="%.1f">%s</text>`, mark, x+16, y, esc(text))
		x += 42 + 7*float64(len(text))
	}
	if c.Chosen >= 0 {
		entry(fmt.Sprintf(`<circle class="c" cx="%.1f" cy="%.1f" r="6"/>`, x+4, y-4), "recommended")
	}
	if slices.ContainsFunc(c.Points, func(p experiment.Point) bool { return usable(&p) && !p.Kept }) {
		entry(fmt.Sprintf(`<circle class="b i" cx="%.1f" cy="%.1f" r="4"/>`, x+4, y-4), "breaks a limit")
	}
	if hasLaw(c) {
		x += 14
		entry(fmt.Sprintf(`<line class="u" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x-14, x+10, y-4, y-4), "universal scalability law")
	}
}

// pageStyle is that of the page around the picture.
const pageStyle = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em;color:#1f2328;background:#fff}` +
	`h1{font-size:1.3em}h2{font-size:1.1em;margin-top:1.6em}p.s{color:#59636e}table{border-collapse:collapse;font-variant-numeric:tabular-nums;white-space:nowrap}` +
	`th,td{padding:.25em .7em;border-bottom:1px solid #d1d9e0;text-align:right}th:last-child,td:last-child{text-align:left}tr.chosen td{font-weight:600;color:#1a7f37}` +
	`pre{overflow-x:auto;white-space:pre;background:#f6f8fa;padding:.7em}svg{width:100%;height:auto}.wide{overflow-x:auto}` +
	`@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}p.s{color:#9198a1}th,td{border-color:#3d444d}tr.chosen td{color:#3fb950}pre{background:#151b23}}`

// TunedHTML writes a page with the picture, the figures behind it, and what the
// text report says of law and formulas. It asks for nothing from elsewhere.
func TunedHTML(w io.Writer, r *experiment.Tuned) error {
	var s svg
	word, rest := tunedVerdict(r)
	s.p(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`)
	s.p(`<title>%s</title><style>%s</style></head><body>`, esc(word+" "+rest), pageStyle)
	s.p(`<h1>%s %s</h1><p class="s">%s</p>`, esc(word), esc(rest), esc(tunedSubject(r)))
	if err := TunedSVG(&s.b, r); err != nil {
		return err
	}
	for i := range r.Curves {
		s.table(r, &r.Curves[i])
		t := newTexter(layout.Options{})
		t.law(&r.Curves[i])
		t.formulas(&r.Curves[i])
		if t.Len() > 0 {
			s.p(`<pre>%s</pre>`, html.EscapeString(strings.TrimPrefix(t.String(), "\n")))
		}
	}
	for _, warning := range tunedWarnings(r) {
		s.p(`<p>! %s</p>`, esc(warning))
	}
	for _, n := range tunedNext(r) {
		s.p(`<h2>Next</h2><pre>%s</pre>`, esc(n[0]))
	}
	s.p(`</body></html>`)
	_, err := io.WriteString(w, s.b.String())
	return err
}

func (s *svg) table(r *experiment.Tuned, c *experiment.Curve) {
	s.p(`<h2>%s</h2><div class="wide"><table><thead><tr><th>%s</th><th>%s</th><th>95%%</th><th>to the best</th><th>peak memory</th><th></th></tr></thead><tbody>`,
		esc(c.Knob.Name), esc(middle(c.Knob.Name, mostKnobName)), esc(string(c.Goal.Metric)))
	for i := range c.Points {
		class := ""
		if i == c.Chosen {
			class = ` class="chosen"`
		}
		s.p(`<tr%s>%s</tr>`, class, pointCells(r, c, i))
	}
	s.p(`</tbody></table></div>`)
}

// pointCells are a point's row.
func pointCells(r *experiment.Tuned, c *experiment.Curve, i int) string {
	p, m := &c.Points[i], c.Goal.Metric
	row := []string{knobText(&c.Knob, p.Value), "", "", "", "", pointNote(r, c, i)}
	if usable(p) {
		row[1] = metricText(m, p.Goal.Value)
		row[2] = metricText(m, p.Goal.Low) + " to " + metricText(m, p.Goal.High)
		row[3] = Change(toBest(c, p))
		if rss := p.Values[diagnosis.PeakRSS]; rss > 0 {
			row[4] = figures.Bytes(rss)
		}
	}
	var b strings.Builder
	for _, cell := range row {
		b.WriteString("<td>" + esc(cell) + "</td>")
	}
	return b.String()
}

// toBest returns how a point stands to the best that holds the limits.
func toBest(c *experiment.Curve, p *experiment.Point) float64 {
	if c.Best < 0 {
		return math.NaN()
	}
	return p.Ratio / c.Points[c.Best].Ratio
}

func pointNote(r *experiment.Tuned, c *experiment.Curve, i int) string {
	switch p := &c.Points[i]; {
	case p.Failed != "":
		return "failed: " + firstLine(p.Failed)
	case i == c.Chosen:
		return "recommended"
	case !p.Kept:
		return "breaks " + brokenLimits(p, r.Keep)
	case i == c.Best && alone(c):
		return "best"
	}
	return ""
}
