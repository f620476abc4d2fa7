package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Rounds are a trial: for each metric, the pairs of what its two arms measured
// in rounds that count, and what the trial says of itself.
type Rounds struct {
	Name    string
	Subject string // what was run, in words; empty when not known
	Primary diagnosis.Metric
	Metrics []diagnosis.Metric // in the order of the trial
	Pairs   map[diagnosis.Metric][][2]float64
	Found   map[diagnosis.Metric]MetricResult
	// Claims are the findings of one arm only, if both were Diagnosed.
	Claims    []Claim
	Diagnosed bool
}

// A MetricResult is what a trial says of one metric.
type MetricResult struct {
	// Ratio is that of its arms, with the 95% interval; for a counter that hardly
	// varies (Exact), with the least and the greatest that there was. NaN for what
	// is not known.
	Ratio, Low, High float64
	Exact            bool
	Verdict          Verdict
}

// A Claim is a finding that only the first arm of a trial has (Gone), or only
// the second (New).
type Claim struct {
	Rule  string `json:"rule"`
	Title string `json:"title"`
	State string `json:"state"`
}

// A ClaimChange is a claim of one trial, or of both.
type ClaimChange struct {
	Claim
	A bool `json:"a"`
	B bool `json:"b"`
}

// A Basis is what the comparison of an effect was computed from.
type Basis string

// The bases.
const (
	ByRounds    Basis = "rounds"    // pairs of both trials
	ByIntervals Basis = "intervals" // the two intervals, see byIntervals
	ByRanges    Basis = "ranges"    // of counters that hardly vary
)

// An Effect is what two trials measured of one metric: the ratio of their arms
// then, and now.
type Effect struct {
	Metric diagnosis.Metric `json:"metric"`
	PairsA int              `json:"pairs_a"`
	PairsB int              `json:"pairs_b"`
	// A and B are the ratios that the trials found: the Hodges-Lehmann estimates,
	// or those of a counter that hardly varies. OwnA and OwnB are what each says of
	// it, nil when that is not known.
	A    float64    `json:"a"`
	B    float64    `json:"b"`
	OwnA *OwnResult `json:"own_a,omitempty"`
	OwnB *OwnResult `json:"own_b,omitempty"`
	// Overlap says whether the intervals of both have a ratio in common. Such that
	// do may still differ significantly: it is for the eye, and the verdict rests on
	// the interval of Ratio.
	Overlap *bool `json:"overlap,omitempty"`
	// Ratio is how much B is of A, with its 95% interval; By is what it was
	// computed from.
	Ratio   *float64 `json:"ratio"`
	Low     *float64 `json:"low,omitempty"`
	High    *float64 `json:"high,omitempty"`
	P       *float64 `json:"p"` // Mann-Whitney of the pairs' log ratios, or by the intervals; corrected by Holm. Null for ranges.
	By      Basis    `json:"by,omitempty"`
	Verdict Verdict  `json:"verdict"`
}

// An OwnResult is what a trial says of a metric by itself.
type OwnResult struct {
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Exact   bool     `json:"exact,omitempty"`
	Verdict Verdict  `json:"verdict,omitempty"`
}

// Trials compares the effects of two trials: those of single pairs, whose arms
// had the same machine at the same time. That leaves out whatever made the
// whole of one trial slower. What was counted instead of timed has no pairs; of
// such metrics the intervals are compared. The error is [ErrUnlike].
func Trials(a, b Rounds) (*Comparison, error) {
	c := &Comparison{Kind: kind, Schema: Schema, A: Side{Name: a.Name}, B: Side{Name: b.Name}}
	if a.Primary != b.Primary {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the primary metric was %s in A and %s in B", a.Primary, b.Primary))
	}
	c.subjects(a.Subject, b.Subject)
	c.effects(&a, &b)
	if len(c.Effects) == 0 {
		return nil, &Unlike{fmt.Sprintf("A measured %s, B measured %s", joinNames(a.Metrics), joinNames(b.Metrics))}
	}
	c.claims(&a, &b)
	c.Summary = c.effectWords()
	return c, nil
}

// effects compares the metrics that both have, and names the others.
func (c *Comparison) effects(a, b *Rounds) {
	var p []float64
	var unknown []string
	for _, m := range a.Metrics {
		if !slices.Contains(b.Metrics, m) {
			c.OnlyA = append(c.OnlyA, string(m))
			continue
		}
		e, ok := effect(m, a, b)
		if !ok {
			unknown = append(unknown, string(m))
			continue
		}
		c.Effects = append(c.Effects, e)
		p = append(p, orNaN(e.P))
	}
	for _, m := range b.Metrics {
		if !slices.Contains(a.Metrics, m) {
			c.OnlyB = append(c.OnlyB, string(m))
		}
	}
	for i, q := range statistics.Holm(p) {
		c.Effects[i].P = statistics.Finite(q)
		c.Effects[i].Verdict = c.Effects[i].judge()
	}
	if len(unknown) > 0 && len(c.Effects) > 0 {
		c.Warnings = append(c.Warnings, "not enough was measured of "+strings.Join(unknown, ", ")+" to compare it")
	}
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// subjects warns when the two are of different programs.
func (c *Comparison) subjects(a, b string) {
	if a != "" && b != "" && a != b {
		c.Warnings = append(c.Warnings, fmt.Sprintf("these are not the same subject, and a difference may be theirs: A is of %s; B is of %s", a, b))
	}
}

func joinNames[T ~string](list []T) string {
	const most = 8
	var words []string
	for i, s := range list {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		words = append(words, string(s))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// effect compares one metric. The rounds say most; of counters that hardly vary
// what they counted is all there is.
func effect(m diagnosis.Metric, a, b *Rounds) (e Effect, ok bool) {
	la, lb := ratios(a.Pairs[m]), ratios(b.Pairs[m])
	fa, fb := a.found(m), b.found(m)
	ea, eb := fa.estimate(), fb.estimate()
	e = Effect{Metric: m, PairsA: len(la), PairsB: len(lb), A: fa.Ratio, B: fb.Ratio, OwnA: fa.own(), OwnB: fb.own()}
	if ea.usable() && eb.usable() {
		overlap := meet(ea, eb)
		e.Overlap = &overlap
	}
	switch {
	case fa.Exact && fb.Exact && finite(fa.Ratio) && fa.Ratio == fb.Ratio: // both may be 0, of which there is no ratio
		e.take(estimate{1, 1, 1}, ByRanges)
	case fa.Exact && fb.Exact && ea.usable() && eb.usable():
		e.take(byRanges(ea, eb), ByRanges)
	case len(la) > 0 && len(lb) > 0:
		return e, e.rounds(la, lb)
	case ea.usable() && eb.usable():
		q, p := byIntervals(ea, eb)
		e.take(q, ByIntervals)
		e.P = statistics.Finite(p)
	default:
		return e, false
	}
	return e, true
}

func (e *Effect) take(q estimate, by Basis) {
	e.Ratio, e.Low, e.High, e.By = statistics.Finite(q.ratio), statistics.Finite(q.low), statistics.Finite(q.high), by
}

// rounds compares the log ratios of pairs.
func (e *Effect) rounds(la, lb []float64) bool {
	e.By = ByRounds
	e.A, e.B = math.Exp(statistics.HodgesLehmann(la)), math.Exp(statistics.HodgesLehmann(lb))
	e.Ratio, e.P = statistics.Finite(math.Exp(statistics.Shift(la, lb))), statistics.Finite(statistics.MannWhitney(la, lb))
	if low, high, ok := shiftInterval(la, lb); ok {
		e.Low, e.High = statistics.Finite(math.Exp(low)), statistics.Finite(math.Exp(high))
	}
	return e.P != nil
}

// found returns a trial's result for a metric; all of it is NaN when it says nothing.
func (r *Rounds) found(m diagnosis.Metric) MetricResult {
	if f, ok := r.Found[m]; ok {
		return f
	}
	nan := math.NaN()
	return MetricResult{Ratio: nan, Low: nan, High: nan}
}

func (f MetricResult) estimate() estimate { return estimate{f.Ratio, f.Low, f.High} }

func (f MetricResult) own() *OwnResult {
	if math.IsNaN(f.Ratio) {
		return nil
	}
	return &OwnResult{statistics.Finite(f.Low), statistics.Finite(f.High), f.Exact, f.Verdict}
}

// claims lists the findings that a change removed or brought, those that only one
// trial says first.
func (c *Comparison) claims(a, b *Rounds) {
	switch {
	case !a.Diagnosed && !b.Diagnosed:
		return
	case a.Diagnosed != b.Diagnosed:
		only := "A"
		if b.Diagnosed {
			only = "B"
		}
		c.Warnings = append(c.Warnings, "only the arms of "+only+" were diagnosed, so findings cannot be compared")
		return
	}
	inA, inB := setOf(a.Claims), setOf(b.Claims)
	var both []ClaimChange
	for _, x := range a.Claims {
		if inB[x] {
			both = append(both, ClaimChange{x, true, true})
		} else {
			c.Claims = append(c.Claims, ClaimChange{x, true, false})
		}
	}
	for _, x := range b.Claims {
		if !inA[x] {
			c.Claims = append(c.Claims, ClaimChange{x, false, true})
		}
	}
	c.Claims = append(c.Claims, both...)
}

func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, x := range list {
		set[x] = true
	}
	return set
}

// ratios returns the log ratios B/A of pairs, of at most maxRuns of them.
func ratios(pairs [][2]float64) (logs []float64) {
	for _, p := range pairs {
		if p[0] > 0 && p[1] > 0 && sane(p[0]) && sane(p[1]) && len(logs) < maxRuns {
			logs = append(logs, math.Log(p[1]/p[0]))
		}
	}
	return logs
}

// unit returns the metric without the benchmark that it is of.
func (e *Effect) unit() diagnosis.Metric { return unitOf(e.Metric) }

func unitOf(m diagnosis.Metric) diagnosis.Metric { return m[strings.LastIndexByte(string(m), ' ')+1:] }

// better says whether more of the metric is better; known is false for units
// that a benchmark made up itself.
func (e *Effect) better() (more, known bool) {
	if unit := e.unit(); unit != e.Metric {
		return better(string(unit))
	}
	return e.Metric.Greater(), true
}

// exactApart is the ratio-1 from which counters that hardly vary are different,
// as a trial takes it.
const exactApart = 0.005

// differs reports whether the trials surely found different effects.
func (e *Effect) differs() bool {
	switch {
	case e.Ratio == nil || *e.Ratio == 1:
		return false
	case e.By == ByRanges:
		return e.Low != nil && e.High != nil && (*e.Low > 1 || *e.High < 1) && math.Abs(*e.Ratio-1) >= exactApart
	}
	return e.P != nil && *e.P < alpha
}

func (e *Effect) judge() Verdict {
	more, isKnown := e.better()
	switch {
	case e.differs():
		switch {
		case !isKnown:
			return Changed
		case (*e.Ratio > 1) == more:
			return Improved
		}
		return Regressed
	case e.Low != nil && e.High != nil && *e.Low >= 1/(1+Margin) && *e.High <= 1+Margin:
		return Same
	}
	return Inconclusive
}

func (c *Comparison) effectWords() string {
	var parts []string
	for _, e := range c.Effects {
		if e.Verdict != Same && e.Verdict != Inconclusive {
			parts = append(parts, fmt.Sprintf("%s %s (%s → %s)", e.Metric, e.Verdict, changeText(e.A), changeText(e.B)))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("the effects of both trials do not differ significantly in any of %d metrics", len(c.Effects))
	}
	return "effects differ: " + strings.Join(parts, ", ")
}
