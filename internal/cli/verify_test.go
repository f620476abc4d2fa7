package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/model"
)

// changed are the commands of both arms, as they are shown, with what is added
// to the environment.
func changed(f changeFlags, command ...string) (a, b string, err error) {
	if err = f.check(command); err == nil {
		err = f.settings()
	}
	if err != nil {
		return "", "", err
	}
	x, y, err := f.programs(command)
	show := func(env, command []string) string { return strings.Join(slices.Concat(env, command), " ") }
	return show(x.Env, x.Command), show(y.Env, y.Command), err
}

func TestChanges(t *testing.T) {
	t.Setenv("GODEBUG", "")
	app := []string{"./app", "-w", "{w}"}
	for _, c := range []struct {
		f       changeFlags
		command []string
		a, b    string // "" is an error
	}{
		{changeFlags{a: "GOGC=50 ./old -n 1", b: "./new"}, nil, "GOGC=50 ./old -n 1", "./new"},
		{changeFlags{a: "./old", b: "./new", knobs: []string{"GOGC=9"}}, nil, "./old", "GOGC=9 ./new"},
		{changeFlags{knobs: []string{"GOMAXPROCS=2"}}, []string{"./app"}, "./app", "GOMAXPROCS=2 ./app"},
		{changeFlags{knobs: []string{"GOMAXPROCS=8:2"}}, []string{"./app"}, "GOMAXPROCS=8 ./app", "GOMAXPROCS=2 ./app"},
		{changeFlags{knobs: []string{"GOGC=off:100"}}, []string{"./app"}, "GOGC=off ./app", "GOGC=100 ./app"},
		{changeFlags{knobs: []string{"w=100:4"}}, app, "./app -w 100", "./app -w 4"},
		{changeFlags{knobs: []string{"w=4"}, aKnobs: []string{"w=100"}}, app, "./app -w 100", "./app -w 4"},
		{changeFlags{knobs: []string{"w=64MiB:1GiB"}}, app, "./app -w 64MiB", "./app -w 1GiB"},
		// Neither an address nor a list of directories is two values.
		{changeFlags{knobs: []string{"w=localhost:80"}, aKnobs: []string{"w=:80"}}, app, "./app -w :80", "./app -w localhost:80"},
		{changeFlags{knobs: []string{"w=127.0.0.1:80"}, aKnobs: []string{"w=[::1]:80"}}, app, "./app -w [::1]:80", "./app -w 127.0.0.1:80"},
		{changeFlags{knobs: []string{"PATH=/a:/b"}}, []string{"./app"}, "./app", "PATH=/a:/b ./app"},
		{changeFlags{aKnobs: []string{"w=1"}, envs: []string{"X=1"}}, app, "./app -w 1", "X=1 ./app -w 1"},
		{changeFlags{envs: []string{"GODEBUG=a=1", "http_proxy=x"}, recorded: []string{"GODEBUG=b=2"}}, []string{"./app"},
			"GODEBUG=b=2 ./app", "GODEBUG=b=2,a=1 http_proxy=x ./app"},
		{changeFlags{more: []string{"-pool=true", "-v"}}, []string{"./app", "-n", "1"}, "./app -n 1", "./app -n 1 -pool=true -v"},
		{changeFlags{base: "HEAD"}, nil, "{binary}", "{binary}"},
		{changeFlags{base: "HEAD"}, []string{"nice", "{binary}", "-n", "1"}, "nice {binary} -n 1", "nice {binary} -n 1"},
		{changeFlags{bench: "Parse", pkg: "./p", benchtime: "9x", envs: []string{"GOGC=1"}}, nil,
			"go test -run ^$ -bench Parse -benchtime 9x ./p", "GOGC=1 go test -run ^$ -bench Parse -benchtime 9x ./p"},

		{changeFlags{knobs: []string{"w=4"}}, app, "", ""},
		{changeFlags{knobs: []string{"=4"}}, app, "", ""},
		{changeFlags{knobs: []string{"x=1:2"}}, app, "", ""},
		{changeFlags{envs: []string{"x"}}, app, "", ""},
		{changeFlags{envs: []string{"X=1"}}, nil, "", ""},
		{changeFlags{a: "x", b: "'y"}, nil, "", ""},
		{changeFlags{a: "x", b: "y", base: "HEAD"}, nil, "", ""},
		{changeFlags{head: "HEAD", knobs: []string{"X=1"}}, app, "", ""},
		{changeFlags{bench: "X", knobs: []string{"GOGC=1"}}, app, "", ""},
		{changeFlags{benchtime: "1s", knobs: []string{"GOGC=1"}}, app, "", ""},
	} {
		a, b, err := changed(c.f, c.command...)
		if c.a == "" {
			if err == nil {
				t.Errorf("%+v %v is no error: %q, %q", c.f, c.command, a, b)
			}
			continue
		}
		if err != nil || a != c.a || b != c.b {
			t.Errorf("%+v %v:\nA %q\nB %q\n%v", c.f, c.command, a, b, err)
		}
	}
}

func TestParseGuards(t *testing.T) {
	got, err := parseGuards([]string{"p99<5%", "peak-rss <= 0.1", "BenchmarkX ns/op<1%"})
	want := []experiment.Guard{{Metric: diagnosis.P99, Limit: 0.05}, {Metric: diagnosis.PeakRSS, Limit: 0.1}, {Metric: "BenchmarkX ns/op", Limit: 0.01}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseGuards([]string{"none"}); err != nil || len(got) != 0 {
		t.Errorf("none: %v, %v", got, err)
	}
	for _, bad := range []string{"p99", "p99<", "p99<x%", "p99<-5%", "p99<NaN", "p97<5%", "<5%", "p99<2000%"} {
		if got, err := parseGuards([]string{bad}); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
	if g := (&verifyFlags{}).usualGuards(); len(g) != 1 {
		t.Errorf("without a load: %v", g)
	}
	if g := (&verifyFlags{subjectFlags: subjectFlags{load: "hey"}}).usualGuards(); len(g) != 2 || g[0].Metric != diagnosis.P99 {
		t.Errorf("with a load: %v", g)
	}
}

func TestTrialCode(t *testing.T) {
	effect := func(v experiment.Verdict) []experiment.Effect {
		return []experiment.Effect{{Metric: diagnosis.CPUPerOp, Verdict: v}, {Metric: diagnosis.Elapsed, Verdict: experiment.Regressed}}
	}
	broken := []experiment.Effect{{Metric: diagnosis.CPUPerOp, Verdict: experiment.Improved}, {Metric: diagnosis.P99, Guarded: true, Broken: true}}
	for _, c := range []struct {
		conclusion experiment.Conclusion
		effects    []experiment.Effect
		want       int
	}{
		{experiment.Confirmed, effect(experiment.Improved), exitWell},
		{experiment.Rejected, effect(experiment.Same), exitWell},
		{experiment.Rejected, effect(experiment.Regressed), exitRegression},
		{experiment.Rejected, broken, exitRegression},
		{experiment.Undecided, effect(experiment.Inconclusive), exitInconclusive},
	} {
		if got := trialCode(&experiment.Trial{Primary: diagnosis.CPUPerOp, Conclusion: c.conclusion, Effects: c.effects}); got != c.want {
			t.Errorf("%s %v: %d, want %d", c.conclusion, c.effects, got, c.want)
		}
	}
}

// A finding of one run of two is chance; it is neither gone nor new.
func TestDiffer(t *testing.T) {
	found := func(rules ...string) *diagnosis.Diagnosis {
		d := &diagnosis.Diagnosis{}
		for _, r := range rules {
			d.Findings = append(d.Findings, diagnosis.Finding{Rule: r, Title: "T " + r})
		}
		return d
	}
	a := &arm{diagnosed: []*diagnosis.Diagnosis{found("gone", "both", "half"), found("both", "gone")}}
	b := &arm{diagnosed: []*diagnosis.Diagnosis{found("both", "came"), found("came", "other")}}
	gone, came, ok := differ(a, b)
	if !ok || len(gone) != 1 || gone[0].Rule != "gone" || gone[0].Title != "T gone" || len(came) != 1 || came[0].Rule != "came" {
		t.Errorf("gone %v, came %v, %v", gone, came, ok)
	}
	if _, _, ok := differ(a, &arm{}); ok {
		t.Error("an arm that was not counted has findings")
	}
}

// proposed is what a finding's experiment makes of flags and recording.
func proposed(e diagnosis.Experiment, m model.Model, f *verifyFlags) error {
	f.files, f.apply = []string{"r.gowhy"}, "illness"
	return f.take(&claimed{finding: diagnosis.Finding{Rule: "illness", Title: "An illness", Experiment: &e, Try: []string{"gowhy tune …"}},
		experiment: e, from: "r.gowhy", model: &m})
}

func TestPropose(t *testing.T) {
	there := t.TempDir()
	recorded := model.Model{Run: model.Run{Command: []string{"./app", "-n", "1"}, Dir: there, Env: []string{"GOGC=50"}},
		Build: &model.Build{Path: "example.com/m/cmd/app"}}
	knob := diagnosis.Experiment{Set: []string{"GOMAXPROCS=2"}, Now: []string{"GOMAXPROCS=8"}}

	var f verifyFlags
	if err := proposed(knob, recorded, &f); err != nil || !slices.Equal(f.command, recorded.Run.Command) || f.change.dir != there ||
		!slices.Equal(f.change.knobs, knob.Set) || !slices.Equal(f.change.aKnobs, knob.Now) || !slices.Equal(f.change.recorded, recorded.Run.Env) {
		t.Errorf("a knob: %+v, %v", f, err)
	}
	f = verifyFlags{}
	if err := proposed(diagnosis.Experiment{}, recorded, &f); err != nil || f.change.base != "HEAD" || f.change.pkg != "example.com/m/cmd/app" ||
		!slices.Equal(f.command, []string{"{binary}", "-n", "1"}) {
		t.Errorf("code: %+v, %v", f, err)
	}
	f = verifyFlags{}
	tests := recorded
	tests.Build = &model.Build{Path: "example.com/m/parser.test"}
	if err := proposed(diagnosis.Experiment{}, tests, &f); err != nil || f.change.pkg != "example.com/m/parser" || !f.change.test {
		t.Errorf("a test binary: %+v, %v", f, err)
	}
	// What was given wins.
	f = verifyFlags{command: []string{"./other"}, change: changeFlags{envs: []string{"X=1"}}}
	if err := proposed(knob, recorded, &f); err != nil || f.command[0] != "./other" || f.change.dir != "" || f.change.knobs != nil {
		t.Errorf("given: %+v, %v", f, err)
	}
	served := recorded
	served.Load = &model.Load{}
	for name, c := range map[string]struct {
		e    diagnosis.Experiment
		m    model.Model
		want string
	}{
		"elsewhere":  {knob, model.Model{Run: model.Run{Command: []string{"./app"}, Dir: "/no/such/place"}}, "no directory here"},
		"redacted":   {knob, model.Model{}, "does not tell the command"},
		"a search":   {diagnosis.Experiment{Tune: "workers=1..9"}, recorded, "found first"},
		"a build":    {diagnosis.Experiment{Rebuild: true}, recorded, "another build"},
		"no package": {diagnosis.Experiment{}, model.Model{Run: recorded.Run}, "does not tell the package"},
		"a server":   {knob, served, "serves"},
		"a shell":    {diagnosis.Experiment{}, model.Model{Run: model.Run{Command: []string{"/bin/sh", "run.sh"}}, Build: recorded.Build}, "starts sh"},
	} {
		if err := proposed(c.e, c.m, &verifyFlags{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWithoutFlag(t *testing.T) {
	got := withoutFlag([]string{"verify", "--pairs", "40", "--knob", "X=1", "--pairs=3", "--", "app", "--pairs", "4"}, "--pairs")
	if want := []string{"verify", "--knob", "X=1", "--", "app", "--pairs", "4"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What is left is reckoned from the pairs, not from what came before them.
func TestPairsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		tell := pairsDone(&statusLine{w: &b, tty: true}, 6)
		for range 6 {
			time.Sleep(time.Minute)
			tell(0, 40, experiment.Interval{})
		}
		time.Sleep(2 * time.Second)
		tell(0, 40, experiment.Interval{}) // a pair that does not count
		time.Sleep(2 * time.Second)
		tell(1, 40, experiment.Interval{Value: 0.8})
		tell(9, 40, experiment.Interval{Value: 0.8, Low: 0.7, High: 1.05})
		text := b.String()
		for _, want := range []string{"run 6 of 6", "gowhy: a pair of runs takes 2.00 s: at most 80.0 s more", "pair 1 of at most 40: −20.0 %; 78.0 s left at most",
			"pair 9 of at most 40: −20.0 % (95 %: −30.0 to +5.0 %); "} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %q", want, text)
			}
		}
	})
}

// A line that wraps could not be erased, and what takes a moment needs no notice.
func TestPairsDoneShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		line := &statusLine{w: &b, tty: true}
		tell := pairsDone(line, 2)
		tell(0, 40, experiment.Interval{})
		tell(0, 40, experiment.Interval{})
		time.Sleep(time.Millisecond)
		tell(1, 40, experiment.Interval{Value: 1.5})
		if strings.Contains(b.String(), "a pair of runs takes") {
			t.Errorf("%q", b.String())
		}
		b.Reset()
		line.set("%s", strings.Repeat("ä", 200))
		if got := strings.TrimPrefix(b.String(), "\r\x1b[K"); utf8.RuneCountInString(got) != 79 || !strings.HasSuffix(got, "ä…") {
			t.Errorf("%q", got)
		}
	})
}

func TestPrimaryHint(t *testing.T) {
	tr := &experiment.Trial{Rounds: []experiment.Round{{Sample: experiment.Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: 1}}}}}
	for _, c := range []struct {
		f    verifyFlags
		tr   *experiment.Trial
		want string
	}{
		{verifyFlags{primary: "p99"}, tr, "--load 'hey"},
		{verifyFlags{primary: "p99", subjectFlags: subjectFlags{load: "x"}}, tr, "--primary elapsed"},
		{verifyFlags{primary: "ops/s"}, tr, "--ops N"},
		{verifyFlags{primary: "ops/s", subjectFlags: subjectFlags{ops: 3}}, tr, "--primary elapsed"},
		{verifyFlags{primary: "live-heap"}, &experiment.Trial{}, "gowhy verify --help"},
	} {
		if got := c.f.primaryHint(c.tr); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.f.primary, got, c.want)
		}
	}
}

// An interrupt during the first runs leaves nothing that could be concluded.
func TestHasPrimary(t *testing.T) {
	nothing := &experiment.Trial{Primary: diagnosis.CPUPerOp}
	nothing.Effects = []experiment.Effect{{Metric: diagnosis.CPUPerOp}, {Metric: diagnosis.Faults, Pairs: 3}}
	if hasPrimary(nothing) || hasPrimary(&experiment.Trial{}) {
		t.Error("nothing was compared")
	}
	for _, e := range []experiment.Effect{{Metric: diagnosis.CPUPerOp, Pairs: 1}, {Metric: diagnosis.CPUPerOp, Exact: true}} {
		if !hasPrimary(&experiment.Trial{Primary: diagnosis.CPUPerOp, Effects: []experiment.Effect{e}}) {
			t.Errorf("%+v", e)
		}
	}
}

func TestBenchtimeForm(t *testing.T) {
	for s, want := range map[string]bool{"100x": true, "2s": true, "1m30s": true, "0x": false, "x": false, "-1x": false, "99999999999x": false, "0s": false, "100": false, "": false} {
		if benchtimeForm(s) != want {
			t.Errorf("%q", s)
		}
	}
}

func TestParseShare(t *testing.T) {
	for s, want := range map[string]float64{"2%": 0.02, " 5 %": 0.05, "0.05": 0.05, "150%": 1.5, "5": 0, "1": 0, "0": 0, "-1%": 0, "NaN": 0, "Inf%": 0, "1000%": 0, "x": 0} {
		got, err := parseShare("margin", s)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

func TestSameFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, n int, last byte) string {
		data := append(bytes.Repeat([]byte("x"), n), last)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, equal := write("a", 1<<16, 'y'), write("b", 1<<16, 'y')
	other, longer := write("c", 1<<16, 'z'), write("d", 1<<16+5, 'y')
	for _, c := range []struct {
		path string
		same bool
	}{{equal, true}, {other, false}, {longer, false}, {a, true}} {
		if same, err := sameFiles(a, c.path); same != c.same || err != nil {
			t.Errorf("%s: %v, %v", c.path, same, err)
		}
	}
	if _, err := sameFiles(a, filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there")
	}
}

// Where the finding's metric cannot be had, what decides is named by the finding
// or by the only benchmark, and by nothing that moved.
func TestInstead(t *testing.T) {
	trial := func(has ...diagnosis.Metric) *experiment.Trial {
		values := map[diagnosis.Metric]float64{}
		for _, m := range has {
			values[m] = 1
		}
		return &experiment.Trial{Rounds: []experiment.Round{{Sample: experiment.Sample{Values: values}}}}
	}
	k := &claimed{experiment: diagnosis.Experiment{Primary: diagnosis.AllocsOp, Else: diagnosis.CPUPerOp}}
	for _, c := range []struct {
		tr   *experiment.Trial
		want diagnosis.Metric
	}{
		{trial(diagnosis.AllocsOp, diagnosis.CPUPerOp), ""},
		{trial(diagnosis.Elapsed, diagnosis.CPUPerOp), diagnosis.CPUPerOp},
		{trial("BenchmarkX ns/op", "BenchmarkX allocs/op"), "BenchmarkX allocs/op"},
		{trial("BenchmarkX ns/op"), "BenchmarkX ns/op"},
		{trial("BenchmarkX ns/op", "BenchmarkY ns/op"), ""},
		{trial(diagnosis.Elapsed), ""},
		{nil, ""},
	} {
		if got, ok := k.instead(c.tr, diagnosis.AllocsOp); got != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q, %v", c.tr, got, ok)
		}
	}
	if _, ok := k.instead(trial(diagnosis.CPUPerOp), diagnosis.P99); ok {
		t.Error("a metric that was asked for gave way")
	}
	if _, ok := (*claimed)(nil).instead(trial(diagnosis.CPUPerOp), diagnosis.AllocsOp); ok {
		t.Error("without a finding")
	}
}

// The hint for a knob without a place shows the command with it, and no flag twice.
func TestWithPlace(t *testing.T) {
	for command, want := range map[string]string{
		"./app -workers 3 x":  "./app -workers {workers} x",
		"./app --workers=3 x": "./app --workers={workers} x",
		"./app workers 3":     "./app workers 3 -workers {workers}",
		"./app -workers":      "./app -workers -workers {workers}",
	} {
		if got := strings.Join(withPlace(strings.Fields(command), "workers"), " "); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
