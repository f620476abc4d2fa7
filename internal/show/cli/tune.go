package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
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
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/trial"
	"github.com/gowhy/gowhy/internal/show/intake"
	"github.com/gowhy/gowhy/internal/show/trialreport"
	"github.com/gowhy/gowhy/internal/show/web"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	knobs, starts, keep []string
	trial.Work
	workFlags
	goal           string
	repeats        int
	noTrace        bool
	csv, html      string
	files, command []string // before and after --
}

func (c *command) tuneCommand() *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune --knob NAME=LOW..HIGH [-- CMD]",
		Short: "Find the smallest setting that is as good as the best",
		Long: `Runs a program with many settings, in rounds that visit all of them in a new
order each, and recommends the smallest setting within 3% of the best that
holds the limits. The whole curve is shown, with 95% intervals and what it
costs in memory.

A knob is a range, which is tried in doublings and then closer, or a list. It
replaces {NAME} in the command; GOMAXPROCS, GOGC, GOMEMLIMIT and other names in
upper case go into the environment. Several knobs are turned one after the
other, and the whole is checked against the start in the end.

For a knob that counts workers the formulas of the literature are printed beside
what was measured. They need an execution trace: the program has net/http/pprof
or gowhy's agent, or takes the name of a file to write one to, for {trace} in
the command, and writes none when that is empty.

A program that serves needs --load, a command that ends, and --ready, what to
wait for before it: a URL, HOST:PORT, or log:TEXT for a line that it prints.

A search that was saved with -o is shown again: gowhy tune tuned.json. The exit
code is 5 when no setting holds the limits.`,
		Example: `  gowhy tune --knob 'workers=1..1000' -- ./app -workers {workers}
  gowhy tune --knob GOMAXPROCS=1..16 --goal 'min(cpu/op)' -- ./app -n 1000
  gowhy tune --knob GOGC=50,100,200,400 --keep 'peak-rss<300MiB' -- ./app
  gowhy tune --knob 'conns=1..256' --goal 'max(ops/s)' --keep 'p99<5ms' \
      --load 'hey -z 3s http://localhost:8080/' --ready localhost:8080 \
      -- ./server -db-conns {conns}
  gowhy tune --knob 'workers=1..64' --html curve.html -o tuned.json \
      -- ./app -workers {workers} -trace {trace}
  gowhy tune tuned.json --csv curve.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.files, f.command = atDash(cmd, args)
			return c.tune(cmd.Context(), f)
		},
	}
	cmd.SetFlagErrorFunc(badFlag(tuneExample))
	flags := cmd.Flags()
	flags.StringArrayVar(&f.knobs, "knob", nil, "turn this knob: `NAME=LOW..HIGH` or NAME=A,B,C; repeatable")
	flags.StringArrayVar(&f.starts, "start", nil, "what a knob has now: `NAME=VALUE`; repeatable (default GOMAXPROCS and\nGOGC as they are without, others the lowest value)")
	flags.StringVar(&f.goal, "goal", "", "min(`METRIC`) or max(METRIC) (default min(elapsed), with --load max(ops/s))")
	flags.StringArrayVar(&f.keep, "keep", nil, "recommend only what holds this `LIMIT`, like p99<5ms; repeatable")
	flags.IntVar(&f.repeats, "repeats", 3, "minimum `N` runs for each setting")
	f.workFlags.flags(cmd, &f.Work, "search", "write the result as JSON")
	flags.BoolVar(&f.noTrace, "no-trace", false, "record no trace for the formulas of worker counts")
	flags.StringVar(&f.csv, "csv", "", "write the curve as CSV to this `FILE`")
	flags.StringVar(&f.html, "html", "", "write the page of gowhy report with the curve to this `FILE`")
	return cmd
}

const tuneExample = "gowhy tune --knob 'workers=1..1000' -- ./app -workers {workers}"

// tune searches, or shows a search.
func (c *command) tune(ctx context.Context, f *tuneFlags) error {
	for _, path := range []string{f.out, f.csv, f.html} {
		if err := checkOutput(path); err != nil {
			return err
		}
	}
	if len(f.files) > 0 {
		return c.savedTuned(f)
	}
	s, err := f.search()
	if err != nil {
		return err
	}
	say := c.statusLine()
	bench, err := f.Bench(f.command, say.Log)
	if err != nil {
		return err
	}
	s.At, s.Record = bench.At, bench.Record
	if f.noTrace {
		s.Record, s.NoRecord = nil, "--no-trace was given"
	}
	r, err := experiment.Tune(ctx, s, runsDone(say))
	say.Clear()
	return c.tuned(ctx, f, r, err)
}

// tuned saves and shows what came of a search. One that was interrupted is
// shown as well.
func (c *command) tuned(ctx context.Context, f *tuneFlags, r *experiment.Tuned, err error) error {
	var missing *experiment.MissingMetricError
	switch {
	case errors.As(err, &missing):
		return problem.New(problem.Absence, metricHint(f, missing), "%w", missing)
	case err != nil && (ctx.Err() == nil || r == nil || !measured(r)):
		return err
	}
	r.Command, r.Load, r.Ready = f.command, f.Load, f.Ready
	if err := c.showTuned(f, r); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return problem.New(problem.Interrupt, "", "interrupted: this is what there is")
	}
	if slices.ContainsFunc(r.Curves, func(c experiment.Curve) bool { return c.Chosen < 0 }) {
		return &exit{code: exitInconclusive}
	}
	return nil
}

// measured reports whether a search that was interrupted has anything to show.
func measured(r *experiment.Tuned) bool {
	return slices.ContainsFunc(r.Curves, func(c experiment.Curve) bool { return c.Chosen >= 0 })
}

// metricHint returns a goal that these runs have, or how to get the one asked for.
func metricHint(f *tuneFlags, e *experiment.MissingMetricError) string {
	latency := e.Metric == diagnosis.P50 || e.Metric == diagnosis.P99
	kept := slices.ContainsFunc(f.keep, func(k string) bool { return strings.HasPrefix(strings.TrimSpace(k), string(e.Metric)) })
	switch {
	case e.Metric == diagnosis.PeakRSS:
		return "give each run more work: one of milliseconds is over before its memory was looked at"
	case latency && f.Load == "":
		return "--load 'hey -z 3s http://localhost:8080/' --ready localhost:8080   # latency is what a load generator measures"
	case e.Metric == diagnosis.OpsPerSec:
		return "--ops N   # how many operations a run does"
	case kept && len(e.Measured) > 0:
		return "--keep '" + string(e.Measured[0]) + "<LIMIT'"
	case len(e.Measured) > 0:
		return "--goal 'min(" + string(e.Measured[0]) + ")'"
	}
	return "gowhy tune --help"
}

// showTuned writes the text and the files that were asked for.
func (c *command) showTuned(f *tuneFlags, r *experiment.Tuned) error {
	if f.out != "" {
		if err := c.output(f.out, func(w io.Writer, _ layout.Options) error { return r.Encode(w) }); err != nil {
			return err
		}
	}
	for _, file := range []struct {
		path  string
		write func(io.Writer, *experiment.Tuned) error
	}{{f.csv, trialreport.TunedCSV}, {f.html, searchPage}} {
		if file.path == "" {
			continue
		}
		if err := c.output(file.path, func(w io.Writer, _ layout.Options) error { return file.write(w, r) }); err != nil {
			return err
		}
	}
	if slices.Contains([]string{f.out, f.csv, f.html}, "-") {
		return nil // standard output has it
	}
	return c.result(&resultFlags{asJSON: f.asJSON}, r.Encode, func(w io.Writer, o layout.Options) error { return trialreport.TunedText(w, r, o) })
}

// searchPage writes the page of gowhy report with a search alone.
func searchPage(w io.Writer, r *experiment.Tuned) error {
	result, err := intake.SearchResult("search", r)
	if err != nil {
		return err
	}
	return (&web.Report{Version: version(), Results: []web.Result{*result}}).Write(w)
}

// savedTuned shows a search that was saved.
func (c *command) savedTuned(f *tuneFlags) error {
	path := f.files[0]
	switch {
	case isProgram(path) && len(f.command) == 0:
		return usageError(tuneHint(f.files), "%q is a program: it comes after --", path)
	case len(f.knobs) > 0 || len(f.command) > 0 || len(f.files) > 1:
		return usageError(tuneHint(append(slices.Clone(f.files), f.command...)), "%q is before the --, where a saved search is expected", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return usageError(tuneExample, "cannot read %q: %v", path, problem.Cause(err))
	}
	switch {
	case intake.Kind(data) == experiment.TrialKind:
		return usageError("gowhy verify "+shell.Words(f.files), "%q is a saved trial", path)
	case intake.Kind(data) != experiment.TunedKind:
		return usageError(tuneHint(f.files), "%q is no saved search", path)
	}
	r, err := experiment.DecodeTuned(bytes.NewReader(data))
	if err != nil {
		return problem.New(problem.Absence, "gowhy tune … -o tuned.json", "%q is a damaged search: %v", path, err)
	}
	return c.showTuned(f, r)
}

// tuneHint returns how one tunes the command that was given.
func tuneHint(command []string) string {
	if len(command) == 0 {
		return tuneExample
	}
	return "gowhy tune --knob GOMAXPROCS=1.." + strconv.Itoa(max(2, runtime.NumCPU())) + " -- " + shell.Words(command)
}

// search reads the flags.
func (f *tuneFlags) search() (experiment.Search, error) {
	s := experiment.Search{Repeats: f.repeats, Seed: f.order()}
	switch {
	case len(f.command) == 0:
		return s, usageError(tuneExample, "no command was given")
	case len(f.knobs) == 0:
		return s, usageError(tuneHint(f.command), "specify which setting to vary")
	case f.repeats < 1 || f.repeats > mostRepeats:
		return s, usageError("--repeats 3", "--repeats %d is not between 1 and %d", f.repeats, mostRepeats)
	}
	if err := f.workFlags.check(&f.Work); err != nil {
		return s, err
	}
	var err error
	if s.Goal, err = f.parseGoal(); err != nil {
		return s, err
	}
	for _, k := range f.keep {
		keep, err := parseKeep(k)
		if err != nil {
			return s, err
		}
		s.Keep = append(s.Keep, keep)
	}
	for _, k := range f.knobs {
		knob, err := trial.ParseKnob(k, f.command)
		if err != nil {
			return s, err
		}
		if slices.ContainsFunc(s.Knobs, func(o experiment.Knob) bool { return o.Name == knob.Name }) {
			return s, usageError("give each knob once", "the knob %q was given twice", knob.Name)
		}
		s.Knobs = append(s.Knobs, knob)
	}
	if err := f.parseStarts(s.Knobs); err != nil {
		return s, err
	}
	return s, trial.CheckPlaces(f.command, s.Knobs)
}

// mostRepeats bounds what a slip of the pen can ask for.
const mostRepeats = 100

var goalForm = regexp.MustCompile(`^\s*(?:(min|max)\s*\(\s*([^()]+?)\s*\)|([^()]+?))\s*$`)

// parseGoal reads min(elapsed), max(ops/s), or a metric whose good direction is
// known.
func (f *tuneFlags) parseGoal() (experiment.Goal, error) {
	if f.goal == "" {
		if f.Load != "" {
			return experiment.Goal{Metric: diagnosis.OpsPerSec, Max: true}, nil
		}
		return experiment.Goal{Metric: diagnosis.Elapsed}, nil
	}
	m := goalForm.FindStringSubmatch(f.goal)
	if m == nil {
		return experiment.Goal{}, usageError("--goal 'min(elapsed)'", "--goal %q is not min(METRIC) or max(METRIC)", f.goal)
	}
	name := cmp.Or(m[2], m[3])
	if err := knownMetric("goal", "%s", name); err != nil {
		return experiment.Goal{}, err
	}
	g := experiment.Goal{Metric: diagnosis.Metric(name), Max: m[1] == "max"}
	if m[1] == "" {
		g.Max = experiment.InfoOf(g.Metric).More
	}
	return g, nil
}

var keepForm = regexp.MustCompile(`^\s*([^<>=\s]+)\s*([<>])=?\s*(\S.*?)\s*$`)

// parseKeep reads p99<5ms, peak-rss<300MiB, ops/s>1000.
func parseKeep(s string) (experiment.Keep, error) {
	m := keepForm.FindStringSubmatch(s)
	if m == nil {
		return experiment.Keep{}, usageError("--keep 'p99<5ms'", "--keep %q is no limit", s)
	}
	if err := knownMetric("keep", "'%s"+m[2]+strings.ReplaceAll(m[3], "%", "%%")+"'", m[1]); err != nil {
		return experiment.Keep{}, err
	}
	k := experiment.Keep{Metric: diagnosis.Metric(m[1]), AtMost: m[2] == "<"}
	var ok bool
	if k.Limit, ok = parseQuantity(m[3], experiment.InfoOf(k.Metric).Unit); !ok {
		return k, usageError("--keep 'p99<5ms'   or   --keep 'peak-rss<300MiB'", "--keep %q: %q is no limit of %s", s, m[3], m[1])
	}
	return k, nil
}

// parseQuantity reads a number in a metric's unit.
func parseQuantity(s string, u fact.Unit) (float64, bool) {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v, v >= 0 && !math.IsInf(v, 0)
	}
	switch u {
	case fact.Seconds:
		d, err := time.ParseDuration(strings.ReplaceAll(s, " ", ""))
		return d.Seconds(), err == nil && d >= 0
	case fact.Bytes:
		n, ok := trial.ParseSize(s)
		return float64(n), ok
	}
	return 0, false
}

// parseStarts reads what the knobs have now.
func (f *tuneFlags) parseStarts(knobs []experiment.Knob) error {
	for _, s := range f.starts {
		name, value, err := trial.ParseSetting("start", s)
		if err != nil {
			return err
		}
		name = trial.RuntimeName(name, f.command)
		i := slices.IndexFunc(knobs, func(k experiment.Knob) bool { return k.Name == name })
		if i < 0 {
			return usageError("--start "+knobs[0].Name+"=…", "--start %q is not of a knob", s)
		}
		if knobs[i].Start, err = trial.KnobValue(&knobs[i], value); err != nil {
			return err
		}
	}
	return nil
}

// runsDone tells how far a search is.
func runsDone(line *statusLine) func(done, of int, what string) {
	begin := time.Now()
	return func(done, of int, what string) {
		left := ""
		if done > 0 && of > done {
			each := time.Since(begin) / time.Duration(done)
			left = "; about " + figures.Duration(each*time.Duration(of-done)) + " left"
		}
		total := fmt.Sprintf(" of about %d", of)
		if done >= of { // a search that finds more to try is not always at its last run
			total = ", more than foreseen"
		}
		line.SetClock("run %d%s: %s%s", done+1, total, what, left)
	}
}
