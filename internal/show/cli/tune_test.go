package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/trial"
)

func TestParseGoalAndKeep(t *testing.T) {
	for s, want := range map[string]string{
		"min(elapsed)": "min(elapsed)", "max( ops/s )": "max(ops/s)", "ops/s": "max(ops/s)", "p99": "min(p99)", "": "min(elapsed)",
	} {
		if g, err := (&tuneFlags{goal: s}).parseGoal(); err != nil || g.String() != want {
			t.Errorf("%q: %v, %v", s, g, err)
		}
	}
	if g, _ := (&tuneFlags{Work: trial.Work{Load: "hey"}}).parseGoal(); g.String() != "max(ops/s)" {
		t.Errorf("with a load: %v", g)
	}
	for _, s := range []string{"mean(elapsed)", "min(elapsed", "min()", "min(foo)", "()"} {
		if g, err := (&tuneFlags{goal: s}).parseGoal(); err == nil {
			t.Errorf("%q is %v", s, g)
		}
	}
	for s, want := range map[string]experiment.Keep{
		"p99<5ms":           {Metric: diagnosis.P99, Limit: 0.005, AtMost: true},
		"p99 <= 0.25":       {Metric: diagnosis.P99, Limit: 0.25, AtMost: true},
		"ops/s>1000":        {Metric: diagnosis.OpsPerSec, Limit: 1000},
		"peak-rss<300MiB":   {Metric: diagnosis.PeakRSS, Limit: 300 << 20, AtMost: true},
		"switches/op < 2.5": {Metric: diagnosis.Switches, Limit: 2.5, AtMost: true},
	} {
		if k, err := parseKeep(s); err != nil || k != want {
			t.Errorf("parseKeep(%q) = %+v, %v, want %+v", s, k, err, want)
		}
	}
	for _, s := range []string{"p99", "p99<", "p99<5%", "p99<-1", "p99<3MB", "foo<3", "<5", "p99=5"} {
		if k, err := parseKeep(s); err == nil {
			t.Errorf("parseKeep(%q) = %+v, want an error", s, k)
		}
	}
}

// What no run measured has a way to get it, or another goal that the runs have.
func TestMetricHint(t *testing.T) {
	some := []diagnosis.Metric{diagnosis.Elapsed, diagnosis.Switches}
	for _, tt := range []struct {
		flags tuneFlags
		err   experiment.MissingMetricError
		want  string
	}{
		{tuneFlags{}, experiment.MissingMetricError{Metric: diagnosis.PeakRSS, Measured: some}, "give each run more work: "},
		{tuneFlags{}, experiment.MissingMetricError{Metric: diagnosis.P50, Measured: some}, "--load 'hey "},
		{tuneFlags{Work: trial.Work{Load: "hey"}}, experiment.MissingMetricError{Metric: diagnosis.P99, Measured: some}, "--goal 'min(elapsed)'"},
		{tuneFlags{}, experiment.MissingMetricError{Metric: diagnosis.OpsPerSec, Measured: some}, "--ops N "},
		{tuneFlags{keep: []string{" switches/op<2"}}, experiment.MissingMetricError{Metric: diagnosis.Switches, Measured: some[:1]}, "--keep 'elapsed<LIMIT'"},
		{tuneFlags{}, experiment.MissingMetricError{Metric: diagnosis.Switches, Measured: some[:1]}, "--goal 'min(elapsed)'"},
		{tuneFlags{}, experiment.MissingMetricError{Metric: diagnosis.Switches}, "gowhy tune --help"},
	} {
		if got := metricHint(&tt.flags, &tt.err); !strings.HasPrefix(got, tt.want) {
			t.Errorf("metricHint(%+v) = %q, want it to begin with %q", tt.err, got, tt.want)
		}
	}
}

func TestParseTable(t *testing.T) {
	for table, want := range map[string]string{
		"processes=1,2 × concurrency=1,5,10": "[{processes [1 2]} {concurrency [1 5 10]}]",
		"processes=2,1,2":                    "[{processes [1 2]}]",
		"concurrency=1,2 x GOMAXPROCS=1,2":   "[{concurrency [1 2]} {GOMAXPROCS [1 2]}]",
		"concurrency=1 * processes=1;":       "[{concurrency [1]} {processes [1]}]",
		"":                                   "[]",
		"processes=1..4":                     "! no list",
		"processes=0,1":                      "! no list of numbers",
		"processes=1.5":                      "! no list of numbers",
		"concurrency=1 concurrency=2":        "! twice",
		"threads=1,2":                        "! changes nothing",
		"concurrency=1,2,3,4,5,6,7,8,9,10,11 × processes=1,2,3,4,5,6,7,8,9,10": "! at most 100",
	} {
		f := &capacityFlags{table: table, command: strings.Fields("./app -c={concurrency}")}
		if table == "" {
			f.command = []string{"./app"}
		} else if !strings.Contains(table, "concurrency") {
			f.command = append(f.command[:1], "-x")
		}
		got := ""
		if err := f.parseTable(); err != nil {
			got = "! " + err.Error()
		} else {
			got = fmt.Sprint(f.axes)
		}
		if rest, bad := strings.CutPrefix(want, "! "); bad && !strings.Contains(got, rest) || !bad && got != want {
			t.Errorf("%q: %s, want %s", table, got, want)
		}
	}
	shared := &capacityFlags{table: "processes=1,2", url: "http://localhost:8080/", command: []string{"./server"}}
	if err := shared.parseTable(); err == nil || !strings.Contains(err.Error(), "same port") {
		t.Errorf("two servers at one port: %v", err)
	}
	apart := &capacityFlags{table: "processes=1,2", url: "http://localhost:808{process}/", command: []string{"./server", ":808{process}"}}
	if err := apart.parseTable(); err != nil {
		t.Error(err)
	}
}
