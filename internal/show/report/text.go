package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// Text writes a diagnosis for a terminal: in brief, or with Options.Verbose all of it.
func Text(w io.Writer, d *diagnosis.Diagnosis, o layout.Options) error {
	t := newTexter(o)
	if o.Verbose {
		t.whole(d)
	} else {
		t.brief(d, o)
	}
	return t.Flush(w)
}

// whole writes the verdict, the accounts, each finding in full, what is fine, what was
// not checked, and the next commands.
func (t *texter) whole(d *diagnosis.Diagnosis) {
	t.head(d)
	t.runs(d)
	t.cpu(d)
	t.operation(d.Operation)
	t.accounts(d, math.MaxInt)
	t.timeShares(d.Time)
	for i := range d.Findings {
		t.finding(i+1, &d.Findings[i], d.Summary)
	}
	t.List("Warnings", d.Warnings, layout.Yellow)
	t.List("Fine", slices.Concat(fine(d.Fine), obsolete(d)), layout.Green)
	t.unchecked(d.Unchecked)
	t.next(d)
}

// A texter writes the parts of a diagnosis.
type texter struct{ *layout.Text }

func newTexter(o layout.Options) *texter { return &texter{layout.NewText(o)} }

func verdictStyle(v diagnosis.Verdict) layout.Style {
	switch v {
	case diagnosis.Problem, diagnosis.Stalled:
		return layout.Red
	case diagnosis.Healthy:
		return layout.Green
	}
	return layout.Yellow
}

func (t *texter) head(d *diagnosis.Diagnosis) {
	t.verdict(d, layout.Lines(string(d.Verdict)+": "+d.Summary, t.Width))
	t.Line(t.Paint(layout.Dim, strings.Join(layout.Lines(subject(d), t.Width), "\n")))
	t.death(d)
}

// death says how the program ended, of a core file.
func (t *texter) death(d *diagnosis.Diagnosis) {
	if d.Death != "" && !strings.Contains(d.Summary, d.Death) {
		t.Line(strings.Join(layout.Lines("It "+d.Death+".", t.Width), "\n"))
	}
}

// verdict writes lines that begin with it.
func (t *texter) verdict(d *diagnosis.Diagnosis, lines []string) {
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, string(d.Verdict)+":"); ok && i == 0 {
			l = t.Paint(verdictStyle(d.Verdict), string(d.Verdict)+":") + t.Paint(layout.Bold, rest)
		} else {
			l = t.Paint(layout.Bold, l)
		}
		t.Line(l)
	}
}

// subject says what was read.
func subject(d *diagnosis.Diagnosis) string {
	var parts []string
	if len(d.Files) > 0 {
		names := slices.Clone(d.Files)
		if i := slices.Index(names, "-"); i >= 0 {
			names[i] = "standard input"
		}
		parts = append(parts, strings.Join(names, ", "))
	}
	for _, r := range d.Runs {
		if r.Shown {
			parts = []string{fmt.Sprintf("%d recordings, figures of %s", len(d.Runs), r.File)}
		}
	}
	if tr := d.Trace; tr != nil {
		if tr.Go != "" {
			parts = append(parts, tr.Go)
		}
		parts = append(parts, figures.Duration(time.Duration(tr.DurationNS)), figures.Int(tr.Events)+" events")
		if tr.LostBytes > 0 {
			parts = append(parts, figures.Bytes(tr.LostBytes)+" lost")
		}
	}
	if d.Trace == nil && d.CPU != nil && d.CPU.WindowNS > 0 {
		parts = append(parts, figures.Duration(time.Duration(d.CPU.WindowNS)))
	}
	if d.Goal != diagnosis.AnyGoal {
		parts = append(parts, "goal: "+string(d.Goal))
	}
	return strings.Join(parts, " · ")
}

// runs lists what several recordings say, each by itself.
func (t *texter) runs(d *diagnosis.Diagnosis) {
	t.List(eachRun, runAnswers(d), layout.Plain)
}

const eachRun = "Each recording by itself"

// runAnswers returns what several recordings say, each by itself.
func runAnswers(d *diagnosis.Diagnosis) (list []string) {
	for _, r := range d.Runs {
		list = append(list, r.File+": "+string(r.Verdict)+": "+r.Summary)
	}
	return list
}

// sureness returns how sure a finding is, and in how many recordings it was found.
func sureness(f *diagnosis.Finding, runs int) string {
	s := string(f.Confidence) + " confidence"
	if f.Found > 0 {
		s += fmt.Sprintf(", in %d of %d", f.Found, runs)
	}
	return s
}

func (t *texter) timeShares(shares []diagnosis.Share) {
	if len(shares) == 0 {
		return
	}
	wide := 0
	for _, s := range shares {
		wide = max(wide, utf8.RuneCountInString(layout.Safe(s.Name)))
	}
	bar := min(20, max(0, t.Width-wide-24)) // 24: margins, percentage and time
	t.Title("Where the processors' time went")
	for _, s := range shares {
		n := min(max(int(s.Share*float64(bar)+0.5), 0), bar)
		l := fmt.Sprintf("   %s  %s%s %7s", layout.Pad(layout.Safe(s.Name), wide), strings.Repeat("█", n), strings.Repeat("·", bar-n), figures.Percent(s.Share))
		if bar > 0 {
			l += "  " + t.Paint(layout.Dim, figures.Duration(time.Duration(s.NS)))
		}
		t.Line(l)
	}
}

const labelled = 14 // column at which a finding's texts begin

func (t *texter) findingTitle(n int, f *diagnosis.Finding) {
	conf := string(f.Confidence) + " confidence"
	title := fmt.Sprintf("%d. %s", n, layout.Safe(f.Title))
	if gap := t.Width - utf8.RuneCountInString(title) - utf8.RuneCountInString(conf); gap >= 2 {
		t.Line(t.Paint(layout.Bold, title) + strings.Repeat(" ", gap) + t.Paint(layout.Dim, layout.Safe(conf)))
	} else {
		t.Line(t.Paint(layout.Bold, title))
		t.Line("   " + t.Paint(layout.Dim, layout.Safe(conf)))
	}
}

func (t *texter) finding(n int, f *diagnosis.Finding, headline string) {
	t.Line("")
	t.findingTitle(n, f)
	if !strings.HasPrefix(headline, strings.TrimSuffix(f.Summary, ".")) {
		t.Para(3, "", f.Summary, layout.Plain)
	}
	t.where(f.Where)
	if f.Scope != "" {
		t.Para(labelled, "where", f.Scope, layout.Plain)
	}
	t.evidence(f.Evidence)
	if f.Cost.What != "" {
		t.Para(labelled, "cost", costText(f.Cost), layout.Plain)
	}
	if f.Bound.Method != "" {
		t.Para(labelled, "gain", layout.Safe(f.Bound.Gain()+": "+f.Bound.Method), layout.Plain)
	}
	t.remedy(f.Remedy)
	t.prove(f)
	t.Para(labelled, "sure?", strings.Join(f.Reasons, "; "), layout.Plain)
	t.Para(labelled, "ruled out", strings.Join(f.RuledOut, "; "), layout.Plain)
	for i, s := range f.Symptoms {
		label := ""
		if i == 0 {
			label = "explains"
		}
		t.Para(labelled, label, s.Title+" ("+s.Rule+"): "+s.Summary, layout.Plain)
	}
}

// prove shows the experiment's commands, each in a line of its own however long
// it is: a wrapped one cannot be pasted.
func (t *texter) prove(f *diagnosis.Finding) {
	label := "prove"
	for _, command := range f.Try {
		lead := strings.Repeat(" ", labelled)
		if label != "" {
			lead = "   " + t.Paint(layout.Dim, label) + lead[3+len(label):]
			label = ""
		}
		t.Line(lead + t.Paint(layout.Dim, "$ ") + layout.Safe(command))
	}
	t.Para(labelled, label, f.Prove, layout.Plain)
}

func costText(c diagnosis.Cost) string {
	s := layout.Safe(c.Text) + " " + c.What
	if c.Share > 0 && c.Unit != fact.Ratio {
		s += " (" + fact.Ratio.Format(c.Share) + ")"
	}
	return s
}

func (t *texter) where(places []diagnosis.Place) {
	for i, p := range places {
		label := ""
		if i == 0 {
			label = "where"
		}
		text := p.Function
		if at := location(p); at != "" {
			text += "  " + at
		}
		t.Para(labelled, label, text, layout.Bold)
	}
}

func location(p diagnosis.Place) string {
	switch {
	case p.File == "":
		return ""
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

func (t *texter) evidence(facts []fact.Fact) {
	wideName, wideValue := 0, 0
	for _, f := range facts {
		wideName = max(wideName, utf8.RuneCountInString(layout.Safe(f.Name)))
		wideValue = max(wideValue, utf8.RuneCountInString(layout.Safe(f.Text)))
	}
	// Long names would push the figures off a narrow screen.
	wideName = min(wideName, max(10, t.Width-labelled-wideValue-2))
	for i, f := range facts {
		lead := strings.Repeat(" ", labelled)
		if i == 0 {
			lead = "   " + t.Paint(layout.Dim, "evidence") + strings.Repeat(" ", labelled-3-len("evidence"))
		}
		value := layout.Safe(f.Text)
		value = strings.Repeat(" ", max(0, wideValue-utf8.RuneCountInString(value))) + value
		names := layout.Lines(f.Name, wideName)
		for j, name := range names {
			if j < len(names)-1 {
				t.Line(lead + name)
				lead = strings.Repeat(" ", labelled)
				continue
			}
			l := lead + layout.Pad(name, wideName) + "  " + value
			source := layout.Safe(f.Origin.String())
			if labelled+wideName+wideValue+4+utf8.RuneCountInString(source) <= t.Width {
				l += "  " + t.Paint(layout.Dim, source)
			}
			t.Line(l)
		}
	}
}

func (t *texter) remedy(r diagnosis.Remedy) {
	t.Para(labelled, "do", r.Text, layout.Plain)
	if r.Code != "" {
		for _, l := range layout.SafeLines(r.Code) {
			t.Line(strings.Repeat(" ", labelled+2) + l)
		}
	}
	if r.Knob != "" {
		t.Para(labelled, "", "try without code: "+r.Knob, layout.Plain)
	}
}

// obsolete lists what is there and harmless, a line for each. Nobody asked for these lines,
// and they keep a reader from following old advice.
func obsolete(d *diagnosis.Diagnosis) (lines []string) {
	for _, o := range d.Obsolete {
		lines = append(lines, o.String())
	}
	return lines
}

// fine lists what is well, in words.
func fine(list []diagnosis.Fine) (words []string) {
	for _, f := range list {
		words = append(words, f.Text)
	}
	return words
}

// unchecked lists what needs one command together, and the command once.
func (t *texter) unchecked(list []diagnosis.Unchecked) {
	if len(list) == 0 {
		return
	}
	t.Title("Not checked")
	var order []string
	by := map[string][]diagnosis.Unchecked{}
	for _, u := range list {
		if by[u.How] == nil {
			order = append(order, u.How)
		}
		by[u.How] = append(by[u.How], u)
	}
	for _, how := range order {
		for _, u := range by[how] {
			t.question(u)
		}
		if how != "" {
			t.Line("       " + t.Paint(layout.Dim, "$ "+layout.Safe(how)))
		}
	}
}

func (t *texter) question(u diagnosis.Unchecked) {
	text := u.What
	if u.Why != "" {
		text += ": " + u.Why
	}
	for i, l := range layout.Lines(text, t.Width-5) {
		if i == 0 {
			t.Line("   ? " + l)
		} else {
			t.Line("     " + l)
		}
	}
}

func (t *texter) next(d *diagnosis.Diagnosis) {
	next := nextCommands(d)
	if len(next) == 0 {
		return
	}
	t.Title("Next")
	wide := 0
	for _, n := range next {
		wide = max(wide, utf8.RuneCountInString(layout.Safe(n[0])))
	}
	for _, n := range next {
		l := "   " + layout.Pad(layout.Safe(n[0]), wide)
		if 3+wide+2+len(n[1]) <= t.Width {
			l += "  " + t.Paint(layout.Dim, n[1])
		}
		t.Line(l)
	}
}
