package intake

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/compare"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// resultFile reads a result that an experiment saved; of a file that is none the
// kind is empty.
func resultFile(file, name string) (s compare.SavedResult, kind string, err error) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return s, "", nil // evidence says what is wrong with it; a pipe can be read only once
	}
	begin, err := Head(file)
	if err != nil {
		return s, "", err
	}
	k := Kind(begin)
	if k == "" {
		return s, "", nil
	}
	value, _, err := decode(file, k)
	if err != nil {
		return s, "", err
	}
	if kind = savedResults[k].kind; kind == "comparison" {
		kind = "compare" // the command that makes it
	}
	return savedOf(name, value), kind, nil
}

// Compare compares two files of which one at least is a saved result; ok is false
// when neither is.
func Compare(a, nameA, b, nameB string) (result *compare.Comparison, ok bool, err error) {
	sa, kindA, err := resultFile(a, nameA)
	if err != nil {
		return nil, true, err
	}
	sb, kindB, err := resultFile(b, nameB)
	switch {
	case err != nil:
		return nil, true, err
	case kindA == "" && kindB == "":
		return nil, false, nil
	case kindB == "":
		return nil, true, &compare.Unlike{Why: "only the first is a result of gowhy " + kindA}
	case kindA == "":
		return nil, true, &compare.Unlike{Why: "only the second is a result of gowhy " + kindB}
	case kindA != kindB:
		return nil, true, &compare.Unlike{Why: fmt.Sprintf("the first is a result of gowhy %s, the second of gowhy %s", kindA, kindB)}
	}
	result, err = compare.Results(sa, sb)
	return result, true, err
}

// savedOf takes of a saved result what can be compared; nothing of a comparison.
func savedOf(name string, value any) (s compare.SavedResult) {
	switch v := value.(type) {
	case *experiment.Trial:
		s.Trial = roundsOf(name, v)
	case *experiment.Tuned:
		s.Search = searchOf(name, v)
	case *experiment.CapacityResult:
		s.Capacity = &compare.Capacity{Name: name, Subject: cmp.Or(v.URL, commandText(v.Command)), Bracket: bracketOf(v)}
	case *experiment.CapacityTable:
		s.Capacity = &compare.Capacity{Name: name, Table: true, Cells: cellsOf(v)}
	}
	return s
}

// roundsOf takes of a trial the pairs that count, and what it says of itself.
func roundsOf(name string, t *experiment.Trial) *compare.Rounds {
	r := &compare.Rounds{Name: name, Primary: t.Primary, Subject: trialSubject(t), Diagnosed: t.About.Diagnosed,
		Pairs: map[diagnosis.Metric][][2]float64{}, Found: map[diagnosis.Metric]compare.MetricResult{}}
	for _, e := range t.Effects {
		r.Metrics = append(r.Metrics, e.Metric)
		r.Found[e.Metric] = compare.MetricResult{Ratio: e.Ratio, Low: e.Low, High: e.High, Exact: e.Exact, Verdict: compare.Verdict(e.Verdict)}
	}
	// A program that is counted is another one: its runs tell only what the timed
	// ones did not measure.
	for _, counted := range []bool{false, true} {
		pairs := pairsOf(t, counted)
		for _, m := range r.Metrics {
			if len(r.Pairs[m]) == 0 {
				r.Pairs[m] = ofMetric(pairs, m)
			}
		}
	}
	r.Claims = claimsOf(t)
	return r
}

type armValues = map[diagnosis.Metric]float64

// pairsOf returns the pairs of runs of one kind of which both arms count, in the order
// in which they ran.
func pairsOf(t *experiment.Trial, counted bool) (list [][2]armValues) {
	arms := map[int][2]armValues{}
	var order []int
	for _, round := range t.Rounds {
		if round.Pair < 1 || round.Count != counted || round.Dropped != "" || round.Arm != "A" && round.Arm != "B" {
			continue
		}
		pair, known := arms[round.Pair]
		if !known {
			order = append(order, round.Pair)
		}
		pair[strings.Index("AB", round.Arm)] = round.Values
		arms[round.Pair] = pair
	}
	for _, i := range order {
		list = append(list, arms[i])
	}
	return list
}

func ofMetric(pairs [][2]armValues, m diagnosis.Metric) (list [][2]float64) {
	for _, arms := range pairs {
		a, inA := arms[0][m]
		b, inB := arms[1][m]
		if inA && inB {
			list = append(list, [2]float64{a, b})
		}
	}
	return list
}

func claimsOf(t *experiment.Trial) (list []compare.Claim) {
	for _, c := range t.About.Gone {
		list = append(list, compare.Claim{Rule: c.Rule, Title: c.Title, State: compare.Gone})
	}
	for _, c := range t.About.Came {
		list = append(list, compare.Claim{Rule: c.Rule, Title: c.Title, State: compare.New})
	}
	return list
}

// trialSubject says what the arms of a trial ran. Revisions are left out: two
// trials of different ones are what is compared.
func trialSubject(t *experiment.Trial) string {
	a, b := armText(&t.About.A), armText(&t.About.B)
	text := a
	if a != b {
		text += " against " + b
	}
	return withLoad(text, t.About.Load)
}

func armText(a *experiment.Arm) string {
	return strings.TrimSpace(strings.Join(a.Env, " ") + " " + commandText(a.Command))
}

// commandText returns a command without the directory of its program, which is another
// one for each build.
func commandText(words []string) string {
	if len(words) == 0 {
		return ""
	}
	words = slices.Clone(words)
	words[0] = filepath.Base(words[0])
	return shell.Words(words)
}

func withLoad(subject, load string) string {
	if subject == "" || load == "" {
		return subject
	}
	return subject + ", load " + load
}

func searchOf(name string, t *experiment.Tuned) *compare.Search {
	s := &compare.Search{Name: name, Subject: withLoad(commandText(t.Command), t.Load)}
	for i := range t.Curves {
		s.Lines = append(s.Lines, lineOf(&t.Curves[i]))
	}
	return s
}

func lineOf(c *experiment.Curve) compare.Line {
	l := compare.Line{Knob: c.Knob.Name, Bytes: c.Knob.Bytes, Goal: c.Goal.Metric, Others: knobWords(c.Others, nil),
		More: c.Goal.Max}
	if c.Chosen >= 0 && c.Chosen < len(c.Points) {
		l.Chosen = &c.Points[c.Chosen].Value
	}
	for i := range c.Points {
		p := &c.Points[i]
		q := compare.Point{Value: p.Value, Kept: p.Kept, Failed: p.Failed}
		if p.Ratio > 0 {
			q.Goal, q.Low, q.High, q.ToBest = statistics.Finite(p.Goal.Value), statistics.Finite(p.Goal.Low), statistics.Finite(p.Goal.High), statistics.Finite(p.Ratio)
		}
		l.Points = append(l.Points, q)
	}
	return l
}

func bracketOf(r *experiment.CapacityResult) compare.Bracket {
	b := compare.Bracket{Low: r.Low, High: r.High, Limit: string(r.Limit)}
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Dropped == "" {
			b.Steps = append(b.Steps, compare.LoadStep{Rate: s.Rate, Done: s.Done, P50: s.P50, P99: s.P99, Limit: string(s.Limit)})
		}
	}
	return b
}

func cellsOf(t *experiment.CapacityTable) (list []compare.Cell) {
	for _, c := range t.Cells {
		rate := c.Rate
		if c.Failed != "" {
			rate = math.NaN()
		}
		list = append(list, compare.Cell{Setting: knobWords(c.Setting, t.Axes), Rate: rate})
	}
	return list
}

// knobWords writes a setting, the knobs of axes first and in their order.
func knobWords(s experiment.Setting, axes []string) string {
	names := slices.SortedFunc(maps.Keys(s), func(x, y string) int {
		return cmp.Or(cmp.Compare(axis(axes, x), axis(axes, y)), cmp.Compare(x, y))
	})
	return s.Words(names, func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) })
}

// axis returns where a knob stands in the axes, behind all of them where it does not.
func axis(axes []string, name string) int {
	if i := slices.Index(axes, name); i >= 0 {
		return i
	}
	return len(axes)
}
