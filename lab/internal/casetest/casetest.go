// Package casetest checks that gowhy diagnoses a case of the lab right.
//
// It hides how gowhy's documented JSON is read back and how `// want RULE`
// comments mark the guilty lines of a case's source; how programs are built
// and run is testbed's. [Build] gives a [Program] that leaves
// evidence behind, and the methods of [Gowhy] give gowhy's answer to it.
//
// It uses gowhy only as a user does, as a command: it imports nothing of it.
package casetest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// A Program is a case's built binary.
type Program struct{ path string }

// Build builds the case in the current directory, which is where `go test`
// runs the tests of a case.
func Build(t testing.TB) Program {
	t.Helper()
	return Program{build(t, ".", ".", "case")}
}

func build(t testing.TB, dir, pkg, name string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := testbed.GoBuild(t.Context(), dir, path, pkg); err != nil {
		t.Fatal(err)
	}
	return path
}

// A Run is one finished run of a case.
type Run struct {
	Stdout string
	Wall   time.Duration
	State  *os.ProcessState
}

// Run runs the case to its end and fails the test when the case fails.
func (p Program) Run(t testing.TB, args ...string) Run {
	t.Helper()
	f, err := testbed.Run(t.Context(), p.path, args...)
	if err != nil {
		t.Fatal(err)
	}
	return Run{f.Stdout, f.Took, f.State}
}

// A Gowhy is the gowhy command.
type Gowhy struct{ bed *testbed.Bed }

// BuildGowhy builds the gowhy command of the checkout that the lab is part of.
func BuildGowhy(t testing.TB) Gowhy {
	t.Helper()
	bed, err := testbed.New(t.TempDir())
	if err == nil {
		_, err = bed.Gowhy(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return Gowhy{bed}
}

func (g Gowhy) json(t testing.TB, answer any, args ...string) {
	t.Helper()
	if _, err := g.bed.Answer(t.Context(), answer, args...); err != nil {
		t.Fatal(err)
	}
}

// A Diagnosis is what `gowhy diagnose --format json` promises, as far as cases look at it.
type Diagnosis struct {
	Schema   int
	Verdict  string
	Summary  string
	Findings []Finding
	Trace    *struct {
		DurationNS int64 `json:"duration_ns"`
		Events     int64
		LostBytes  int64 `json:"lost_bytes"`
	}
}

// A Finding is one of a diagnosis.
type Finding struct {
	Rule       string
	Where      []Place
	Evidence   []Fact
	Cost       Figure
	Bound      Figure
	Confidence string
	Remedy     struct{ Text string }
	Prove      string
	Symptoms   []Finding
}

// A Place is where a finding points.
type Place struct {
	Function string
	File     string
	Line     int
}

// A Fact is one number of a finding's evidence.
type Fact struct {
	Name   string
	Value  float64
	Unit   string
	Source string
}

// A Figure is a cost or a bound.
type Figure struct {
	Value float64
	Unit  string
}

// Diagnose runs `gowhy diagnose` on the files.
func (g Gowhy) Diagnose(t testing.TB, files ...string) Diagnosis {
	t.Helper()
	var d Diagnosis
	g.json(t, &d, append([]string{"diagnose", "--format", "json"}, files...)...)
	if d.Schema < 1 || d.Verdict == "" {
		t.Fatalf("the diagnosis has schema %d and verdict %q", d.Schema, d.Verdict)
	}
	return d
}

// Find returns the finding of a rule, also when it is folded under another as
// its symptom; nil when there is none.
func (d Diagnosis) Find(rule string) *Finding { return find(d.Findings, rule) }

func find(findings []Finding, rule string) *Finding {
	for i := range findings {
		if findings[i].Rule == rule {
			return &findings[i]
		}
		if f := find(findings[i].Symptoms, rule); f != nil {
			return f
		}
	}
	return nil
}

// Rules lists what was found, causes before their symptoms.
func (d Diagnosis) Rules() []string {
	var names []string
	var walk func([]Finding)
	walk = func(findings []Finding) {
		for _, f := range findings {
			names = append(names, f.Rule)
			walk(f.Symptoms)
		}
	}
	walk(d.Findings)
	return names
}

// A Group is a row of `gowhy ledger --by group --json`.
type Group struct {
	Name       string
	Count      int
	RunningNS  int64            `json:"running_ns"`
	RunnableNS int64            `json:"runnable_ns"`
	SyscallNS  int64            `json:"syscall_ns"`
	BlockedNS  map[string]int64 `json:"blocked_ns"`
	UnknownNS  int64            `json:"unknown_ns"`
	Ranges     map[string]int64
}

// TotalNS returns the sum of the row's parts.
func (g Group) TotalNS() int64 {
	sum := g.RunningNS + g.RunnableNS + g.SyscallNS + g.UnknownNS
	for _, ns := range g.BlockedNS {
		sum += ns
	}
	return sum
}

// Ledger runs `gowhy ledger --by group` on a trace and returns its rows by name.
func (g Gowhy) Ledger(t testing.TB, trace string) map[string]Group {
	t.Helper()
	var rows []Group
	g.json(t, &rows, "ledger", trace, "--by", "group", "--json")
	byName := make(map[string]Group, len(rows))
	for _, r := range rows {
		if _, twice := byName[r.Name]; twice {
			t.Errorf("the ledger has two groups %q", r.Name)
		}
		byName[r.Name] = r
	}
	return byName
}

var wantComment = regexp.MustCompile(`// want ([a-z]+)\s*$`)

// Wants returns the lines of a source file that are marked as guilty of a rule.
func Wants(t testing.TB, file, rule string) []Place {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var places []Place
	for i, line := range strings.Split(string(source), "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil && m[1] == rule {
			places = append(places, Place{File: filepath.Base(file), Line: i + 1})
		}
	}
	if len(places) == 0 {
		t.Fatalf("%s has no line marked with // want %s", file, rule)
	}
	return places
}

// PointsAt reports whether the finding names one of the places by file and line.
func (f *Finding) PointsAt(places []Place) bool {
	for _, w := range f.Where {
		for _, p := range places {
			if filepath.Base(w.File) == p.File && w.Line == p.Line {
				return true
			}
		}
	}
	return false
}

// A Trial is what `gowhy verify --json` promises, as far as cases look at it.
type Trial struct {
	Conclusion string
	Why        string
	Pairs      int
	Effects    []Effect
}

// An Effect is what happened to one metric.
type Effect struct {
	Metric, Verdict  string
	Ratio, Low, High float64
}

// Command returns a command line of the case, for `gowhy verify --a`.
func (p Program) Command(args ...string) string {
	return shell.Words(append([]string{p.path}, args...))
}

// Verify compares two command lines by `gowhy verify`. What the comparison
// says is not an error, whatever it is.
func (g Gowhy) Verify(t testing.TB, a, b string, flags ...string) Trial {
	t.Helper()
	var trial Trial
	g.json(t, &trial, append([]string{"verify", "--json", "--a", a, "--b", b}, flags...)...)
	return trial
}

// A Search is what `gowhy tune --json` promises, as far as cases look at it.
type Search struct {
	Chosen map[string]float64
	Curves []Curve
}

// A Curve is what was measured over the settings of one knob.
type Curve struct {
	Points   []Point
	Formulas []Formula
}

// A Point is one setting.
type Point struct {
	Value  float64
	Goal   struct{ Value, Low, High float64 }
	Values map[string]float64
}

// A Formula is what a formula for worker counts says, from a trace At each of
// some counts.
type Formula struct {
	Name   string
	At     []float64
	Says   []float64
	Stable bool
}

// Spread returns the greatest number that the formula says over the least: one
// where it does not matter at which count it was fed.
func (f Formula) Spread() float64 { return slices.Max(f.Says) / slices.Min(f.Says) }

// Tune searches the best value of a knob by `gowhy tune`; {NAME} in the args
// of the program is replaced.
func (g Gowhy) Tune(t testing.TB, knob string, p Program, args ...string) (s Search) {
	t.Helper()
	g.json(t, &s, append([]string{"tune", "--knob", knob, "--json", "--", p.path}, args...)...)
	return s
}
