package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// wantWaits is the share of programs that wait whose cause and holder are to be named
// first, from each kind of evidence.
const wantWaits = 0.90

// waitsPage writes WAITS.md and says what is in its head; SCORE.md follows where it is there.
func (o *options) waitsPage(w *Waits, known *truth.Waits) error {
	rows, all, err := judgeWaits(w, known)
	if err != nil {
		return err
	}
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	if err := errors.Join(writeWaits(f, w, known, rows, all), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(o.say, "wrote %s\n", o.out)
	for _, r := range rows {
		fmt.Fprintf(o.say, "  %-9s cause and holder first %s, false stalls %s, silent about what is well %s\n", r.name(), fraction(r.Both), fraction(r.Stalled), fraction(r.Silent))
	}
	for _, j := range all {
		if !j.right() {
			fmt.Fprintf(o.say, "  wrong: %s from %s: wanted %s; said %s\n", j.answer.Program, j.answer.Evidence, wantedOf(j.want), printable(saidOf(j.answer)))
		}
	}
	return nil
}

func (r *waitRow) name() string {
	if r.evidence == "" {
		return "all"
	}
	return string(r.evidence)
}

// writeWaits writes WAITS.md: the same bytes for the same answers and truth.
func writeWaits(out io.Writer, w *Waits, known *truth.Waits, rows []waitRow, all []waitJudgement) error {
	p := &page{}
	p.line("# Programs that wait")
	p.line("")
	p.line("What gowhy says of `lab/waits`, programs whose goroutines wait for ever (stuck), long")
	p.line("and again and again (slow), or as they should (fine), from each kind of evidence alone.")
	p.line("Made by `go run ./lab/score -waits` from `lab/waits.json`, not by hand; shares have")
	p.line("Wilson's 95 %% interval behind them.")
	p.waitRows(rows)
	t := w.Taken
	p.line("%s, commit %s, %s, %d cores of %s, %s; %.1f min.", safe(t.Date), code(t.Commit), safe(t.Go), t.Cores, safe(t.CPU), safe(t.Kernel), t.TookMins)
	p.line("")
	p.line("A *trace* of 3 s and a goroutine *profile* (pprof) are what the program writes of itself, a")
	p.line("*dump* what it prints when SIGQUIT ends it; *pid* is `gowhy record --pid` for %v, *live*", waitRecord)
	p.line("`gowhy top` until it has a verdict. The *cause* is named when the first place of the first")
	p.line("finding is a line where goroutines wait for what is wrong, or where its holder is; the")
	p.line("*holder* when that finding names its function, and the line where others wait in the same")
	p.line("function. Of a circle all must be named. From one moment (dump, profile) *problem* is as")
	p.line("good as *stalled*: whether what waits will go on cannot be seen. A *false alarm* is any")
	p.line("finding about a program that is well.")
	p.waitTable(known, all)
	p.waitsWrong(all)
	_, err := io.WriteString(out, strings.TrimRight(strings.ReplaceAll(p.String(), "\n\n\n", "\n\n"), "\n")+"\n")
	return err
}

// waitRows is the table of shares.
func (p *page) waitRows(rows []waitRow) {
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.name(), share(r.Both), fraction(r.Cause), fraction(r.Holder), fraction(r.Verdict), fraction(r.Stalled), fraction(r.Slow), fraction(r.Silent), fmt.Sprint(r.Failed)})
	}
	p.table(1, []string{"evidence", fmt.Sprintf("cause and holder named first (to reach: %s)", percent(wantWaits)), "cause", "holder", "verdict", "fine ones said to be stalled", "slow ones said to be stalled", "silent about fine ones", "no answer"}, cells)
}

// waitTable has a line for each program.
func (p *page) waitTable(known *truth.Waits, all []waitJudgement) {
	p.line("## Program by program")
	p.line("")
	p.line("✓ is right; *cause* or *holder* is what alone was named. Of programs that are well, the")
	p.line("rules that spoke.")
	cells := map[string]string{}
	for _, j := range all {
		cells[j.answer.Program+"/"+string(j.answer.Evidence)] = cellOf(&j)
	}
	var rows [][]string
	for _, program := range known.Programs {
		row := []string{code(program.Name)}
		for _, kind := range waitEvidence {
			row = append(row, cells[program.Name+"/"+string(kind)])
		}
		rows = append(rows, row)
	}
	head := []string{"program"}
	for _, kind := range waitEvidence {
		head = append(head, string(kind))
	}
	p.table(len(head), head, rows)
}

func cellOf(j *waitJudgement) string {
	switch {
	case j.answer.Failed != "":
		return "no answer"
	case j.want.Verdict == truth.WantNone && j.stalled:
		return "**stalled**"
	case j.want.Verdict == truth.WantNone && len(j.alarms) > 0:
		return codes(j.alarms)
	case j.right() && !j.verdict && j.stalled:
		return "✓, but **stalled**"
	case j.right() && !j.verdict:
		return "✓, but " + safe(j.answer.Verdict)
	case j.right():
		return "✓"
	case j.cause:
		return "cause"
	case j.holder && len(j.want.Holders)+len(j.want.Cycle) > 0:
		return "holder"
	}
	return "–"
}

func (p *page) waitsWrong(all []waitJudgement) {
	var rows [][]string
	for _, j := range all {
		if !j.right() {
			rows = append(rows, []string{code(j.answer.Program), string(j.answer.Evidence), safe(wantedOf(j.want)), safe(saidOf(j.answer))})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.line("## Each wrong answer")
	p.table(4, []string{"program", "evidence", "wanted", "said"}, rows)
}

// wantedOf says what must be named.
func wantedOf(want *truth.Wait) string {
	var words []string
	say := func(role string, marks []truth.Mark) {
		for i, m := range marks {
			place := fmt.Sprintf("%s %s:%d", m.Function, m.File, m.Line)
			if i == 0 {
				place = role + " " + place
			}
			words = append(words, place)
		}
	}
	say("cause", want.Causes)
	say("holder", want.Holders)
	say("all of", want.Cycle)
	if len(words) == 0 {
		return "silence"
	}
	return want.Verdict + ": " + strings.Join(words, ", ")
}

// saidOf returns an answer in a few words.
func saidOf(a *WaitAnswer) string {
	if a.Failed != "" {
		return a.Failed
	}
	text := a.Verdict
	if len(a.Findings) == 0 {
		return text + ": " + a.Said
	}
	for _, f := range a.Findings[:min(2, len(a.Findings))] {
		text += "; " + f.Rule
		for _, w := range f.Where {
			text += fmt.Sprintf(" %s %s:%d", w.Function, w.File, w.Line)
		}
		text += " (" + f.Summary + ")"
	}
	return text
}

// waits returns the section of SCORE.md about programs that wait.
func (p *page) waits(w *Waits, known *truth.Waits) error {
	if w == nil {
		return nil
	}
	rows, _, err := judgeWaits(w, known)
	if err != nil {
		return err
	}
	p.line("## Programs that wait")
	p.line("")
	p.line("%d programs of `lab/waits`, stuck, slow and fine, from each kind of evidence alone, by", len(known.Programs))
	p.line("`go run ./lab/score -waits`, %s, commit %s; program by program in [WAITS.md](WAITS.md).", safe(w.Taken.Date), code(w.Taken.Commit))
	p.waitRows(rows)
	return nil
}
