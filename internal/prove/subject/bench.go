package subject

import (
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A BenchSpec is a benchmark of a compiled test binary.
type BenchSpec struct {
	Binary string // as [BuildRevision] makes it with Test
	Bench  string // regular expression as for go test -bench; empty is all
	// Benchtime is as for go test: 1s, or better, since it is a fixed amount of
	// work, 1000x. Empty is 1s.
	Benchtime string
	Dir       string        // the package's directory, where its testdata is
	Env       []string      // NAME=VALUE
	Args      []string      // more flags of the binary
	Time      time.Duration // limit of one run; 0 means [DefaultTime]
	Log       func(string)
}

// NewBenchmark returns the benchmarks of a test binary as a subject. Each run
// is one process, for what differs between processes, the layout of memory
// first of all, would otherwise look like a difference of the code. The values
// of its samples are ns/op, B/op, allocs/op and the benchmarks' own units behind
// the name of each: "BenchmarkParse/long ns/op".
func NewBenchmark(b BenchSpec) (*Subject, error) {
	if _, err := regexp.Compile(b.Bench); err != nil {
		return nil, problem.New(problem.Misuse, "--bench 'Parse$'", "%q is no pattern of benchmarks: %v", b.Bench, err)
	}
	if b.Bench == "" {
		b.Bench = "."
	}
	command := []string{b.Binary, "-test.run", "^$", "-test.bench", b.Bench, "-test.benchmem", "-test.timeout", "0"}
	if b.Benchtime != "" {
		command = append(command, "-test.benchtime", b.Benchtime)
	}
	s, err := New(Spec{Program: Program{Command: append(command, b.Args...), Env: b.Env, Dir: b.Dir}, Time: b.Time, Log: b.Log})
	if err != nil {
		return nil, err
	}
	s.bench = true
	return s, nil
}

func noBenchmarks(p Program, out *output) error {
	pattern := "."
	if i := slices.Index(p.Command, "-test.bench"); i >= 0 && i+1 < len(p.Command) {
		pattern = p.Command[i+1]
	}
	return problem.New(problem.Absence, printable(p.Command[0])+" -test.list Benchmark   # the names that there are", "no benchmark of %s matches %q%s", printable(p.Command[0]), printable(pattern), out.lastLines())
}

var numberSuffix = regexp.MustCompile(`-([0-9]+)$`)

// procsSuffix returns the suffix that package testing puts behind every name: "-8" for
// GOMAXPROCS=8, nothing for 1. A benchmark's own name may end in a number as well, so it has
// to be behind all names and, where GOMAXPROCS is not given, possible on this machine.
func procsSuffix(list []loadresult.Benchmark, p Program) (suffix string) {
	procs, err := strconv.Atoi(p.getenv("GOMAXPROCS"))
	given := err == nil && procs > 0 && !slices.ContainsFunc(p.Command, isCPUFlag)
	for i, b := range list {
		m := numberSuffix.FindStringSubmatch(b.Name)
		if m == nil || i > 0 && m[0] != suffix || strings.HasPrefix(m[1], "0") {
			return ""
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 2 || given && n != procs || n > max(runtime.NumCPU(), procs) {
			return ""
		}
		suffix = m[0]
	}
	return suffix
}

// isCPUFlag reports whether a word sets GOMAXPROCS for benchmarks, whatever the
// environment has.
func isCPUFlag(word string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name == "test.cpu" && strings.HasPrefix(word, "-")
}
