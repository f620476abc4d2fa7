package trial

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// A Work is how a program is run that is measured.
type Work struct {
	Load, Ready string // a command line; what is waited for before it
	Ops         float64
	Time        time.Duration // the limit of a run
}

// spec returns the work of a program, which is still to be named.
func (w *Work) spec(log func(string)) (subject.Spec, error) {
	s := subject.Spec{Ready: w.Ready, Ops: w.Ops, Time: w.Time, Log: log}
	var err error
	if w.Load != "" {
		s.Load, err = subject.Split(w.Load)
	}
	return s, err
}

// A Setup is a program with and without a change.
type Setup struct {
	Work
	Change               Change
	Apply                string   // the rule of a finding that is tried
	NoCount, NoFloor     bool     // no runs with everything counted; no look at the machine's noise
	Files, Command, Args []string // a recording, the program, and all that was given
}

func usageError(hint, format string, args ...any) error {
	return problem.New(problem.Misuse, hint, format, args...)
}

// Hint returns how one says what changes, with the command that was given.
func Hint(command []string) string {
	if len(command) == 0 {
		return "gowhy verify --a './old -n 1000' --b './new -n 1000'"
	}
	return "gowhy verify --knob GOMAXPROCS=2 -- " + shell.Words(command)
}

// Guards keep a change from being paid with what nobody looked at. There
// is a latency only where a load asks for something, and of a benchmark nobody
// measures the process.
func (t *Setup) Guards() []experiment.Guard {
	if t.Change.Bench != "" {
		return nil
	}
	memory := LimitOf(diagnosis.PeakRSS, 0.10)
	if t.Load == "" {
		return []experiment.Guard{memory}
	}
	return []experiment.Guard{LimitOf(diagnosis.P99, 0.05), memory}
}

// A Line shows what goes on: what is begun and takes a while, and what stays.
type Line interface {
	Step(format string, args ...any)
	Log(text string)
	Clear()
}

// A Show says what will be done before it is, and how far it is; before is how many
// runs there are before the first pair.
type Show struct {
	Line
	Plan     func(*experiment.About, experiment.Plan)
	Progress func(before int) experiment.Progress
}

// Run does what was planned. The trial is nil when there was none.
func (t *Setup) Run(ctx context.Context, p experiment.Plan, claim *Claim, rules []*diagnosis.Rule, say Show) (*experiment.Trial, error) {
	dir, err := os.MkdirTemp("", "gowhy-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t.Change.also = claim.sources(rules)
	a, b, err := t.arms(ctx, dir, say)
	if err != nil {
		return nil, err
	}
	defer a.close()
	defer b.close()
	if t.Change.Bench != "" && !strings.HasPrefix(string(p.Primary), "Benchmark") {
		if p.Primary, err = t.firstBenchmark(ctx, a, p.Primary, say); err != nil {
			return nil, err
		}
	}
	if p.Identical = t.Change.identical; p.Identical {
		p.Guards = nil // nothing can become worse
	}
	about := t.about(a, b, claim)
	say.Plan(&about, p)
	p.A, p.B = a.subject.Run, b.subject.Run
	if !t.NoCount && !t.startup() {
		p.CountA, p.CountB = a.count(rules), b.count(rules)
	}
	if !t.NoFloor {
		if p.Floor, _, err = subject.Floor(ctx, say.Log); err != nil && ctx.Err() == nil {
			say.Log("the noise of this machine could not be measured: " + err.Error())
		}
	}
	p.Predicted = claim.prediction(p.Primary)
	tr, err := experiment.Verify(ctx, p, say.Progress(runsBefore(p)))
	if other, ok := claim.decidingMetric(tr, p.Primary); ok && err != nil && ctx.Err() == nil {
		say.Log(fmt.Sprintf("%s cannot be had here: %s decides", p.Primary, other))
		a.found, b.found = nil, nil
		p.Primary, p.Predicted = other, claim.prediction(other)
		tr, err = experiment.Verify(ctx, p, say.Progress(runsBefore(p)))
	}
	say.Clear()
	if tr == nil {
		return nil, err
	}
	if !tr.Busy { // else rules tell of the machine and not of the arms
		about.Gone, about.Came, about.Diagnosed = differ(a, b)
	}
	tr.About = about
	return tr, err
}

// startup reports whether what is timed is how long a program takes until it is
// ready, of which there is nothing to count.
func (t *Setup) startup() bool { return t.Ready != "" && t.Load == "" }

// firstBenchmark runs A's benchmarks once to see which there are: the first of
// them decides, by its time or by what was asked for without a name. B has not
// run yet, so that nothing is compared.
func (t *Setup) firstBenchmark(ctx context.Context, a *arm, asked diagnosis.Metric, say Line) (diagnosis.Metric, error) {
	say.Step("looking for benchmarks…")
	defer say.Clear()
	s, err := a.subject.Run(ctx)
	if problem.Is(err, problem.Absence) {
		pkg := cmp.Or(t.Change.Package, ".")
		return "", problem.New(problem.Absence, "go test -list Benchmark "+shell.Word(pkg), "no benchmark of %s matches %q", pkg, t.Change.Bench)
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
		say.Log(fmt.Sprintf("of %d benchmarks the first decides: --primary names another", len(own)))
	}
	return slices.Min(own), nil
}

// runsBefore returns how many runs a plan has before its first pair: those that are counted,
// A B B A, and one of each to warm up.
func runsBefore(p experiment.Plan) int {
	if p.CountA == nil {
		return 2
	}
	return 6
}

// count runs an arm with everything counted, and keeps what the rules find
// in it.
func (a *arm) count(rules []*diagnosis.Rule) experiment.Runner {
	return func(ctx context.Context) (experiment.Sample, error) {
		s, m, err := a.subject.Count(ctx)
		if err == nil && m != nil {
			a.found = append(a.found, diagnosis.Run(m, rules, diagnosis.Options{}))
		}
		return s, err
	}
}

// sources lists what the finding's rule needs to see it once more. They disturb what is
// counted, so that a count that decides goes without.
func (k *Claim) sources(rules []*diagnosis.Rule) (names []string) {
	if k == nil || experiment.InfoOf(k.Experiment.Primary).Counter {
		return nil
	}
	i := slices.IndexFunc(rules, func(r *diagnosis.Rule) bool { return r.Name == k.Finding.Rule })
	if i < 0 {
		return nil
	}
	for _, s := range rules[i].Needs {
		if name := s.Recorded(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// differ compares what the rules found in the arms' counted runs. A finding is
// gone when every run of A has it and none of B's; one run alone is chance.
func differ(a, b *arm) (gone, came []experiment.Claim, ok bool) {
	if len(a.found) == 0 || len(b.found) == 0 {
		return nil, nil, false
	}
	return onlyIn(a.found, b.found), onlyIn(b.found, a.found), true
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

// about returns what the report says of the arms.
func (t *Setup) about(a, b *arm, k *Claim) experiment.About {
	about := experiment.About{A: a.about, B: b.about, Load: t.Load, Ready: t.Ready, Again: withoutFlag(t.Args, "--pairs")}
	if k != nil {
		about.Finding = &experiment.Claim{Rule: k.Finding.Rule, Title: k.Finding.Title, Summary: k.Finding.Summary,
			Expect: k.Finding.Bound, Note: k.Experiment.Note, Tune: k.Experiment.Tune, From: k.from}
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
