package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
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
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/trialreport"
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	trial.Setup
	workFlags
	primary, margin, format string
	guards                  []string
	pairs                   int
	yes                     bool
}

// trialFormats are the formats of a trial.
var trialFormats = map[string]func(io.Writer, *experiment.Trial, layout.Options) error{
	"text":     trialreport.Trial,
	"markdown": trialreport.TrialMarkdown,
	"json":     func(w io.Writer, t *experiment.Trial, _ layout.Options) error { return t.Encode(w) },
}

var trialFormatNames = []string{"text", "json", "markdown"}

func (c *command) verifyCommand() *cobra.Command {
	f := &verifyFlags{}
	cmd := &cobra.Command{
		Use:   "verify [FILE] [WHAT CHANGES] [-- CMD]",
		Short: "Confirm or reject a change: run the program with and without it",
		Long: `Runs a program as it is (A) and changed (B), in turns and in random order, until
it is clear whether the change helps, and says how much. What decides is named
before anything runs; what must not become worse is guarded.

What changes is one of
  --a CMD --b CMD        two commands
  --knob NAME=VALUE      B has it: a variable of the environment (upper case),
                         or what stands for {NAME} in the command; NAME=OLD:NEW
                         gives A's value too, as --a-knob NAME=OLD does
  --env K=V, --flag F    B has it in its environment, or at its end
  --base REV             the package at a revision of git (A) and in the working
                         tree or at --head (B); {binary} in CMD is the program
  --upgrade MODULE@VERSION, --go RELEASE
                         the package as it is (A) and built with a newer module
                         or with another Go (B); go.mod is not touched
  RECORDING --apply RULE what a finding proposes: its setting or release, or
                         else the last commit against the working tree. The
                         command that the recording names is shown before it
                         runs, and asked for: trust it as you trust a script

A guard fails when its 95% interval shows a regression larger than the least
that matters: memory by 8 MiB, and by 0.1% of what the machine or the
control group has, or 64 MiB; p50 and p99 by 100 µs; elapsed by 1 ms.

A program that serves needs --load, a command that ends, and --ready, what to
wait for before it: a URL, HOST:PORT, or log:TEXT for a line that it prints.

The same as A and B, as --a CMD --b CMD or --base HEAD --head HEAD, ends in
"no difference", with the least one that would have been seen in four of five
trials.

A trial that was saved with -o is shown again, judged anew from its runs.

The exit code is 0 when it is confirmed or nothing changed, 4 when B is worse or
a guard is broken, 5 when it is undecided, and 130 after an interrupt, which
judges what there is.`,
		Example: `  gowhy verify --knob GOMAXPROCS=2 -- ./app -n 1000
  gowhy verify --a './old -n 1000' --b './new -n 1000'
  gowhy verify --knob workers=100:4 -- ./app -workers {workers}
  gowhy verify --env GODEBUG=asynctimerchan=1 --flag -pool=true -- ./app
  gowhy verify --base HEAD --package ./cmd/app -- {binary} -n 1000
  gowhy verify --base HEAD --bench BenchmarkParse --package ./parser
  gowhy verify --upgrade golang.org/x/text@latest -- {binary} -n 1000
  gowhy verify --go 1.27.4 --bench . --package ./parser
  gowhy verify --load 'hey -z 3s http://localhost:8080/' \
      --ready localhost:8080 --knob GOGC=200 -- ./server
  gowhy verify run.gowhy --apply idlespin
  gowhy verify trial.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Args = c.Args
			f.Files, f.Command = atDash(cmd, args)
			return c.verify(cmd.Context(), cmd, f)
		},
	}
	cmd.SetFlagErrorFunc(badFlag("gowhy verify --knob GOMAXPROCS=2 -- ./app -n 1000"))
	changeFlags(cmd, &f.Change)
	cmd.Flags().StringVar(&f.Apply, "apply", "", "try what this `RULE` found in the recording")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "run what the recording names without asking")
	f.workFlags.flags(cmd, &f.Work, "trial", "the same as --format json")
	cmd.Flags().StringVar(&f.primary, "primary", "", "the `METRIC` that decides (default cpu/op, else elapsed)")
	cmd.Flags().StringArrayVar(&f.guards, "guard", nil, "a `LIMIT` of how much worse a metric may be, repeatable, or none (default peak-rss<10%, with --load also p99<5%)")
	cmd.Flags().StringVar(&f.margin, "margin", "2%", "treat differences below `SHARE` as equal")
	cmd.Flags().IntVar(&f.pairs, "pairs", 40, "maximum `N` pairs of runs")
	cmd.Flags().BoolVar(&f.NoCount, "no-count", false, "no runs with everything counted")
	cmd.Flags().BoolVar(&f.NoFloor, "no-floor", false, "do not measure the noise of this machine")
	cmd.Flags().StringVar(&f.format, "format", "text", "`FORMAT`: "+strings.Join(trialFormatNames, ", "))
	complete(cmd, "format", trialFormatNames)
	complete(cmd, "primary", metricNames())
	return cmd
}

// verify runs a trial, or shows one.
func (c *command) verify(ctx context.Context, cmd *cobra.Command, f *verifyFlags) error {
	if f.asJSON {
		f.format = "json"
	}
	if err := oneOf("format", f.format, trialFormatNames); err != nil {
		return err
	}
	if err := checkOutput(f.out); err != nil {
		return err
	}
	if tr, err := c.savedTrial(f); tr != nil || err != nil {
		return cmp.Or(err, c.saveTrial(tr, f), c.showTrial(tr, f))
	}
	p, err := f.plan()
	if err != nil {
		return err
	}
	if err := f.misplaced(); err != nil {
		return err
	}
	var claim *trial.Claim
	if len(f.Files) > 0 {
		d, m, err := c.readDiagnosis(ctx, f.Files, readOptions{}, "")
		if err != nil {
			return err
		}
		if claim, err = f.Claim(d, m, func(path string, f *diagnosis.Finding) *trial.Replay { return c.replay(ctx, path, f) }); err != nil {
			return err
		}
		p.Primary = cmp.Or(p.Primary, claim.Experiment.Primary)
		if len(f.guards) == 0 {
			p.Guards = slices.DeleteFunc(p.Guards, func(g experiment.Guard) bool {
				return slices.Contains(claim.Experiment.Price, g.Metric)
			})
		}
	}
	if err := f.Change.Check(f.Command); err != nil {
		return err
	}
	if claim != nil && !f.yes {
		if err := c.consent(ctx, f.Foreign(claim), "gowhy "+shell.Words(withFlag(f.Args, "--yes"))); err != nil {
			return err
		}
	}
	say := c.statusLine()
	tr, err := f.Run(ctx, p, claim, c.Rules, trial.Show{Line: say, Plan: c.printPlan,
		Progress: func(before int) experiment.Progress { return pairsDone(say, before) }})
	if tr == nil {
		return err
	}
	return c.concluded(ctx, tr, f, err)
}

// misplaced tells a program that was given without the -- before it.
func (f *verifyFlags) misplaced() error {
	if len(f.Files) == 0 || f.Apply != "" || len(f.Command) > 0 {
		return nil
	}
	if !isProgram(f.Files[0]) {
		return nil
	}
	return usageError(trial.Hint(f.Files), "%q is a program: it comes after --", f.Files[0])
}

// isProgram reports whether a path is a file that can be run.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// plan reads the flags that say how to decide.
func (f *verifyFlags) plan() (experiment.Plan, error) {
	p := experiment.Plan{Primary: diagnosis.Metric(f.primary), Pairs: f.pairs, Seed: f.order()}
	if f.primary != "" {
		if err := knownMetric("primary", "%s", f.primary); err != nil {
			return p, err
		}
	}
	var err error
	if p.Margin, err = parseShare("margin", f.margin); err != nil {
		return p, err
	}
	if p.Guards, err = parseGuards(f.guards); err != nil {
		return p, err
	}
	if len(f.guards) == 0 {
		p.Guards = f.Guards()
	}
	if f.pairs < 1 || f.pairs > mostPairs {
		return p, usageError("--pairs 40", "--pairs %d is not between 1 and %d", f.pairs, mostPairs)
	}
	return p, f.workFlags.check(&f.Work)
}

// aParse is how package strconv is named in an error of a flag.
var aParse = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": |time: invalid duration "[^"]*"`)

// badFlag reports a flag that is not known or whose value is none, with an
// example of how the command is used.
func badFlag(example string) func(*cobra.Command, error) error {
	return func(_ *cobra.Command, err error) error {
		text := aParse.ReplaceAllString(err.Error(), "")
		return usageError(example+"   # a program's own flags come after --", "%s", strings.TrimSuffix(strings.TrimSpace(text), ":"))
	}
}

// mostPairs bounds what a slip of the pen can ask for.
const mostPairs = experiment.MaxPairs

// metricNames returns the metrics of programs and loads, what mostly decides first;
// benchmarks have more.
func metricNames() []string {
	names := []string{string(diagnosis.CPUPerOp)}
	for _, m := range experiment.Metrics() {
		if m != diagnosis.CPUPerOp && m != "ns/op" && m != "MB/s" {
			names = append(names, string(m))
		}
	}
	return names
}

// knownMetric refuses a metric that nothing measures; form is how the flag is
// written, with %s for the metric. Those of benchmarks are known when they ran.
func knownMetric(flag, form, name string) error {
	names := metricNames()
	if strings.HasPrefix(name, "Benchmark") || slices.Contains(names, name) {
		return nil
	}
	word := names[0]
	if s, ok := problem.Correction(name, names); ok {
		word = s
	}
	return usageError("--"+flag+" "+fmt.Sprintf(form, word), "--%s %q is none of %s", flag, name, strings.Join(names, ", "))
}

// parseShare reads 2% or 0.02. A bare number of 1 and more is a percentage
// whose sign was forgotten.
func parseShare(flag, s string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	most := 1.0
	if percent {
		v, most = v/100, 10
	}
	if err != nil || !(v > 0 && v < most) {
		return 0, usageError("--"+flag+" 2%", "--%s %q is no share like 2%%", flag, s)
	}
	return v, nil
}

// parseGuards reads limits like p99<5%; the word none stands for no limit.
func parseGuards(list []string) ([]experiment.Guard, error) {
	var guards []experiment.Guard
	for _, s := range list {
		if s == "none" {
			continue
		}
		name, limit, ok := strings.Cut(s, "<")
		if !ok {
			return nil, usageError("--guard 'p99<5%'", "--guard %q is no limit of how much worse a metric may be", s)
		}
		name = strings.TrimSpace(name)
		if err := knownMetric("guard", "'%s<5%%'", name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(guards, func(g experiment.Guard) bool { return g.Metric == diagnosis.Metric(name) }) {
			return nil, usageError("give each metric one limit", "--guard %s was given twice", name)
		}
		v, err := parseShare("guard", strings.TrimPrefix(limit, "="))
		if err != nil {
			return nil, usageError("--guard '"+name+"<5%'", "--guard %q is no limit of a share like 5%%", s)
		}
		guards = append(guards, trial.LimitOf(diagnosis.Metric(name), v))
	}
	return guards, nil
}

// savedTrial reads a trial that was saved, nil when that is not what was given.
func (c *command) savedTrial(f *verifyFlags) (*experiment.Trial, error) {
	if len(f.Files) != 1 || f.Files[0] == "-" {
		return nil, nil
	}
	begin, err := intake.Head(f.Files[0])
	if err != nil {
		return nil, nil // evidence says what is wrong with it
	}
	kind := intake.Kind(begin)
	switch {
	case kind == experiment.TunedKind:
		return nil, usageError("gowhy tune "+shell.Words(f.Files), "%q is a saved search", f.Files[0])
	case kind != experiment.TrialKind:
		return nil, nil
	case f.Apply != "" || f.Change.Given() || len(f.Command) > 0:
		return nil, usageError("gowhy verify "+shell.Words(f.Files), "%q is a saved trial, which can only be shown", f.Files[0])
	}
	tr, _, err := intake.Decode(f.Files[0], kind)
	if err != nil {
		return nil, problem.New(problem.Absence, "gowhy verify … -o trial.json", "%q is a damaged trial: %v", f.Files[0], err)
	}
	return tr.(*experiment.Trial), nil
}

// saveTrial writes a trial where -o says.
func (c *command) saveTrial(tr *experiment.Trial, f *verifyFlags) error {
	if tr == nil || f.out == "" {
		return nil
	}
	return c.output(f.out, func(w io.Writer, _ layout.Options) error { return tr.Encode(w) })
}

// showTrial prints a trial and turns its conclusion into the exit code.
func (c *command) showTrial(tr *experiment.Trial, f *verifyFlags) error {
	if tr == nil {
		return nil
	}
	var err error
	if f.out != "-" { // else standard output has it
		err = c.output("", func(w io.Writer, l layout.Options) error { return trialFormats[f.format](w, tr, l) })
	}
	if err != nil && !isClosedPipe(err) {
		return err
	}
	if code := trialCode(tr); code != exitWell {
		return &exit{code: code}
	}
	return err
}

// trialCode returns the exit code of a conclusion. That a change does nothing is no
// failure.
func trialCode(tr *experiment.Trial) int {
	worse := slices.ContainsFunc(tr.Effects, func(e experiment.Effect) bool {
		return e.Broken || e.Metric == tr.Primary && e.Verdict == experiment.Regressed
	})
	switch {
	case tr.Conclusion == experiment.Undecided:
		return exitInconclusive
	case worse:
		return exitRegression
	}
	return exitWell
}

// pairsDone shows the run or the pair that runs now. before is how many runs there are
// before the first pair. A trial may end at each look, so that the next one is what a
// reader waits for; what is left is reckoned from the pairs so far, with those that
// did not count.
func pairsDone(line *statusLine, before int) experiment.Progress {
	var begin time.Time
	told, runs := false, 0
	line.SetClock("counting and warming up: run 1 of %d", before)
	return func(pairs, of int, soFar experiment.Interval) {
		if runs++; runs < before {
			line.SetClock("counting and warming up: run %d of %d", runs+1, before)
			return
		}
		if runs == before {
			begin = time.Now()
			line.SetClock("pair 1 of at most %d", of)
			return
		}
		each := time.Since(begin) / time.Duration(runs-before)
		if !told && each*time.Duration(of) >= worthWaiting {
			line.Log(fmt.Sprintf("a pair of runs takes %s: at most %s more, twice that while the machine is busy",
				figures.Duration(each), figures.Duration(each*time.Duration(of-pairs))))
		}
		told = true
		each = min(time.Since(begin)/time.Duration(max(pairs, 1)), 2*each) // a busy machine takes twice as many at most
		left := func(until int) string { return figures.Duration(each * time.Duration(max(0, until-pairs))) }
		ends := fmt.Sprintf("ends at %d, in %s", of, left(of))
		if next := experiment.NextLook(pairs, of); next < of {
			ends = fmt.Sprintf("may end at %d, in %s; at the latest in %s", next, left(next), left(of))
		}
		line.SetClock("pair %d of at most %d; %s%s", min(pairs+1, of), of, ends, ratioSoFar(soFar))
	}
}

// worthWaiting is how long a trial must take to be announced.
const worthWaiting = 2 * time.Second

// ratioSoFar returns a ratio with its interval, as far as they are known.
func ratioSoFar(i experiment.Interval) string {
	switch {
	case !(i.Value > 0):
		return ""
	case !(i.Low > 0):
		return ": " + trialreport.Change(i.Value)
	}
	return ": " + trialreport.Change(i.Value) + " (95%: " + trialreport.ChangeInterval(i.Low, i.High) + ")"
}

// concluded saves and shows a trial. One that was interrupted is shown as well.
func (c *command) concluded(ctx context.Context, tr *experiment.Trial, f *verifyFlags, err error) error {
	var run *experiment.RunError
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.As(err, &run):
		return err
	default: // it ran, and what decides was not there
		return problem.New(problem.Absence, f.primaryHint(tr), "%w", err)
	}
	if ctx.Err() != nil && !hasPrimary(tr) {
		return problem.New(problem.Interrupt, "", "interrupted before there was anything to compare")
	}
	if err := c.saveTrial(tr, f); err != nil {
		return err
	}
	shown := c.showTrial(tr, f)
	if ctx.Err() != nil {
		return problem.New(problem.Interrupt, "gowhy "+shell.Words(f.Args), "interrupted: this is what there is")
	}
	return shown
}

// hasPrimary reports whether anything is known of what decides.
func hasPrimary(tr *experiment.Trial) bool {
	return slices.ContainsFunc(tr.Effects, func(e experiment.Effect) bool {
		return e.Metric == tr.Primary && (e.Pairs > 0 || e.Exact)
	})
}

// primaryHint returns how to get what was to decide, or what can decide instead.
func (f *verifyFlags) primaryHint(tr *experiment.Trial) string {
	switch m := diagnosis.Metric(f.primary); {
	case (m == diagnosis.P50 || m == diagnosis.P99) && f.Load == "":
		return "--load 'hey -z 3s http://localhost:8080/' --ready localhost:8080   # latency is what a load generator measures"
	case m == diagnosis.OpsPerSec && f.Ops == 0:
		return "--ops N   # how many operations a run does"
	}
	for _, name := range metricNames() {
		if tr.Has(diagnosis.Metric(name)) {
			return "--primary " + name
		}
	}
	return "gowhy verify --help"
}

// printPlan says what will be done before it is: nobody can choose afterwards
// what it was that decided.
func (c *command) printPlan(a *experiment.About, p experiment.Plan) {
	look := c.layout()
	say := func(format string, args ...any) {
		fmt.Fprint(c.Stderr, layout.Wrap("gowhy: "+fmt.Sprintf(format, args...), look))
	}
	say("A: %s", layout.Safe(a.A.String()))
	say("B: %s", layout.Safe(a.B.String()))
	if len(a.B.Differs) > 0 {
		say("B differs: %s", layout.Safe(strings.Join(a.B.Differs, "; ")))
	}
	if a.Load != "" {
		say("load: %s", a.Load)
	}
	primary := string(p.Primary)
	if primary == "" {
		primary = "cpu/op, or elapsed where that is not measured"
	}
	if p.Identical {
		say("A and B are the same: this shows how small a difference would be seen")
	}
	say("decides: %s%s", primary, guardsText(p.Guards))
	say("at most %s of runs in random order after one to warm up; --seed %d repeats the order", figures.Plural(p.Pairs, "pair"), p.Seed)
}

func guardsText(guards []experiment.Guard) string {
	if len(guards) == 0 {
		return ""
	}
	var parts []string
	for _, g := range guards {
		text := fmt.Sprintf("%s by more than %s", g.Metric, figures.Percent(g.Limit))
		if info := experiment.InfoOf(g.Metric); g.Least > 0 {
			text += " and " + info.Unit.Format(g.Least*info.Scale)
		}
		parts = append(parts, text)
	}
	return "; must not become worse: " + strings.Join(parts, ", ")
}

// changeFlags adds the flags of what changes.
func changeFlags(cmd *cobra.Command, f *trial.Change) {
	cmd.Flags().StringVar(&f.A, "a", "", "the present `CMD`")
	cmd.Flags().StringVar(&f.B, "b", "", "the changed `CMD`")
	cmd.Flags().StringArrayVar(&f.Knobs, "knob", nil, "B has this `NAME=VALUE`, repeatable; NAME=OLD:NEW for both")
	cmd.Flags().StringArrayVar(&f.KnobsA, "a-knob", nil, "A has this `NAME=VALUE`, repeatable")
	cmd.Flags().StringArrayVar(&f.Env, "env", nil, "B has this `NAME=VALUE` in its environment, repeatable")
	cmd.Flags().StringArrayVar(&f.Flags, "flag", nil, "B has this `ARGUMENT` at its end, repeatable")
	cmd.Flags().StringVar(&f.Base, "base", "", "A is built from this `REVISION` of git")
	cmd.Flags().StringVar(&f.Head, "head", "", "B is built from this `REVISION` (default the working tree)")
	cmd.Flags().StringArrayVar(&f.Upgrade, "upgrade", nil, "B is built with this `MODULE@VERSION`, repeatable")
	cmd.Flags().StringVar(&f.Go, "go", "", "B is built with this `RELEASE` of Go, like 1.26.3")
	cmd.Flags().StringVar(&f.Package, "package", "", "the `PACKAGE` that is built (default .)")
	cmd.Flags().StringVar(&f.Bench, "bench", "", "run the package's benchmarks that match this `REGEXP`")
	cmd.Flags().StringVar(&f.Benchtime, "benchtime", "", "how long or how often a benchmark runs, a `TIME` or 100x")
}
