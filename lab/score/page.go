package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// A bar is what is to be reached.
type bar struct {
	what, want, have string
	met              bool
}

// The bars.
const (
	wantTop1    = 0.90
	wantTop3    = 0.98
	wantAlarms  = 0.10 // per run of a well program
	wantSilence = 0.95
	wantBound   = 0.95
)

// bars holds a score to what is to be reached. What was not measured is missed.
func (s *Score) bars() []bar {
	least := func(what string, have Share, want float64) bar {
		return bar{what, "≥ " + percent(want), share(have), have.Rate() >= want}
	}
	alarms := math.NaN()
	if s.WellRuns > 0 {
		alarms = float64(s.Alarms) / float64(s.WellRuns)
	}
	return []bar{
		least("the cause is said first (top-1)", s.Top1, wantTop1),
		least("the cause is among the first three (top-3)", s.Top3, wantTop3),
		{"false alarms in a run of a well program", fmt.Sprintf("≤ %g", wantAlarms), alarmWords(s.Alarms, s.WellRuns), alarms <= wantAlarms},
		least("silence about healed programs", s.HealedSilent, wantSilence),
		least("what the cure brings is no more than the bound", s.Bound, wantBound),
	}
}

func alarmWords(alarms, runs int) string {
	if runs == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.2f (%d in %d runs)", float64(alarms)/float64(runs), alarms, runs)
}

// A page writes SCORE.md.
type page struct {
	strings.Builder
	r        *Results
	repeated *Repeats
	s        *Score
	reasons  map[string]string
	// answers about specimens, nil when there are none
	answers   *Field
	specimens []*specimen.Specimen
	// waiting are answers about programs that wait, nil when there are none, and known
	// what is true of these
	waiting *Waits
	known   *truth.Waits
	// holding are answers about programs that hold memory, nil when there are none
	holding *heldMemory
}

// write writes SCORE.md: the same bytes for the same results, truth and reasons.
func (p *page) write(w io.Writer) error {
	p.head()
	p.field(p.answers, p.specimens)
	p.repeats(p.repeated)
	if err := p.waits(p.waiting, p.known); err != nil {
		return err
	}
	if err := p.holders(p.holding); err != nil {
		return err
	}
	p.illnesses()
	p.wells()
	p.families()
	p.calibration()
	p.time()
	p.baselines()
	p.wrong()
	p.method()
	_, err := io.WriteString(w, strings.TrimRight(strings.ReplaceAll(p.String(), "\n\n\n", "\n\n"), "\n")+"\n")
	return err
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// table writes a table; the columns after the first left ones are numbers.
func (p *page) table(left int, head []string, rows [][]string) {
	rule := make([]string, len(head))
	for i := range head {
		rule[i] = "---"
		if i >= left {
			rule[i] = "---:"
		}
	}
	p.line("")
	for _, row := range append([][]string{head, rule}, rows...) {
		p.line("| %s |", strings.Join(row, " | "))
	}
	p.line("")
}

func (p *page) head() {
	p.line("# The scorecard")
	p.line("")
	p.line("How often gowhy is right, on programs of which it is known what is wrong with them")
	p.line("(`truth.yaml` beside each). Made by `go run ./lab/score` from `lab/score.json`, not by")
	p.line("hand; shares have Wilson's 95 %% interval behind them.")
	p.line("")
	var missed []string
	var rows [][]string
	for _, b := range p.s.bars() {
		met := "yes"
		if !b.met {
			met = "**no**"
			missed = append(missed, b.what)
		}
		rows = append(rows, []string{b.what, b.want, b.have, met})
	}
	if len(missed) > 0 {
		p.line("**Missed: %s.** Each wrong answer is listed below with its reason.", list(missed))
	} else {
		p.line("All bars are reached. Each wrong answer is listed below with its reason.")
	}
	p.table(1, []string{"what", "to reach", "reached", ""}, rows)
	s := p.s
	p.table(1, []string{"what else", "reached"}, [][]string{
		{"the guilty function is among the first three places", share(s.Place)},
		{"the same first cause in 4 of 5 runs, of illnesses", share(s.Stable)},
		{"more of an illness is found no less, none of it not at all", share(s.Monotone)},
		{"the experiment confirmed the cure", share(s.Confirmed)},
		{"the experiment did not confirm what is no cure", share(s.Refused)},
		{"abstained although sick (counted as wrong)", share(s.SickAbstained)},
		{"abstained when well (idle, not under load, too little evidence)", share(s.WellAbstained)},
	})
	p.taken()
}

func (p *page) taken() {
	t := p.r.Taken
	p.line("%s, commit %s, %s, %d cores of %s, %s. Each run was made %d times, all in", safe(t.Date), code(t.Commit), safe(t.Go), t.Cores, safe(t.CPU), safe(t.Kernel), t.Rounds)
	p.line("random order (seed %d), which took %.0f min. %s", t.Seed, t.TookMins, p.busyWords())
	for _, a := range p.r.Anew {
		what := "Answers and experiments"
		if a.Only != "" {
			what = strings.ToUpper(a.Only[:1]) + a.Only[1:]
		}
		of := "all cases"
		if a.Cases != "" {
			of = code(a.Cases)
		}
		p.line("%s of %s were made anew on %s, commit %s (seed %d, %.0f min).", safe(what), of, safe(a.Date), code(a.Commit), a.Seed, a.TookMins)
	}
	if t.Cases != "" {
		p.line("")
		p.line("**Not all cases were run: only %s.**", code(t.Cases))
	}
	p.line("")
}

func (p *page) busyWords() string {
	s := p.s
	text := fmt.Sprintf("Of %d runs %d were repeated because gowhy itself said that others had the machine", len(p.r.Answers), s.Repeats)
	if s.Busy > 0 {
		text += fmt.Sprintf("; %d were counted although it still was", s.Busy)
	}
	if s.Failed > 0 {
		text += fmt.Sprintf("; %d failed, and count as wrong", s.Failed)
	}
	return text + "."
}

func (p *page) illnesses() {
	p.line("## Sick programs, and healed")
	var rows [][]string
	for i := range p.s.Illnesses {
		rows = append(rows, illnessRow(&p.s.Illnesses[i]))
	}
	p.table(3, []string{"case", "illness", "rule", "first", "in three", "place", "healed silent", "found from dose", "the same first", "cure"}, rows)
}

func illnessRow(r *Row) []string {
	from := "never"
	switch {
	case len(r.Doses) < 3 && r.From == 1:
		from = "1"
	case !math.IsNaN(r.From):
		from = fmt.Sprintf("%g of %s", r.From, doseList(r.Doses))
	}
	if len(r.Doses) >= 3 && !r.Monotone {
		from += ", **not monotone**"
	}
	cure := "not tried"
	if r.Trial != nil {
		cure = "the experiment failed"
		if r.Trial.Failed == "" {
			cure = trialWords(r.Trial)
		}
		if r.Promised > 0 {
			cure += fmt.Sprintf("; promised at most × %.2f", r.Promised)
		}
	}
	first := r.First
	if r.FirstShare.N > 0 {
		first = fmt.Sprintf("%s %d/%d", r.First, r.FirstShare.K, r.FirstShare.N)
	}
	return []string{safe(r.Case), safe(r.Illness.Name), code(r.Illness.Rule), fraction(r.Top1), fraction(r.Top3), fraction(r.Place), fraction(r.Healed), from, safe(first), safe(cure)}
}

func doseList(doses []DoseRow) string {
	var words []string
	for _, d := range doses {
		words = append(words, fmt.Sprintf("%g", d.Dose))
	}
	return strings.Join(words, ", ")
}

func (p *page) wells() {
	p.line("## Healthy programs")
	var rows [][]string
	for _, w := range p.s.Wells {
		alarms := "none"
		if len(w.Alarms) > 0 {
			alarms = counted(w.Alarms)
		}
		rows = append(rows, []string{safe(w.Case), safe(w.Name), alarms, fmt.Sprint(w.Runs), fmt.Sprint(w.Abstained)})
	}
	p.table(3, []string{"case", "run", "false alarms", "runs", "abstained"}, rows)
	if len(p.s.Aside) == 0 {
		return
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(p.s.Aside)) {
		words = append(words, fmt.Sprintf("%s in %d runs", code(name), p.s.Aside[name]))
	}
	p.line("Said of the machine or of the evidence, in all runs, and neither right nor wrong")
	p.line("here: %s.", list(words))
	p.line("")
}

// counted joins words, each once, with how often it is there.
func counted(words []string) string {
	n := map[string]int{}
	for _, w := range words {
		n[w]++
	}
	var out []string
	for _, w := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%s ×%d", code(w), n[w]))
	}
	return strings.Join(out, ", ")
}

func (p *page) families() {
	p.line("## By family")
	p.line("")
	p.line("Recall is of the sick runs that have an illness of the family: it was said at all.")
	p.line("Precision is of what was said, in all runs and at all doses: it was what is wrong.")
	p.line("What `truth.yaml` allows beside it (consequences, other truths) is neither.")
	var rows [][]string
	for _, f := range p.s.Families {
		rows = append(rows, []string{safe(f.Family), share(f.Recall), share(f.Precision)})
	}
	p.table(1, []string{"family", "recall", "precision"}, rows)
}

func (p *page) calibration() {
	s := p.s
	p.line("## What the cure brings, promised and measured")
	p.line("")
	p.line("A bound is what a cure brings at most. Each sick run's bounds are held to what the")
	p.line("experiment from sick to healed measured of the same metric; %d were about a metric", s.Unmeasured)
	p.line("that no experiment measured, and %d of illnesses whose cure takes away more than the", s.More)
	p.line("illness (`beyond` in truth.yaml). A bound is broken when the 95 %% interval of what was")
	p.line("measured is beyond it as a whole. A prediction is within 20 %% when the measured")
	p.line("ratio of after to before is within 20 %% of the bound's.")
	p.table(1, []string{"what", "of promises"}, [][]string{
		{"the bound is not broken", share(s.Bound)},
		{"the middle of the interval is no more than the bound, either", share(s.Middle)},
		{"within 20 % of what was measured", share(s.Within20)},
		{"within 50 % of what was measured", share(s.Within50)},
	})
}

func (p *page) time() {
	s := p.s
	p.line("## What it takes")
	row := func(name, format string, values []float64) []string {
		if len(values) == 0 {
			return []string{name, "", "", ""}
		}
		at := func(q float64) string { return fmt.Sprintf(format, values[int(q*float64(len(values)-1)+0.5)]) }
		return []string{name, at(0.5), at(0.95), at(1)}
	}
	megabytes := make([]float64, len(s.Bytes))
	for i, b := range s.Bytes {
		megabytes[i] = b / 1e6
	}
	p.table(1, []string{"what", "median", "95 %", "most"}, [][]string{
		row("`gowhy diagnose`, seconds", "%.2f", s.Diagnose),
		row("the recording, MB", "%.1f", megabytes),
	})
}

func (p *page) baselines() {
	s := p.s
	p.line("## Beside two baselines, from the same recordings")
	p.line("")
	p.line("**Absolute limits for single events.** A trace analyser that knows no causes reports")
	p.line("every event that is longer than a limit. A limit is right about a sick run when at")
	p.line("least one event is over it and the illness is of a family that it could point at:")
	for _, l := range limits {
		p.line("%s over %v, of %s;", l.name, l.most, list(l.families))
	}
	p.line("that is generous, since no limit names a cause or a function. A well run is a false")
	p.line("alarm when any limit fires. What the stacks show to be part of the recording is left")
	p.line("out, and so are waits and idle times that were open when the trace began or ended.")
	var rows [][]string
	for i, l := range s.Limits {
		rows = append(rows, []string{fmt.Sprintf("%s > %v", l.Name, limits[i].most), share(l.Sick), share(l.Well)})
	}
	rows = append(rows, []string{"right family among those that fire", share(s.LimitsCover), ""}, []string{"any fires", "", share(s.LimitsAlarms)})
	p.table(1, []string{"limit", "sick runs", "well runs"}, rows)
	p.line("**The largest entry of `pprof -top`**: it is right when the largest flat entry, the")
	p.line("largest flat of the user's own functions, or the largest cumulative of those (without")
	p.line("`main.main`) is a guilty function. It never says what to do, nor that all is well.")
	p.table(1, []string{"what", "pprof top", "gowhy"}, [][]string{
		{"names the guilty function of a sick run", share(s.TopRight), share(s.Place)},
		{"names something in a well run", share(s.TopNames), alarmWords(s.Alarms, s.WellRuns)},
	})
}

const notLookedAt = "not looked at yet"

func (p *page) wrong() {
	p.line("## Each wrong answer")
	if len(p.s.Wrong) == 0 {
		p.line("")
		p.line("There is none.")
		p.line("")
		return
	}
	var rows [][]string
	for _, w := range p.s.Wrong {
		at := w.Key
		if w.Round > 0 {
			at += fmt.Sprintf("#%d", w.Round)
		}
		why := reason(p.reasons, w)
		if why == "" {
			why = "**" + notLookedAt + "**"
		}
		rows = append(rows, []string{safe(at), safe(w.Want), safe(w.Said), safeReason(why)})
	}
	p.table(4, []string{"run", "wanted", "said", "why"}, rows)
}

// reason returns why an answer is wrong, as somebody wrote down; "" when nobody did.
func reason(reasons map[string]string, w Wrong) string {
	return cmp.Or(reasons[fmt.Sprintf("%s#%d", w.Key, w.Round)], reasons[w.Key])
}

func (p *page) method() {
	p.line("## How it was judged")
	p.line("")
	p.line("Each run is a process of its own, recorded by `gowhy record` and read by")
	p.line("`gowhy diagnose --format json`. What counts as first is the first finding that accuses")
	p.line("the program: a remark does not, and nor do %s,", codes(aside))
	p.line("which are about the machine and the evidence, nor what these are said to cause. A")
	p.line("symptom comes after its cause, so it is never first. An abstention or a failed run of a sick program is a wrong answer. A")
	p.line("healed program must be as silent as a healthy one, but for what its `truth.yaml` says")
	p.line("is left. Experiments are `gowhy verify --guard none`, once for each illness.")
}

func codes(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = code(w)
	}
	return list(out)
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

// share is K of N with its interval.
func share(s Share) string {
	if s.N == 0 {
		return "not measured"
	}
	low, high := s.Interval()
	return fmt.Sprintf("%s (%d of %d; %.0f to %.0f %%)", percent(s.Rate()), s.K, s.N, 100*low, 100*high)
}

func fraction(s Share) string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", s.K, s.N)
}

// safe makes a text from anywhere one cell of a table: nothing in it is markup
// or ends the cell.
func safe(s string) string {
	const most = 400
	var b strings.Builder
	for i, r := range []rune(s) {
		switch {
		case i == most:
			b.WriteString("…")
			return b.String()
		case r == '|' || r == '*' || r == '_' || r == '`' || r == '[' || r == ']' || r == '<' || r == '>' || r == '\\' || r == '&' || r == '~':
			b.WriteString("\\" + string(r))
		case !unicode.IsPrint(r):
			b.WriteString(" ")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// code returns a short word from anywhere as code.
func code(s string) string {
	return "`" + strings.Map(func(r rune) rune {
		if r == '`' || r == '|' || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s) + "`"
}

// safeReason keeps the markup of what we wrote ourselves, on one line.
func safeReason(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|")
}
