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

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/figures"
	"github.com/gowhy/gowhy/internal/intake"
	"github.com/gowhy/gowhy/internal/layout"
	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/record"
	"github.com/gowhy/gowhy/internal/shell"
	"github.com/gowhy/gowhy/internal/subject"
	"github.com/gowhy/gowhy/internal/trialreport"
)

// verifyFlags are the flags of verify.
type verifyFlags struct {
	change          changeFlags
	apply           string
	primary, margin string
	guards          []string
	subjectFlags
	pairs                int
	noCount, noFloor     bool
	format               string
	files, command, args []string // before and after --, and all as given
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
  RECORDING --apply RULE what a finding proposes: the setting that it names, or
                         else the last commit against the working tree. It
                         runs the command that the recording names: apply only
                         recordings that you trust as you trust a script

A program that serves needs --load, a command that ends, and --ready, what to
wait for before it: a URL, HOST:PORT, or log:TEXT for a line that it prints.

A trial that was saved with -o is shown again, judged anew from its runs.

The exit code is 0 when it is confirmed or nothing changed, 4 when B is worse or
a guard is broken, 5 when it cannot be told, and 130 after an interrupt, which
judges what there is.`,
		Example: `  gowhy verify --knob GOMAXPROCS=2 -- ./app -n 1000
  gowhy verify --a './old -n 1000' --b './new -n 1000'
  gowhy verify --knob workers=100:4 -- ./app -workers {workers}
  gowhy verify --env GODEBUG=asynctimerchan=1 --flag -pool=true -- ./app
  gowhy verify --base HEAD --package ./cmd/app -- {binary} -n 1000
  gowhy verify --base HEAD --bench BenchmarkParse --package ./parser
  gowhy verify --load 'hey -z 3s http://localhost:8080/' \
      --ready localhost:8080 --knob GOGC=200 -- ./server
  gowhy verify run.gowhy --apply idlespin
  gowhy verify trial.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.files, f.command, f.args = args, nil, c.Args
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				f.files, f.command = args[:n], args[n:]
			}
			return c.verify(cmd.Context(), cmd, f)
		},
	}
	cmd.SetFlagErrorFunc(badFlag("gowhy verify --knob GOMAXPROCS=2 -- ./app -n 1000"))
	f.change.flags(cmd)
	cmd.Flags().StringVar(&f.apply, "apply", "", "try what this `RULE` found in the recording")
	f.subjectFlags.flags(cmd, "trial", "the same as --format json")
	cmd.Flags().StringVar(&f.primary, "primary", "", "the `METRIC` that decides (default cpu/op, else elapsed)")
	cmd.Flags().StringArrayVar(&f.guards, "guard", nil, "a `LIMIT` of how much worse a metric may be, repeatable, or none (default peak-rss<10%, with --load also p99<5%)")
	cmd.Flags().StringVar(&f.margin, "margin", "2%", "less of a difference than this `SHARE` is called the same")
	cmd.Flags().IntVar(&f.pairs, "pairs", 40, "at most this `MANY` pairs of runs")
	cmd.Flags().BoolVar(&f.noCount, "no-count", false, "no runs with everything counted")
	cmd.Flags().BoolVar(&f.noFloor, "no-floor", false, "do not measure the noise of this machine")
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
	var claim *claimed
	if len(f.files) > 0 {
		if claim, err = c.claim(ctx, f); err != nil {
			return err
		}
		p.Primary = cmp.Or(p.Primary, claim.experiment.Primary)
		if len(f.guards) == 0 {
			p.Guards = slices.DeleteFunc(p.Guards, func(g experiment.Guard) bool {
				return slices.Contains(claim.experiment.Price, g.Metric)
			})
		}
	}
	if err := f.change.check(f.command); err != nil {
		return err
	}
	return c.runTrial(ctx, f, p, claim)
}

// misplaced tells a program that was given without the -- before it.
func (f *verifyFlags) misplaced() error {
	if len(f.files) == 0 || f.apply != "" || len(f.command) > 0 {
		return nil
	}
	if !isProgram(f.files[0]) {
		return nil
	}
	return misused(changeHint(f.files), "%q is a program: it comes after --", f.files[0])
}

// isProgram reports whether a path is a file that can be run.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// changeHint is how one says what changes, with the command that was given.
func changeHint(command []string) string {
	if len(command) == 0 {
		return "gowhy verify --a './old -n 1000' --b './new -n 1000'"
	}
	return "gowhy verify --knob GOMAXPROCS=2 -- " + shell.Words(command)
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
		p.Guards = f.usualGuards()
	}
	if f.pairs < 1 || f.pairs > mostPairs {
		return p, misused("--pairs 40", "--pairs %d is not between 1 and %d", f.pairs, mostPairs)
	}
	return p, f.check()
}

// aParse is how package strconv is named in an error of a flag.
var aParse = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": |time: invalid duration "[^"]*"`)

// badFlag reports a flag that is not known or whose value is none, with an
// example of how the command is used.
func badFlag(example string) func(*cobra.Command, error) error {
	return func(_ *cobra.Command, err error) error {
		text := aParse.ReplaceAllString(err.Error(), "")
		return misused(example+"   # a program's own flags come after --", "%s", strings.TrimSuffix(strings.TrimSpace(text), ":"))
	}
}

// mostPairs bounds what a slip of the pen can ask for.
const mostPairs = experiment.MaxPairs

// metricNames are what programs and loads have, what mostly decides first;
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
	if s, ok := problem.Near(name, names); ok {
		word = s
	}
	return misused("--"+flag+" "+fmt.Sprintf(form, word), "--%s %q is none of %s", flag, name, strings.Join(names, ", "))
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
		return 0, misused("--"+flag+" 2%", "--%s %q is no share like 2%%", flag, s)
	}
	return v, nil
}

// usualGuards keep a change from being paid with what nobody looked at. There
// is a latency only where a load asks for something, and of a benchmark nobody
// measures the process.
func (f *verifyFlags) usualGuards() []experiment.Guard {
	if f.change.bench != "" {
		return nil
	}
	memory := experiment.Guard{Metric: diagnosis.PeakRSS, Limit: 0.10}
	if f.load == "" {
		return []experiment.Guard{memory}
	}
	return []experiment.Guard{{Metric: diagnosis.P99, Limit: 0.05}, memory}
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
			return nil, misused("--guard 'p99<5%'", "--guard %q is no limit of how much worse a metric may be", s)
		}
		name = strings.TrimSpace(name)
		if err := knownMetric("guard", "'%s<5%%'", name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(guards, func(g experiment.Guard) bool { return g.Metric == diagnosis.Metric(name) }) {
			return nil, misused("give each metric one limit", "--guard %s was given twice", name)
		}
		v, err := parseShare("guard", strings.TrimPrefix(limit, "="))
		if err != nil {
			return nil, misused("--guard '"+name+"<5%'", "--guard %q is no limit of a share like 5%%", s)
		}
		guards = append(guards, experiment.Guard{Metric: diagnosis.Metric(name), Limit: v})
	}
	return guards, nil
}

// savedTrial reads a trial that was saved, nil when that is not what was given.
func (c *command) savedTrial(f *verifyFlags) (*experiment.Trial, error) {
	if len(f.files) != 1 || f.files[0] == "-" {
		return nil, nil
	}
	begin, err := intake.Head(f.files[0])
	if err != nil {
		return nil, nil // evidence says what is wrong with it
	}
	kind := intake.Kind(begin)
	switch {
	case kind == experiment.TunedKind:
		return nil, misused("gowhy tune "+shell.Words(f.files), "%q is a saved search", f.files[0])
	case kind != experiment.TrialKind:
		return nil, nil
	case f.apply != "" || f.change.given() || len(f.command) > 0:
		return nil, misused("gowhy verify "+shell.Words(f.files), "%q is a saved trial, which can only be shown", f.files[0])
	}
	tr, _, err := intake.Decode(f.files[0], kind)
	if err != nil {
		return nil, problem.New(problem.Absence, "gowhy verify … -o trial.json", "%q is a damaged trial: %v", f.files[0], err)
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

// trialCode is the exit code of a conclusion. That a change does nothing is no
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

// runTrial does what was planned.
func (c *command) runTrial(ctx context.Context, f *verifyFlags, p experiment.Plan, claim *claimed) error {
	dir, err := os.MkdirTemp("", "gowhy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	say := c.statusLine()
	f.change.also = c.sourcesOf(claim)
	a, b, err := f.arms(ctx, dir, say)
	if err != nil {
		return err
	}
	defer a.close()
	defer b.close()
	if f.change.bench != "" && !strings.HasPrefix(string(p.Primary), "Benchmark") {
		if p.Primary, err = f.firstBenchmark(ctx, a, p.Primary, say); err != nil {
			return err
		}
	}
	about := f.about(a, b, claim)
	c.printPlan(&about, p)
	if claim.runs(f) {
		say.log(fmt.Sprintf("the command is the one that %s names, in %s", layout.Safe(claim.from), layout.Safe(claim.model.Run.Dir)))
	}
	p.A, p.B = a.subject.Run, b.subject.Run
	if !f.noCount && !f.startup() {
		p.CountA, p.CountB = c.counting(a), c.counting(b)
	}
	if !f.noFloor {
		if p.Floor, _, err = subject.Floor(ctx, say.log); err != nil && ctx.Err() == nil {
			say.log("the noise of this machine could not be measured: " + err.Error())
		}
	}
	p.Predicted = claim.predicted(p.Primary)
	tr, err := experiment.Verify(ctx, p, pairsDone(say, runsBefore(p)))
	if other, ok := claim.instead(tr, p.Primary); ok && err != nil && ctx.Err() == nil {
		say.log(fmt.Sprintf("%s cannot be had here: %s decides", p.Primary, other))
		a.diagnosed, b.diagnosed = nil, nil
		p.Primary, p.Predicted = other, claim.predicted(other)
		tr, err = experiment.Verify(ctx, p, pairsDone(say, runsBefore(p)))
	}
	say.clear()
	if tr == nil {
		return err
	}
	if !tr.Busy { // else rules tell of the machine and not of the arms
		about.Gone, about.Came, about.Diagnosed = differ(a, b)
	}
	tr.About = about
	return c.concluded(ctx, tr, f, err)
}

// startup reports whether what is timed is how long a program takes until it is
// ready, of which there is nothing to count.
func (f *verifyFlags) startup() bool { return f.ready != "" && f.load == "" }

// firstBenchmark runs A's benchmarks once to see which there are: the first of
// them decides, by its time or by what was asked for without a name. B has not
// run yet, so that nothing is compared.
func (f *verifyFlags) firstBenchmark(ctx context.Context, a *arm, asked diagnosis.Metric, say *statusLine) (diagnosis.Metric, error) {
	say.set("looking for benchmarks…")
	defer say.clear()
	s, err := a.subject.Run(ctx)
	if problem.Is(err, problem.Absence) {
		pkg := cmp.Or(f.change.pkg, ".")
		return "", problem.New(problem.Absence, "go test -list Benchmark "+shell.Word(pkg), "no benchmark of %s matches %q", pkg, f.change.bench)
	}
	if err != nil {
		return "", err
	}
	var own []diagnosis.Metric
	for m := range s.Values {
		if strings.HasSuffix(string(m), " "+string(cmp.Or(asked, "ns/op"))) {
			own = append(own, m)
		}
	}
	if len(own) == 0 {
		return asked, nil
	}
	if len(own) > 1 {
		say.log(fmt.Sprintf("of %d benchmarks the first decides: --primary names another", len(own)))
	}
	return slices.Min(own), nil
}

// pairsDone tells how far a trial is. before is how many runs there are before
// the first pair. What is left is reckoned from the pairs so far; those that did
// not count are in it.
func pairsDone(line *statusLine, before int) experiment.Progress {
	var begin time.Time
	told, runs := false, 0
	return func(pairs, of int, soFar experiment.Interval) {
		if runs++; runs <= before {
			line.set("counting and warming up: run %d of %d", runs, before)
			begin = time.Now()
			return
		}
		each := time.Since(begin) / time.Duration(runs-before)
		left := each * time.Duration(max(0, of-pairs))
		if !told && left >= worthWaiting {
			line.log(fmt.Sprintf("a pair of runs takes %s: at most %s more, twice that while the machine is busy", figures.Duration(each), figures.Duration(left)))
		}
		told = true
		line.set("pair %d of at most %d%s; %s left at most", pairs, of, ratioSoFar(soFar), figures.Duration(left))
	}
}

// worthWaiting is how long a trial must take to be announced.
const worthWaiting = 2 * time.Second

// ratioSoFar is a ratio with its interval, as far as they are known.
func ratioSoFar(i experiment.Interval) string {
	switch {
	case !(i.Value > 0):
		return ""
	case !(i.Low > 0):
		return ": " + trialreport.Change(i.Value)
	}
	return ": " + trialreport.Change(i.Value) + " (95 %: " + trialreport.ChangeInterval(i.Low, i.High) + ")"
}

// runsBefore is how many runs a plan has before its first pair: those that are
// counted, A B B A, and one of each to warm up.
func runsBefore(p experiment.Plan) int {
	if p.CountA == nil {
		return 2
	}
	return 6
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
		return problem.New(problem.Interrupt, "gowhy "+shell.Words(f.args), "interrupted: this is what there is")
	}
	return shown
}

// hasPrimary reports whether anything is known of what decides.
func hasPrimary(tr *experiment.Trial) bool {
	return slices.ContainsFunc(tr.Effects, func(e experiment.Effect) bool {
		return e.Metric == tr.Primary && (e.Pairs > 0 || e.Exact)
	})
}

// primaryHint is how to get what was to decide, or what can decide instead.
func (f *verifyFlags) primaryHint(tr *experiment.Trial) string {
	switch m := diagnosis.Metric(f.primary); {
	case (m == diagnosis.P50 || m == diagnosis.P99) && f.load == "":
		return "--load 'hey -z 3s http://localhost:8080/' --ready localhost:8080   # latency is what a load generator measures"
	case m == diagnosis.OpsPerSec && f.ops == 0:
		return "--ops N   # how many operations a run does"
	}
	for _, name := range metricNames() {
		if hasMetric(tr, diagnosis.Metric(name)) {
			return "--primary " + name
		}
	}
	return "gowhy verify --help"
}

func hasMetric(tr *experiment.Trial, m diagnosis.Metric) bool {
	return slices.ContainsFunc(tr.Rounds, func(r experiment.Round) bool { _, ok := r.Values[m]; return ok })
}

// printPlan says what will be done before it is: nobody can choose afterwards
// what it was that decided.
func (c *command) printPlan(a *experiment.About, p experiment.Plan) {
	look := c.layout()
	say := func(format string, args ...any) {
		fmt.Fprint(c.Stderr, layout.Wrap("gowhy: "+fmt.Sprintf(format, args...), look))
	}
	say("A: %s", trialreport.Arm(a.A))
	say("B: %s", trialreport.Arm(a.B))
	if a.Load != "" {
		say("load: %s", a.Load)
	}
	primary := string(p.Primary)
	if primary == "" {
		primary = "cpu/op, or elapsed where that is not measured"
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
		parts = append(parts, fmt.Sprintf("%s by more than %s", g.Metric, figures.Percent(g.Limit)))
	}
	return "; must not become worse: " + strings.Join(parts, ", ")
}

// counting runs an arm with everything counted, and keeps what the rules find
// in it.
func (c *command) counting(a *arm) experiment.Run {
	return func(ctx context.Context) (experiment.Sample, error) {
		s, m, err := a.subject.Count(ctx)
		if err == nil && m != nil {
			a.diagnosed = append(a.diagnosed, diagnosis.Run(m, c.Rules, diagnosis.Options{}))
		}
		return s, err
	}
}

// sourcesOf are what the finding's rule needs to see it once more. They disturb
// what is counted, so that a count that decides goes without.
func (c *command) sourcesOf(k *claimed) (names []string) {
	if k == nil || experiment.InfoOf(k.experiment.Primary).Counter {
		return nil
	}
	i := slices.IndexFunc(c.Rules, func(r *diagnosis.Rule) bool { return r.Name == k.finding.Rule })
	if i < 0 {
		return nil
	}
	for _, s := range c.Rules[i].Needs {
		if slices.Contains(record.SourceNames(), string(s)) {
			names = append(names, string(s))
		}
	}
	return names
}

// differ compares what the rules found in the arms' counted runs. A finding is
// gone when every run of A has it and none of B's; one run alone is chance.
func differ(a, b *arm) (gone, came []experiment.Claim, ok bool) {
	if len(a.diagnosed) == 0 || len(b.diagnosed) == 0 {
		return nil, nil, false
	}
	return onlyIn(a.diagnosed, b.diagnosed), onlyIn(b.diagnosed, a.diagnosed), true
}

func onlyIn(here, there []*diagnosis.Diagnosis) (list []experiment.Claim) {
	has := func(d *diagnosis.Diagnosis, rule string) bool {
		return slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return f.Rule == rule })
	}
	for _, f := range here[0].Findings {
		always := !slices.ContainsFunc(here, func(d *diagnosis.Diagnosis) bool { return !has(d, f.Rule) })
		if always && !slices.ContainsFunc(there, func(d *diagnosis.Diagnosis) bool { return has(d, f.Rule) }) {
			list = append(list, experiment.Claim{Rule: f.Rule, Title: f.Title, Summary: f.Summary})
		}
	}
	return list
}

// about is what the report says of the arms.
func (f *verifyFlags) about(a, b *arm, k *claimed) experiment.About {
	about := experiment.About{A: a.about, B: b.about, Load: f.load, Ready: f.ready, Again: withoutFlag(f.args, "--pairs")}
	if k != nil {
		about.Finding = &experiment.Claim{Rule: k.finding.Rule, Title: k.finding.Title, Summary: k.finding.Summary,
			Expect: k.finding.Bound, Note: k.experiment.Note, Tune: k.experiment.Tune, From: k.from}
	}
	return about
}

// withoutFlag drops a flag with its value from arguments, as far as --.
func withoutFlag(args []string, flag string) (kept []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return append(kept, args[i:]...)
		case args[i] == flag:
			i++
		case strings.HasPrefix(args[i], flag+"="):
		default:
			kept = append(kept, args[i])
		}
	}
	return kept
}
