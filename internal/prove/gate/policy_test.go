package gate

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

func TestPolicy(t *testing.T) {
	p, err := ParsePolicy("gate.yaml", strings.NewReader(`
# comment
base: origin/main
inconclusive: fail
time-limit: 5m
pairs: 30
checks:
  - package: ./parser
    limits: {allocs/op: 0, B/op: 2%, ns/op: 7.5%, widgets/op: 3%}
  - name: startup
    package: ./cmd/app
    run: '{binary} -n 10'
    ops: 10
    limits:
      cpu/op: 5%
`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Base != "origin/main" || !p.InconclusiveFails || p.TimeLimit != 5*time.Minute || p.Pairs != 30 || len(p.Checks) != 2 {
		t.Errorf("policy %+v, want 2 checks against origin/main, 5m0s, 30 pairs, inconclusive fails", p)
	}
	c := p.Checks[0]
	if c.Name != "./parser" || c.Bench != "." || c.Iterations != defaultIterations || c.Benchtime != defaultBenchtime || c.Line != 8 {
		t.Errorf("first check %+v, want ./parser, all benchmarks as often as usual, at line 8", c)
	}
	if l := c.Limits; len(l) != 4 || l[0] != (Limit{diagnosis.AllocsOp, 0, 9}) || l[2].Ratio != 0.075 {
		t.Errorf("limits %+v, want 4: allocs/op by 0 at line 9 first, the third by 0.075", l)
	}
	if c := p.Checks[1]; c.Ops != 10 || c.Command != "{binary} -n 10" || c.Limits[0] != (Limit{diagnosis.CPUPerOp, 0.05, 15}) {
		t.Errorf("second check %+v, want 10 operations of the command, CPU by 0.05 at line 15", c)
	}
	if r := p.Ratios(); r[diagnosis.BytesOp] != 0.02 || r[diagnosis.CPUPerOp] != 0.05 {
		t.Errorf("Ratios() = %v, want 0.02 of bytes and 0.05 of CPU", r)
	}
}

func TestPolicyMistakes(t *testing.T) {
	const check = "checks:\n  - package: ./p\n    limits: {allocs/op: 1%}\n"
	for _, c := range []struct{ text, want string }{
		{"", "p.yaml: it is empty"},
		{"~\n", "p.yaml: it is empty"},
		{"a: [", "p.yaml:1: not YAML: did not find"},
		{"- a\n", `p.yaml:1: a policy must be lines of "key: value"`},
		{"pairs: 10\n", "p.yaml:1: it has no checks"},
		{"checks: []\n", "p.yaml:1: it has no checks"},
		{"cheks:\n", `p.yaml:1: a policy knows no "cheks"; it knows base, inconclusive, time-limit, pairs, checks`},
		{check + "base: a\nbase: b\n", `p.yaml:5: "base" is there twice`},
		{check + "base:\n", "p.yaml:4: a line of text is needed here"},
		{check + "inconclusive: maybe\n", `p.yaml:4: inconclusive is "pass" or "fail"`},
		{check + "pairs: 3\n", `p.yaml:4: "3" is no number from 10 to 1000`},
		{check + "time-limit: 20\n", `p.yaml:4: "20" is no time`},
		{check + "---\nx: 1\n", "p.yaml:4: it has more than one document"},
		{"checks:\n  - bench: .\n    limits: {B/op: 1%}\n", "p.yaml:2: a check needs a package"},
		{"checks:\n  - package: -toolexec=x\n    limits: {B/op: 1%}\n", "p.yaml:2: a package's name cannot begin"},
		{"checks:\n  - package: ./p\n", "p.yaml:2: a check needs limits"},
		{"checks:\n  - package: ./...\n    limits: {B/op: 1%}\n", "p.yaml:2: a check is of one package"},
		{"checks:\n  - package: ./p\n    bench: (\n    limits: {B/op: 1%}\n", "p.yaml:2: bench: error parsing regexp"},
		{"checks:\n  - package: ./p\n    bench: .\n    run: x\n    limits: {B/op: 1%}\n", "p.yaml:2: a check has either bench or run"},
		{"checks:\n  - package: ./p\n    run: \"'x\"\n    limits: {cpu/op: 1%}\n", "p.yaml:2: run: "},
		{"checks:\n  - package: ./p\n    limits: {}\n", "p.yaml:3: limits must be"},
		{"checks:\n  - package: ./p\n    limits: {alocs: 1%}\n", `p.yaml:3: "alocs" is no metric of benchmarks; there are allocs/op`},
		{"checks:\n  - package: ./p\n    limits: {alloc/op: 1%}\n", `p.yaml:3: "alloc/op" is no metric of benchmarks; did you mean allocs/op?`},
		{"checks:\n  - package: ./p\n    limits: {b/op: 1%}\n", `p.yaml:3: "b/op" is no metric of benchmarks; did you mean B/op?`},
		{"checks:\n  - package: ./p\n    limits: {cpu/op: 1%}\n", `p.yaml:3: "cpu/op" is no metric of benchmarks`},
		{"checks:\n  - package: ./p\n    run: x\n    limits: {ns/op: 1%}\n", `p.yaml:4: "ns/op" is no metric of commands`},
		{"checks:\n  - package: ./p\n    limits:\n      B/op: 1%\n      ns/op: 5\n", `p.yaml:5: "5" is no limit; write how many percent`},
		{"checks:\n  - package: ./p\n    limits: {B/op: -1%}\n", `p.yaml:3: "-1%" is no limit`},
		{"checks:\n  - package: ./p\n    limits: {B/op: NaN%}\n", `p.yaml:3: "NaN%" is no limit`},
		{"checks:\n  - package: ./p\n    limits: {B/op: 1%, B/op: 2%}\n", `p.yaml:3: "B/op" is limited twice`},
		{"checks:\n  - package: ./p\n    limits: {B/op: 1%}\n  - package: ./p\n    limits: {B/op: 1%}\n", `p.yaml:4: there is another check named "./p" at line 2`},
		{"checks:\n  - package: ./p\n    limits:\n" + manyLimits(maxLimits+1), "p.yaml:4: a check has at most 100 limits"},
		{"a: &a [x]\nchecks: *a\n", `p.yaml:1: a policy knows no "a"`},
		{"checks:\n  - *b\n", "p.yaml: not YAML: unknown anchor 'b' referenced"},
		{strings.Repeat("#", maxPolicy+1), "p.yaml: it is larger than 1 MiB"},
		{"base: \xff\n", "p.yaml: it is not UTF-8 text"},
	} {
		_, err := ParsePolicy("p.yaml", strings.NewReader(c.text))
		var wrong *problem.Error
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func manyLimits(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "      u%d/op: 1%%\n", i)
	}
	return b.String()
}

func FuzzPolicy(f *testing.F) {
	f.Add("checks:\n  - package: ./p\n    limits: {allocs/op: 0%, ns/op: 1e1%}\n")
	f.Add("checks:\n  - package: ./p\n    run: '{binary} \"x'\n    limits: {cpu/op: 5%}\n")
	f.Add("a: &a [*a]\nchecks: *a\n")
	f.Add("? {a: b}\n: [c, {d: ~}]\n")
	f.Add(starterHead + "  - package: .\n    limits: {B/op: 0}" + starterTail)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePolicy("p.yaml", strings.NewReader(text))
		var wrong *problem.Error
		if err != nil {
			if !errors.As(err, &wrong) || wrong.What == "" {
				t.Errorf("ParsePolicy(): error %v, want a problem", err)
			}
			return
		}
		for _, c := range p.Checks {
			if c.Package == "" || c.Name == "" || len(c.Limits) == 0 || c.Line == 0 || (c.Bench == "") == (c.Command == "") {
				t.Errorf("check %+v, want a package, a name, limits, a line, and either a benchmark or a command", c)
			}
			for _, l := range c.Limits {
				if !(l.Ratio >= 0 && l.Ratio <= maxRatio) || l.Metric == "" {
					t.Errorf("limit %+v, want a metric and a ratio of 0 to %v", l, maxRatio)
				}
			}
		}
	})
}

// What --init writes is a policy, and has every package with benchmarks.
func TestStarter(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, map[string]string{
		"go.mod":                 "module example.com/m\n",
		"a_test.go":              "package m\nimport \"testing\"\nfunc BenchmarkA(b *testing.B) {}\nfunc Benchmarked(b *testing.B) {}\n",
		"sub/b_test.go":          "package sub\nimport \"testing\"\nfunc BenchmarkB(b *testing.B) {}\nfunc TestB(t *testing.T) {}\nfunc BenchmarkHelper(b *testing.B, n int) {}\n",
		"other/go.mod":           "module example.com/other\n",
		"other/c_test.go":        "package other\nimport \"testing\"\nfunc BenchmarkC(b *testing.B) {}\n",
		"sub/testdata/d_test.go": "package d\nimport \"testing\"\nfunc BenchmarkD(b *testing.B) {}\n",
		"broken/e_test.go":       "package {",
	})
	text, err := Starter(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePolicy("gate.yaml", strings.NewReader(string(text)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(p.Checks) != 2 || p.Checks[0].Package != "." || p.Checks[1].Package != "./sub" {
		t.Errorf("checks %+v, want . and ./sub", p.Checks)
	}
	// The lines that are commented out are right too.
	full := strings.ReplaceAll(strings.ReplaceAll(string(text), "      # ns/op", "      ns/op"), "\n# ", "\n")
	head, tail, _ := strings.Cut(full, "\n  # A command")
	for _, l := range strings.Split(tail, "\n")[2:] {
		head += "\n" + strings.Replace(l, "  # ", "  ", 1)
	}
	head = strings.TrimPrefix(head, "# What a change is held to: gowhy gate -f gate.yaml\n#\nEach check is measured on the base revision and on the working tree. Exit\ncode 4: something regressed, 5: inconclusive, and the policy forbids that.\n")
	if p, err := ParsePolicy("gate.yaml", strings.NewReader(head)); err != nil || len(p.Checks) != 3 || len(p.Checks[1].Limits) != 3 || p.Base == "" {
		t.Errorf("ParsePolicy() of all lines: %v, want a base and 3 checks, 3 limits of the second, in\n%s", err, head)
	}
	if at := benchmarksIn(dir); len(at) != 1 || at["BenchmarkA"].Line != 3 {
		t.Errorf("benchmarksIn() = %v, want BenchmarkA at line 3", at)
	}
	var none *problem.Error
	if _, err := Starter(t.TempDir()); !errors.As(err, &none) || none.Hint == "" {
		t.Errorf("Starter() without benchmarks: error %v, want a problem with a hint", err)
	}
}

// files writes a tree of files.
func files(t *testing.T, dir string, list map[string]string) {
	t.Helper()
	for name, text := range list {
		path := dir + "/" + name
		if i := strings.LastIndexByte(path, '/'); i > 0 {
			if err := os.MkdirAll(path[:i], 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
