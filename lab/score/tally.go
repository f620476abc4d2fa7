package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// A Share is K of N.
type Share struct{ K, N int }

func (s *Share) add(right bool) {
	s.N++
	if right {
		s.K++
	}
}

func (s *Share) plus(t Share) { s.K, s.N = s.K+t.K, s.N+t.N }

// Rate is NaN when nothing was seen.
func (s Share) Rate() float64 {
	if s.N == 0 {
		return math.NaN()
	}
	return float64(s.K) / float64(s.N)
}

// Interval is Wilson's, 95 %.
func (s Share) Interval() (low, high float64) { return statistics.Wilson(s.K, s.N) }

// A Score is everything that SCORE.md says, computed from results and truth and
// from nothing else.
type Score struct {
	Illnesses []Row
	Wells     []WellRow
	Families  []FamilyRow

	Top1, Top3, Place Share
	HealedSilent      Share
	WellRuns, Alarms  int            // runs that are well, and false alarms in them
	Aside             map[string]int // findings about machine and evidence, by rule
	SickAbstained     Share
	WellAbstained     Share
	Stable, Monotone  Share // of illnesses

	// Bounds: each promise of a sick run about a metric that its trial measured.
	// It is kept when the interval reaches up to it, and in Middle when the
	// measured ratio itself does.
	Bound, Middle      Share
	Within20, Within50 Share
	Unmeasured         int // promises that no trial can be held to
	More               int // promises of illnesses whose cure takes away more
	Confirmed, Refused Share

	Busy, Repeats, Failed int
	Diagnose              []float64 // seconds, sorted
	Bytes                 []float64 // sorted

	Limits                    []LimitRow
	LimitsCover, LimitsAlarms Share
	TopRight, TopNames        Share

	Wrong []Wrong
}

// A Row is one illness.
type Row struct {
	Case       string
	Illness    *truth.Illness
	Top1, Top3 Share
	Place      Share
	Healed     Share
	Doses      []DoseRow
	From       float64 // the least dose at which it is found more often than not; NaN for none
	Monotone   bool
	First      string // what most runs say first
	FirstShare Share
	Trial      *Trial
	Promised   float64 // the median promise of the trial's primary metric, 0 for none
}

// A DoseRow is how often an illness is found at a dose.
type DoseRow struct {
	Dose  float64
	Found Share
}

// A WellRow is one healthy run.
type WellRow struct {
	Case, Name string
	Runs       int
	Alarms     []string // rules, each as often as it spoke
	Abstained  int
}

// A FamilyRow is precision and recall of one family.
type FamilyRow struct {
	Family            string
	Recall, Precision Share
}

// A LimitRow is how often one of the absolute thresholds fires.
type LimitRow struct {
	Name       string
	Sick, Well Share
}

// A Wrong is one wrong answer.
type Wrong struct {
	Key   string // CASE/NAME/KIND, the key of its reason
	Round int    // 0 of what is not one run
	Want  string
	Said  string
}

// A tally is a score while it is made.
type tally struct {
	Score
	cases    []*truth.Case
	families map[string]*FamilyRow
}

// score judges results by what is true. A result of something that the truth
// does not know is an error; what has no result counts nowhere.
func score(r *Results, cases []*truth.Case) (*Score, error) {
	t := &tally{cases: cases, families: map[string]*FamilyRow{}}
	t.Aside = map[string]int{}
	for _, l := range limits {
		t.Limits = append(t.Limits, LimitRow{Name: l.name})
	}
	if err := checkKnown(r, cases); err != nil {
		return nil, err
	}
	for _, c := range cases {
		for i := range c.Illnesses {
			t.illness(r, c, &c.Illnesses[i])
		}
		for i := range c.Healthy {
			t.healthy(r, c, &c.Healthy[i])
		}
		for i := range c.Useless {
			t.useless(r, c, &c.Useless[i])
		}
	}
	for i := range r.Answers {
		t.general(&r.Answers[i])
	}
	slices.Sort(t.Diagnose)
	slices.Sort(t.Bytes)
	for _, family := range slices.SortedFunc(maps.Keys(t.families), inCatalogue) {
		t.Families = append(t.Families, *t.families[family])
	}
	return &t.Score, nil
}

// inCatalogue orders families as the catalogue does.
func inCatalogue(a, b string) int {
	place := func(s string) int {
		if i := slices.Index(truth.Families, s); i >= 0 {
			return i
		}
		return len(truth.Families)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
}

func checkKnown(r *Results, cases []*truth.Case) error {
	find := func(name string) *truth.Case {
		for _, c := range cases {
			if c.Name == name {
				return c
			}
		}
		return new(truth.Case)
	}
	for i := range r.Answers {
		a := &r.Answers[i]
		c := find(a.Case)
		if a.Kind == Healthy && c.Run(a.Name) == nil || a.Kind != Healthy && c.Illness(a.Name) == nil {
			return fmt.Errorf("there is a result of %s/%s (%s), which no truth.yaml knows", a.Case, a.Name, a.Kind)
		}
	}
	for i := range r.Trials {
		tr := &r.Trials[i]
		c := find(tr.Case)
		unknown := c.Illness(tr.Name) == nil
		if tr.Kind == Useless {
			unknown = !slices.ContainsFunc(c.Useless, func(u truth.Change) bool { return u.Name == tr.Name })
		}
		if unknown {
			return fmt.Errorf("there is a trial of %s/%s (%s), which no truth.yaml knows", tr.Case, tr.Name, tr.Kind)
		}
	}
	return nil
}

// general counts what does not depend on what is true.
func (t *tally) general(a *Answer) {
	t.Repeats += a.Repeats
	if a.Busy {
		t.Busy++
	}
	if a.Failed != "" {
		t.Failed++
		return
	}
	t.Diagnose = append(t.Diagnose, a.DiagnoseSeconds)
	t.Bytes = append(t.Bytes, float64(a.Bytes))
	for _, name := range ruleNames(allFindings(a.Findings)) {
		if slices.Contains(aside, name) {
			t.Aside[name]++
		}
	}
}

func (t *tally) illness(r *Results, c *truth.Case, ill *truth.Illness) {
	row := Row{Case: c.Name, Illness: ill}
	firsts := map[string]int{}
	found := map[float64]*Share{}
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.Case != c.Name || a.Name != ill.Name || a.Kind == Healthy {
			continue
		}
		dose := 0.0
		if a.Kind == Sick {
			dose = a.Dose
		}
		if found[dose] == nil {
			found[dose] = new(Share)
		}
		found[dose].add(slices.Contains(ruleNames(findingsOf(a.Findings, ill.Rule)), ill.Rule))
		if a.Kind == Healed {
			row.Healed.add(t.well(a, ill.Left))
			continue
		}
		j := t.sick(&row, a, ill)
		if a.Dose == 1 {
			firsts[cmp.Or(j.first, "nothing")]++
		}
	}
	if row.Top1.N+row.Healed.N == 0 {
		return
	}
	t.Top1.plus(row.Top1)
	t.Top3.plus(row.Top3)
	t.Place.plus(row.Place)
	t.HealedSilent.plus(row.Healed)
	t.doses(&row, found)
	t.stability(&row, firsts)
	t.trial(&row, r)
	t.Illnesses = append(t.Illnesses, row)
}

// sick counts one sick run. Only the whole dose is asked for a name; at less of
// the illness nothing is promised but that nothing else is said.
func (t *tally) sick(row *Row, a *Answer, ill *truth.Illness) judgement {
	j := judgeSick(a, ill)
	t.precision(a, ill.Rule, j)
	if a.Dose < 1 {
		if len(j.alarms) > 0 {
			t.wrong(a, "no "+list(j.alarms), answerText(a))
		}
		return j
	}
	row.Top1.add(j.rank == 1)
	row.Top3.add(j.rank >= 1 && j.rank <= 3)
	t.SickAbstained.add(j.abstained)
	t.family(ill.Family).Recall.add(j.rank > 0)
	if j.asked {
		row.Place.add(j.places)
		t.TopRight.add(a.Top.hasFunction(ill.Where))
	}
	t.LimitsCover.add(a.Thresholds.covers(ill.Family))
	for i, l := range limits {
		t.Limits[i].Sick.add(l.of(&a.Thresholds).Count > 0)
	}
	var want []string
	if j.rank != 1 {
		want = append(want, ill.Rule+" first")
	} else if j.asked && !j.places {
		want = append(want, ill.Rule+" in "+ill.Where[0])
	}
	if len(j.alarms) > 0 {
		want = append(want, "no "+list(j.alarms))
	}
	if len(want) > 0 {
		t.wrong(a, list(want), answerText(a))
	}
	return j
}

// well counts one run of a program that is well and reports whether nothing was
// said of it.
func (t *tally) well(a *Answer, allowed []string) (silent bool) {
	j := judgeWell(a, allowed)
	t.precision(a, "", j)
	t.WellRuns++
	t.Alarms += len(j.alarms)
	t.WellAbstained.add(j.abstained)
	t.LimitsAlarms.add(len(a.Thresholds.exceeded()) > 0)
	t.TopNames.add(a.Top.topText() != "")
	for i, l := range limits {
		t.Limits[i].Well.add(l.of(&a.Thresholds).Count > 0)
	}
	// A run that failed was not silent: it was not asked.
	silent = len(j.alarms) == 0 && a.Failed == ""
	if !silent {
		want := "silence"
		if len(allowed) > 0 {
			want = "nothing but " + list(allowed)
		}
		t.wrong(a, want, answerText(a))
	}
	return silent
}

// precision counts what was said and is either right or wrong; what the truth
// allows beside is neither.
func (t *tally) precision(a *Answer, rule string, j judgement) {
	if rule != "" && j.rank > 0 {
		t.family(familyOf(rule, t.cases)).Precision.add(true)
	}
	for _, alarm := range j.alarms {
		t.family(familyOf(alarm, t.cases)).Precision.add(false)
	}
}

func (t *tally) family(name string) *FamilyRow {
	if t.families[name] == nil {
		t.families[name] = &FamilyRow{Family: name}
	}
	return t.families[name]
}

// doses says from which dose on an illness is found, and whether more of it is
// found no less often.
func (t *tally) doses(row *Row, found map[float64]*Share) {
	row.From, row.Monotone = math.NaN(), true
	last := -1.0
	for _, dose := range slices.Sorted(maps.Keys(found)) {
		f := *found[dose]
		row.Doses = append(row.Doses, DoseRow{dose, f})
		often := f.Rate() > 0.5
		if often && math.IsNaN(row.From) {
			row.From = dose
		}
		majority := 0.0
		if often {
			majority = 1
		}
		if majority < last {
			row.Monotone = false
		}
		last = majority
	}
	if len(row.Doses) < 3 { // without doses between there is nothing to be seen
		return
	}
	t.Monotone.add(row.Monotone && row.From > 0)
	if !row.Monotone || row.From == 0 {
		t.Wrong = append(t.Wrong, Wrong{Key: row.Case + "/" + row.Illness.Name + "/doses", Want: row.Illness.Rule + " from some dose on, and not when healed", Said: doseWords(row.Doses)})
	}
}

// stableShare is the part of runs that must say the same: 4 of 5.
const stableShare = 0.8

func (t *tally) stability(row *Row, firsts map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(firsts)) {
		row.FirstShare.N += firsts[name]
		if firsts[name] > row.FirstShare.K {
			row.First, row.FirstShare.K = name, firsts[name]
		}
	}
	if row.FirstShare.N > 0 {
		t.Stable.add(row.FirstShare.Rate() >= stableShare)
	}
}

func (t *tally) healthy(r *Results, c *truth.Case, run *truth.Run) {
	row := WellRow{Case: c.Name, Name: run.Name}
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.Case != c.Name || a.Name != run.Name || a.Kind != Healthy {
			continue
		}
		row.Runs++
		t.well(a, run.Expect)
		j := judgeWell(a, run.Expect)
		row.Alarms = append(row.Alarms, j.alarms...)
		if j.abstained {
			row.Abstained++
		}
	}
	if row.Runs > 0 {
		t.Wells = append(t.Wells, row)
	}
}

func (t *tally) wrong(a *Answer, want, said string) {
	t.Wrong = append(t.Wrong, Wrong{Key: key(a), Round: a.Round, Want: want, Said: said})
}

// key names the runs that are one, whatever the round.
func key(a *Answer) string {
	k := a.Case + "/" + a.Name + "/" + string(a.Kind)
	if a.Kind == Sick && a.Dose < 1 {
		k += fmt.Sprintf("@%g", a.Dose)
	}
	return k
}

func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		out := words[0]
		for _, w := range words[1 : n-1] {
			out += ", " + w
		}
		return out + " and " + words[n-1]
	}
}

func doseWords(doses []DoseRow) string {
	var words []string
	for _, d := range doses {
		words = append(words, fmt.Sprintf("%d of %d at %g", d.Found.K, d.Found.N, d.Dose))
	}
	return list(words)
}
