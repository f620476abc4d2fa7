package gate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// A Policy is what a change is held to.
type Policy struct {
	File string // for messages and reports
	// Base is the revision to compare with; empty chooses it as [Run] says.
	Base string
	// InconclusiveFails makes what could not be decided fail.
	InconclusiveFails bool
	TimeLimit         time.Duration // of all checks together
	Pairs             int           // of rounds, at most, where time is measured
	Checks            []CheckPolicy
}

// A CheckPolicy is one check: benchmarks of a package, or a command of one.
type CheckPolicy struct {
	Name    string
	Package string
	// Bench is the regular expression of the benchmarks, as -bench has it.
	Bench string
	// Iterations of a benchmark when its allocations are counted; the same
	// number on both sides, so that what grows with them is the same too.
	Iterations int
	// Benchtime is how long a benchmark runs when it is timed.
	Benchtime time.Duration
	// Command is run instead of benchmarks when it is set; {binary} in it is
	// the package's program.
	Command string
	Ops     float64 // of one run of the command; 0 when not known
	Limits  []Limit
	Line    int // in the policy's file
}

// A Limit is by how much a metric may become worse.
type Limit struct {
	Metric diagnosis.Metric
	Ratio  float64 // as ratio-1
	Line   int
}

// Defaults of a policy.
const (
	defaultTimeLimit  = 30 * time.Minute
	defaultPairs      = 20
	defaultIterations = 100
	defaultBenchtime  = 100 * time.Millisecond
)

// Bounds of a policy.
const (
	maxPolicy = 1 << 20
	maxChecks = 1000
	maxLimits = 100 // of a check
	maxText   = 4 << 10
	maxRatio  = 100 // times worse: as a limit it would limit nothing
)

// counters are the metrics that are counted and hardly vary.
var counters = []diagnosis.Metric{diagnosis.AllocsOp, diagnosis.BytesOp, diagnosis.Goroutines, diagnosis.GCPerOp,
	diagnosis.Syscalls, diagnosis.Futexes, diagnosis.Switches, diagnosis.Faults}

// varyingMetrics are the metrics of a command that vary from run to run.
var varyingMetrics = []diagnosis.Metric{diagnosis.CPUPerOp, diagnosis.Elapsed, diagnosis.OpsPerSec, diagnosis.P50, diagnosis.P99, diagnosis.PeakRSS}

// ofBenchmarks are what testing itself prints. Others are those that a
// benchmark reports with b.ReportMetric.
var ofBenchmarks = []diagnosis.Metric{diagnosis.AllocsOp, diagnosis.BytesOp, "ns/op", "MB/s"}

// unitAliases are names that people give to what testing prints: taken for units
// of the benchmark's own, they would never be measured.
var unitAliases = map[string]diagnosis.Metric{
	"alloc/op": diagnosis.AllocsOp, "allocations/op": diagnosis.AllocsOp, "objects/op": diagnosis.AllocsOp, "allocs/op": diagnosis.AllocsOp,
	"bytes/op": diagnosis.BytesOp, "byte/op": diagnosis.BytesOp, "b/op": diagnosis.BytesOp,
	"sec/op": "ns/op", "time/op": "ns/op", "ns/op": "ns/op", "mb/s": "MB/s",
}

// lineError makes the error of a policy, at a line; 0 is none. The name of the file is put
// before it. Where there is nothing better to say, a policy with explanations shows how it is
// right.
func lineError(line int, hint, format string, args ...any) *problem.Error {
	e := problem.New(problem.Misuse, cmp.Or(hint, "gowhy gate --init -f example.yaml   # a policy with explanations"), format, args...)
	e.What = ": " + e.What
	if line > 0 {
		e.What = fmt.Sprintf(":%d", line) + e.What
	}
	return e
}

// ParsePolicy reads a policy. Its errors are of type [*problem.Error].
func ParsePolicy(file string, r io.Reader) (*Policy, error) {
	p := &Policy{File: file, TimeLimit: defaultTimeLimit, Pairs: defaultPairs}
	err := p.parse(r)
	var wrong *problem.Error
	if errors.As(err, &wrong) {
		wrong.What = file + wrong.What
		return nil, wrong
	}
	return p, err
}

func (p *Policy) parse(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, maxPolicy+1))
	switch {
	case err != nil:
		return lineError(0, "", "%w", err)
	case len(text) > maxPolicy:
		return lineError(0, "", "it is larger than %d MiB", maxPolicy>>20)
	case !utf8.Valid(text):
		return lineError(0, "", "it is not UTF-8 text")
	}
	root, err := document(text)
	if err != nil {
		return err
	}
	return p.read(root)
}

// document parses the one YAML document that a policy is.
func document(text []byte) (root *yaml.Node, err error) {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	switch err := d.Decode(&doc); {
	case err == io.EOF || err == nil && (len(doc.Content) == 0 || doc.Content[0].Tag == "!!null"):
		return nil, lineError(0, "gowhy gate --init", "it is empty")
	case err != nil:
		return nil, syntaxError(err)
	}
	if d.Decode(&more) != io.EOF {
		return nil, lineError(more.Line, "", "it has more than one document")
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError takes the line out of the words of package yaml.
func syntaxError(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	m := yamlLine.FindStringSubmatch(text)
	if m == nil {
		return lineError(0, "", "%s", text)
	}
	line, _ := strconv.Atoi(m[1]) // none is 0
	return lineError(line, "", "not YAML: %s", text[len(m[0]):])
}

// nodeError returns an error at a node.
func nodeError(n *yaml.Node, hint, format string, args ...any) error {
	return lineError(n.Line, hint, format, args...)
}

// A field reads the value of a key.
type field struct {
	name string
	read func(*yaml.Node) error
}

// fields reads a mapping, in which every key must be known and occur once.
func fields(n *yaml.Node, what string, known []field) error {
	if n.Kind != yaml.MappingNode {
		return nodeError(n, "", "%s must be lines of \"key: value\"", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		f := slices.IndexFunc(known, func(f field) bool { return f.name == key.Value })
		switch {
		case f < 0:
			names := make([]string, len(known))
			for i, f := range known {
				names[i] = f.name
			}
			return nodeError(key, "", "%s knows no %q; it knows %s", what, short(key.Value), strings.Join(names, ", "))
		case seen[key.Value]:
			return nodeError(key, "", "%q is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := known[f].read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// short keeps what a policy says from filling a screen.
func short(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "…"
}

func (p *Policy) read(root *yaml.Node) error {
	var checks *yaml.Node
	err := fields(root, "a policy", []field{
		{"base", text(&p.Base)},
		{"inconclusive", func(n *yaml.Node) error {
			if n.Value != "pass" && n.Value != "fail" {
				return nodeError(n, "inconclusive: pass", "inconclusive is \"pass\" or \"fail\"")
			}
			p.InconclusiveFails = n.Value == "fail"
			return nil
		}},
		{"time-limit", span(&p.TimeLimit)},
		{"pairs", number(&p.Pairs, 10, 1000)},
		{"checks", func(n *yaml.Node) error { checks = n; return nil }},
	})
	if err != nil {
		return err
	}
	if checks == nil || checks.Kind != yaml.SequenceNode || len(checks.Content) == 0 {
		return nodeError(root, "gowhy gate --init", "it has no checks")
	}
	if len(checks.Content) > maxChecks {
		return nodeError(checks, "", "it has more than %d checks", maxChecks)
	}
	for _, n := range checks.Content {
		c, err := readCheck(n)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(p.Checks, func(o CheckPolicy) bool { return o.Name == c.Name }); i >= 0 {
			return nodeError(n, "give each a name of its own", "there is another check named %q at line %d", short(c.Name), p.Checks[i].Line)
		}
		p.Checks = append(p.Checks, c)
	}
	return nil
}

func readCheck(n *yaml.Node) (CheckPolicy, error) {
	c := CheckPolicy{Line: n.Line, Iterations: defaultIterations, Benchtime: defaultBenchtime}
	var limits *yaml.Node
	ops := 0
	err := fields(n, "a check", []field{
		{"name", text(&c.Name)}, {"package", text(&c.Package)}, {"bench", text(&c.Bench)}, {"run", text(&c.Command)},
		{"iterations", number(&c.Iterations, 1, 1_000_000_000)}, {"benchtime", span(&c.Benchtime)},
		{"ops", number(&ops, 1, 1_000_000_000_000)},
		{"limits", func(n *yaml.Node) error { limits = n; return nil }},
	})
	if err != nil {
		return c, err
	}
	c.Ops = float64(ops)
	switch {
	case c.Package == "":
		return c, nodeError(n, "package: ./parser", "a check needs a package")
	case strings.HasPrefix(c.Package, "-"):
		return c, nodeError(n, "package: ./parser", "a package's name cannot begin with \"-\"")
	case strings.Contains(c.Package, "..."):
		return c, nodeError(n, "gowhy gate --init   # a check for each package", "a check is of one package, not of %q", short(c.Package))
	case c.Command != "" && c.Bench != "":
		return c, nodeError(n, "make two checks", "a check has either bench or run")
	case limits == nil:
		return c, nodeError(n, "limits: {allocs/op: 0%}", "a check needs limits")
	}
	if c.Command == "" && c.Bench == "" {
		c.Bench = "."
	}
	if _, err := regexp.Compile(c.Bench); err != nil {
		return c, nodeError(n, "", "bench: %v", err)
	}
	if c.Command != "" {
		if _, err := subject.Parse(c.Command); err != nil {
			return c, nodeError(n, "run: '{binary} -n 1000'", "run: %v", err)
		}
	}
	if c.Name == "" {
		c.Name = c.Package
	}
	c.Limits, err = readLimits(limits, c.Command != "")
	return c, err
}

func readLimits(n *yaml.Node, command bool) (list []Limit, err error) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, nodeError(n, "limits: {allocs/op: 0%}", "limits must be lines of \"metric: 5%%\"")
	}
	if len(n.Content) > 2*maxLimits {
		return nil, nodeError(n, "make two checks", "a check has at most %d limits", maxLimits)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		m := diagnosis.Metric(key.Value)
		if err := checkMetric(key, m, command); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(l Limit) bool { return l.Metric == m }) {
			return nil, nodeError(key, "", "%q is limited twice", key.Value)
		}
		ratio, err := percentage(value)
		if err != nil {
			return nil, err
		}
		list = append(list, Limit{m, ratio, key.Line})
	}
	return list, nil
}

// checkMetric refuses what is no metric: a mistyped one would never be
// measured, and never fail.
func checkMetric(n *yaml.Node, m diagnosis.Metric, command bool) error {
	if n.Kind != yaml.ScalarNode || m == "" || len(m) > 100 || strings.ContainsAny(string(m), " \t\n") {
		return nodeError(n, "", "%q is no metric", short(string(m)))
	}
	known := ofBenchmarks
	if command {
		known = slices.Concat(counters, varyingMetrics)
	}
	if right, ok := unitAliases[strings.ToLower(string(m))]; ok && right != m && !command {
		return nodeError(n, string(right)+": 5%", "%q is no metric of benchmarks; did you mean %s?", short(string(m)), right)
	}
	own := !command && strings.ContainsAny(string(m), "/-%") && !slices.Contains(slices.Concat(counters, varyingMetrics), m)
	if own || slices.Contains(known, m) {
		return nil
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	what := "of benchmarks; there are "
	if command {
		what = "of commands; there are "
	}
	return nodeError(n, "", "%q is no metric %s%s", short(string(m)), what, strings.Join(words, ", "))
}

// percentage reads a limit, "5%" or "0".
func percentage(n *yaml.Node) (float64, error) {
	digits, sign := strings.CutSuffix(n.Value, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if n.Kind != yaml.ScalarNode || err != nil || !(v >= 0) || math.IsInf(v, 0) || !sign && v != 0 || v > 100*maxRatio {
		return 0, nodeError(n, "allocs/op: 5%", "%q is no limit; write how many percent worse is allowed, like 5%%", short(n.Value))
	}
	return v / 100, nil
}

func text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" || len(n.Value) > maxText || strings.ContainsAny(n.Value, "\x00\n\r") {
			return nodeError(n, "", "a line of text is needed here")
		}
		*to = n.Value
		return nil
	}
}

func span(to *time.Duration) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		d, err := time.ParseDuration(n.Value)
		if err != nil || d <= 0 {
			return nodeError(n, "", "%q is no time; write one like 100ms, 20s or 30m", short(n.Value))
		}
		*to = d
		return nil
	}
}

func number(to *int, least, most int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.Atoi(n.Value)
		if err != nil || v < least || v > most {
			return nodeError(n, "", "%q is no number from %d to %d", short(n.Value), least, most)
		}
		*to = v
		return nil
	}
}

// Ratios returns the limits of all checks by metric; where checks differ the
// smallest. For comparisons, which know no checks.
func (p *Policy) Ratios() map[diagnosis.Metric]float64 {
	all := map[diagnosis.Metric]float64{}
	for _, c := range p.Checks {
		for _, l := range c.Limits {
			if r, ok := all[l.Metric]; !ok || l.Ratio < r {
				all[l.Metric] = l.Ratio
			}
		}
	}
	return all
}
