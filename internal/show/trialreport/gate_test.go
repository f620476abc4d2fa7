package trialreport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/gate"
)

func number(v float64) *float64 { return &v }

// gateResult has every verdict there is.
func gateResult() *gate.Result {
	at := gate.Position{File: "parser/parse_test.go", Line: 41}
	policy := func(line int) gate.Position { return gate.Position{File: "ci/gate.yaml", Line: line} }
	return &gate.Result{
		Kind: "gowhy gate", Schema: gate.Schema, Verdict: gate.Regressed, Summary: "2 of 6 measures regressed, 1 improved, 2 inconclusive",
		Policy: "ci/gate.yaml", Base: gate.Revision{Name: "merge base with origin/main", Commit: "0123456789abcdef0123456789abcdef01234567"},
		Head:  gate.Revision{Name: "working tree", Commit: "fedcba9876543210fedcba9876543210fedcba98", Modified: true},
		Floor: 0.034, Took: 83 * time.Second, Warnings: []string{"the machine was busy all the time: all rounds count"},
		Checks: []gate.Check{
			{Name: "./parser", Package: "./parser", Bench: ".", Verdict: gate.Regressed, At: policy(8), Took: 61 * time.Second,
				Warnings: []string{"BenchmarkNew is new: there is nothing to compare it with"},
				Measures: []gate.Measure{
					{Benchmark: "Parse/long", Metric: diagnosis.AllocsOp, Verdict: gate.Regressed, Why: "grew by 8.33%, limit 0%", Again: "grew by 8.33%, limit 0%",
						A: number(12), B: number(13), Ratio: number(13.0 / 12), Exact: true, At: at},
					{Benchmark: "Parse/long", Metric: diagnosis.BytesOp, Verdict: gate.Improved, Why: "fell by 25%", A: number(2048), B: number(1536), Ratio: number(0.75), Limit: 0.02, Exact: true, At: at},
					{Benchmark: "Parse/long", Metric: "ns/op", Verdict: gate.Regressed, Why: "worse by 14.2%, beyond the limit of 5%", Again: "worse by 12.9%, beyond the limit of 5%",
						A: number(1520), B: number(1736), Ratio: number(1.142), Low: number(1.12), High: number(1.16), P: number(0.0004), Limit: 0.05, Pairs: 20, At: at},
					{Benchmark: "Skip", Metric: "ns/op", Verdict: gate.Inconclusive, Why: "not decided (at most 9.1% worse); about 55 pairs would",
						A: number(0.25), B: number(0.255), Ratio: number(1.02), Low: number(0.95), High: number(1.091), P: number(0.3), Limit: 0.05, Pairs: 20, At: at},
					{Benchmark: "Skip", Metric: "MB/s", Verdict: gate.Passed, Why: "within the limit of 10%", A: number(812), B: number(808), Ratio: number(0.995), Limit: 0.1, Pairs: 20, At: at},
				}},
			{Name: "startup", Package: "./cmd/app", Command: "{binary} -n 10", Verdict: gate.Inconclusive, At: policy(15), Took: 22 * time.Second,
				Measures: []gate.Measure{{Metric: diagnosis.P99, Verdict: gate.Inconclusive, Why: "it was not measured", Limit: 0.05, At: policy(20)}}},
			{Name: "late", Package: "./late", Verdict: gate.Inconclusive, Problem: "not all was measured: the time limit was reached", At: policy(22), Measures: []gate.Measure{}},
		},
	}
}

// hostileGate has names that want to be more than text in every format.
func hostileGate() *gate.Result {
	r := gateResult()
	evil := "x\x1b[31m\n::error::y%0A]]>&<b>|`@all`{0}[a](javascript:b)\u202e\xff"
	r.Policy, r.Base.Name, r.Summary, r.Warnings = evil, evil, evil, []string{evil}
	c := &r.Checks[0]
	c.Name, c.Warnings, c.Problem = evil, []string{evil}, evil
	for i := range c.Measures {
		c.Measures[i].Benchmark, c.Measures[i].Metric, c.Measures[i].Why, c.Measures[i].Again = evil, diagnosis.Metric(evil), evil, evil
		c.Measures[i].At.File = "a b/ü,c:d%20.go"
	}
	return r
}

func gateBytes(t *testing.T, format string, r *gate.Result, o layout.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := GateFormats[format](&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGateGolden(t *testing.T) {
	passed := gateResult()
	passed.Verdict, passed.Summary, passed.Checks, passed.Warnings = gate.Passed, "nothing regressed in 1 measure", passed.Checks[:1], nil
	passed.Checks[0].Measures, passed.Checks[0].Verdict, passed.Checks[0].Warnings = passed.Checks[0].Measures[4:], gate.Passed, nil
	for name, r := range map[string]*gate.Result{"gate": gateResult(), "gate-passed": passed, "gate-hostile": hostileGate()} {
		for _, format := range GateFormatNames() {
			if format != "json" {
				golden(t, name+"."+format, gateBytes(t, format, r, layout.Options{}))
			}
		}
	}
}

// Every format gives the same for a result that was saved.
func TestSavedGate(t *testing.T) {
	r := gateResult()
	again, err := gate.Decode(bytes.NewReader(gateBytes(t, "json", r, layout.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range GateFormatNames() {
		if a, b := gateBytes(t, format, r, layout.Options{}), gateBytes(t, format, again, layout.Options{}); !bytes.Equal(a, b) {
			t.Errorf("%s:\n%s\nwant as saved:\n%s", format, a, b)
		}
	}
}

// No name leaves its line, and none reaches a terminal raw.
func TestGateHostile(t *testing.T) {
	r := hostileGate()
	for _, format := range GateFormatNames() {
		if format == "json" {
			continue
		}
		out := string(gateBytes(t, format, r, layout.Options{Width: 80}))
		if strings.ContainsAny(out, "\x1b\u202e\r") {
			t.Errorf("%s: want no control characters in\n%q", format, out)
		}
		for l := range strings.Lines(out) {
			if strings.HasPrefix(l, "::error::y") {
				t.Errorf("%s: a name became a command: %s", format, l)
			}
		}
	}
	if md := string(gateBytes(t, "markdown", r, layout.Options{})); strings.Contains(md, "<b>") && !strings.Contains(md, "`") || strings.Contains(md, " @all") {
		t.Errorf("want no markup in\n%s", md)
	}
	wantWarning := r
	wantWarning.InconclusiveFails = true
	if out := string(gateBytes(t, "github", wantWarning, layout.Options{})); !strings.Contains(out, "::warning ") || strings.Contains(out, "::notice ") {
		t.Errorf("want warnings and no notices where what is inconclusive fails:\n%s", out)
	}
}

// What SARIF 2.1.0 requires of each object, read back by its names.
func TestSARIF(t *testing.T) {
	for _, r := range []*gate.Result{gateResult(), hostileGate(), {}} {
		var log struct {
			Schema  string `json:"$schema"`
			Version string
			Runs    []struct {
				Tool struct {
					Driver struct {
						Name  string
						Rules []struct {
							ID    string
							Short struct{ Text string } `json:"shortDescription"`
						}
					}
				}
				Results []struct {
					RuleID    string
					RuleIndex *int
					Level     string
					Message   struct{ Text string }
					Locations []struct {
						Physical struct {
							Artifact struct{ URI string } `json:"artifactLocation"`
							Region   struct{ StartLine int }
						} `json:"physicalLocation"`
					}
				}
			}
		}
		out := gateBytes(t, "sarif", r, layout.Options{})
		if err := json.Unmarshal(out, &log); err != nil {
			t.Fatal(err)
		}
		if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" || log.Runs[0].Results == nil || log.Runs[0].Tool.Driver.Rules == nil {
			t.Fatalf("%s\nwant SARIF 2.1.0: one run of a named tool with its rules and results", out)
		}
		run := log.Runs[0]
		for _, res := range run.Results {
			rules := run.Tool.Driver.Rules
			if res.RuleIndex == nil || *res.RuleIndex >= len(rules) || rules[*res.RuleIndex].ID != res.RuleID || rules[*res.RuleIndex].Short.Text == "" {
				t.Errorf("rule %q has no description", res.RuleID)
			}
			if res.Message.Text == "" || len(res.Locations) != 1 || res.Locations[0].Physical.Region.StartLine < 1 {
				t.Errorf("result %+v, want a message and one line", res)
			}
			if uri := res.Locations[0].Physical.Artifact.URI; uri == "" || strings.ContainsAny(uri, " \\") || strings.Contains(strings.SplitN(uri, "/", 2)[0], ":") {
				t.Errorf("%q is no relative URI", uri)
			}
			switch res.Level {
			case "error", "warning", "note":
			default:
				t.Errorf("level %q, want error, warning or note", res.Level)
			}
		}
	}
}

func TestJUnit(t *testing.T) {
	for _, r := range []*gate.Result{gateResult(), hostileGate()} {
		for _, fails := range []bool{false, true} {
			r.InconclusiveFails = fails
			out := gateBytes(t, "junit", r, layout.Options{})
			var all junitSuites
			if err := xml.Unmarshal(out, &all); err != nil {
				t.Fatalf("%v in\n%s", err, out)
			}
			tests, failures, skipped := 0, 0, 0
			for _, s := range all.Suites {
				for _, c := range s.Cases {
					tests++
					if c.Failure != nil {
						failures++
					}
					if c.Skipped != nil {
						skipped++
					}
				}
			}
			if tests != all.Tests || failures != all.Failures || (skipped == 0) != fails || failures < 2 {
				t.Errorf("%d tests, %d failures, %d skipped; want %d and %d as said, none skipped: %v", tests, failures, skipped, all.Tests, all.Failures, fails)
			}
		}
	}
}

// A runner reads a workflow command back as it was meant.
func TestGitHub(t *testing.T) {
	var b strings.Builder
	annotate(&b, "error", gate.Position{File: "a,b:c%.go", Line: 3}, "t: u, v", "50% of a,b:c::d")
	if want := "::error file=a%2Cb%3Ac%25.go,line=3,title=t%3A u%2C v::50%25 of a,b:c::d\n"; b.String() != want {
		t.Errorf("annotate() = %q, want %q", b.String(), want)
	}
	b.Reset()
	annotate(&b, "notice", gate.Position{}, "t", "m")
	if b.String() != "::notice title=t::m\n" {
		t.Errorf("annotate() = %q, want ::notice title=t::m", b.String())
	}
	out := string(gateBytes(t, "github", gateResult(), layout.Options{}))
	if got := fmt.Sprint(strings.Count(out, "::error "), strings.Count(out, "::notice ")); got != "2 3" {
		t.Errorf("%s annotations, want 2 errors and 3 notices in\n%s", got, out)
	}
}

// Narrow screens, and writers that fail.
func TestGateWidths(t *testing.T) {
	for _, width := range []int{20, 60, 100, 300} {
		out := string(gateBytes(t, "text", gateResult(), layout.Options{Width: width}))
		for l := range strings.Lines(out) {
			if n := len([]rune(strings.TrimRight(l, "\n"))); n > max(width, 80) && width >= 60 && !strings.HasPrefix(l, "   $ ") {
				t.Errorf("width %d: a line of %d, want at most %d: %s", width, n, max(width, 80), l)
			}
		}
	}
	for name, f := range GateFormats {
		if err := f(failing{}, gateResult(), layout.Options{}); err == nil {
			t.Errorf("%s does not tell that it could not be written", name)
		}
	}
}

// failing is a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Whatever was saved, or made to look so, can be shown in every format.
func FuzzSavedGate(f *testing.F) {
	for _, r := range []*gate.Result{gateResult(), hostileGate()} {
		var b bytes.Buffer
		if err := r.Encode(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"kind":"gowhy gate","schema":1,"base":{"commit":"ü"},"took_ns":-9223372036854775808,"checks":[{"measures":[{"a":1e308,"ratio":-1,"limit":-1}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := gate.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, format := range GateFormatNames() {
			out := gateBytes(t, format, r, layout.Options{Width: 80})
			if format != "json" && bytes.ContainsAny(out, "\x1b\u202e") {
				t.Errorf("%s: control characters in %q, want none", format, out)
			}
		}
	})
}
