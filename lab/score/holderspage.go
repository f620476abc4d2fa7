package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// wantHolders is the share of programs whose holder is to be named first.
const wantHolders = 0.90

// holdersPage writes HOLDERS.md and says what is in its head.
func (o *options) holdersPage(h *Holders, known *truth.Holders) error {
	rows, all, err := judgeHolders(h, known)
	if err != nil {
		return err
	}
	accounts, err := loadAccounts(o.accountFile())
	if err != nil {
		return err
	}
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	if err := errors.Join(writeHolders(f, h, known, rows, all, accounts), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(o.say, "wrote %s\n", o.out)
	for _, r := range rows {
		fmt.Fprintf(o.say, "  %-5s %-10s right holder first %s, silent about what is well %s, no answer %d\n", r.evidence, strings.TrimPrefix(r.name(), "~"), fraction(r.First), fraction(r.Silent), r.Failed)
	}
	for _, j := range all {
		if !j.right() {
			fmt.Fprintf(o.say, "  wrong: %s of %s from %s: wanted %s; said %s\n", j.answer.Program, j.answer.Release, j.answer.Evidence, wantedHolder(j.want), printable(saidHolder(j.answer)))
		}
	}
	return nil
}

// writeHolders writes HOLDERS.md: the same bytes for the same answers and truth.
func writeHolders(out io.Writer, h *Holders, known *truth.Holders, rows []holderRow, all []holderJudgement, accounts *Accounts) error {
	p := &page{}
	p.line("# Programs that hold memory")
	p.line("")
	p.line("What gowhy says of `lab/holders`, programs that hold 72 MiB in one way, and others that are")
	p.line("well. Made by `go run ./lab/score -holders` from `lab/holders.json`, not by hand; shares have")
	p.line("Wilson's 95 %% interval behind them.")
	p.holderRows(rows)
	t := h.Taken
	p.line("%s, commit %s, %s, %d cores of %s, %s; %.1f min.", safe(t.Date), code(t.Commit), safe(t.Go), t.Cores, safe(t.CPU), safe(t.Kernel), t.TookMins)
	p.line("")
	p.line("*pid* is `gowhy memory PID --holders`, *core* the same of the core that the program leaves. The")
	p.line("right holder is first when the first of the list is of its kind, has its name and 48 MiB or")
	p.line("more. Native memory and fragmentation have no holder: there the row of the account must be the")
	p.line("largest. Those that are well are diagnosed, recorded for %v or from their core: any finding", waitRecord)
	p.line("is a false alarm. No answer counts as wrong. What all holders have is compared with what the last")
	p.line("collection found alive, else with that and what was allocated since, when all of it is still held.")
	p.holderTable(known, all)
	p.holdersWrong(all)
	p.account(accounts)
	_, err := io.WriteString(out, strings.TrimRight(strings.ReplaceAll(p.String(), "\n\n\n", "\n\n"), "\n")+"\n")
	return err
}

func (p *page) holderRows(rows []holderRow) {
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{string(r.evidence), strings.TrimPrefix(r.name(), "~"), share(r.First), share(r.Silent), share(r.Told), share(r.Agrees), fmt.Sprint(r.Failed)})
	}
	p.table(2, []string{"evidence", "Go", fmt.Sprintf("right holder named first (to reach: %s)", percent(wantHolders)), "silent about those that are well",
		fmt.Sprintf("%s of what the collector found alive has a holder", percent(wantTold)), fmt.Sprintf("within %s of that, or of that and what was allocated since", percent(wantAgrees)), "no answer"}, cells)
}

// holderTable has a line for each program.
func (p *page) holderTable(known *truth.Holders, all []holderJudgement) {
	p.line("## Program by program")
	p.line("")
	p.line("✓ is right; of others who was first, or the rules that spoke of one that is well.")
	var columns []string
	cells := map[string]string{}
	for _, j := range all {
		column := string(j.answer.Evidence) + ", " + j.answer.Release
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		cells[j.answer.Program+"/"+column] = holderCell(&j)
	}
	slices.SortFunc(columns, func(a, b string) int {
		return cmp.Or(strings.Compare(b[:3], a[:3]), strings.Compare(a, b))
	})
	var rows [][]string
	for _, program := range known.Programs {
		row := []string{code(program.Name)}
		for _, c := range columns {
			row = append(row, cells[program.Name+"/"+c])
		}
		rows = append(rows, row)
	}
	p.table(len(columns)+1, append([]string{"program"}, columns...), rows)
}

func holderCell(j *holderJudgement) string {
	switch {
	case j.answer.Failed != "":
		return "no answer"
	case j.right():
		return "✓"
	case len(j.alarms) > 0:
		return codes(j.alarms)
	case j.answer.Name == "":
		return "–"
	}
	return code(j.answer.Name)
}

func (p *page) holdersWrong(all []holderJudgement) {
	var rows [][]string
	for _, j := range all {
		if !j.right() {
			rows = append(rows, []string{code(j.answer.Program), safe(j.answer.Release), string(j.answer.Evidence), safe(wantedHolder(j.want)), safe(saidHolder(j.answer))})
		}
	}
	if len(rows) == 0 {
		return
	}
	p.line("## Each wrong answer")
	p.table(5, []string{"program", "Go", "evidence", "wanted", "said"}, rows)
}

// wantedHolder says what must be named.
func wantedHolder(want *truth.Holder) string {
	if want.Kind == truth.WantNone {
		return "silence"
	}
	return strings.TrimSpace(want.Kind + " " + want.Holder)
}

// saidHolder returns an answer in a few words.
func saidHolder(a *HolderAnswer) string {
	switch {
	case a.Failed != "":
		return a.Failed
	case a.Name == "":
		return saidOf(&WaitAnswer{Verdict: a.Verdict, Findings: a.Findings})
	}
	return fmt.Sprintf("%s %s, %d MiB: %s", a.Kind, a.Name, a.Bytes>>20, a.Way)
}

// heldMemory is what gowhy said of programs that hold memory, and what is true of them.
type heldMemory struct {
	answers  *Holders
	known    *truth.Holders
	accounts *Accounts // nil where nobody looked
}

// savedHolders returns the answers that lie beside the page; nil when there are none.
func (o *options) savedHolders() (*heldMemory, error) {
	h, err := loadHolders(o.holdersFile())
	if h == nil || err != nil {
		return nil, err
	}
	accounts, err := loadAccounts(o.accountFile())
	if err != nil {
		return nil, err
	}
	known, err := truth.ReadHolders(filepath.Join(o.lab, "holders"))
	return &heldMemory{h, known, accounts}, err
}

// holders writes the summary of HOLDERS.md for SCORE.md.
func (p *page) holders(h *heldMemory) error {
	if h == nil {
		return nil
	}
	rows, _, err := judgeHolders(h.answers, h.known)
	if err != nil {
		return err
	}
	p.line("## Programs that hold memory")
	p.line("")
	p.line("%d programs of `lab/holders`, those that hold 72 MiB in one way and others that are well, by", len(h.known.Programs))
	p.line("`go run ./lab/score -holders`, %s, commit %s; program by program in [HOLDERS.md](HOLDERS.md).", safe(h.answers.Taken.Date), code(h.answers.Taken.Commit))
	p.holderRows(rows)
	if h.accounts != nil {
		var within Share
		for i := range h.accounts.Answers {
			within.add(h.accounts.Answers[i].right())
		}
		p.line("`gowhy memory` adds up to the kernel's Rss within ±%s for %s of programs that ran.", percent(wantApart), share(within))
		p.line("")
	}
	p.line("What a look costs gowhy and the program, and whether evidence is on the disk before the kernel kills a program, is")
	p.line("in [docs/memory.md](../docs/memory.md): by `TestCost`, `go run ./bench -overhead` and `TestKilledByMemory`.")
	p.line("")
	return nil
}
