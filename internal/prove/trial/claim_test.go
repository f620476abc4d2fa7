package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// hinted returns an error with its hint, "" for none.
func hinted(err error) string {
	var p *problem.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &p):
		return p.What + " | " + p.Hint
	}
	return err.Error()
}

// A finding is chosen by its rule, symptoms too; who names none or a wrong one is told what
// there is.
func TestChoose(t *testing.T) {
	decided := func(rule string) diagnosis.Finding {
		return diagnosis.Finding{Rule: rule, Experiment: &diagnosis.Experiment{}}
	}
	found := &diagnosis.Diagnosis{Findings: []diagnosis.Finding{
		{Rule: "idleprocs"},
		{Rule: "hotmutex", Experiment: &diagnosis.Experiment{}, Symptoms: []diagnosis.Finding{decided("futexstorm")}},
	}}
	for _, c := range []struct {
		name, apply string
		in          *diagnosis.Diagnosis
		want        string // the rule, or the error
	}{
		{"by name", "hotmutex", found, "hotmutex"},
		{"a symptom", "futexstorm", found, "futexstorm"},
		{"that nothing decides", "idleprocs", found, "idleprocs"},
		{"misspelt", "futexstrom", found, `r.gowhy has no finding "futexstrom"; found there: hotmutex, futexstorm | gowhy verify r.gowhy --apply futexstorm`},
		{"none", "", found, "no finding was named; found there: hotmutex, futexstorm | gowhy verify r.gowhy --apply hotmutex"},
		{"nothing there", "gccost", &diagnosis.Diagnosis{}, `r.gowhy has no finding "gccost"; nothing that an experiment decides was found there | gowhy diagnose r.gowhy`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Setup{Files: []string{"r.gowhy"}, Apply: c.apply}
			f, err := s.choose(c.in)
			got := hinted(err)
			if err == nil {
				got = f.Rule
			}
			if got != c.want {
				t.Errorf("choose(%q) = %s, want %s", c.apply, got, c.want)
			}
		})
	}
}

// A claim asks for a replay where there is one trace, and for nothing where no experiment decides.
func TestClaim(t *testing.T) {
	knob := &diagnosis.Experiment{Set: []string{"GOMAXPROCS=2"}, Primary: diagnosis.Elapsed}
	traced := &model.Model{Run: model.Run{Command: []string{"./app"}}, Sched: &model.Sched{}}
	for _, c := range []struct {
		name    string
		finding diagnosis.Finding
		m       *model.Model
		files   []string
		replays int
		want    string // of the error
	}{
		{"a trace", diagnosis.Finding{Rule: "r", Experiment: knob}, traced, []string{"a"}, 1, ""},
		{"two files", diagnosis.Finding{Rule: "r", Experiment: knob}, traced, []string{"a", "b"}, 0, ""},
		{"no trace", diagnosis.Finding{Rule: "r", Experiment: knob}, &model.Model{Run: traced.Run}, []string{"a"}, 0, ""},
		{"no experiment", diagnosis.Finding{Rule: "r", Title: "T", Prove: "look"}, traced, []string{"a"}, 0,
			`no run of the program can decide about "T": look | gowhy explain r`},
		{"no experiment, no proof", diagnosis.Finding{Rule: "r", Title: "T", Try: []string{"gowhy try"}}, traced, []string{"a"}, 0,
			`no run of the program can decide about "T": its proof is not an experiment | gowhy try`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, replays := Setup{Files: c.files, Apply: "r"}, 0
			k, err := s.Claim(&diagnosis.Diagnosis{Findings: []diagnosis.Finding{c.finding}}, c.m, func(path string, f *diagnosis.Finding) *Replay {
				replays++
				return &Replay{elapsed: 0.5}
			})
			if got := hinted(err); got != c.want || replays != c.replays {
				t.Fatalf("Claim() = %s with %d replays, want %q with %d", got, replays, c.want, c.replays)
			}
			if err == nil && (k.from != strings.Join(c.files, ", ") || !slices.Equal(s.Change.Knobs, knob.Set)) {
				t.Errorf("Claim() is from %q with the knobs %v, want %v and those of the finding", k.from, s.Change.Knobs, c.files)
			}
		})
	}
}

func TestPredicted(t *testing.T) {
	promises := &Claim{Finding: diagnosis.Finding{Experiment: &diagnosis.Experiment{Promised: []diagnosis.Promise{{Metric: diagnosis.OpsPerSec, Best: 2, Method: "bound"}}}}}
	replayed := &Claim{replay: &Replay{elapsed: 0.8, cpu: 0.9, how: "replay"}}
	for _, c := range []struct {
		name     string
		k        *Claim
		m        diagnosis.Metric
		best     float64
		estimate float64
	}{
		{"no finding", nil, diagnosis.Elapsed, 0, 0},
		{"silent", &Claim{}, diagnosis.Elapsed, 0, 0},
		{"a bound", promises, diagnosis.OpsPerSec, 2, 0},
		{"a bound of something else", promises, diagnosis.P99, 0, 0},
		{"a replay: time", replayed, diagnosis.Elapsed, 0, 0.8},
		{"a replay: rate", replayed, diagnosis.OpsPerSec, 0, 1.25},
		{"a replay: CPU", replayed, diagnosis.CPUPerOp, 0, 0.9},
		{"a replay: allocations", replayed, diagnosis.AllocsOp, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.k.prediction(c.m)
			if c.best+c.estimate == 0 {
				if got != nil {
					t.Errorf("predicted(%s) = best %v, estimate %v, want none", c.m, got.Best, got.Estimate)
				}
				return
			}
			if got == nil || got.Best != c.best || got.Estimate != c.estimate || (got.Replay != "") != (c.estimate > 0) || (got.Method != "") != (c.best > 0) {
				t.Errorf("predicted(%s) = %v, want best %v and estimate %v, each with its method", c.m, got, c.best, c.estimate)
			}
		})
	}
}

// What a rule needs is recorded in counted runs, unless a count decides.
func TestSources(t *testing.T) {
	rules := []*diagnosis.Rule{{Name: "r", Needs: []model.Source{model.Trace, model.Heap, model.LiveHeap, model.LoadResult}}}
	claim := func(rule string, primary diagnosis.Metric) *Claim {
		return &Claim{Finding: diagnosis.Finding{Rule: rule}, Experiment: diagnosis.Experiment{Primary: primary}}
	}
	for _, c := range []struct {
		name string
		k    *Claim
		want []string
	}{
		{"no finding", nil, nil},
		{"time decides", claim("r", diagnosis.Elapsed), []string{"trace", "allocs", "heap"}}, // nothing records a load
		{"a count decides", claim("r", diagnosis.AllocsOp), nil},
		{"another's rule", claim("other", diagnosis.Elapsed), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.k.sources(rules); !slices.Equal(got, c.want) {
				t.Errorf("sources() = %v, want %v", got, c.want)
			}
		})
	}
}

// Each combination of flags that means nothing is refused with what to give instead.
func TestCheck(t *testing.T) {
	app := []string{"./app"}
	for _, c := range []struct {
		name    string
		f       Change
		command []string
		want    string
	}{
		{"one of two", Change{A: "x"}, nil, "only one of --a and --b"},
		{"two and a command", Change{A: "x", B: "y"}, app, "both --a, --b and a command"},
		{"two and a build", Change{A: "x", B: "y", Bench: "."}, nil, "both --a, --b and a package"},
		{"head alone", Change{Head: "v2"}, app, "--head was given without --base | --base HEAD --head v2"},
		{"a package for nothing", Change{Package: "./p", Knobs: []string{"X=1"}}, app, "nothing is to be built | --base HEAD --package ./p"},
		{"benchtime alone", Change{Benchtime: "1s"}, app, "--benchtime was given without --bench | --bench . --benchtime 1s"},
		{"bench and a command", Change{Bench: "."}, app, "both --bench and a command"},
		{"a build without a place", Change{Base: "HEAD"}, []string{"./app", "-n", "1"}, "where what was built goes | -- {binary} -n 1"},
		{"a benchtime of no form", Change{Bench: ".", Benchtime: "many", Base: "HEAD"}, nil, `"many" is neither a time nor a number`},
		{"a benchmark and no change", Change{Bench: "Parse"}, nil, "specify what differs between A and B | gowhy verify --base HEAD --bench Parse"},
		{"a command and no change", Change{}, app, "specify what differs between A and B | gowhy verify --knob GOMAXPROCS=2 -- ./app"},
		{"nothing at all", Change{}, nil, "specify what differs between A and B | gowhy verify --a './old -n 1000' --b './new -n 1000'"},
		{"a knob of nothing", Change{Knobs: []string{"GOGC=1"}}, nil, "no command was given"},
		{"two and an upgrade", Change{A: "x", B: "y", Upgrade: []string{"m@v1"}}, nil, "both --a, --b and a package"},
		{"a revision and an upgrade", Change{Base: "HEAD", Go: "1.26.3"}, nil, "both --base and --upgrade or --go were given"},
		{"an upgrade without a place", Change{Upgrade: []string{"m@v1"}}, app, "where what was built goes | -- {binary}"},
		{"an upgrade of no version", Change{Upgrade: []string{"m@v1", "example.com/m"}}, nil, "no MODULE@VERSION | --upgrade example.com/m@latest"},
		{"an upgrade that is a flag", Change{Upgrade: []string{"-x@v1"}}, nil, "no MODULE@VERSION"},
		{"a Go of no form", Change{Go: "latest"}, nil, `--go "latest" is no release of Go | --go 1.26.3`},
		{"two commands", Change{A: "x", B: "y"}, nil, ""},
		{"an upgrade", Change{Upgrade: []string{"example.com/m@latest"}}, nil, ""},
		{"another Go", Change{Go: "go1.27rc1", Bench: "."}, nil, ""},
		{"a build", Change{Base: "HEAD"}, nil, ""},
		{"a knob", Change{Knobs: []string{"GOGC=1"}}, app, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := hinted(c.f.Check(c.command)); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("Check() = %q, want %q", got, c.want)
			}
		})
	}
}

func TestCheckPlaces(t *testing.T) {
	knob := func(names ...string) (list []experiment.Knob) {
		for _, n := range names {
			list = append(list, experiment.Knob{Name: n})
		}
		return list
	}
	for _, c := range []struct {
		name, command string
		knobs         []experiment.Knob
		want          string
	}{
		{"filled", "./app -w {w} {trace}", knob("w"), ""},
		{"of the environment", "./app", knob("GOGC"), ""},
		{"a place for nothing", "./app -w {w}", nil, "nothing fills {w} in the command | --knob 'w=1..100'"},
		{"a knob for nothing", "./app -w 4", knob("w"), `the knob "w" turns nothing: there is no {w} in the command | -- ./app -w {w}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := hinted(CheckPlaces(strings.Fields(c.command), c.knobs)); got != c.want {
				t.Errorf("CheckPlaces(%s) = %q, want %q", c.command, got, c.want)
			}
		})
	}
}

// What must not become worse: nothing of a benchmark, memory of a program, latency where a
// load asks for it.
func TestGuards(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Setup
		want []diagnosis.Metric
	}{
		{"a benchmark", Setup{Change: Change{Bench: "."}}, nil},
		{"a program", Setup{}, []diagnosis.Metric{diagnosis.PeakRSS}},
		{"under load", Setup{Work: Work{Load: "gowhy load x"}}, []diagnosis.Metric{diagnosis.P99, diagnosis.PeakRSS}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []diagnosis.Metric
			for _, g := range c.s.Guards() {
				got = append(got, g.Metric)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Guards() = %v, want %v", got, c.want)
			}
		})
	}
}

// A fakeRunner gives the same values each time.
type fakeRunner struct {
	values map[diagnosis.Metric]float64
	m      *model.Model
	err    error
	closed int
}

func (r *fakeRunner) Run(context.Context) (experiment.Sample, error) {
	return experiment.Sample{Values: r.values}, r.err
}

func (r *fakeRunner) Count(context.Context) (experiment.Sample, *model.Model, error) {
	return experiment.Sample{Values: r.values}, r.m, r.err
}

func (r *fakeRunner) Close() error { r.closed++; return nil }

// A quietLine keeps what is logged.
type quietLine struct{ logs []string }

func (*quietLine) Step(string, ...any) {}
func (l *quietLine) Log(text string)   { l.logs = append(l.logs, text) }
func (*quietLine) Clear()              {}

func TestFirstBenchmark(t *testing.T) {
	values := func(names ...diagnosis.Metric) map[diagnosis.Metric]float64 {
		out := map[diagnosis.Metric]float64{}
		for _, n := range names {
			out[n] = 1
		}
		return out
	}
	broken := errors.New("it does not compile")
	for _, c := range []struct {
		name  string
		r     fakeRunner
		asked diagnosis.Metric
		want  string
		logs  int
	}{
		{"one", fakeRunner{values: values("BenchmarkA ns/op", "BenchmarkA B/op")}, "", "BenchmarkA ns/op", 0},
		{"the first of two", fakeRunner{values: values("BenchmarkB ns/op", "BenchmarkA ns/op")}, "", "BenchmarkA ns/op", 1},
		{"what was asked for", fakeRunner{values: values("BenchmarkA ns/op", "BenchmarkA allocs/op")}, "allocs/op", "BenchmarkA allocs/op", 0},
		{"what none has", fakeRunner{values: values("BenchmarkA ns/op")}, "allocs/op", "allocs/op", 0},
		{"no benchmark", fakeRunner{err: problem.New(problem.Absence, "", "none ran")}, "", `no benchmark of ./p matches "Parse" | go test -list Benchmark ./p`, 0},
		{"broken", fakeRunner{err: broken}, "", broken.Error(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, line := Setup{Change: Change{Bench: "Parse", Package: "./p"}}, &quietLine{}
			m, err := s.firstBenchmark(t.Context(), &arm{subject: &c.r}, c.asked, line)
			got := string(m) + hinted(err)
			if got != c.want || len(line.logs) != c.logs {
				t.Errorf("firstBenchmark(%q) = %s with %d lines, want %s with %d", c.asked, got, len(line.logs), c.want, c.logs)
			}
		})
	}
}

// A counted run keeps what the rules find in it, and nothing of one that failed.
func TestCount(t *testing.T) {
	rules := []*diagnosis.Rule{{Name: "always", Check: func(p *diagnosis.Pass) { p.Fine("it ran") }}}
	for _, c := range []struct {
		name  string
		r     fakeRunner
		found int
	}{
		{"a model", fakeRunner{m: &model.Model{}}, 1},
		{"none", fakeRunner{}, 0},
		{"failed", fakeRunner{m: &model.Model{}, err: errors.New("exit 1")}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &arm{subject: &c.r}
			if _, err := a.count(rules)(t.Context()); err != c.r.err || len(a.found) != c.found {
				t.Errorf("count() = %v with %d diagnoses, want %v with %d", err, len(a.found), c.r.err, c.found)
			}
		})
	}
}

// Both arms are made before anything runs, and a fix that changes nothing is refused.
func TestArms(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     Setup
		want  string // A and B, or the error
		equal bool
	}{
		{"a knob", Setup{Command: []string{"true", "{w}"}, Change: Change{Knobs: []string{"w=1:2"}}}, "true 1 | true 2", false},
		{"the same twice", Setup{Command: []string{"true", "{w}"}, Change: Change{Knobs: []string{"w=1:1"}}}, "true 1 | true 1", true},
		{"a fix that is none", Setup{Command: []string{"true", "{w}"}, Apply: "r", Change: Change{Knobs: []string{"w=1:1"}}}, "A and B are the same: true 1 | gowhy verify --knob GOMAXPROCS=2 -- true {w}", true},
		{"no such program", Setup{Command: []string{"./none-such", "{w}"}, Change: Change{Knobs: []string{"w=1:2"}}}, "none-such", false},
		{"a load of no form", Setup{Work: Work{Load: "'open"}, Command: []string{"true", "{w}"}, Change: Change{Knobs: []string{"w=1:2"}}}, "open", false},
		{"no value for a knob", Setup{Command: []string{"true"}, Change: Change{Knobs: []string{"w"}}}, "w", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b, err := c.s.arms(t.Context(), t.TempDir(), &quietLine{})
			got := hinted(err)
			if err == nil {
				defer a.close()
				defer b.close()
				got = fmt.Sprintf("%s | %s", strings.Join(a.about.Command, " "), strings.Join(b.about.Command, " "))
			}
			if !strings.Contains(got, c.want) || c.s.Change.identical != c.equal {
				t.Errorf("arms() = %s, identical %v; want %s, %v", got, c.s.Change.identical, c.want, c.equal)
			}
		})
	}
}

// The report has what is compared and how to repeat it, with the finding that is tried.
func TestAbout(t *testing.T) {
	s := Setup{Work: Work{Load: "load", Ready: ":80"}, Args: []string{"verify", "--pairs", "9", "r.gowhy"}}
	a, b := &arm{about: experiment.Arm{Name: "old"}}, &arm{about: experiment.Arm{Name: "new"}}
	got := s.about(a, b, nil)
	if got.Finding != nil || got.A.Name != "old" || got.B.Name != "new" || got.Load != "load" || got.Ready != ":80" || !slices.Equal(got.Again, []string{"verify", "r.gowhy"}) {
		t.Errorf("about() = %+v, want both arms, the load and the command without the number of pairs", got)
	}
	k := &Claim{Finding: diagnosis.Finding{Rule: "r", Title: "T"}, Experiment: diagnosis.Experiment{Note: "n", Tune: "w=1..9"}, from: "r.gowhy"}
	if f := s.about(a, b, k).Finding; f == nil || f.Rule != "r" || f.Note != "n" || f.Tune != "w=1..9" || f.From != "r.gowhy" {
		t.Errorf("about().Finding = %+v, want what the claim says", f)
	}
	for _, c := range []struct {
		s    Setup
		want bool
	}{{Setup{Work: Work{Ready: ":80"}}, true}, {Setup{Work: Work{Ready: ":80", Load: "x"}}, false}, {Setup{}, false}} {
		if got := c.s.startup(); got != c.want {
			t.Errorf("startup() of ready %q and load %q = %v, want %v", c.s.Ready, c.s.Load, got, c.want)
		}
	}
	counted := experiment.Plan{CountA: a.count(nil)}
	if plain, all := runsBefore(experiment.Plan{}), runsBefore(counted); plain != 2 || all != 6 {
		t.Errorf("runsBefore() = %d, and %d where all is counted; want 2 and 6", plain, all)
	}
}
