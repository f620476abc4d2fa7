package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/count"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/show/demo"
	"github.com/gowhy/gowhy/internal/show/report"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// demoFlags are those of demo.
type demoFlags struct {
	list, noProof bool
	out           string
}

func (c *command) demoCommand() *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo [CASE]",
		Short: "Record a slow program that is built in, diagnose it, prove the fix",
		Long: `Runs a small program with a known problem, records everything about it, prints
the diagnosis, and proves the fix: the program runs as it is and fixed, in
turns, and gowhy measures the difference. This takes about a minute or less. You
need nothing but this binary, and nothing leaves the machine. The case "count"
is built from source, with the go command: it is recorded, diagnosed and proved
as the others are, and the rounds of its loops are counted in between.

gowhy demo run CASE runs the program alone, without recording it; with --fixed
it runs without its problem.`,
		Example: `  gowhy demo
  gowhy demo --list
  gowhy demo leakedtimers -o leak.gowhy
  gowhy demo count
  gowhy demo run hotmutex --fixed`,
		ValidArgsFunction: cobra.FixedCompletions(caseNames(), cobra.ShellCompDirectiveNoFileComp),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError("gowhy demo "+args[0], "demo takes one case")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return c.listCases()
			}
			k, err := findCase("gowhy demo", append(args, demo.Cases()[0].Name)[0])
			if err != nil {
				return err
			}
			return c.demo(cmd.Context(), k, f)
		},
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "list the cases")
	cmd.Flags().BoolVar(&f.noProof, "no-proof", false, "record and diagnose only")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "keep the recording in this `FILE` (default a temporary one)")
	cmd.AddCommand(c.demoRunCommand())
	return cmd
}

// demoRunCommand runs a program of a demonstration, for what is recorded is a command
// like any other.
func (c *command) demoRunCommand() *cobra.Command {
	var v demo.Variant
	cmd := &cobra.Command{
		Use:               "run CASE",
		Short:             "Run the program of a case",
		Example:           "  gowhy demo run hotmutex\n  gowhy record -- gowhy demo run hotmutex",
		ValidArgsFunction: cobra.FixedCompletions(caseNames(), cobra.ShellCompDirectiveNoFileComp),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("gowhy demo run "+demo.Cases()[0].Name, "demo run takes one case")
			}
			if v.Workers < 0 {
				return usageError("--workers 4", "--workers has to be greater than 0")
			}
			if v.Work < 0 {
				return usageError(workFlag+" 1000", "--work has to be greater than 0")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := findCase("gowhy demo run", args[0])
			if err != nil {
				return err
			}
			return demo.Run(cmd.Context(), k, v, c.Stdout)
		},
	}
	cmd.Flags().BoolVar(&v.Fixed, "fixed", false, "run it without its problem")
	cmd.Flags().IntVar(&v.Workers, "workers", 0, "`NUMBER` of workers, in the cases with a pool")
	cmd.Flags().IntVar(&v.Work, "work", 0, "`NUMBER` of orders, jobs, requests or messages, instead of the case's own")
	return cmd
}

func caseNames() (names []string) {
	for _, k := range demo.Cases() {
		names = append(names, k.Name)
	}
	return names
}

func findCase(command, name string) (demo.Case, error) {
	k, ok := demo.Find(name)
	if ok {
		return k, nil
	}
	hint := "gowhy demo --list"
	if near, ok := problem.Correction(name, caseNames()); ok {
		hint = command + " " + near
	}
	return k, usageError(hint, "there is no case %q; there are %s", name, strings.Join(caseNames(), ", "))
}

func (c *command) listCases() error {
	cases := demo.Cases()
	wide := 0
	for _, k := range cases {
		wide = max(wide, len(k.Name))
	}
	var b strings.Builder
	for _, k := range cases {
		o := c.layout()
		o.Width = cmp.Or(o.Width, 80) - wide - 2
		for i, l := range strings.Split(strings.TrimSuffix(layout.Wrap(k.Story, o), "\n"), "\n") {
			name := ""
			if i == 0 {
				name = k.Name
			}
			fmt.Fprintf(&b, "%-*s  %s\n", wide, name, l)
		}
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

// demo records a case, diagnoses it and proves the fix; of one that is built it counts the rounds, too.
func (c *command) demo(ctx context.Context, k demo.Case, f *demoFlags) error {
	if err := checkOutput(f.out); err != nil {
		return err
	}
	dir := ""
	if f.out == "" || k.NeedsBuild() { // what was built stays: commands to paste run it again
		var err error
		if dir, err = os.MkdirTemp("", "gowhy-"); err != nil {
			return err
		}
	}
	out := cmp.Or(f.out, filepath.Join(dir, k.Name+".gowhy"))
	if k.NeedsBuild() {
		defer demo.OwnModule()()
	}
	argv, err := c.caseCommand(ctx, k, dir)
	if err != nil {
		return err
	}
	if err := c.introduce(k, dir); err != nil {
		return err
	}
	if err := c.recordCase(ctx, k, argv, out); err != nil {
		return err
	}
	d, m, err := c.readDiagnosis(ctx, []string{out}, readOptions{}, "")
	if err != nil {
		return err
	}
	if err := report.Text(c.Stdout, d, c.layout()); err != nil || f.noProof || k.Fix == "" {
		return err
	}
	if k.NeedsBuild() {
		if err := c.countCase(ctx, k, out, m); err != nil {
			return err
		}
	}
	return c.proveCase(ctx, k, out, d, m)
}

// caseCommand returns the command of a case: this binary's own, or what is built in dir.
func (c *command) caseCommand(ctx context.Context, k demo.Case, dir string) (command []string, err error) {
	if !k.NeedsBuild() {
		self, err := os.Executable()
		return append([]string{self, "demo", "run", k.Name}, k.Args...), err
	}
	line := c.statusLine()
	defer line.Clear()
	line.SetClock("building it…")
	if command, err = k.Build(ctx, dir); err != nil {
		os.RemoveAll(dir)
	}
	return command, err
}

// introduce says what the program of a case does, and where its source is if it was built in dir.
func (c *command) introduce(k demo.Case, dir string) error {
	text := layout.Wrap("The program: "+k.Story, c.layout())
	if k.NeedsBuild() {
		text += "Its source: " + layout.Safe(dir) + "\n"
	}
	_, err := io.WriteString(c.Stdout, text+"\n")
	return err
}

// countCase counts the rounds of what was recorded, with each of the case's sizes.
func (c *command) countCase(ctx context.Context, k demo.Case, file string, m *model.Model) error {
	var sizes []string
	for _, n := range k.Sizes {
		sizes = append(sizes, strconv.Itoa(n))
	}
	vary := workFlag + "=" + strings.Join(sizes, ",")
	knob, err := count.ParseKnob(vary)
	if err != nil {
		return err
	}
	run := &m.Run
	s := &count.Setup{Command: run.Command, Dir: run.Dir, Env: run.Env, Model: m, Vary: knob, Limit: subject.DefaultTime, NoRepeats: true}
	r, err := s.Run(ctx, c.statusLine())
	if err != nil {
		return err
	}
	again := "\nHow it grows: $ gowhy count --vary " + shell.Words([]string{vary, file}) + "\n"
	if _, err := io.WriteString(c.Stdout, again); err != nil {
		return err
	}
	return trialreport.CountText(c.Stdout, r, c.layout())
}

// fixedFlag runs a case without its problem, workFlag with another amount of work.
const (
	fixedFlag = "--fixed"
	workFlag  = "--work"
)

func (c *command) recordCase(ctx context.Context, k demo.Case, argv []string, out string) error {
	line := c.statusLine()
	line.SetClock("recording it…")
	var failed strings.Builder
	o := record.Options{Out: out, Stdout: io.Discard, Stderr: &failed, Foreground: c.onTerminal()}
	if k.Fix != "" {
		o.Fixed = []string{fixedFlag}
	}
	held := make(chan string, 1)
	if k.Held {
		o.Began = func(pid int) { go func() { held <- whoHolds(ctx, pid) }() }
	}
	res, err := record.Run(ctx, record.Target{Command: argv}, o)
	line.Clear()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case res.ExitCode != 0:
		return problem.New(problem.Failure, shell.Words(argv), "the program of the demonstration failed: %s", strings.TrimSpace(failed.String()))
	}
	if !k.Held {
		return nil
	}
	select {
	case said := <-held:
		_, err = io.WriteString(c.Stdout, said+"\n")
	case <-time.After(heldAfter): // it was never asked
	}
	return err
}

const (
	// heldAfter is how long a program runs before gowhy looks who holds its memory, and heldOver
	// how long after that gowhy looks again: both are over before it ends.
	heldAfter = time.Second
	heldOver  = time.Second
)

// whoHolds looks twice into the heap of a process that runs, and says who holds the most of what
// grew.
func whoHolds(ctx context.Context, pid int) string {
	look := func(after time.Duration) (*model.HeapLook, error) {
		select {
		case <-ctx.Done():
		case <-time.After(after):
		}
		return heap.Read(ctx, pid, heap.Options{})
	}
	first, err := look(heldAfter)
	if err != nil {
		return heldUnknown(err)
	}
	last, err := look(heldOver)
	if err != nil {
		return heldUnknown(err)
	}
	last.Since(first)
	if len(last.Holders) == 0 {
		return heldUnknown(errors.New("nothing was reached"))
	}
	h := &last.Holders[0]
	return fmt.Sprintf("Who holds its memory: %s of %s, %s more than %s before:\n   %s\nSo says gowhy memory of any program that runs, with --holders.\n",
		figures.Bytes(h.Bytes), figures.Bytes(last.Reached.Bytes), figures.Bytes(max(0, *h.Grew)), figures.Duration(last.Over), layout.Safe(h.Way()))
}

// heldUnknown says why nobody can say it: of a stripped program, or where memory is not to be read.
func heldUnknown(err error) string {
	return "Who holds its memory cannot be read here:\n   " + strings.TrimPrefix(err.Error(), goroutines.ErrUnsure.Error()+": ") + "\n"
}

// demoPairs are as few as can decide with a rank test.
const demoPairs = 6

// proveCase puts the first finding to the test: the program as it is and fixed.
func (c *command) proveCase(ctx context.Context, k demo.Case, file string, d *diagnosis.Diagnosis, m *model.Model) error {
	i := slices.IndexFunc(d.Findings, func(f diagnosis.Finding) bool { return f.Experiment != nil })
	if i < 0 {
		return problem.New(problem.Failure, "gowhy demo "+k.Name, "nothing was found that can be proved: the machine was perhaps busy with other programs")
	}
	s := &trial.Setup{Apply: d.Findings[i].Rule, Files: []string{file}, NoFloor: true, Change: trial.Change{Flags: []string{fixedFlag}}}
	claim, err := s.Claim(d, m, func(path string, f *diagnosis.Finding) *trial.Replay { return nil })
	if err != nil {
		return err
	}
	if k.Trial > 0 {
		s.Command = append(slices.Clone(s.Command), workFlag, strconv.Itoa(k.Trial))
	}
	p := experiment.Plan{Primary: gains(claim.Experiment), Pairs: demoPairs, Margin: 0.02}
	s.NoCount = !experiment.InfoOf(p.Primary).Counter
	if _, err := io.WriteString(c.Stdout, "\n"+layout.Wrap("The fix: "+k.Fix, c.layout())); err != nil {
		return err
	}
	line := c.statusLine()
	tr, err := s.Run(ctx, p, claim, c.Rules, trial.Show{Line: line, Plan: func(*experiment.About, experiment.Plan) {},
		Progress: func(int) experiment.Progress {
			return func(pairs, of int, _ experiment.Interval) {
				line.SetClock("proving it: pair %d of %d", min(pairs+1, of), of)
			}
		}})
	line.Clear()
	if err != nil {
		return err
	}
	return trialreport.Proof(c.Stdout, tr, c.layout())
}

// gains returns the metric in which a fix shows: what decides, or what was promised where a
// search for the best value has to keep that.
func gains(e diagnosis.Experiment) diagnosis.Metric {
	if e.Tune != "" && len(e.Promised) > 0 {
		return e.Promised[0].Metric
	}
	return e.Primary
}
