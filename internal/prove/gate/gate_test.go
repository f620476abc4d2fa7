package gate

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

func TestMain(m *testing.M) {
	if os.Getenv(subject.CalibrateVariable) != "" {
		subject.Calibrate()
		return
	}
	os.Exit(m.Run())
}

// A bench has numbers instead of programs: what each arm's runs measure.
type bench struct {
	base, head func(run int) map[diagnosis.Metric]float64
	noise      float64
	runs       [2]int
	patterns   []string
	err        error // of the base
}

func (b *bench) arms(context.Context, *CheckPolicy, step) (pair, error) {
	if b.err != nil {
		return pair{}, &baseError{b.err}
	}
	of := func(i int, values func(run int) map[diagnosis.Metric]float64) arm {
		run := func(pattern string) experiment.Runner {
			return func(ctx context.Context) (experiment.Sample, error) {
				b.runs[i]++
				b.patterns = append(b.patterns, pattern)
				return experiment.Sample{Values: values(b.runs[i]), Elapsed: time.Millisecond}, ctx.Err()
			}
		}
		return arm{count: run, time: run}
	}
	return pair{base: of(0, b.base), head: of(1, b.head), at: map[string]Position{"BenchmarkA": {"a_test.go", 12}}}, nil
}

func (b *bench) floor(context.Context, step) (float64, error) { return b.noise, nil }

// measured runs a policy of one check on numbers.
func measured(t *testing.T, b *bench, limits ...Limit) *Result {
	t.Helper()
	p := &Policy{Pairs: 20, Checks: []CheckPolicy{{Name: "n", Package: "./p", Bench: ".", Iterations: 100, Limits: limits, Line: 3}}}
	g := &gate{policy: p, result: &Result{Policy: "gate.yaml"}, tools: b}
	if err := g.run(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	return g.result
}

type numbers = map[diagnosis.Metric]float64

// always returns the same numbers in every run.
func always(n numbers) func(int) numbers { return func(int) numbers { return n } }

func TestCounters(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head float64
		metric     diagnosis.Metric
		limit      float64
		want       Verdict
		blocks     int // of four runs
	}{
		{"unchanged", 12, 12, diagnosis.AllocsOp, 0, Passed, 1},
		{"one more", 12, 13, diagnosis.AllocsOp, 0, Regressed, 2},
		{"one more is allowed", 12, 13, diagnosis.AllocsOp, 0.1, Passed, 1},
		{"from nothing", 0, 1, diagnosis.AllocsOp, 0.5, Regressed, 2},
		{"one less", 12, 11, diagnosis.AllocsOp, 0, Improved, 1},
		{"bytes allocated once", 0, 5, diagnosis.BytesOp, 0, Passed, 1},
		{"bytes that are not", 0, 32, diagnosis.BytesOp, 0, Regressed, 2},
	} {
		k := key("BenchmarkA", c.metric)
		b := &bench{base: always(numbers{k: c.base}), head: always(numbers{k: c.head})}
		r := measured(t, b, Limit{c.metric, c.limit, 7})
		m := r.Checks[0].Measures
		if len(m) != 1 || m[0].Verdict != c.want || !m[0].Exact || r.Verdict == Improved || (c.want == Regressed) != (r.Verdict == Regressed) {
			t.Errorf("%s: %+v, all %s; want one exact measure, %s, and all as it", c.name, m, r.Verdict, c.want)
		}
		if b.runs != [2]int{2 * c.blocks, 2 * c.blocks} {
			t.Errorf("%s: %v runs, want %d blocks", c.name, b.runs, c.blocks)
		}
		if m[0].At != (Position{"a_test.go", 12}) || (m[0].Again != "") != (c.want == Regressed) {
			t.Errorf("%s: %+v, want it at a_test.go:12, measured once more only if %s", c.name, m[0], Regressed)
		}
	}
}

// What a test binary allocates in some runs is no difference, and a difference
// is found in spite of it.
func TestBackground(t *testing.T) {
	k := key("BenchmarkA", diagnosis.BytesOp)
	for _, c := range []struct {
		head float64
		want Verdict
	}{{872, Passed}, {900, Regressed}} {
		b := &bench{base: always(numbers{k: 872}), head: func(run int) numbers {
			if run%3 == 1 {
				return numbers{k: c.head + 53}
			}
			return numbers{k: c.head}
		}}
		m := measured(t, b, Limit{diagnosis.BytesOp, 0.01, 7}).Checks[0].Measures[0]
		if m.Verdict != c.want || !m.Exact || *m.B != c.head {
			t.Errorf("%v: %+v, want %s, exact, the head as it is", c.head, m, c.want)
		}
	}
}

// A regression that is not there when it is measured again fails nobody.
func TestOnceIsNoRegression(t *testing.T) {
	k := key("BenchmarkA", diagnosis.AllocsOp)
	b := &bench{base: always(numbers{k: 10}), head: func(run int) numbers {
		if run <= 2 {
			return numbers{k: 20}
		}
		return numbers{k: 10}
	}}
	r := measured(t, b, Limit{diagnosis.AllocsOp, 0, 7})
	if m := r.Checks[0].Measures[0]; m.Verdict != Inconclusive || m.Again != "unchanged" || r.Verdict != Passed || r.Summary != "nothing could be decided" {
		t.Errorf("%+v, %s: %s; want %s, then unchanged, and all %s: nothing could be decided", m, r.Verdict, r.Summary, Inconclusive, Passed)
	}
}

// noisy are values that scatter around a middle.
func noisy(k diagnosis.Metric, middle, sd float64, seed uint64) func(int) numbers {
	rng := rand.New(rand.NewPCG(seed, 9))
	return func(int) numbers { return numbers{k: middle * math.Exp(sd*rng.NormFloat64())} }
}

func TestTimes(t *testing.T) {
	k := key("BenchmarkA/x", "ns/op")
	for _, c := range []struct {
		name          string
		base, head    float64
		sd, limit, fl float64
		want          Verdict
	}{
		{"much slower", 100, 150, 0.03, 0.05, 0.04, Regressed},
		{"slower by less than the limit", 100, 106, 0.01, 0.10, 0.02, Passed},
		{"slower by less than the machine's noise", 100, 106, 0.01, 0.02, 0.15, Passed},
		{"the same", 100, 100, 0.02, 0.05, 0.02, Passed},
		{"faster", 100, 60, 0.03, 0.05, 0.02, Improved},
		{"too noisy", 100, 105, 0.5, 0.01, 0.01, Inconclusive},
	} {
		b := &bench{base: noisy(k, c.base, c.sd, 1), head: noisy(k, c.head, c.sd, 2), noise: c.fl}
		r := measured(t, b, Limit{"ns/op", c.limit, 7})
		m := r.Checks[0].Measures
		if len(m) != 1 || m[0].Verdict != c.want || m[0].Benchmark != "A/x" || m[0].Low == nil || m[0].Pairs == 0 {
			t.Errorf("%s: %+v, want one measure of A/x, %s, in pairs with an interval", c.name, m, c.want)
		}
		if last := b.patterns[len(b.patterns)-1]; last != "^BenchmarkA$/^x$" {
			t.Errorf("the benchmark is timed as %q, want it alone", last)
		}
	}
}

// Both arms are one program, on a machine as noisy as that: nothing may fail.
func TestNoiseFailsNobody(t *testing.T) {
	k := key("BenchmarkA", "ns/op")
	for seed := range uint64(60) {
		b := &bench{base: noisy(k, 100, 0.15, 2*seed), head: noisy(k, 100, 0.15, 2*seed+1), noise: 0.05}
		if r := measured(t, b, Limit{"ns/op", 0.02, 7}); r.Verdict != Passed {
			t.Errorf("seed %d: %s, want %s: %+v", seed, r.Verdict, Passed, r.Checks[0].Measures)
		}
	}
}

// A counter that varies is judged by many runs, not by four, unless it differs by many
// times what it varies by.
func TestVaryingCounter(t *testing.T) {
	k := key("BenchmarkA", diagnosis.BytesOp)
	for _, c := range []struct {
		head  float64
		want  Verdict
		exact bool
	}{{10000, Passed, false}, {14000, Regressed, true}} {
		b := &bench{base: noisy(k, 10000, 0.02, 1), head: noisy(k, c.head, 0.02, 2)}
		r := measured(t, b, Limit{diagnosis.BytesOp, 0.1, 7})
		if m := r.Checks[0].Measures[0]; m.Verdict != c.want || m.Exact != c.exact || !c.exact && m.Pairs < 6 {
			t.Errorf("%v: %+v, want %s, exact %v, or else of 6 pairs or more", c.head, m, c.want, c.exact)
		}
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	a, z := key("BenchmarkA", diagnosis.AllocsOp), key("BenchmarkZ", diagnosis.AllocsOp)
	b := &bench{base: always(numbers{a: 1}), head: always(numbers{z: 1})}
	r := measured(t, b, Limit{diagnosis.AllocsOp, 0, 7})
	if c := r.Checks[0]; c.Problem == "" || c.Verdict != Inconclusive || len(c.Warnings) != 2 || r.Verdict != Passed {
		t.Errorf("result %+v, want a check that is %s with a problem and 2 warnings, and all %s", r, Inconclusive, Passed)
	}
	b = &bench{err: errors.New("does not compile")}
	if r := measured(t, b, Limit{diagnosis.AllocsOp, 0, 7}); !strings.Contains(r.Checks[0].Problem, "does not compile") {
		t.Errorf("result %+v, want the problem \"does not compile\"", r)
	}
	b = &bench{base: always(numbers{a: 1, key("BenchmarkA", "widgets/op"): 2}), head: always(numbers{a: 1, key("BenchmarkA", diagnosis.BytesOp): 3})}
	c := measured(t, b, Limit{"widgets/op", 0, 7}, Limit{diagnosis.BytesOp, 0, 8}).Checks[0]
	if len(c.Measures) != 2 || c.Verdict != Inconclusive || c.Measures[0].Why != "it was not measured" || c.Measures[1].At.Line != 12 {
		t.Errorf("check %+v, want two measures, the first not measured, the second at line 12", c)
	}
}

// A limit of what no benchmark reports would let everything pass.
func TestLimitOfNothing(t *testing.T) {
	k := key("BenchmarkA", diagnosis.AllocsOp)
	b := &bench{base: always(numbers{k: 1}), head: always(numbers{k: 1})}
	p := &Policy{File: "gate.yaml", Pairs: 20, Checks: []CheckPolicy{{Name: "n", Package: "./p", Bench: ".", Iterations: 100,
		Limits: []Limit{{diagnosis.AllocsOp, 0, 6}, {"alocs/op", 0, 7}}}}}
	g := &gate{policy: p, result: &Result{}, tools: b}
	var wrong *problem.Error
	if err := g.run(t.Context(), time.Minute); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.What, "gate.yaml:7: ") || !strings.Contains(wrong.What, "allocs/op") {
		t.Errorf("a limit of nothing: error %v, want one at gate.yaml:7 that names allocs/op", err)
	}
}

// A program may end before its memory was looked at, in some runs or in all:
// that keeps nothing else from being judged.
func TestMemoryOfShortPrograms(t *testing.T) {
	for _, limits := range [][]Limit{{{diagnosis.PeakRSS, 0.1, 7}, {diagnosis.CPUPerOp, 0.5, 8}}, {{diagnosis.PeakRSS, 0.1, 7}}} {
		first := true
		b := &bench{base: always(numbers{diagnosis.CPUPerOp: 2, diagnosis.AllocsOp: 1}), head: func(int) numbers {
			n := numbers{diagnosis.CPUPerOp: 2, diagnosis.AllocsOp: 1}
			if first { // the one that tries it out
				n[diagnosis.PeakRSS] = 9e6
			}
			first = false
			return n
		}}
		p := &Policy{Pairs: 20, Checks: []CheckPolicy{{Name: "n", Package: "./p", Command: "{binary}", Limits: limits, Line: 3}}}
		g := &gate{policy: p, result: &Result{Policy: "gate.yaml"}, tools: b}
		if err := g.run(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		m := g.result.Checks[0].Measures
		if len(m) != len(limits) || m[0].Verdict != Inconclusive || m[0].Why != "it was not measured" || len(m) > 1 && m[1].Verdict != Passed {
			t.Errorf("%v: %+v, want a measure of each, the first not measured, the second %s", limits, m, Passed)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	k := key("BenchmarkA", diagnosis.AllocsOp)
	b := &bench{base: always(numbers{k: 1}), head: always(numbers{k: 1})}
	p := &Policy{InconclusiveFails: true, Pairs: 20, Checks: []CheckPolicy{{Name: "n", Bench: ".", Iterations: 100, Limits: []Limit{{diagnosis.AllocsOp, 0, 1}}}}}
	g := &gate{policy: p, result: &Result{InconclusiveFails: true}, tools: b}
	if err := g.run(t.Context(), time.Nanosecond); err != nil || g.result.Verdict != Inconclusive || !strings.Contains(g.result.Checks[0].Problem, "time limit") {
		t.Errorf("a time limit: %v, %+v; want %s and a problem that names it", err, g.result, Inconclusive)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g = &gate{policy: p, result: &Result{}, tools: b}
	if err := g.run(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v, want %v", err, context.Canceled)
	}
}

func TestResultJSON(t *testing.T) {
	k := key("BenchmarkA", diagnosis.AllocsOp)
	r := measured(t, &bench{base: always(numbers{k: 0}), head: always(numbers{k: 3})}, Limit{diagnosis.AllocsOp, 0, 7})
	var b bytes.Buffer
	if err := r.Encode(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(&b)
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("Decode() = %+v, %v; want %+v", again, err, r)
	}
	for _, bad := range []string{"", "{}", `{"kind":"gowhy gate","schema":9}`, `{"kind":"x","schema":1}`, `{"kind":"gowhy gate","schema":1,"checks":3}`} {
		if _, err := Decode(strings.NewReader(bad)); !errors.Is(err, ErrSchema) {
			t.Errorf("Decode(%q): error %v, want %v", bad, err, ErrSchema)
		}
	}
}

// --- a real repository ---

// A repo is a git repository with a module of tiny benchmarks.
type repo struct {
	t   *testing.T
	dir string
}

const tinySource = `package tiny

// Work allocates n times.
func Work(n int) (kept [][]byte) {
	for range n {
		kept = append(kept, make([]byte, 64))
	}
	return kept
}
`

const tinyBenchmarks = `package tiny

import "testing"

var sink [][]byte

func BenchmarkWork(b *testing.B) {
	for b.Loop() {
		sink = Work(8)
	}
}

func BenchmarkNothing(b *testing.B) {
	for b.Loop() {
	}
}
`

func newRepo(t *testing.T) *repo {
	t.Helper()
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	r := &repo{t, t.TempDir()}
	files(t, r.dir, map[string]string{"go.mod": "module example.com/tiny\n\ngo 1.26\n", "tiny/tiny.go": tinySource, "tiny/tiny_test.go": tinyBenchmarks})
	r.git("init", "--quiet", "--initial-branch=main")
	r.commit("first")
	return r
}

func (r *repo) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (r *repo) commit(message string) {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "-m", message)
}

func (r *repo) policy(text string) *Policy {
	r.t.Helper()
	p, err := ParsePolicy(r.dir+"/gate.yaml", strings.NewReader(text))
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *repo) run(text string) *Result {
	r.t.Helper()
	res, err := Run(r.t.Context(), r.policy(text), Options{Dir: r.dir})
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

const allocsPolicy = "checks:\n  - package: ./tiny\n    limits: {allocs/op: 0%, B/op: 1%}\n"

// A planted allocation fails, at its benchmark's line, and nothing else does.
func TestPlantedRegression(t *testing.T) {
	r := newRepo(t)
	files(t, r.dir, map[string]string{"tiny/tiny.go": strings.Replace(tinySource, "return kept", "return append(kept, make([]byte, 64), nil)[:n]", 1)})
	r.commit("planted")
	res := r.run(allocsPolicy)
	if res.Verdict != Regressed || res.Base.Name != "HEAD~1" || res.Head.Modified {
		t.Fatalf("a planted regression: %+v, want %s against HEAD~1 by a clean head", res, Regressed)
	}
	var failed []string
	for _, m := range res.Checks[0].Measures {
		if m.Verdict == Regressed {
			failed = append(failed, fmt.Sprintf("%s %s %s:%d", m.Benchmark, m.Metric, m.At.File, m.At.Line))
		}
	}
	if want := []string{"Work allocs/op tiny/tiny_test.go:7", "Work B/op tiny/tiny_test.go:7"}; !slices.Equal(failed, want) {
		t.Errorf("regressed are %q, want %q: %s", failed, want, mustJSON(res))
	}
}

// How often two equal revisions are compared, and whether by time as well:
//
//	go test ./internal/prove/gate -run TestEqualsPass -equals 20 -timed -v
var (
	equals     = flag.Int("equals", 1, "how often TestEqualsPass compares equal revisions")
	equalsTime = flag.Bool("timed", false, "TestEqualsPass limits ns/op as well")
)

func TestEqualsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs benchmarks")
	}
	r := newRepo(t)
	r.commit("nothing")
	policy := allocsPolicy
	if *equalsTime {
		policy = strings.Replace(policy, "}", ", ns/op: 5%}", 1)
	}
	for i := range *equals {
		res := r.run(policy)
		t.Logf("%d: %s: %s", i+1, res.Verdict, res.Summary)
		if res.Verdict != Passed {
			t.Errorf("equal revisions: %+v, want %s", res.Checks, Passed)
		}
	}
}

func TestBase(t *testing.T) {
	r := newRepo(t)
	ctx := t.Context()
	base := func(asked string) (Revision, Revision, error) {
		t.Helper()
		repo, err := open(ctx, r.dir)
		if err != nil {
			t.Fatal(err)
		}
		head, err := repo.head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b, err := repo.base(ctx, asked, head)
		return b, head, err
	}
	var p *problem.Error
	if _, _, err := base(""); !errors.As(err, &p) || p.Hint == "" {
		t.Errorf("the first commit has none before it: %v, want a problem with a hint", err)
	}
	files(t, r.dir, map[string]string{"gate.json": "{}", "cpu.pprof": "x"})
	if _, _, err := base(""); !errors.As(err, &p) {
		t.Errorf("results that lie about make no change: %v", err)
	}
	files(t, r.dir, map[string]string{"new/new.go": "package new\n"})
	if b, h, err := base(""); err != nil || b.Name != "HEAD" || b.Commit != h.Commit || !h.Modified || h.Name != "working tree" {
		t.Errorf("a modified tree on main: %+v, %+v, %v; want HEAD and the working tree", b, h, err)
	}
	r.commit("second")
	first, _, err := base("")
	if err != nil || first.Name != "HEAD~1" {
		t.Errorf("a clean tree on main: %+v, %v; want HEAD~1", first, err)
	}
	r.git("switch", "--quiet", "-c", "feature", "HEAD~1")
	r.commit("third")
	r.commit("fourth")
	if b, _, err := base(""); err != nil || b.Commit != first.Commit || b.Name != "merge base with main" {
		t.Errorf("a branch: %+v, %v; want its merge base with main", b, err)
	}
	if b, h, err := base("main"); err != nil || b.Commit == h.Commit || b.Name != "main" {
		t.Errorf("base(main) = %+v, %v; want main, not the head", b, err)
	}
	for _, bad := range []string{"nowhere", "--all", "-x"} {
		if _, _, err := base(bad); !errors.As(err, &p) {
			t.Errorf("base(%q): error %v, want a problem", bad, err)
		}
	}
	if _, err := open(ctx, t.TempDir()); !errors.As(err, &p) {
		t.Errorf("no repository: %v", err)
	}
}

func TestRepositoryProblems(t *testing.T) {
	r := newRepo(t)
	r.commit("second")
	var p *problem.Error
	if _, err := Run(t.Context(), r.policy(strings.Replace(allocsPolicy, "./tiny", "./none", 1)), Options{Dir: r.dir}); !errors.As(err, &p) || p.Hint == "" {
		t.Errorf("no package: %v", err)
	}
	if _, err := Run(t.Context(), r.policy("checks:\n  - package: ./tiny\n    bench: Wrok\n    limits: {allocs/op: 0%}\n"), Options{Dir: r.dir}); !errors.As(err, &p) || !strings.Contains(err.Error(), `no benchmark of ./tiny matches "Wrok"`) {
		t.Errorf("a pattern that matches nothing: %v", err)
	}
	// A package that the base does not have yet is new, and no failure.
	files(t, r.dir, map[string]string{"fresh/f_test.go": strings.Replace(tinyBenchmarks, "package tiny", "package fresh", 1) + "\nfunc Work(int) [][]byte { return nil }\n"})
	res := r.run(strings.Replace(allocsPolicy, "./tiny", "./fresh", 1))
	if res.Verdict != Passed || !strings.Contains(res.Checks[0].Problem, "the base cannot be measured") {
		t.Errorf("a new package: %+v, want it passed and the base not measured", res)
	}
	// One of a module of its own is found.
	files(t, r.dir, map[string]string{"nested/go.mod": "module example.com/nested\n\ngo 1.26\n", "nested/n_test.go": strings.Replace(tinyBenchmarks, "package tiny", "package nested", 1) + "\nfunc Work(int) [][]byte { return nil }\n"})
	if res := r.run(strings.Replace(allocsPolicy, "./tiny", "./nested", 1)); !strings.Contains(res.Checks[0].Problem, "the base cannot be measured") {
		t.Errorf("a module of its own: %+v, want the base not measured", res)
	}
	// A change that does not compile is an error of its own.
	files(t, r.dir, map[string]string{"tiny/tiny.go": "package tiny\n\nbroken"})
	if _, err := Run(t.Context(), r.policy(allocsPolicy), Options{Dir: r.dir}); err == nil {
		t.Error("what does not compile passes")
	}
}

// In a hook git tells where its own repository is, and looking at files must
// not write the user's index.
func TestRepositoryInAHook(t *testing.T) {
	r := newRepo(t)
	t.Setenv("GIT_DIR", ".git")
	t.Setenv("GIT_INDEX_FILE", ".git/index")
	repo, err := open(t.Context(), r.dir+"/tiny")
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(r.dir + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour) // what git would note in its index
	if err := os.Chtimes(r.dir+"/tiny/tiny.go", later, later); err != nil {
		t.Fatal(err)
	}
	if h, err := repo.head(t.Context()); err != nil || h.Modified {
		t.Errorf("head() of a file that only has another time = %+v, %v; want it not modified", h, err)
	}
	if after, err := os.ReadFile(r.dir + "/.git/index"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the index was written: %v", err)
	}
}

// Reports name files from the repository's root, wherever gate runs.
func TestRelative(t *testing.T) {
	r := newRepo(t)
	t.Chdir(r.dir + "/tiny")
	repo, err := open(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"gate.yaml": "tiny/gate.yaml", "../ci/gate.yaml": "ci/gate.yaml", r.dir + "/a.go": "a.go",
		"../../gate.yaml": "gate.yaml"} {
		if got := repo.relative(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

func mustJSON(r *Result) string {
	var b bytes.Buffer
	r.Encode(&b)
	return b.String()
}
