package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// conclude sums the effects up.
func (t *Trial) conclude() {
	if len(t.Effects) == 0 || t.Effects[0].Metric != t.Primary {
		t.Conclusion, t.Why = Undecided, "nothing was measured"
		return
	}
	primary := t.Effects[0]
	if t.Identical {
		t.Conclusion, t.Why = t.concludeIdentical(primary)
		return
	}
	t.Conclusion, t.Why = Undecided, t.says(primary)
	switch primary.Verdict {
	case Improved:
		t.Conclusion = Confirmed
	case Same, Regressed:
		t.Conclusion = Rejected
	case Inconclusive:
		if t.noGain(primary) {
			t.Conclusion, t.Why = Rejected, t.says(primary)+"; a gain beyond the margin is excluded"
		}
	}
	if t.Conclusion == Undecided {
		t.Conclusion = t.decidedByCounters()
	}
	t.weighGuards()
	if lead := t.countedSays(); lead != "" && (t.Conclusion == Undecided || primary.Verdict == Inconclusive) {
		t.Why = lead + "; " + t.Why
	}
}

// decidedByCounters returns the conclusion of the counters where time leaves it open: those
// that tell what a program does, when all that changed went one way and the primary does
// not point the other.
func (t *Trial) decidedByCounters() Conclusion {
	better, worse := false, false
	for _, e := range t.Effects {
		if e.Exact && deciding(e.Metric) {
			better, worse = better || e.Verdict == Improved, worse || e.Verdict == Regressed
		}
	}
	_, low, high := t.Effects[0].Worse()
	switch {
	case better && !worse && !(low > 1):
		return Confirmed
	case worse && !better && !(high < 1):
		return Rejected
	}
	return Undecided
}

// countedNamed is how many counters a sentence names; the table has them all.
const countedNamed = 3

// countedSays says what counters beside the primary show for sure, whatever else is open;
// empty when it is nothing.
func (t *Trial) countedSays() string {
	var list []string
	for _, e := range t.Effects {
		if e.Metric != t.Primary && !e.Broken && InfoOf(e.Metric).Counter && (e.Verdict == Improved || e.Verdict == Regressed) {
			list = append(list, t.says(e))
		}
	}
	if more := len(list) - countedNamed; more > 0 {
		list = append(list[:countedNamed], "and "+figures.Plural(more, "more counter")+" changed")
	}
	return strings.Join(list, "; ")
}

// noGain says that the primary's interval leaves no room for an improvement
// beyond the margin, whether it is the same or worse: what was prescribed for a
// gain is then refuted, though the verdict between these two is open.
func (t *Trial) noGain(e Effect) bool {
	_, low, _ := e.Worse()
	return e.Pairs >= leastPairs && len(t.Looks) > 0 && low >= 1/(1+t.sameWithin(e.Metric))
}

// weighGuards lets broken guards reject, and those that are open and alarm hold a
// confirmation back.
func (t *Trial) weighGuards() {
	var broken, doubtful, open, held, fell []string
	for _, e := range t.Effects {
		switch {
		case !e.Guarded || math.IsNaN(e.Ratio):
		case e.Broken:
			broken = append(broken, e.guardSays())
		case e.alarms():
			doubtful = append(doubtful, e.guardSays())
		case e.Unclear && e.silent(): // of which a warning tells
		case e.Unclear:
			open = append(open, e.guardSays())
		case e.Kept():
			held = append(held, string(e.Metric))
		default:
			fell = append(fell, string(e.Metric))
		}
	}
	all := []string{t.Why}
	switch {
	case len(broken) > 0:
		t.Conclusion, all = Rejected, append(broken, t.Why)
	case t.Conclusion == Confirmed && len(doubtful) > 0:
		t.Conclusion, all = Undecided, slices.Concat(all, doubtful, open)
	case t.Conclusion == Confirmed:
		all = append(all, open...)
		if len(held) > 0 {
			all = append(all, strings.Join(held, ", ")+" held")
		}
		if len(fell) > 0 {
			all = append(all, strings.Join(fell, ", ")+" not seen to be worse")
		}
	case t.Conclusion != Rejected:
		all = slices.Concat(all, doubtful, open)
	}
	t.Why = strings.Join(all, "; ")
}

// guardSays says what happened to a guard that did not hold for sure.
func (e Effect) guardSays() string {
	ratio, low, high := e.Worse()
	limit := e.limitText()
	switch {
	case e.Broken && e.Exact:
		return fmt.Sprintf("%s became worse by %s, the limit is %s", e.Metric, percent(ratio), limit)
	case e.Broken:
		return fmt.Sprintf("%s became worse by %s (at least %s), the limit is %s", e.Metric, percent(ratio), percent(low), limit)
	case e.alarms():
		return fmt.Sprintf("%s looks worse by %s, over its limit of %s, without being sure", e.Metric, percent(ratio), limit)
	case math.IsNaN(high):
		return fmt.Sprintf("too few pairs to say whether %s keeps to its limit of %s", e.Metric, limit)
	default:
		return fmt.Sprintf("%s may be worse by up to %s, over its limit of %s", e.Metric, percent(high), limit)
	}
}

// limitText returns a guard's limit: in the metric's unit where a share would be a multiple.
func (e Effect) limitText() string {
	if e.Guard > 1 && e.A > 0 {
		info := InfoOf(e.Metric)
		return info.Unit.Format(e.A*e.Guard*info.Scale) + " more"
	}
	return percent(1 + e.Guard)
}

// says says what happened to the primary, in a sentence made of its figures.
func (t *Trial) says(e Effect) string {
	sure := fmt.Sprintf("%s, 95%% interval %s to %s, %s", change(e.Ratio), figures.Change(e.Low), figures.Change(e.High), figures.Plural(e.Pairs, "pair"))
	switch {
	case e.Exact && e.Verdict == Same:
		return fmt.Sprintf("%s is the same, counted exactly: %s and %s", e.Metric, figures.Number(e.A), figures.Number(e.B))
	case e.Exact && e.Low == e.High:
		return fmt.Sprintf("%s %s, counted exactly: from %s to %s", e.Metric, change(e.Ratio), figures.Number(e.A), figures.Number(e.B))
	case e.Exact:
		return fmt.Sprintf("%s %s, counted: from %s to %s, %s to %s in all runs", e.Metric, change(e.Ratio),
			figures.Number(e.A), figures.Number(e.B), figures.Change(e.Low), figures.Change(e.High))
	case e.Pairs == 0:
		return fmt.Sprintf("no pair measured %s", e.Metric)
	case e.Verdict == Same:
		return fmt.Sprintf("%s is the same within %s: it %s", e.Metric, percent(1+t.sameWithin(e.Metric)), sure)
	case e.Verdict != Inconclusive:
		return fmt.Sprintf("%s %s", e.Metric, sure)
	case math.IsNaN(e.Low):
		return fmt.Sprintf("%s of %s cannot decide about %s", figures.Plural(e.Pairs, "pair"), least(t.planned()), e.Metric)
	}
	need := ""
	if e.Need > 0 && !t.noGain(e) {
		need = "; about " + roughly(e.Need) + " would decide"
	}
	if e.silent() { // its estimate is no news
		return fmt.Sprintf("no change of %s is seen: 95%% interval %s to %s, %s%s", e.Metric,
			figures.Change(e.Low), figures.Change(e.High), figures.Plural(e.Pairs, "pair"), need)
	}
	return fmt.Sprintf("%s %s: not sure%s", e.Metric, sure, need)
}

// least says how many pairs the first look wants.
func least(most int) string { return fmt.Sprintf("at least %d", max(looks(most)[0], leastPairs)) }

// change returns a ratio in words: "fell by 12.3%".
func change(ratio float64) string {
	switch {
	case math.IsInf(ratio, 0):
		return "rose from nothing"
	case ratio == 0:
		return "fell to nothing"
	case ratio == 1:
		return "did not change"
	case ratio >= 2:
		return "rose to " + figures.Number(ratio) + " times"
	case ratio > 1:
		return "rose by " + percent(ratio)
	default:
		return "fell by " + percent(ratio)
	}
}

// percent returns how far a ratio is from 1.
func percent(ratio float64) string { return figures.Percent(math.Abs(ratio - 1)) }

// roughly returns a number of pairs with two digits: it is an estimate of an estimate.
func roughly(n int) string {
	const most = 100_000
	if n > most {
		return fmt.Sprintf("more than %d pairs", most)
	}
	scale := 1
	for n/scale >= 100 {
		scale *= 10
	}
	return fmt.Sprintf("%d pairs", (n+scale-1)/scale*scale)
}

// mostWarnings bounds what samples may add.
const mostWarnings = 30

// warn adds what the reader must know to trust the verdict, once.
func (t *Trial) warn() {
	if t.Busy {
		t.warning("the machine was busy most of the time: busy pairs are counted, which widens the intervals")
	}
	if t.planned() < leastPairs && len(t.Effects) > 0 && !t.Effects[0].Exact {
		t.warning(fmt.Sprintf("%s can prove no difference: the least number is %d", figures.Plural(t.planned(), "pair"), leastPairs))
	}
	for _, g := range t.Guards {
		if !t.measured(g.Metric) && len(t.Rounds) > 0 {
			t.warning(fmt.Sprintf("the guard %s was not measured", g.Metric))
		}
	}
	for _, e := range t.Effects {
		if e.Unclear && e.silent() {
			t.warning(fmt.Sprintf("%s varies too much here to hold it to its limit: %s", e.Metric, e.guardSays()))
		}
	}
	for _, r := range t.Rounds {
		for _, w := range r.Warnings {
			t.warning(w)
		}
	}
}

func (t *Trial) warning(text string) {
	if len(t.Warnings) < mostWarnings && !slices.Contains(t.Warnings, text) {
		t.Warnings = append(t.Warnings, text)
	}
}
