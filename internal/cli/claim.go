package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/shell"
)

// A claimed is a finding that is put to the test.
type claimed struct {
	finding    diagnosis.Finding
	experiment diagnosis.Experiment
	from       string
	model      *model.Model
	replay     *replayed // nil where no replay predicts anything
}

// predicted is what the finding promises for a metric and what a replay of its
// trace expects; nil when both are silent.
func (k *claimed) predicted(m diagnosis.Metric) *experiment.Prediction {
	if k == nil {
		return nil
	}
	q := &experiment.Prediction{Metric: m}
	if p, ok := k.finding.PredictedFor(m); ok {
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

// instead is the metric that decides where the finding's own was not to be had:
// the one that the finding names for it, or that of the only benchmark.
func (k *claimed) instead(tr *experiment.Trial, primary diagnosis.Metric) (diagnosis.Metric, bool) {
	if k == nil || tr == nil || len(tr.Rounds) == 0 || primary != k.experiment.Primary || hasMetric(tr, primary) {
		return "", false
	}
	for _, m := range []diagnosis.Metric{primary, k.experiment.Else} {
		if m != "" && hasMetric(tr, m) {
			return m, true
		}
		if of := ofBenchmarks(tr, m); m != "" && len(of) == 1 {
			return of[0], true
		}
	}
	return "", false
}

// ofBenchmarks are the benchmarks' own metrics of a name; the CPU time of one is
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

// runs reports whether what is run was named by the recording and not by the
// user, who should see where it came from.
func (k *claimed) runs(f *verifyFlags) bool {
	return k != nil && len(k.model.Run.Command) > 0 && f.change.dir == k.model.Run.Dir && f.change.dir != ""
}

// claim reads a recording or a saved diagnosis, finds the finding and takes from
// both what the flags leave open. A saved diagnosis does not tell the program.
func (c *command) claim(ctx context.Context, f *verifyFlags) (*claimed, error) {
	d, m, err := c.diagnosed(ctx, f.files, readOptions{}, "")
	if err != nil {
		return nil, err
	}
	finding, err := chooseFinding(d, f)
	if err != nil {
		return nil, err
	}
	k := &claimed{finding: *finding, from: strings.Join(f.files, ", "), model: m}
	if finding.Experiment == nil {
		return nil, problem.New(problem.Absence, cmp.Or(strings.Join(finding.Try, "; "), "gowhy explain "+shell.Word(finding.Rule)), "no run of the program can decide about %q: %s", finding.Title, cmp.Or(finding.Prove, "its proof is not an experiment"))
	}
	k.experiment = *finding.Experiment
	if err := f.take(k); err != nil {
		return nil, err
	}
	if len(f.files) == 1 && m.Has(model.Trace) {
		k.replay = c.replay(ctx, f.files[0], finding)
	}
	return k, nil
}

// chooseFinding is the finding that --apply names; symptoms count.
func chooseFinding(d *diagnosis.Diagnosis, f *verifyFlags) (*diagnosis.Finding, error) {
	var all []diagnosis.Finding
	for _, g := range d.Findings {
		all = append(append(all, g), g.Symptoms...)
	}
	var names []string
	for i := range all {
		if all[i].Rule == f.apply {
			return &all[i], nil
		}
		if all[i].Experiment != nil && !slices.Contains(names, all[i].Rule) {
			names = append(names, all[i].Rule)
		}
	}
	there := "nothing that an experiment decides was found there"
	hint := "gowhy diagnose " + shell.Words(f.files)
	if len(names) > 0 {
		there = "found there: " + strings.Join(names, ", ")
		name := names[0]
		if near, ok := problem.Near(f.apply, names); ok {
			name = near
		}
		hint = "gowhy verify " + shell.Words(append(slices.Clone(f.files), "--apply", name))
	}
	if f.apply == "" {
		return nil, misused(hint, "no finding was named; %s", there)
	}
	return nil, misused(hint, "%s has no finding %q; %s", strings.Join(f.files, ", "), f.apply, there)
}

// take fills in what the flags leave open: the change that the finding
// proposes and the program that was recorded.
func (f *verifyFlags) take(k *claimed) error {
	run := &k.model.Run
	if len(f.command) == 0 && f.change.a == "" && f.change.bench == "" {
		if len(run.Command) == 0 {
			return misused("gowhy verify "+shell.Words(append(slices.Clone(f.files), "--apply", k.finding.Rule))+" -- ./app -n 1000",
				"%s does not tell the command that was recorded", k.from)
		}
		if info, err := os.Stat(run.Dir); run.Dir != "" && (err != nil || !info.IsDir()) {
			return misused("gowhy verify "+shell.Words(append(slices.Clone(f.files), "--apply", k.finding.Rule))+" -- "+shell.Words(run.Command)+"   # from where it runs here",
				"%s was recorded in %q, which is no directory here", k.from, run.Dir)
		}
		f.command, f.change.dir, f.change.recorded = run.Command, run.Dir, run.Env
		if f.load == "" && f.ready == "" && diagnosis.Serves(k.model) {
			return misused(strings.Join(k.finding.Try, "; "), "what was recorded serves, and would never end: it needs a load that does")
		}
	}
	if f.change.given() {
		return nil // somebody knows better how to change it
	}
	return f.change.propose(k, f)
}

// propose takes the change from the finding.
func (f *changeFlags) propose(k *claimed, v *verifyFlags) error {
	e := &k.experiment
	try := strings.Join(k.finding.Try, "; ")
	switch {
	case len(e.Set) > 0:
		f.knobs, f.aKnobs = e.Set, append(f.aKnobs, e.Now...)
		return nil
	case e.Change() == diagnosis.ChangeTune:
		return misused(try, "which value is best for %q has to be found first", k.finding.Title)
	case e.Change() == diagnosis.ChangeBuild:
		return misused(try, "what %q asks for is another build: give both programs", k.finding.Title)
	}
	return f.proposeCode(k, v)
}

// starters start other programs: what they run cannot be put in their place.
var starters = []string{"go", "sh", "bash", "env", "make", "sudo", "nice", "taskset", "timeout", "docker"}

// proposeCode compares the last commit with the working tree: the change is in
// the code, and somebody has made it.
func (f *changeFlags) proposeCode(k *claimed, v *verifyFlags) error {
	again := append(append([]string{"gowhy", "verify"}, v.files...), "--apply", k.finding.Rule, "--base", "HEAD", "--package")
	if f.pkg == "" {
		b := k.model.Build
		if b == nil || b.Path == "" || b.Path == "command-line-arguments" {
			return misused(shell.Words(append(again, "./cmd/app")), "%s does not tell the package that the program is built from", k.from)
		}
		f.pkg, f.test = strings.CutSuffix(b.Path, ".test")
	}
	f.base = "HEAD"
	if !usesBinary(v.command) {
		if slices.Contains(starters, filepath.Base(v.command[0])) {
			return misused(shell.Words(append(again, f.pkg, "--", "{binary}", "ARGUMENTS")), "the recorded command starts %s, and not the program", filepath.Base(v.command[0]))
		}
		v.command = append([]string{placeBinary}, v.command[1:]...)
		if f.test {
			v.command = append(v.command, "-test.benchmem") // what decides may be a count
		}
	}
	return nil
}
