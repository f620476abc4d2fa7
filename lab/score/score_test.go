package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// knowledge returns what is true of a small lab: two illnesses of one family and one
// of another, one healthy run, one change that is no cure.
func knowledge() []*truth.Case {
	return []*truth.Case{
		{Name: "a", Illnesses: []truth.Illness{
			{Name: "lock", Family: "locks", Rule: "hotmutex", Also: []string{"schedlatency"}, Where: []string{"main.serve"}, Metric: "cpu/op",
				Sick: []string{"-lock"}, Doses: map[float64][]string{0.5: {"-half"}}},
			{Name: "socket", Family: "locks", Rule: "singlesocket", Sick: []string{"-one"}, Left: []string{"gccost"}},
		}, Useless: []truth.Change{{Name: "pool", To: []string{"-pool"}, Metric: "cpu/op"}}},
		{Name: "b", Illnesses: []truth.Illness{
			{Name: "timers", Family: "timers", Rule: "leakedtimers", Where: []string{"main.wait"}, Sick: []string{"-t"}},
		}, Healthy: []truth.Run{{Name: "calm", Expect: []string{"notloaded"}}}},
	}
}

// A mouth is what a tool says of a run.
type mouth func(a *Answer, ill *truth.Illness) []Finding

func accuse(rules ...string) (fs []Finding) {
	for _, r := range rules {
		fs = append(fs, Finding{Rule: r})
	}
	return fs
}

// nothing and everythingOf are the two tools that cannot lose a half of the
// score, and mute that which never takes a risk.
func nothing(*Answer, *truth.Illness) []Finding { return nil }

func everythingOf(cases []*truth.Case) mouth {
	return func(*Answer, *truth.Illness) []Finding {
		return accuse("hotmutex", "singlesocket", "leakedtimers", "gccost")
	}
}

// right says what is true, and of the lock what it brings.
func right(a *Answer, ill *truth.Illness) []Finding {
	if a.Kind != Sick {
		return nil
	}
	return []Finding{{Rule: ill.Rule, Where: ill.Where, Promised: []Promise{{"cpu/op", 0.5}}}}
}

// answers lets a tool answer every run of the lab five times.
func answers(cases []*truth.Case, say mouth) *Results {
	r := &Results{Schema: schema}
	for _, t := range plan(cases, 5, true, 0) {
		a := t.answer()
		a.Verdict = "healthy"
		a.Findings = say(&a, t.c.Illness(t.name))
		if len(a.Findings) > 0 {
			a.Verdict = "sick"
		}
		r.Answers = append(r.Answers, a)
	}
	return r
}

func scored(t *testing.T, r *Results) *Score {
	t.Helper()
	s, err := score(r, knowledge())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trialOf(kind Kind, name, conclusion string, e ...Effect) Trial {
	return Trial{Case: "a", Name: name, Kind: kind, Conclusion: conclusion, Primary: "cpu/op", Effects: e}
}

func writePage(w io.Writer, r *Results, s *Score, reasons map[string]string) error {
	return (&page{r: r, s: s, reasons: reasons}).write(w)
}

func TestAlwaysRight(t *testing.T) {
	r := answers(knowledge(), right)
	r.Trials = []Trial{
		trialOf(Cure, "lock", "confirmed", Effect{"cpu/op", "improved", 0.55, 0.5, 0.6}),
		trialOf(Useless, "pool", "rejected"),
	}
	s := scored(t, r)
	for name, share := range map[string]Share{
		"top-1": s.Top1, "top-3": s.Top3, "place": s.Place, "healed": s.HealedSilent, "stable": s.Stable, "monotone": s.Monotone,
		"bound": s.Bound, "within 20 %": s.Within20, "confirmed": s.Confirmed, "refused": s.Refused,
	} {
		if share.N == 0 || share.K != share.N {
			t.Errorf("%s is %+v, want all of some", name, share)
		}
	}
	if s.Alarms != 0 || s.WellRuns != 20 || len(s.Wrong) != 0 || s.Top1.N != 15 || s.Place.N != 10 {
		t.Errorf("score %+v, want 15 first places, 10 right places, 20 runs of well programs, no alarm, nothing wrong", s)
	}
	for _, b := range s.bars() {
		if !b.met {
			t.Errorf("%s: %s is not %s", b.what, b.have, b.want)
		}
	}
	// At half the dose the lock was found, too.
	if from := s.Illnesses[0].From; from != 0.5 {
		t.Errorf("found from dose %v, want 0.5", from)
	}
}

// A tool that says nothing is silent where it should be, and wrong everywhere else.
func TestSaysNothing(t *testing.T) {
	s := scored(t, answers(knowledge(), nothing))
	if s.Top1.K != 0 || s.Top3.K != 0 || s.Place.K != 0 || s.Place.N == 0 || s.HealedSilent.K != s.HealedSilent.N || s.Alarms != 0 {
		t.Errorf("score %+v, want nothing found, no alarm, and all healed programs silent", s)
	}
	if len(s.Wrong) != 15 {
		t.Errorf("%d wrong answers, want 15", len(s.Wrong))
	}
	for _, f := range s.Families {
		if f.Recall.K != 0 || f.Precision.N != 0 {
			t.Errorf("family %+v, want nothing recalled and no precision", f)
		}
	}
	// What it never says cannot be measured, and what is not measured is missed.
	for i, met := range []bool{false, false, true, true, false} {
		if s.bars()[i].met != met {
			t.Errorf("bar %+v met: %v, want %v", s.bars()[i], !met, met)
		}
	}
	if !math.IsNaN(s.Illnesses[0].From) || s.Illnesses[0].First != "nothing" {
		t.Errorf("illness %+v, want no dose and nothing first", s.Illnesses[0])
	}
}

// A tool that says everything of everyone finds every cause, and is worth nothing.
func TestSaysEverything(t *testing.T) {
	s := scored(t, answers(knowledge(), everythingOf(knowledge())))
	if s.Top1.K != 5 || s.Top3.K != 15 {
		t.Errorf("top-1 %+v, top-3 %+v; want 5 and 15", s.Top1, s.Top3)
	}
	// Of the healed socket gccost may be said, of the others it may not.
	if s.HealedSilent.K != 0 || s.WellRuns != 20 || s.Alarms != 5*(4+3+4+4) {
		t.Errorf("healed %+v, %d alarms in %d runs; want 0, %d, 20", s.HealedSilent, s.Alarms, s.WellRuns, 5*(4+3+4+4))
	}
	if s.Monotone.K != 0 || s.Illnesses[0].From != 0 {
		t.Error("it is found at dose 0, and that is said to be well")
	}
	for _, f := range s.Families {
		if f.Family == "locks" && (f.Recall != Share{10, 10} || f.Precision.K != 15 || f.Precision.N <= 30) {
			t.Errorf("family %+v, want all 10 recalled and 15 right of more than 30", f)
		}
	}
	// At every dose of every illness and in every well run something is wrong.
	if len(s.Wrong) != 5*8+1 {
		t.Errorf("%d wrong answers, want %d", len(s.Wrong), 5*8+1)
	}
}

func TestFirst(t *testing.T) {
	ill := &knowledge()[0].Illnesses[0]
	for name, c := range map[string]struct {
		findings []Finding
		rank     int
		alarms   string
	}{
		"alone":                     {accuse("hotmutex"), 1, ""},
		"after another":             {accuse("gccost", "hotmutex"), 2, "gccost"},
		"after what is true too":    {accuse("schedlatency", "hotmutex"), 2, ""},
		"after the machine":         {accuse("neighbour", "thinevidence", "hotmutex"), 1, ""},
		"after a remark":            {[]Finding{{Rule: "hotfunction", Remark: true}, {Rule: "hotmutex"}}, 1, ""},
		"folded under another":      {[]Finding{{Rule: "gccost", Symptoms: accuse("hotmutex")}}, 2, "gccost"},
		"folded under the machine":  {[]Finding{{Rule: "starved", Symptoms: accuse("hotmutex")}}, 2, ""},
		"what the machine explains": {[]Finding{{Rule: "starved", Symptoms: accuse("gccost")}, {Rule: "hotmutex"}}, 1, ""},
		"symptoms come before next": {[]Finding{{Rule: "schedlatency", Symptoms: accuse("gccost", "slowstop")}, {Rule: "hotmutex"}}, 4, "gccost,slowstop"},
		"not at all":                {accuse("gccost"), 0, "gccost"},
	} {
		j := judgeSick(&Answer{Kind: Sick, Dose: 1, Findings: c.findings}, ill)
		if j.rank != c.rank || strings.Join(j.alarms, ",") != c.alarms {
			t.Errorf("%s: rank %d, alarms %q; want %d and %q", name, j.rank, j.alarms, c.rank, c.alarms)
		}
	}
	// A case about the machine asks for what is otherwise left aside.
	hog := &truth.Illness{Rule: "neighbour"}
	if j := judgeSick(&Answer{Findings: accuse("neighbour", "gccost")}, hog); j.rank != 1 || j.first != "neighbour" {
		t.Errorf("judgeSick(neighbour) = %+v, want neighbour first", j)
	}
	remark := &truth.Illness{Rule: "hotfunction"}
	if j := judgeSick(&Answer{Findings: []Finding{{Rule: "hotfunction", Remark: true}}}, remark); j.rank != 1 {
		t.Errorf("judgeSick(hotfunction as a remark) = %+v, want rank 1", j)
	}
}

// The guilty function must be where somebody looks.
func TestPlaces(t *testing.T) {
	ill := &knowledge()[0].Illnesses[0]
	for where, right := range map[string]bool{
		"main.serve": true, "main.a main.b main.serve": true, "main.a main.b main.c main.serve": false,
		"main.serve.func1": true, "main.serve[go.shape.int].func2.1": true, "main.server": false, "": false,
	} {
		a := &Answer{Findings: []Finding{{Rule: "hotmutex", Where: strings.Fields(where)}}}
		if j := judgeSick(a, ill); j.places != right {
			t.Errorf("places of %q: %v, want %v", where, j.places, right)
		}
	}
}

// Also excuses nothing in the healed program, and Left nothing in the sick one.
func TestAlsoAndLeft(t *testing.T) {
	r := answers(knowledge(), func(a *Answer, ill *truth.Illness) []Finding {
		switch {
		case a.Name == "lock" && a.Kind == Healed:
			return accuse("schedlatency")
		case a.Name == "socket":
			return accuse("gccost")
		case a.Kind == Healthy:
			return accuse("notloaded", "neighbour")
		}
		return right(a, ill)
	})
	s := scored(t, r)
	if (s.HealedSilent != Share{10, 15}) || s.Alarms != 5 {
		t.Errorf("healed %+v, %d alarms; want 10 of 15 and 5", s.HealedSilent, s.Alarms)
	}
	for _, f := range s.Families {
		if f.Family == "memory" && (f.Precision != Share{0, 5}) {
			t.Errorf("family %+v, want a precision of 0 of 5", f)
		}
	}
	if s.Aside["neighbour"] != 5 || s.Aside["notloaded"] != 5 {
		t.Errorf("left aside: %v, want 5 of neighbour and 5 of notloaded", s.Aside)
	}
}

// Another illness of the same flags is passed over, wherever it stands, and is no answer itself.
func TestOther(t *testing.T) {
	ill := &truth.Illness{Rule: "allocchurn", Other: []string{"fewprocs"}}
	for _, test := range []struct {
		said []string
		rank int
	}{
		{[]string{"fewprocs", "allocchurn"}, 1},
		{[]string{"allocchurn", "fewprocs"}, 1},
		{[]string{"fewprocs", "gccost", "allocchurn"}, 2},
		{[]string{"fewprocs"}, 0},
	} {
		t.Run(strings.Join(test.said, " "), func(t *testing.T) {
			if j := judgeSick(&Answer{Findings: accuse(test.said...)}, ill); j.rank != test.rank {
				t.Errorf("rank = %d, want %d", j.rank, test.rank)
			}
		})
	}
}

// To abstain is no answer to a sick run, and no alarm in a well one; a run that
// failed is neither right nor silent.
func TestAbstainedAndFailed(t *testing.T) {
	r := answers(knowledge(), nothing)
	for i := range r.Answers {
		r.Answers[i].Verdict = "not-loaded"
	}
	s := scored(t, r)
	if s.Top1.K != 0 || s.SickAbstained != (Share{15, 15}) || s.WellAbstained != (Share{20, 20}) {
		t.Errorf("score %+v, want nothing found, 15 sick and 20 well runs abstained", s)
	}
	for i := range r.Answers {
		r.Answers[i].Failed = "it broke"
	}
	s = scored(t, r)
	if s.HealedSilent.K != 0 || s.Failed != len(r.Answers) || len(s.Wrong) != 35 {
		t.Errorf("all failed: healed and silent %d, %d failed, %d wrong, want 0, %d, 35",
			s.HealedSilent.K, s.Failed, len(s.Wrong), len(r.Answers))
	}
}

// Four of five is stable, three of five is not.
func TestStability(t *testing.T) {
	for most, stable := range map[int]bool{5: true, 4: true, 3: false} {
		r := answers(knowledge()[1:], func(a *Answer, ill *truth.Illness) []Finding {
			if a.Kind == Sick && a.Round > most {
				return accuse("gccost", ill.Rule)
			}
			return right(a, ill)
		})
		s, err := score(r, knowledge()[1:])
		if err != nil || s.Stable != (Share{map[bool]int{true: 1}[stable], 1}) {
			t.Errorf("right in %d of 5: stable %+v, %v; want %v", most, s.Stable, err, stable)
		}
	}
}

// More of the illness that is found less often is no dose.
func TestDoses(t *testing.T) {
	r := answers(knowledge(), func(a *Answer, ill *truth.Illness) []Finding {
		if a.Dose == 1 {
			return nil
		}
		return right(a, ill)
	})
	s := scored(t, r)
	if s.Monotone != (Share{0, 1}) || !slices.ContainsFunc(s.Wrong, func(w Wrong) bool { return w.Key == "a/lock/doses" }) {
		t.Errorf("monotone %+v, wrong %+v; want 0 of 1, and the lock's doses", s.Monotone, s.Wrong)
	}
}

func TestCalibration(t *testing.T) {
	for name, c := range map[string]struct {
		best                   float64
		e                      Effect
		kept                   bool
		middle                 int
		within20, within50, of int
	}{
		"exact":              {0.5, Effect{"cpu/op", "improved", 0.5, 0.4, 0.6}, true, 5, 5, 5, 5},
		"less than promised": {0.5, Effect{"cpu/op", "improved", 0.9, 0.8, 1.0}, true, 5, 0, 5, 5},
		"far less":           {0.1, Effect{"cpu/op", "improved", 0.9, 0.8, 1.0}, true, 5, 0, 0, 5},
		"a little more":      {0.5, Effect{"cpu/op", "improved", 0.45, 0.35, 0.55}, true, 0, 5, 5, 5},
		"more for sure":      {0.5, Effect{"cpu/op", "improved", 0.3, 0.2, 0.4}, false, 0, 0, 0, 5},
		"another metric":     {0.5, Effect{"elapsed", "improved", 0.3, 0.2, 0.4}, false, 0, 0, 0, 0},
		"throughput":         {2, Effect{"cpu/op", "improved", 1.8, 1.7, 1.9}, true, 5, 5, 5, 5},
		"a little faster":    {2, Effect{"cpu/op", "improved", 2.1, 1.9, 2.3}, true, 0, 5, 5, 5},
		"more throughput":    {2, Effect{"cpu/op", "improved", 3, 2.8, 3.2}, false, 0, 0, 5, 5},
	} {
		r := answers(knowledge(), func(a *Answer, ill *truth.Illness) []Finding {
			if a.Name != "lock" || a.Kind != Sick {
				return nil
			}
			return []Finding{{Rule: "hotmutex", Promised: []Promise{{"cpu/op", c.best}}}}
		})
		r.Trials = []Trial{trialOf(Cure, "lock", "confirmed", c.e)}
		s := scored(t, r)
		kept := 0
		if c.kept {
			kept = c.of
		}
		if s.Bound != (Share{kept, c.of}) || s.Middle != (Share{c.middle, c.of}) || s.Within20 != (Share{c.within20, c.of}) || s.Within50 != (Share{c.within50, c.of}) || s.Unmeasured != 5-c.of {
			t.Errorf("%s: bound %+v, by the middle %+v, within %+v %+v, unmeasured %d; want %d, %d, %d, %d of %d", name, s.Bound, s.Middle, s.Within20, s.Within50, s.Unmeasured, kept, c.middle, c.within20, c.within50, c.of)
		}
	}
}

// A cure that takes away more than the illness says nothing of the illness's bound.
func TestBeyond(t *testing.T) {
	cases := knowledge()
	cases[0].Illness("lock").Beyond = "the socket's lock, too"
	r := answers(cases, right)
	r.Trials = []Trial{trialOf(Cure, "lock", "confirmed", Effect{"cpu/op", "improved", 0.3, 0.2, 0.4})}
	s, err := score(r, cases)
	if err != nil || s.Bound != (Share{}) || s.More != 5 || s.Confirmed != (Share{1, 1}) {
		t.Errorf("score %+v, %v; want no bound, 5 more, and one confirmed", s, err)
	}
}

// What is no cure must not be confirmed; a trial that failed has refused nothing.
func TestPrescriptions(t *testing.T) {
	for _, c := range []struct {
		trial              Trial
		confirmed, refused Share
		wrong              string
	}{
		{trialOf(Cure, "lock", "confirmed"), Share{1, 1}, Share{}, ""},
		{trialOf(Cure, "lock", "undecided"), Share{0, 1}, Share{}, "a/lock/cure"},
		{trialOf(Cure, "lock", "rejected"), Share{0, 1}, Share{}, "a/lock/cure"},
		{Trial{Case: "a", Name: "lock", Kind: Cure, Failed: "it broke"}, Share{0, 1}, Share{}, "a/lock/cure"},
		{trialOf(Useless, "pool", "rejected"), Share{}, Share{1, 1}, ""},
		{trialOf(Useless, "pool", "undecided"), Share{}, Share{1, 1}, ""},
		{trialOf(Useless, "pool", "confirmed"), Share{}, Share{0, 1}, "a/pool/useless"},
		{Trial{Case: "a", Name: "pool", Kind: Useless, Failed: "it broke"}, Share{}, Share{0, 1}, "a/pool/useless"},
	} {
		r := answers(knowledge(), right)
		r.Trials = []Trial{c.trial}
		s := scored(t, r)
		var keys []string
		for _, w := range s.Wrong {
			keys = append(keys, w.Key)
		}
		if s.Confirmed != c.confirmed || s.Refused != c.refused || strings.Join(keys, ",") != c.wrong {
			t.Errorf("%s, %q, failed %q: confirmed %v, refused %v, wrong %q, want %v, %v, %q",
				c.trial.what(), c.trial.Conclusion, c.trial.Failed, s.Confirmed, s.Refused, keys, c.confirmed, c.refused, c.wrong)
		}
	}
}

func TestBusy(t *testing.T) {
	r := answers(knowledge(), right)
	r.Answers[0].Busy, r.Answers[0].Repeats, r.Answers[1].Repeats = true, 2, 1
	if s := scored(t, r); s.Busy != 1 || s.Repeats != 3 {
		t.Errorf("%d busy, %d repeats; want 1 and 3", s.Busy, s.Repeats)
	}
	if !busy([]Finding{{Rule: "gccost", Symptoms: accuse("starved")}}) || busy(accuse("gccost", "notloaded")) {
		t.Error("a busy machine is not known as one")
	}
}

// Results of what the truth does not know are refused: a renamed case would
// otherwise vanish from the score.
func TestUnknown(t *testing.T) {
	for _, r := range []*Results{
		{Answers: []Answer{{Case: "a", Name: "gone", Kind: Sick}}},
		{Answers: []Answer{{Case: "gone", Name: "lock", Kind: Sick}}},
		{Answers: []Answer{{Case: "b", Name: "timers", Kind: Healthy}}},
		{Trials: []Trial{{Case: "a", Name: "lock", Kind: Useless}}},
		{Trials: []Trial{{Case: "a", Name: "pool", Kind: Cure}}},
	} {
		if _, err := score(r, knowledge()); err == nil {
			t.Errorf("score(answers %+v, trials %+v) gives no error, want one", r.Answers, r.Trials)
		}
	}
}

func TestBaselines(t *testing.T) {
	r := answers(knowledge(), right)
	for i := range r.Answers {
		a := &r.Answers[i]
		a.Top = Top{Flat: "runtime.memmove", UserFlat: "main.other", UserCum: "main.run"}
		a.Thresholds.IdleP = Over{3, 40} // of everybody
		switch {
		case a.Kind == Sick && a.Name == "timers":
			a.Top.UserFlat = "main.wait.func1"
		case a.Kind == Sick && a.Name == "lock":
			a.Thresholds.Mutex = Over{1, 2}
		}
	}
	s := scored(t, r)
	// An idle P may point at a lock, not at timers; and it fires in well runs too.
	if s.LimitsCover != (Share{10, 15}) || s.LimitsAlarms != (Share{20, 20}) {
		t.Errorf("covers %+v, alarms %+v; want 10 of 15 and 20 of 20", s.LimitsCover, s.LimitsAlarms)
	}
	if s.TopRight != (Share{5, 10}) || s.TopNames != (Share{20, 20}) {
		t.Errorf("right %+v, names %+v; want 5 of 10 and 20 of 20", s.TopRight, s.TopNames)
	}
	for _, l := range s.Limits {
		want := map[string][2]int{"idle P": {15, 20}, "mutex wait": {5, 0}}[l.Name]
		if l.Sick.K != want[0] || l.Well.K != want[1] {
			t.Errorf("limit %+v, want %d sick and %d well", l, want[0], want[1])
		}
	}
}

func TestPage(t *testing.T) {
	r := answers(knowledge(), func(a *Answer, ill *truth.Illness) []Finding {
		if a.Name == "timers" && a.Kind == Sick {
			return []Finding{{Rule: "gccost", Where: []string{"main.bad|`*name\x1b[31m"}}}
		}
		return right(a, ill)
	})
	r.Taken = Provenance{Date: "2026-01-02", Commit: "abc", Go: "go1.26", CPU: "A <b> CPU", Cores: 2, Kernel: "Linux 6", Rounds: 5, Seed: 7}
	reasons := map[string]string{"b/timers/sick": "they are | few", "b/timers/sick#2": "this one was another's"}
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := writePage(w, r, scored(t, r), reasons); err != nil {
			t.Fatal(err)
		}
	}
	text := first.String()
	if text != second.String() {
		t.Error("the page differs from time to time")
	}
	for _, want := range []string{
		"**Missed: the cause is said first (top-1), the cause is among the first three (top-3) and what the cure brings is no more than the bound.**",
		"67 % (10 of 15; 42 to 85 %)", "they are \\| few", "this one was another's", "b/timers/sick#5", "| a | lock | `hotmutex` | 5/5 |", `A \<b\> CPU`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, notLookedAt) || strings.ContainsRune(text, 0x1b) || strings.Contains(text, "bad|") {
		t.Error("a reason is not found, or a name is markup")
	}
	delete(reasons, "b/timers/sick")
	var third bytes.Buffer
	if err := writePage(&third, r, scored(t, r), reasons); err != nil || strings.Count(third.String(), notLookedAt) != 4 {
		t.Errorf("%d answers are said to be not looked at, %v", strings.Count(third.String(), notLookedAt), err)
	}
}

// The five seconds of a page of no results are not a crash.
func TestEmptyPage(t *testing.T) {
	var b bytes.Buffer
	r := &Results{Schema: schema}
	if err := writePage(&b, r, scored(t, r), nil); err != nil || !strings.Contains(b.String(), "not measured") {
		t.Errorf("writePage() of nothing: %v, want \"not measured\" in\n%s", err, &b)
	}
}

func TestSaveAndLoad(t *testing.T) {
	r := answers(knowledge(), right)
	r.Trials = []Trial{trialOf(Cure, "lock", "confirmed", Effect{"cpu/op", "improved", 0.55, 0.5, 0.6})}
	r.sort()
	var b bytes.Buffer
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var c bytes.Buffer
	if err := again.write(&c); err != nil || b.String() != c.String() {
		t.Errorf("saved again it is another (%v)", err)
	}
	if lines := strings.Count(b.String(), "\n"); lines < len(r.Answers) {
		t.Errorf("%d lines, want one or more for each of %d answers", lines, len(r.Answers))
	}
	for _, text := range []string{
		"", "{}", `{"schema": 2}`, `{"schema": 1, "answers": [{"kind": "well", "round": 1}]}`, `{"schema": 1, "answers": [{"kind": "sick"}]}`,
		`{"schema": 1, "answers": [{"kind": "sick", "round": 1, "dose": 7}]}`, `{"schema": 1, "trials": [{"kind": "sick"}]}`,
		`{"schema": 1, "answers": [{"kind": "sick", "round": 1, "findings": [` + strings.Repeat(`{"symptoms": [`, 20) + strings.Repeat(`]}`, 20) + `]}]}`,
	} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	var b bytes.Buffer
	if err := answers(knowledge(), right).write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema": 1, "answers": [{"case": "a", "name": "lock", "kind": "sick", "round": 1, "findings": [{"rule": "x", "symptoms": [{}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse(data)
		if err != nil {
			return
		}
		s, err := score(r, knowledge())
		if err != nil {
			return
		}
		if err := writePage(&bytes.Buffer{}, r, s, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestPlan(t *testing.T) {
	cases := knowledge()
	inOrder := plan(cases, 2, true, 0)
	if len(inOrder) != 2*8 || len(plan(cases, 2, false, 0)) != 2*7 {
		t.Fatalf("%d runs with doses, want 16; %d without, want 14", len(inOrder), len(plan(cases, 2, false, 0)))
	}
	names := func(tasks []task) (out []string) {
		for _, x := range tasks {
			a := x.answer()
			out = append(out, fmt.Sprintf("%s#%d", key(&a), a.Round))
		}
		return out
	}
	one, same, other := names(plan(cases, 2, true, 5)), names(plan(cases, 2, true, 5)), names(plan(cases, 2, true, 6))
	if !slices.Equal(one, same) || slices.Equal(one, other) || slices.Equal(one, names(inOrder)) {
		t.Error("the order is not that of the seed")
	}
	slices.Sort(one)
	if got := names(inOrder); len(slices.Compact(one)) != len(got) || !slices.Contains(one, "a/lock/sick@0.5#2") || !slices.Contains(one, "b/calm/healthy#1") {
		t.Errorf("plan %q, want each question of %q, among them a half dose of the lock and a healthy calm", one, names(inOrder))
	}
	if n := len(proofs(cases)); n != 2 {
		t.Errorf("%d experiments, want 2", n)
	}
	if estimate(inOrder, proofs(cases), 10) <= estimate(inOrder, nil, 10) {
		t.Error("experiments take no time")
	}
}

func TestChoose(t *testing.T) {
	cases := append(knowledge(), &truth.Case{Name: "controls/burst"}, &truth.Case{Name: "controls/cpu"})
	for names, want := range map[string]string{
		"": "a,b,controls/burst,controls/cpu", "b": "b", "b, a,b": "b,a", "controls": "controls/burst,controls/cpu", "controls/cpu/": "controls/cpu",
	} {
		got, err := choose(cases, names)
		if err != nil || strings.Join(caseNames(got), ",") != want {
			t.Errorf("choose(%q) = %q, %v; want %s", names, caseNames(got), err, want)
		}
	}
	if _, err := choose(cases, "a,none"); err == nil || !strings.Contains(err.Error(), "controls/burst") {
		t.Errorf("choose(a,none): %v, want an error that names controls/burst", err)
	}
}

// TestRenew: what was made again of a case takes the place of what there was of
// it, answers and experiments apart, and the page says so.
func TestRenew(t *testing.T) {
	old := answers(knowledge(), right)
	old.Trials = []Trial{{Case: "a", Name: "lock", Kind: Cure, Conclusion: "rejected"}, {Case: "b", Name: "timers", Kind: Cure}}
	n := len(old.Answers)
	by := answers(knowledge()[:1], nothing)
	by.Taken = Provenance{Commit: "def", Cases: "a", Only: "answers"}
	old.renew(by)
	if len(old.Answers) != n || len(old.Trials) != 2 {
		t.Fatalf("%d answers and %d trials, want %d and 2", len(old.Answers), len(old.Trials), n)
	}
	for _, a := range old.Answers {
		if a.Kind == Sick && (len(a.Findings) > 0) != (a.Case == "b") {
			t.Errorf("findings of %s: %+v, want some only in case b", key(&a), a.Findings)
		}
	}
	old.renew(&Results{Trials: []Trial{{Case: "a", Name: "lock", Kind: Cure, Conclusion: "confirmed"}}})
	if len(old.Answers) != n || len(old.Trials) != 2 || !slices.ContainsFunc(old.Trials, func(tr Trial) bool { return tr.Case == "a" && tr.Conclusion == "confirmed" }) {
		t.Errorf("trials %+v of %d answers, want %d answers and 2 trials, the lock confirmed", old.Trials, len(old.Answers), n)
	}
	var page bytes.Buffer
	if err := writePage(&page, old, scored(t, old), nil); err != nil || !strings.Contains(page.String(), "Answers of `a` were made anew on") {
		t.Errorf("%v: the page does not tell what was made anew", err)
	}
}
