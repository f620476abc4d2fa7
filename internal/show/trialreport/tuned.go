package trialreport

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// TunedText writes what came of a search for a terminal: the setting to use, the
// curve of each knob with intervals and what it costs in memory, the law, the
// formulas, the check of all knobs together, and the next commands.
func TunedText(w io.Writer, r *experiment.Tuned, o layout.Options) error {
	t := newTexter(o)
	word, rest := tunedVerdict(r)
	t.verdict(word, rest, tunedStyle(r))
	t.subject(tunedSubject(r))
	for i := range r.Curves {
		c := &r.Curves[i]
		t.Line("")
		if len(r.Curves) > 1 {
			t.Para(0, "", curveVerdict(r, c)+othersText(r, c), layout.Bold)
		}
		t.curve(c, r.Keep)
		t.law(c)
		t.formulas(c)
	}
	if r.Together != nil {
		t.remarks("All knobs together", []string{togetherText(r.Together)}, "·")
	}
	t.remarks("Warnings", tunedWarnings(r), t.Paint(layout.Yellow, "!"))
	t.commands(tunedNext(r))
	return t.Flush(w)
}

// tunedStyle warns when a knob has no setting that holds the limits.
func tunedStyle(r *experiment.Tuned) layout.Style {
	if slices.ContainsFunc(r.Curves, func(c experiment.Curve) bool { return c.Chosen < 0 }) {
		return layout.Yellow
	}
	return layout.Green
}

// tunedVerdict returns the recommendation: a word and a sentence.
func tunedVerdict(r *experiment.Tuned) (word, rest string) {
	if len(r.Curves) == 1 {
		c := &r.Curves[0]
		if c.Chosen < 0 {
			return "no setting", curveVerdict(r, c)
		}
		switch {
		case early(c):
			return "undecided:", curveVerdict(r, c)
		case flat(c):
			return "no difference found:", curveVerdict(r, c)
		}
		return "use " + assignment(&c.Knob, c.Points[c.Chosen].Value) + ":", curveVerdict(r, c)
	}
	var all []string
	for i := range r.Curves {
		k := &r.Curves[i].Knob
		if v, ok := r.Chosen[k.Name]; ok {
			all = append(all, assignment(k, v))
		}
	}
	if maps.Equal(r.Start, r.Chosen) {
		return "keep " + strings.Join(all, " ") + ":", "no other setting is better, each knob turned by itself"
	}
	chosen := strings.Join(all, " ")
	rest = "each is the smallest as good as the best, one knob after the other"
	if r.Together == nil {
		return "use " + chosen + ":", rest
	}
	if p := primaryEffect(r.Together); p != nil && p.Verdict == experiment.Regressed {
		return "keep " + startText(r) + ":", fmt.Sprintf("%s, which each knob chose by itself, is worse than the start; %s", chosen, togetherText(r.Together))
	}
	return "use " + chosen + ":", rest + "; " + togetherText(r.Together)
}

// startText says what the knobs had before.
func startText(r *experiment.Tuned) string {
	var all []string
	for i := range r.Curves {
		if k := &r.Curves[i].Knob; r.Start != nil {
			all = append(all, assignment(k, r.Start[k.Name]))
		}
	}
	return strings.Join(all, " ")
}

// assignment returns a knob's value as one types it.
func assignment(k *experiment.Knob, v float64) string {
	return layout.Safe(k.Name) + "=" + settingText(k, v)
}

// settingText returns a value as a command takes it; sizes in a whole unit where
// there is one.
func settingText(k *experiment.Knob, v float64) string {
	if !k.Bytes {
		return k.Format(v)
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n := v / u.size; n >= 1 && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', 0, 64) + u.name
		}
	}
	return k.Format(v)
}

// curveVerdict says why the recommended point of a knob is that one.
func curveVerdict(r *experiment.Tuned, c *experiment.Curve) string {
	if c.Chosen < 0 {
		return noSetting(r, c)
	}
	chosen, best := &c.Points[c.Chosen], &c.Points[c.Best]
	m := c.Goal.Metric
	s := fmt.Sprintf("%s %s", m, metricText(m, chosen.Goal.Value))
	if len(r.Curves) > 1 {
		s = assignment(&c.Knob, chosen.Value) + ": " + s
	}
	switch {
	case early(c):
		return fmt.Sprintf("%s %s with %s leads so far, of single runs that show no spread", m, metricText(m, chosen.Goal.Value), assignment(&c.Knob, chosen.Value))
	case flat(c):
		s = flatText(r, c)
	case c.Chosen == c.Best:
		s += bestText(r, c)
	default:
		near := "within 3% of"
		if !nearBest(c) {
			near = "in this noise as good as"
		}
		s += fmt.Sprintf(", %s %s (%s)", near, assignment(&c.Knob, best.Value), metricText(m, best.Goal.Value))
	}
	if last := lastUsable(c); last != nil && last.Value > chosen.Value {
		s += worseBy(c, chosen, last) + lessMemory(c, chosen, last)
	}
	if len(r.Keep) > 0 && c.Chosen != c.Best && !flat(c) {
		s += ", and it holds " + keepsText(r.Keep)
	}
	return s
}

// early reports whether a search ended before it knew how much its runs vary.
func early(c *experiment.Curve) bool {
	return slices.ContainsFunc(c.Points, func(p experiment.Point) bool { return usable(&p) && math.IsInf(p.Goal.High, 1) })
}

// overlapping returns how many settings that hold the limits have an interval in common
// with the best one, without itself, and how many are apart from it.
func overlapping(c *experiment.Curve) (with, apart int) {
	if c.Best < 0 {
		return 0, 0
	}
	best := c.Points[c.Best].Goal
	for i := range c.Points {
		p := &c.Points[i]
		switch {
		case i == c.Best || !usable(p) || !p.Kept:
		case p.Goal.Low <= best.High && best.Low <= p.Goal.High:
			with++
		default:
			apart++
		}
	}
	return with, apart
}

// alone reports whether the best setting is surely better than all others.
func alone(c *experiment.Curve) bool {
	with, _ := overlapping(c)
	return with == 0
}

// flat reports whether no setting can be told from the best: nothing was found.
func flat(c *experiment.Curve) bool {
	with, apart := overlapping(c)
	return with > 0 && apart == 0 && c.Chosen >= 0
}

// flatText says that the settings make no difference, and which is the smallest.
func flatText(r *experiment.Tuned, c *experiment.Curve) string {
	chosen := &c.Points[c.Chosen]
	of := knobRange(c)
	if len(r.Keep) > 0 {
		of += " that hold " + keepsText(r.Keep)
	}
	s := fmt.Sprintf("the smallest is %s, %s %s; the intervals of %s overlap", settingText(&c.Knob, chosen.Value), c.Goal.Metric, metricText(c.Goal.Metric, chosen.Goal.Value), of)
	if len(r.Curves) > 1 {
		return layout.Safe(c.Knob.Name) + ": no difference found; " + s
	}
	return s
}

// bestText says how the recommended setting, which measured best, stands to the others.
func bestText(r *experiment.Tuned, c *experiment.Curve) string {
	of := knobRange(c)
	if len(r.Keep) > 0 {
		of += " that holds " + keepsText(r.Keep)
	}
	if alone(c) {
		return ", the best of " + of
	}
	return ", and no other of " + of + " is surely better"
}

// nearBest reports whether the recommended point was measured within 3% of the
// best, and not only not shown to be worse.
func nearBest(c *experiment.Curve) bool {
	return toBest(c, &c.Points[c.Chosen]) <= 1+experiment.NearBest
}

// tooNoisy is how much worse than the best the recommended point was measured,
// as a ratio, when more runs are worth their time.
const tooNoisy = 1.1

func noSetting(r *experiment.Tuned, c *experiment.Curve) string {
	if len(r.Keep) > 0 && slices.ContainsFunc(c.Points, func(p experiment.Point) bool { return usable(&p) }) {
		return "of " + knobRange(c) + " holds " + keepsText(r.Keep)
	}
	return "of " + knobRange(c) + " was measured"
}

func keepsText(keep []experiment.Keep) string {
	list := make([]string, len(keep))
	for i, k := range keep {
		list[i] = keepText(k)
	}
	return strings.Join(list, ", ")
}

// knobRange says what was tried of a knob.
func knobRange(c *experiment.Curve) string {
	k := &c.Knob
	tried := slices.DeleteFunc(slices.Clone(c.Points), func(p experiment.Point) bool { return !usable(&p) && p.Failed == "" })
	if len(tried) == 0 {
		return layout.Safe(k.Name)
	}
	return fmt.Sprintf("%s=%s..%s", layout.Safe(k.Name), settingText(k, tried[0].Value), settingText(k, tried[len(tried)-1].Value))
}

func lastUsable(c *experiment.Curve) *experiment.Point {
	for i := len(c.Points) - 1; i >= 0; i-- {
		if usable(&c.Points[i]) {
			return &c.Points[i]
		}
	}
	return nil
}

// worthTelling is the ratio from which the far end of a curve is compared with
// the recommended point.
const worthTelling = 1.2

func worseBy(c *experiment.Curve, chosen, last *experiment.Point) string {
	if ratio := last.Ratio / chosen.Ratio; ratio >= worthTelling {
		return fmt.Sprintf("; %s is %s× worse", assignment(&c.Knob, last.Value), figures.Number(ratio))
	}
	return ""
}

func lessMemory(c *experiment.Curve, chosen, last *experiment.Point) string {
	a, b := chosen.Values[diagnosis.PeakRSS], last.Values[diagnosis.PeakRSS]
	if a > 0 && b/a >= worthTelling {
		return fmt.Sprintf("; %s× less memory than %s", figures.Number(b/a), assignment(&c.Knob, last.Value))
	}
	return ""
}

func othersText(r *experiment.Tuned, c *experiment.Curve) string {
	var list []string
	for i := range r.Curves {
		k := &r.Curves[i].Knob
		if v, ok := c.Others[k.Name]; ok {
			list = append(list, assignment(k, v))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " (with " + strings.Join(list, ", ") + ")"
}

func tunedSubject(r *experiment.Tuned) string {
	points, noise := 0, 0.0
	for i := range r.Curves {
		points += len(r.Curves[i].Points)
		noise = max(noise, r.Curves[i].Noise)
	}
	parts := []string{"goal: " + r.Goal.String(), figures.Plural(points, "setting"), figures.Plural(r.Runs, "run")}
	if r.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d not counted, the machine was busy", r.Dropped))
	}
	if noise > 0 {
		parts = append(parts, "runs of one setting differ by "+figures.Percent(noise))
	}
	if r.Took > 0 {
		parts = append(parts, figures.Duration(r.Took.Round(time.Millisecond)))
	}
	return strings.Join(parts, " · ")
}

func togetherText(tr *experiment.Trial) string {
	return "against the start: " + layout.Safe(string(tr.Conclusion)) + ", " + layout.Safe(tr.Why)
}

// tunedWarnings returns the search's own and what its curves suggest.
func tunedWarnings(r *experiment.Tuned) []string {
	list := slices.Clone(r.Warnings)
	for i := range r.Curves {
		c := &r.Curves[i]
		if c.Chosen >= 0 && c.Chosen == len(c.Points)-1 && len(c.Points) > 1 && len(c.Knob.Values) == 0 {
			list = append(list, fmt.Sprintf("%s is the end of the range: what is beyond it may be better still", assignment(&c.Knob, c.Points[c.Chosen].Value)))
		}
		if c.Chosen >= 0 && toBest(c, &c.Points[c.Chosen]) > tooNoisy {
			list = append(list, fmt.Sprintf("%s measured %s worse than %s, which the noise may have made: a quieter machine or more --repeats would tell",
				assignment(&c.Knob, c.Points[c.Chosen].Value), figures.Percent(toBest(c, &c.Points[c.Chosen])-1), assignment(&c.Knob, c.Points[c.Best].Value)))
		}
		if n := len(failedPoints(c)); n > 0 {
			list = append(list, fmt.Sprintf("%d of %d settings of %s failed", n, len(c.Points), layout.Safe(c.Knob.Name)))
		}
	}
	return list
}

func failedPoints(c *experiment.Curve) (list []int) {
	for i := range c.Points {
		if c.Points[i].Failed != "" {
			list = append(list, i)
		}
	}
	return list
}

// tunedNext proves the choice against what was there before.
func tunedNext(r *experiment.Tuned) [][2]string {
	if len(r.Command) == 0 {
		return nil
	}
	start := proofStart(r)
	if maps.Equal(start, r.Chosen) || !slices.ContainsFunc(r.Curves, func(c experiment.Curve) bool { return !flat(&c) && !early(&c) }) {
		return nil // there is nothing to prove
	}
	args := []string{"gowhy", "verify"}
	fill := []string{"{trace}", ""} // a run that is timed writes none
	for i := range r.Curves {
		c := &r.Curves[i]
		k := &c.Knob
		if from, to := start[k.Name], r.Chosen[k.Name]; from != to {
			args = append(args, "--knob", k.Name+"="+k.Format(from)+":"+k.Format(to))
		} else {
			fill = append(fill, "{"+k.Name+"}", k.Format(to))
		}
	}
	if r.Load != "" {
		args = append(args, "--load", r.Load)
	}
	if r.Ready != "" {
		args = append(args, "--ready", r.Ready)
	}
	line := shell.Words(args) + " --"
	for _, w := range r.Command {
		line += " " + shell.Word(strings.NewReplacer(fill...).Replace(w))
	}
	return [][2]string{{line, "prove it"}}
}

// proofStart returns the setting that the choice is proved against: what there was before or,
// when that is what was chosen, the far end of the curve.
func proofStart(r *experiment.Tuned) experiment.Setting {
	if !maps.Equal(r.Start, r.Chosen) || len(r.Curves) != 1 {
		return r.Start
	}
	c := &r.Curves[0]
	last := lastUsable(c)
	if c.Chosen < 0 || last == nil {
		return r.Start
	}
	return experiment.Setting{c.Knob.Name: last.Value}
}

// toBest returns how a point stands to the best that holds the limits.
func toBest(c *experiment.Curve, p *experiment.Point) float64 {
	if c.Best < 0 {
		return math.NaN()
	}
	return p.Ratio / c.Points[c.Best].Ratio
}
