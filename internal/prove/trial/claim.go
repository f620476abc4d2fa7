package trial

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/whatif"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// A Claim is a finding that is put to the test.
type Claim struct {
	Finding    diagnosis.Finding
	Experiment diagnosis.Experiment
	from       string
	model      *model.Model
	replay     *Replay // nil where no replay predicts anything
	runs       bool    // its command, which the user did not give
}

// prediction returns what the finding promises for a metric and what a replay of its trace
// expects; nil when both are silent.
func (k *Claim) prediction(m diagnosis.Metric) *experiment.Prediction {
	if k == nil {
		return nil
	}
	q := &experiment.Prediction{Metric: m}
	if p, ok := k.Finding.PredictedFor(m); ok {
		q.Best, q.Method = p.Best, p.Method
	}
	if e := k.replay.of(m); e > 0 {
		q.Estimate, q.Replay = e, k.replay.how
	}
	if q.Best == 0 && q.Estimate == 0 {
		return nil
	}
	return q
}

// decidingMetric returns the metric that decides where the finding's own was not to be had:
// the one that the finding names for it, or that of the only benchmark.
func (k *Claim) decidingMetric(tr *experiment.Trial, primary diagnosis.Metric) (diagnosis.Metric, bool) {
	if k == nil || tr == nil || len(tr.Rounds) == 0 || primary != k.Experiment.Primary || tr.Has(primary) {
		return "", false
	}
	for _, m := range []diagnosis.Metric{primary, k.Experiment.Else} {
		if m != "" && tr.Has(m) {
			return m, true
		}
		if of := ofBenchmarks(tr, m); m != "" && len(of) == 1 {
			return of[0], true
		}
	}
	return "", false
}

// ofBenchmarks returns the benchmarks' own metrics of a name; the CPU time of one is
// not known, but the time is.
func ofBenchmarks(tr *experiment.Trial, m diagnosis.Metric) (list []diagnosis.Metric) {
	name := string(m)
	if m == diagnosis.CPUPerOp || m == diagnosis.Elapsed {
		name = "ns/op"
	}
	for _, r := range tr.Rounds {
		for has := range r.Values {
			if strings.HasSuffix(string(has), " "+name) && !slices.Contains(list, has) {
				list = append(list, has)
			}
		}
	}
	return list
}

// A Foreign is what would be run and was not named by the user, but by a file.
type Foreign struct {
	From, Dir string
	Command   []string // nil when the user gave it
	Env       []string
	Modules   []string // to build with, as MODULE@VERSION
}

// Foreign returns what of the set-up comes from the files of a claim; nil when all
// is the user's own. Settings of the runtime do no more than they say, other
// variables may make a program load anything.
func (t *Setup) Foreign(k *Claim) *Foreign {
	what := &Foreign{From: k.from}
	if k.runs {
		what.Dir, what.Command, what.Env = t.Change.dir, t.Command, slices.Clone(t.Change.recorded)
	}
	for _, set := range slices.Concat(t.Change.KnobsA, t.Change.Knobs) {
		name, _, _ := strings.Cut(set, "=")
		proposed := slices.Contains(k.Experiment.Set, set) || slices.Contains(k.Experiment.Now, set)
		if proposed && (what.Command != nil || !slices.Contains(runtimeSettings, name)) && !slices.Contains(what.Env, set) {
			what.Env = append(what.Env, set)
		}
	}
	if len(k.Experiment.Upgrade) > 0 && slices.Equal(t.Change.Upgrade, k.Experiment.Upgrade) {
		what.Modules = t.Change.Upgrade
	}
	if what.Command == nil && what.Env == nil && what.Modules == nil {
		return nil
	}
	return what
}

// runtimeSettings are variables that only the runtime of Go reads.
var runtimeSettings = []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG"}

// Claim finds the finding in a diagnosis of files and takes from it and the model
// what the set-up leaves open; replay, which may give nil, replays the trace.
func (t *Setup) Claim(d *diagnosis.Diagnosis, m *model.Model, replay func(path string, f *diagnosis.Finding) *Replay) (*Claim, error) {
	finding, err := t.choose(d)
	if err != nil {
		return nil, err
	}
	k := &Claim{Finding: *finding, from: strings.Join(t.Files, ", "), model: m}
	if finding.Experiment == nil {
		return nil, problem.New(problem.Absence, tries(finding), "no run of the program can decide about %q: %s", finding.Title, cmp.Or(finding.Prove, "its proof is not an experiment"))
	}
	k.Experiment = *finding.Experiment
	if err := t.take(k); err != nil {
		return nil, err
	}
	if len(t.Files) == 1 && m.Has(model.Trace) {
		k.replay = replay(t.Files[0], finding)
	}
	return k, nil
}

// choose returns the finding that --apply names; symptoms count.
func (t *Setup) choose(d *diagnosis.Diagnosis) (*diagnosis.Finding, error) {
	var all []diagnosis.Finding
	for _, g := range d.Findings {
		all = append(append(all, g), g.Symptoms...)
	}
	var names []string
	for i := range all {
		if all[i].Rule == t.Apply {
			return &all[i], nil
		}
		if all[i].Experiment != nil && !slices.Contains(names, all[i].Rule) {
			names = append(names, all[i].Rule)
		}
	}
	there := "nothing that an experiment decides was found there"
	hint := "gowhy diagnose " + shell.Words(t.Files)
	if len(names) > 0 {
		there = "found there: " + strings.Join(names, ", ")
		name := names[0]
		if near, ok := problem.Correction(t.Apply, names); ok {
			name = near
		}
		hint = "gowhy verify " + shell.Words(append(slices.Clone(t.Files), "--apply", name))
	}
	if t.Apply == "" {
		return nil, usageError(hint, "no finding was named; %s", there)
	}
	return nil, usageError(hint, "%s has no finding %q; %s", strings.Join(t.Files, ", "), t.Apply, there)
}

// take fills in what the flags leave open: the change that the finding
// proposes and the program that was recorded.
func (t *Setup) take(k *Claim) error {
	run := &k.model.Run
	if len(t.Command) == 0 && t.Change.A == "" && t.Change.Bench == "" {
		if len(run.Command) == 0 {
			return usageError("gowhy verify "+shell.Words(append(slices.Clone(t.Files), "--apply", k.Finding.Rule))+" -- ./app -n 1000",
				"%s does not tell the command that was recorded", k.from)
		}
		if info, err := os.Stat(run.Dir); run.Dir != "" && (err != nil || !info.IsDir()) {
			return usageError("gowhy verify "+shell.Words(append(slices.Clone(t.Files), "--apply", k.Finding.Rule))+" -- "+shell.Words(run.Command)+"   # from where it runs here",
				"%s was recorded in %q, which is no directory here", k.from, run.Dir)
		}
		t.Command, t.Change.dir, t.Change.recorded, k.runs = run.Command, run.Dir, run.Env, true
		if t.Load == "" && t.Ready == "" && diagnosis.Serves(k.model) {
			return usageError(loadExample, "what was recorded serves, and would never end: it needs a load that does")
		}
	}
	switch {
	case t.Change.Given() && k.runs && t.Change.builds():
		return t.Change.proposeBuild(k, t)
	case t.Change.Given():
		return nil // somebody knows better how to change it
	}
	return t.Change.propose(k, t)
}

// propose takes the change from the finding.
func (ch *Change) propose(k *Claim, t *Setup) error {
	e := &k.Experiment
	try := tries(&k.Finding)
	switch {
	case len(e.Set) > 0:
		ch.Knobs, ch.KnobsA = e.Set, append(ch.KnobsA, e.Now...)
		return nil
	case e.Change() == diagnosis.ChangeRelease:
		ch.Upgrade, ch.Go = e.Upgrade, e.Go
		return ch.proposeBuild(k, t)
	case e.Change() == diagnosis.ChangeTune:
		return usageError(try, "which value is best for %q has to be found first", k.Finding.Title)
	case e.Change() == diagnosis.ChangeBuild:
		return usageError(try, "what %q asks for is another build: give both programs", k.Finding.Title)
	}
	ch.Base = "HEAD" // the change is in the code, and somebody has made it
	return ch.proposeBuild(k, t)
}

// loadExample is a load that ends, and what to wait for before it.
const loadExample = "--load 'gowhy load http://localhost:8080/ --rate 500 -d 5s' --ready localhost:8080   # as your program serves"

// tries returns the commands of a finding as a hint, or where it is explained.
func tries(f *diagnosis.Finding) string {
	return cmp.Or(strings.Join(f.Try, "; "), "gowhy explain "+shell.Word(f.Rule))
}

// starters start other programs: what they run cannot be put in their place.
var starters = []string{"go", "sh", "bash", "env", "make", "sudo", "nice", "taskset", "timeout", "docker"}

// proposeBuild takes from the recording which package the program is built from, and how what was built runs.
func (ch *Change) proposeBuild(k *Claim, t *Setup) error {
	again := append(append([]string{"gowhy", "verify"}, t.Files...), "--apply", k.Finding.Rule)
	if ch.Base != "" {
		again = append(again, "--base", ch.Base)
	}
	again = append(again, "--package")
	if ch.Package == "" {
		b := k.model.Build
		if b == nil || b.Path == "" || b.Path == "command-line-arguments" {
			return usageError(shell.Words(append(again, "./cmd/app")), "%s does not tell the package that the program is built from", k.from)
		}
		ch.Package, ch.test = strings.CutSuffix(b.Path, ".test")
	}
	if !subject.HasPlace(t.Command, placeBinary) {
		if slices.Contains(starters, filepath.Base(t.Command[0])) {
			return usageError(shell.Words(append(again, ch.Package, "--", "{binary}", "ARGUMENTS")), "the recorded command starts %s, and not the program", filepath.Base(t.Command[0]))
		}
		t.Command = append([]string{"{" + placeBinary + "}"}, t.Command[1:]...)
		if ch.test {
			t.Command = append(t.Command, "-test.benchmem") // what decides may be a count
		}
	}
	return nil
}

// A Replay is what a replay of a recorded trace predicts for a fix, as ratios
// to the replay as it is.
type Replay struct {
	elapsed, cpu float64
	how          string
}

// of returns the predicted ratio of a metric; 0 when a replay does not tell it.
func (r *Replay) of(m diagnosis.Metric) float64 {
	switch {
	case r == nil:
		return 0
	case m == diagnosis.Elapsed:
		return r.elapsed
	case m == diagnosis.OpsPerSec:
		return 1 / r.elapsed
	case m == diagnosis.CPUPerOp:
		return r.cpu
	}
	return 0
}

// Predict replays a program under what stands for the fix of a finding. It is nil
// where no edit does. How says with which edit, and how far such predictions were
// off.
func Predict(p *whatif.Program, f *diagnosis.Finding) *Replay {
	ask := whatif.Prescription{Rule: f.Rule}
	if f.Experiment != nil {
		ask.Set = f.Experiment.Set
	}
	for _, w := range f.Where {
		ask.Functions = append(ask.Functions, w.Function)
	}
	edit, assumes, ok := p.EditFor(ask)
	if !ok {
		return nil
	}
	res, err := p.Run(edit)
	if err != nil || math.IsNaN(res.Ratio) || res.Ratio <= 0 {
		return nil
	}
	return &Replay{res.Ratio, res.CPURatio, fmt.Sprintf("replay of the trace: %s; the replay as it is was %s off; %s", assumes, figures.Percent(p.ReplayExcess()), whatif.Measured().Band(edit.Kind()))}
}
