package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// A runner makes runs and experiments and asks gowhy about them.
type runner struct {
	bed  *testbed.Bed
	keep string // folder that recordings are kept in; "" keeps none
	// busyRepeats is how often a run is made again because gowhy itself said that
	// others had the machine.
	busyRepeats int
}

// A diagnosisJSON is what `gowhy diagnose --format json` promises, as far as it is
// looked at.
type diagnosisJSON struct {
	Schema   int
	Verdict  string
	Findings []findingJSON
}

type findingJSON struct {
	Rule   string
	Remark bool
	Where  []struct{ Function string }

	Experiment *struct{ Promised []Promise }
	Symptoms   []findingJSON
}

// finding keeps of a finding what is judged.
func (f *findingJSON) finding() Finding {
	out := Finding{Rule: f.Rule, Remark: f.Remark}
	for _, w := range f.Where[:min(len(f.Where), firstPlaces)] {
		out.Where = append(out.Where, w.Function)
	}
	if f.Experiment != nil {
		out.Promised = f.Experiment.Promised
	}
	for i := range f.Symptoms {
		out.Symptoms = append(out.Symptoms, f.Symptoms[i].finding())
	}
	return out
}

// do makes one run, until it counts.
func (r *runner) do(ctx context.Context, t task) Answer {
	return repeated(ctx, r.busyRepeats, func() Answer { return r.once(ctx, t) })
}

// repeated makes a run again while gowhy says that others had the machine, up
// to a limit, and once when it fails.
func repeated(ctx context.Context, most int, once func() Answer) Answer {
	failed := false
	for repeats := 0; ; repeats++ {
		a := once()
		a.Repeats = repeats
		again := a.Busy && repeats < most || a.Failed != "" && !failed
		failed = failed || a.Failed != ""
		if !again || ctx.Err() != nil {
			return a
		}
	}
}

func (r *runner) once(ctx context.Context, t task) Answer {
	a := t.answer()
	if err := r.ask(ctx, t, &a); err != nil {
		a.Failed = r.brief(err)
	}
	return a
}

// ask records a run and fills in what is said of it.
func (r *runner) ask(ctx context.Context, t task, a *Answer) error {
	program, err := r.bed.Build(ctx, t.c.Dir)
	if err != nil {
		return err
	}
	rec, err := r.bed.Record(ctx, testbed.Job{
		Program: program, Args: t.args, Time: t.c.Time, Ready: t.c.Ready, Load: t.load, Beside: t.beside, Out: r.recordingPath(a),
	})
	if err != nil {
		return err
	}
	if r.keep == "" {
		defer os.Remove(rec.Path)
	}
	a.Bytes, a.RecordSeconds = rec.Size, seconds(rec.Took)
	return r.diagnose(ctx, t, rec.Path, a)
}

// diagnose fills in what is said of a recording.
func (r *runner) diagnose(ctx context.Context, t task, path string, a *Answer) error {
	var d diagnosisJSON
	escapes, err := r.bed.Escapes(ctx, t.c.Dir)
	if err != nil {
		return err
	}
	took, err := r.bed.Answer(ctx, &d, "diagnose", "--format", "json", path, escapes)
	if err != nil {
		return err
	}
	if d.Schema < 1 || d.Verdict == "" {
		return fmt.Errorf("the diagnosis has schema %d and verdict %q", d.Schema, d.Verdict)
	}
	a.DiagnoseSeconds, a.Verdict, a.Findings = seconds(took), d.Verdict, []Finding{}
	for i := range d.Findings {
		a.Findings = append(a.Findings, d.Findings[i].finding())
	}
	a.Busy = len(t.beside) == 0 && busy(a.Findings)
	a.Thresholds, a.Top, err = baselines(path)
	return err
}

// busy reports whether gowhy said that others had the machine.
func busy(findings []Finding) bool {
	return slices.ContainsFunc(allFindings(findings), func(f Finding) bool { return slices.Contains(busyRules, f.Rule) })
}

// recordingPath returns where the recording of an answer is kept; "" when it is not.
func (r *runner) recordingPath(a *Answer) string {
	if r.keep == "" {
		return ""
	}
	name := strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(key(a))
	return filepath.Join(r.keep, fmt.Sprintf("%s-%d.gowhy", name, a.Round))
}

// A told trial is what `gowhy verify --json` promises, as far as it is looked at.
type toldTrial struct {
	Conclusion string
	Primary    string
	Pairs      int
	Busy       bool
	Effects    []struct {
		Metric, Verdict  string
		Ratio, Low, High float64
	}
}

// counters are metrics that need no runs that are timed; all others need no
// runs with everything counted.
var counters = []string{"allocs/op", "B/op", "goroutines/op", "gc/op", "syscalls/op", "futex/op", "switches/op", "faults/op"}

// prove makes one experiment, and makes it again once when it fails.
func (r *runner) prove(ctx context.Context, p proof, pairs int, seed uint64) (t Trial) {
	for range 2 {
		t = Trial{Case: p.c.Name, Name: p.name, Kind: p.kind, Primary: p.metric}
		err := r.try(ctx, p, proofFlags(p, pairs, seed), &t)
		if err == nil || ctx.Err() != nil {
			return t
		}
		t.Failed = r.brief(err)
	}
	return t
}

// try fills in what an experiment says.
func (r *runner) try(ctx context.Context, p proof, flags []string, out *Trial) error {
	program, err := r.bed.Build(ctx, p.c.Dir)
	if err != nil {
		return err
	}
	var t toldTrial
	took, err := r.bed.Verify(ctx, testbed.Comparison{
		Program: program, A: p.a, B: p.b, Time: p.c.Time, Ready: p.c.Ready, Load: p.load, Flags: flags,
	}, &t)
	out.Seconds = seconds(took)
	if err != nil {
		return err
	}
	out.Conclusion, out.Pairs, out.Busy = t.Conclusion, t.Pairs, t.Busy
	for _, e := range t.Effects {
		out.Effects = append(out.Effects, Effect{e.Metric, e.Verdict, digits(e.Ratio), digits(e.Low), digits(e.High)})
	}
	return nil
}

// digits leaves four of a ratio: more is noise.
func digits(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func proofFlags(p proof, pairs int, seed uint64) []string {
	flags := []string{"--primary", p.metric, "--guard", "none", "--pairs", fmt.Sprint(pairs), "--no-floor", "--seed", fmt.Sprint(seed%maxSeed + 1), "--time-limit", "2m"}
	if !slices.Contains(counters, p.metric) {
		flags = append(flags, "--no-count")
	}
	if p.ops > 0 {
		flags = append(flags, "--ops", fmt.Sprintf("%.0f", p.ops))
	}
	return flags
}

// maxSeed makes seeds that gowhy's own messages could have.
const maxSeed = 999_999

// brief returns an error in one line that says nothing of where things are on this
// machine.
func (r *runner) brief(err error) string {
	const most = 300
	text := strings.Join(strings.Fields(err.Error()), " ")
	if _, after, ok := strings.Cut(text, ": exit status "); ok { // the command before it is long, and known
		text = "exit status " + after
	}
	for _, dir := range []string{r.bed.Dir(), here()} {
		if dir != "" && dir != "/" {
			text = strings.ReplaceAll(text, dir, "…")
		}
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func here() string {
	root, err := testbed.Checkout()
	if err != nil {
		return ""
	}
	return root
}

// A progress tells on standard error how far a long run is.
type progress struct {
	began time.Time
	n     int
	tty   bool
}

func (p *progress) tell(i int, what string) {
	if !p.tty {
		return
	}
	left := "?"
	if i > 0 {
		left = (time.Since(p.began) / time.Duration(i) * time.Duration(p.n-i)).Round(time.Second).String()
	}
	fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d, %s left: %s", i+1, p.n, left, what)
}

func (p *progress) clear() {
	if p.tty {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}
