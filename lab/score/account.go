package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// Accounts is how gowhy's account of the memory of programs compares with what the kernel says,
// saved as account.json.
type Accounts struct {
	Schema  int             `json:"schema"`
	Taken   Provenance      `json:"taken"`
	Answers []AccountAnswer `json:"answers"`
}

// An AccountAnswer is of one program that runs.
type AccountAnswer struct {
	Program string `json:"program"` // with its folder
	// Before and After are the kernel's Rss around the account, Parts the sum of its rows, and
	// Largest is the name of the largest one.
	Before  int64  `json:"before"`
	After   int64  `json:"after"`
	Parts   int64  `json:"parts"`
	Largest string `json:"largest"`
	Failed  string `json:"failed,omitempty"` // there is no answer
}

const (
	// wantApart is how far the parts may be from the kernel's sum.
	wantApart = 0.01
	// eachWait is which of the programs that wait are taken: with those that hold memory
	// there are over forty.
	eachWait = 5
)

// Apart returns the share by which the parts are beside what the kernel said before and after.
func (a *AccountAnswer) Apart() float64 {
	low, high := min(a.Before, a.After), max(a.Before, a.After)
	switch {
	case a.Parts < low:
		return float64(a.Parts-low) / float64(low)
	case a.Parts > high:
		return float64(a.Parts-high) / float64(high)
	}
	return 0
}

func (a *AccountAnswer) right() bool {
	return a.Failed == "" && a.Apart() >= -wantApart && a.Apart() <= wantApart
}

func (o *options) accountFile() string { return filepath.Join(filepath.Dir(o.out), "account.json") }

// loadAccounts reads saved answers; nil when there are none.
func loadAccounts(path string) (*Accounts, error) {
	return loadAnswers(path, func(a *Accounts) int { return a.Schema })
}

// scoreAccount asks what the memory of programs is, and writes account.json and HOLDERS.md.
func (o *options) scoreAccount(ctx context.Context) error {
	holders, err := truth.ReadHolders(filepath.Join(o.lab, "holders"))
	if err != nil {
		return err
	}
	waits, err := truth.ReadWaits(filepath.Join(o.lab, "waits"))
	if err != nil {
		return err
	}
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	a := &Accounts{Schema: schema, Taken: o.provenance(ctx)}
	began := time.Now()
	var of, others []string
	for _, p := range holders.Programs {
		of = append(of, p.Name)
	}
	for i := 0; i < len(waits.Programs); i += eachWait {
		others = append(others, waits.Programs[i].Name)
	}
	for _, group := range []struct {
		dir   string
		names []string
	}{{holders.Dir, of}, {waits.Dir, others}} {
		answers, err := accountsOf(ctx, bed, group.dir, group.names)
		if err != nil {
			return err
		}
		a.Answers = append(a.Answers, answers...)
	}
	a.Taken.Rounds, a.Taken.Seed = 1, 0
	a.Taken.TookMins = float64(int(time.Since(began).Minutes()*10)) / 10
	if err := saveAnswers(o.accountFile(), a.Taken, a.Answers); err != nil {
		return err
	}
	h, err := loadHolders(o.holdersFile())
	if err != nil || h == nil {
		return cmp.Or(err, errors.New("there is no holders.json: run -holders first"))
	}
	return o.holdersPage(h, holders)
}

// accountsOf asks about programs of a folder, one after the other.
func accountsOf(ctx context.Context, bed *testbed.Bed, dir string, names []string) (answers []AccountAnswer, err error) {
	program, err := bed.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a := AccountAnswer{Program: filepath.Base(dir) + "/" + name}
		args := []string{"-case", name, "-for", holderLength.String()}
		if filepath.Base(dir) == "waits" {
			evidence, err := os.MkdirTemp(bed.Dir(), "account")
			if err != nil {
				return nil, err
			}
			args = append(args, "-evidence", evidence)
		}
		if err := a.take(ctx, bed, exec.CommandContext(ctx, program, args...)); err != nil {
			a.Failed = (&runner{bed: bed}).brief(err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		answers = append(answers, a)
	}
	return answers, nil
}

// take runs a program and asks what its memory is, between two looks at what the kernel says.
func (a *AccountAnswer) take(ctx context.Context, bed *testbed.Bed, cmd *exec.Cmd) error {
	if _, err := startSaying(ctx, cmd); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	pid := cmd.Process.Pid
	var err error
	if a.Before, err = residentOf(pid); err != nil {
		return err
	}
	rows, err := askAccount(ctx, bed, strconv.Itoa(pid))
	if err != nil {
		return err
	}
	if a.After, err = residentOf(pid); err != nil {
		return err
	}
	largest := int64(-1)
	for _, row := range rows {
		a.Parts += row.bytes
		if row.bytes > largest {
			largest, a.Largest = row.bytes, row.name
		}
	}
	return nil
}

// An accountRow is a part of what is resident.
type accountRow struct {
	name  string
	bytes int64
}

// askAccount asks for the rows of the account whose size is known.
func askAccount(ctx context.Context, bed *testbed.Bed, of ...string) (list []accountRow, err error) {
	var rows []struct {
		Name, Of string
		Value    *float64
	}
	if _, err := bed.Answer(ctx, &rows, append([]string{"memory", "--format", "json"}, of...)...); err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Of == "resident" && row.Value != nil {
			list = append(list, accountRow{row.Name, int64(*row.Value)})
		}
	}
	return list, nil
}

// residentOf returns the sum of Rss of a process's mappings.
func residentOf(pid int) (sum int64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "Rss:"); ok {
			n, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				return 0, err
			}
			sum += n << 10
		}
	}
	return sum, nil
}

// account writes how the parts compare with the kernel's sum, nothing where nobody looked.
func (p *page) account(a *Accounts) {
	if a == nil {
		return
	}
	var within Share
	rows := make([][]string, 0, len(a.Answers))
	list := slices.Clone(a.Answers)
	slices.SortStableFunc(list, func(a, b AccountAnswer) int {
		return cmp.Compare(max(b.Apart(), -b.Apart()), max(a.Apart(), -a.Apart()))
	})
	for i := range list {
		answer := &list[i]
		within.add(answer.right())
		apart := fmt.Sprintf("%+.2f %%", 100*answer.Apart())
		if answer.Failed != "" {
			apart = safe(answer.Failed)
		}
		rows = append(rows, []string{code(answer.Program), mebibytes(answer.Before), mebibytes(answer.After), mebibytes(answer.Parts), apart, safe(answer.Largest)})
	}
	p.line("## The account of memory")
	p.line("")
	p.line("What `gowhy memory PID` adds up to, against the Rss of all mappings in `/proc/PID/smaps` just")
	p.line("before and after; by `go run ./lab/score -account`, %s, commit %s. Within ±%s of them (to reach:", safe(a.Taken.Date), code(a.Taken.Commit), percent(wantApart))
	p.line("all of 40): **%s**. A sum between the two is as good as equal. The parts are sums of", share(within))
	p.line("the same file, divided by the runtime's counts: what is apart changed between two readings.")
	p.table(1, []string{"program", "Rss before, MiB", "Rss after, MiB", "sum of the parts, MiB", "apart", "largest part"}, rows)
}

func mebibytes(n int64) string { return fmt.Sprintf("%.2f", float64(n)/(1<<20)) }
