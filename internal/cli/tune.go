package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/figures"
	"github.com/gowhy/gowhy/internal/intake"
	"github.com/gowhy/gowhy/internal/layout"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/shell"
	"github.com/gowhy/gowhy/internal/subject"
	"github.com/gowhy/gowhy/internal/trialreport"
)

// tuneFlags are the flags of tune.
type tuneFlags struct {
	knobs, starts, keep []string
	subjectFlags
	goal           string
	repeats        int
	noTrace        bool
	csv, svg, html string
	files, command []string // before and after --
}

func (c *command) tuneCommand() *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune --knob NAME=LOW..HIGH [-- CMD]",
		Short: "Find the smallest setting that is as good as the best",
		Long: `Runs a program with many settings, in rounds that visit all of them in a new
order each, and recommends the smallest setting within 3 % of the best that
holds the limits. The whole curve is shown, with 95 % intervals and what it
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
  gowhy tune tuned.json --svg curve.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.files, f.command = args, nil
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				f.files, f.command = args[:n], args[n:]
			}
			return c.tune(cmd.Context(), f)
		},
	}
	cmd.SetFlagErrorFunc(badFlag(tuneExample))
	flags := cmd.Flags()
	flags.StringArrayVar(&f.knobs, "knob", nil, "turn this knob: `NAME=LOW..HIGH` or NAME=A,B,C; repeatable")
	flags.StringArrayVar(&f.starts, "start", nil, "what a knob has now: `NAME=VALUE`; repeatable (default GOMAXPROCS and\nGOGC as they are without, others the lowest value)")
	flags.StringVar(&f.goal, "goal", "", "min(`METRIC`) or max(METRIC) (default min(elapsed), with --load max(ops/s))")
	flags.StringArrayVar(&f.keep, "keep", nil, "recommend only what holds this `LIMIT`, like p99<5ms; repeatable")
	flags.IntVar(&f.repeats, "repeats", 3, "run each setting at least this `MANY` times")
	f.subjectFlags.flags(cmd, "search", "write the result as JSON")
	flags.BoolVar(&f.noTrace, "no-trace", false, "record no trace for the formulas of worker counts")
	flags.StringVar(&f.csv, "csv", "", "write the curve as CSV to this `FILE`")
	flags.StringVar(&f.svg, "svg", "", "draw the curve as SVG in this `FILE`")
	flags.StringVar(&f.html, "html", "", "write a page with the picture and a table to this `FILE`")
	return cmd
}

const tuneExample = "gowhy tune --knob 'workers=1..1000' -- ./app -workers {workers}"

// tune searches, or shows a search.
func (c *command) tune(ctx context.Context, f *tuneFlags) error {
	for _, path := range []string{f.out, f.csv, f.svg, f.html} {
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
	run, err := f.runner(c, say)
	if err != nil {
		return err
	}
	s.At = run.at
	run.recordFor(&s, f)
	r, err := experiment.Tune(ctx, s, runsDone(say))
	say.clear()
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
	r.Command, r.Load, r.Ready = f.command, f.load, f.ready
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

// metricHint is a goal that these runs have, or how to get the one asked for.
func metricHint(f *tuneFlags, e *experiment.MissingMetricError) string {
	latency := e.Metric == diagnosis.P50 || e.Metric == diagnosis.P99
	kept := slices.ContainsFunc(f.keep, func(k string) bool { return strings.HasPrefix(strings.TrimSpace(k), string(e.Metric)) })
	switch {
	case e.Metric == diagnosis.PeakRSS:
		return "give each run more work: one of milliseconds is over before its memory was looked at"
	case latency && f.load == "":
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
	}{{f.csv, trialreport.TunedCSV}, {f.svg, trialreport.TunedSVG}, {f.html, trialreport.TunedHTML}} {
		if file.path == "" {
			continue
		}
		if err := c.output(file.path, func(w io.Writer, _ layout.Options) error { return file.write(w, r) }); err != nil {
			return err
		}
	}
	if slices.Contains([]string{f.out, f.csv, f.svg, f.html}, "-") {
		return nil // standard output has it
	}
	if f.asJSON {
		return c.output("", func(w io.Writer, _ layout.Options) error { return r.Encode(w) })
	}
	return c.output("", func(w io.Writer, o layout.Options) error { return trialreport.Tuned(w, r, o) })
}

// savedTuned shows a search that was saved.
func (c *command) savedTuned(f *tuneFlags) error {
	path := f.files[0]
	switch {
	case isProgram(path) && len(f.command) == 0:
		return misused(tuneHint(f.files), "%q is a program: it comes after --", path)
	case len(f.knobs) > 0 || len(f.command) > 0 || len(f.files) > 1:
		return misused(tuneHint(append(slices.Clone(f.files), f.command...)), "%q is before the --, where a saved search is expected", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return misused(tuneExample, "cannot read %q: %v", path, problem.Cause(err))
	}
	switch {
	case intake.Kind(data) == experiment.TrialKind:
		return misused("gowhy verify "+shell.Words(f.files), "%q is a saved trial", path)
	case intake.Kind(data) != experiment.TunedKind:
		return misused(tuneHint(f.files), "%q is no saved search", path)
	}
	r, err := experiment.DecodeTuned(bytes.NewReader(data))
	if err != nil {
		return problem.New(problem.Absence, "gowhy tune … -o tuned.json", "%q is a damaged search: %v", path, err)
	}
	return c.showTuned(f, r)
}

// tuneHint is how one tunes the command that was given.
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
		return s, misused(tuneExample, "no command was given")
	case len(f.knobs) == 0:
		return s, misused(tuneHint(f.command), "nothing says what to turn")
	case f.repeats < 1 || f.repeats > mostRepeats:
		return s, misused("--repeats 3", "--repeats %d is not between 1 and %d", f.repeats, mostRepeats)
	}
	if err := f.check(); err != nil {
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
		knob, err := parseKnob(k, f.command)
		if err != nil {
			return s, err
		}
		if slices.ContainsFunc(s.Knobs, func(o experiment.Knob) bool { return o.Name == knob.Name }) {
			return s, misused("give each knob once", "the knob %q was given twice", knob.Name)
		}
		s.Knobs = append(s.Knobs, knob)
	}
	if err := f.parseStarts(s.Knobs); err != nil {
		return s, err
	}
	return s, f.checkPlaces(s.Knobs)
}

// mostRepeats bounds what a slip of the pen can ask for.
const mostRepeats = 100

var goalForm = regexp.MustCompile(`^\s*(?:(min|max)\s*\(\s*([^()]+?)\s*\)|([^()]+?))\s*$`)

// parseGoal reads min(elapsed), max(ops/s), or a metric whose good direction is
// known.
func (f *tuneFlags) parseGoal() (experiment.Goal, error) {
	if f.goal == "" {
		if f.load != "" {
			return experiment.Goal{Metric: diagnosis.OpsPerSec, Max: true}, nil
		}
		return experiment.Goal{Metric: diagnosis.Elapsed}, nil
	}
	m := goalForm.FindStringSubmatch(f.goal)
	if m == nil {
		return experiment.Goal{}, misused("--goal 'min(elapsed)'", "--goal %q is not min(METRIC) or max(METRIC)", f.goal)
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
		return experiment.Keep{}, misused("--keep 'p99<5ms'", "--keep %q is no limit", s)
	}
	if err := knownMetric("keep", "'%s"+m[2]+strings.ReplaceAll(m[3], "%", "%%")+"'", m[1]); err != nil {
		return experiment.Keep{}, err
	}
	k := experiment.Keep{Metric: diagnosis.Metric(m[1]), AtMost: m[2] == "<"}
	var ok bool
	if k.Limit, ok = parseQuantity(m[3], experiment.InfoOf(k.Metric).Unit); !ok {
		return k, misused("--keep 'p99<5ms'   or   --keep 'peak-rss<300MiB'", "--keep %q: %q is no limit of %s", s, m[3], m[1])
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
		n, ok := parseSize(s)
		return float64(n), ok
	}
	return 0, false
}

// parseKnob reads NAME=LOW..HIGH or NAME=A,B,C.
func parseKnob(s string, command []string) (experiment.Knob, error) {
	name, values, err := parseSetting("knob", s)
	if err != nil {
		return experiment.Knob{}, misused("--knob 'workers=1..1000'   or   --knob GOGC=50,100,200", "--knob %q is not NAME=LOW..HIGH or NAME=A,B,C", s)
	}
	k := experiment.Knob{Name: runtimeName(name, command), Integer: true}
	low, high, isRange := strings.Cut(values, "..")
	words := strings.Split(values, ",")
	if isRange {
		words = []string{low, high}
	}
	for _, w := range words {
		v, err := knobValue(&k, w)
		if err != nil {
			return k, err
		}
		k.Values = append(k.Values, v)
	}
	if isRange {
		k.Low, k.High, k.Values = k.Values[0], k.Values[1], nil
		if k.Low >= k.High {
			return k, misused("--knob '"+name+"="+high+".."+low+"'", "--knob %q: %s is not below %s", s, low, high)
		}
		if k.Low == 0 && !k.Integer {
			return k, misused("--knob '"+name+"=0.1.."+high+"'", "--knob %q: a range of fractions must begin above 0", s)
		}
	} else {
		k.Low, k.High = slices.Min(k.Values), slices.Max(k.Values)
	}
	k.Counts = counts(k)
	k.Start = usualStart(k)
	return k, nil
}

// runtimeName is a knob of the runtime as it is spelled there: nobody names a
// variable gogc, unless the command says so.
func runtimeName(name string, command []string) string {
	upper := strings.ToUpper(name)
	if slices.Contains([]string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT"}, upper) && !hasPlace(command, name) {
		return upper
	}
	return name
}

func hasPlace(command []string, name string) bool {
	return slices.ContainsFunc(command, func(w string) bool { return strings.Contains(w, "{"+name+"}") })
}

// knobValue reads a value: a number, or a size with a unit.
func knobValue(k *experiment.Knob, w string) (float64, error) {
	w = strings.TrimSpace(w)
	if v, err := strconv.ParseFloat(w, 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
		k.Integer = k.Integer && v == math.Trunc(v) && v < 1<<53
		k.Bytes = k.Bytes || k.Name == "GOMEMLIMIT"
		return v, nil
	}
	if n, ok := parseSize(w); ok {
		k.Bytes = true
		return float64(n), nil
	}
	if w == "off" {
		return 0, misused("--knob "+k.Name+"=100,200,400,800", "the value off of %s is no number: give a large one instead", k.Name)
	}
	return 0, misused("--knob '"+k.Name+"=1..1000'   or   --knob "+k.Name+"=64KiB,1MiB", "%q is no value of %s", w, k.Name)
}

// manyOf are parts of names of knobs that count what runs at once.
var manyOf = regexp.MustCompile(`(?i)worker|goroutine|consumer|producer|thread|pool|parallel|concurren|conn|client|proc|listener|jobs`)

var workersOf = regexp.MustCompile(`(?i)worker|goroutine|consumer|pool|parallel|concurren|jobs`)

// counts guesses from a knob's name what it is a number of. A single letter is
// what people call the number of workers in a hurry.
func counts(k experiment.Knob) experiment.Counted {
	letter := len(k.Name) == 1 && strings.ContainsAny(k.Name, "njwpc")
	switch {
	case !k.Integer || k.Bytes || k.Low == 0 && k.High == 0:
		return ""
	case workersOf.MatchString(k.Name) || letter:
		return experiment.Workers
	case manyOf.MatchString(k.Name):
		return experiment.Concurrent
	}
	return ""
}

// usualStart is what a knob has when nobody set it, as far as that is known.
func usualStart(k experiment.Knob) float64 {
	switch k.Name {
	case "GOMAXPROCS":
		return float64(runtime.GOMAXPROCS(0))
	case "GOGC":
		return 100
	case "GOMEMLIMIT":
		return k.High // as near to none as the range has
	}
	return k.Low
}

// parseStarts reads what the knobs have now.
func (f *tuneFlags) parseStarts(knobs []experiment.Knob) error {
	for _, s := range f.starts {
		name, value, err := parseSetting("start", s)
		if err != nil {
			return err
		}
		name = runtimeName(name, f.command)
		i := slices.IndexFunc(knobs, func(k experiment.Knob) bool { return k.Name == name })
		if i < 0 {
			return misused("--start "+knobs[0].Name+"=…", "--start %q is not of a knob", s)
		}
		if knobs[i].Start, err = knobValue(&knobs[i], value); err != nil {
			return err
		}
	}
	return nil
}

var place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// withPlace puts a knob's placeholder where the flag of its name has a value, else
// at the end.
func withPlace(command []string, name string) []string {
	list := slices.Clone(command)
	for i, w := range list {
		flag, _, joined := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case flag != name || !strings.HasPrefix(w, "-"):
		case joined:
			list[i] = w[:strings.IndexByte(w, '=')+1] + "{" + name + "}"
			return list
		case i+1 < len(list):
			list[i+1] = "{" + name + "}"
			return list
		}
	}
	return append(list, "-"+name, "{"+name+"}")
}

// placeTrace stands in a command for the file that a trace is written to.
const placeTrace = "trace"

// checkPlaces refuses a place that nothing fills and a knob that turns nothing.
func (f *tuneFlags) checkPlaces(knobs []experiment.Knob) error {
	for _, w := range f.command {
		for _, m := range place.FindAllStringSubmatch(w, -1) {
			known := m[1] == placeTrace || slices.ContainsFunc(knobs, func(k experiment.Knob) bool { return k.Name == m[1] })
			if !known {
				return misused("--knob '"+m[1]+"=1..100'", "nothing fills {%s} in the command", m[1])
			}
		}
	}
	for _, k := range knobs {
		if !variable.MatchString(k.Name) && !hasPlace(f.command, k.Name) {
			return misused("-- "+shell.Words(withPlace(f.command, k.Name)), "the knob %q turns nothing: there is no {%s} in the command", k.Name, k.Name)
		}
	}
	return nil
}

// A tuneRunner runs the program with settings.
type tuneRunner struct {
	program subject.Program
	spec    subject.Spec
	traces  bool // the command takes the name of a trace's file
}

func (f *tuneFlags) runner(c *command, say *statusLine) (*tuneRunner, error) {
	spec, err := f.spec(say)
	if err != nil {
		return nil, err
	}
	return &tuneRunner{program: subject.Program{Command: f.command}, spec: spec, traces: hasPlace(f.command, placeTrace)}, nil
}

// subject is the program with a setting; trace is the file for a trace, empty
// for none.
func (r *tuneRunner) subject(s experiment.Setting, trace string) (*subject.Subject, error) {
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		values[name] = strconv.FormatFloat(s[name], 'f', -1, 64)
	}
	if r.traces {
		values[placeTrace] = trace
	}
	p, err := r.program.With(values)
	if err != nil {
		return nil, err
	}
	spec := r.spec
	spec.Program = p
	return subject.New(spec)
}

func (r *tuneRunner) at(s experiment.Setting) experiment.Run {
	return func(ctx context.Context) (experiment.Sample, error) {
		sub, err := r.subject(s, "")
		if err != nil {
			return experiment.Sample{}, err
		}
		defer sub.Close()
		return sub.Run(ctx)
	}
}

// recordFor lets the search have traces when it has a use for them.
func (r *tuneRunner) recordFor(s *experiment.Search, f *tuneFlags) {
	switch {
	case f.noTrace:
		s.NoRecord = "--no-trace was given"
	case r.traces:
		s.Record = r.written
	default:
		s.Record = r.recorded
	}
}

// written has the program write the trace itself.
func (r *tuneRunner) written(ctx context.Context, s experiment.Setting) (*model.Model, error) {
	dir, err := os.MkdirTemp("", "gowhy-trace-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trace.out")
	sub, err := r.subject(s, file)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	if _, err := sub.Run(ctx); err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return nil, errors.New("the program wrote no trace to the file that {trace} named")
	}
	return evidence.Load(ctx, []string{file}, evidence.Options{})
}

// recorded records the program's trace.
func (r *tuneRunner) recorded(ctx context.Context, s experiment.Setting) (*model.Model, error) {
	spec := r.spec
	spec.Also = []string{string(model.Trace)}
	traced := &tuneRunner{program: r.program, spec: spec}
	sub, err := traced.subject(s, "")
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	_, m, err := sub.Count(ctx)
	if err == nil && m.Sched == nil {
		err = errors.New("the program cannot be traced: it has neither net/http/pprof nor gowhy's agent, and takes no file's name for {trace}")
		m = nil
	}
	return m, err
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
		line.set("run %d of about %d: %s%s", done+1, max(of, done+1), what, left)
	}
}
