package trial

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// changed returns the commands of both arms, as they are shown, with what is added
// to the environment.
func changed(f Change, command ...string) (a, b string, err error) {
	if err = f.Check(command); err == nil {
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
		f       Change
		command []string
		a, b    string // "" is an error
	}{
		{Change{A: "GOGC=50 ./old -n 1", B: "./new"}, nil, "GOGC=50 ./old -n 1", "./new"},
		{Change{A: "./old", B: "./new", Knobs: []string{"GOGC=9"}}, nil, "./old", "GOGC=9 ./new"},
		{Change{Knobs: []string{"GOMAXPROCS=2"}}, []string{"./app"}, "./app", "GOMAXPROCS=2 ./app"},
		{Change{Knobs: []string{"GOMAXPROCS=8:2"}}, []string{"./app"}, "GOMAXPROCS=8 ./app", "GOMAXPROCS=2 ./app"},
		{Change{Knobs: []string{"GOGC=off:100"}}, []string{"./app"}, "GOGC=off ./app", "GOGC=100 ./app"},
		{Change{Knobs: []string{"w=100:4"}}, app, "./app -w 100", "./app -w 4"},
		{Change{Knobs: []string{"w=4"}, KnobsA: []string{"w=100"}}, app, "./app -w 100", "./app -w 4"},
		{Change{Knobs: []string{"w=64MiB:1GiB"}}, app, "./app -w 64MiB", "./app -w 1GiB"},
		// Neither an address nor a list of directories is two values.
		{Change{Knobs: []string{"w=localhost:80"}, KnobsA: []string{"w=:80"}}, app, "./app -w :80", "./app -w localhost:80"},
		{Change{Knobs: []string{"w=127.0.0.1:80"}, KnobsA: []string{"w=[::1]:80"}}, app, "./app -w [::1]:80", "./app -w 127.0.0.1:80"},
		{Change{Knobs: []string{"PATH=/a:/b"}}, []string{"./app"}, "./app", "PATH=/a:/b ./app"},
		{Change{KnobsA: []string{"w=1"}, Env: []string{"X=1"}}, app, "./app -w 1", "X=1 ./app -w 1"},
		{Change{Env: []string{"GODEBUG=a=1", "http_proxy=x"}, recorded: []string{"GODEBUG=b=2"}}, []string{"./app"},
			"GODEBUG=b=2 ./app", "GODEBUG=b=2,a=1 http_proxy=x ./app"},
		{Change{Flags: []string{"-pool=true", "-v"}}, []string{"./app", "-n", "1"}, "./app -n 1", "./app -n 1 -pool=true -v"},
		{Change{Base: "HEAD"}, nil, "{binary}", "{binary}"},
		{Change{Base: "HEAD"}, []string{"nice", "{binary}", "-n", "1"}, "nice {binary} -n 1", "nice {binary} -n 1"},
		{Change{Bench: "Parse", Package: "./p", Benchtime: "9x", Env: []string{"GOGC=1"}}, nil,
			"go test -run ^$ -bench Parse -benchtime 9x ./p", "GOGC=1 go test -run ^$ -bench Parse -benchtime 9x ./p"},

		{Change{Knobs: []string{"w=4"}}, app, "", ""},
		{Change{Knobs: []string{"=4"}}, app, "", ""},
		{Change{Knobs: []string{"x=1:2"}}, app, "", ""},
		{Change{Env: []string{"x"}}, app, "", ""},
		{Change{Env: []string{"X=1"}}, nil, "", ""},
		{Change{A: "x", B: "'y"}, nil, "", ""},
		{Change{A: "x", B: "y", Base: "HEAD"}, nil, "", ""},
		{Change{Head: "HEAD", Knobs: []string{"X=1"}}, app, "", ""},
		{Change{Bench: "X", Knobs: []string{"GOGC=1"}}, app, "", ""},
		{Change{Benchtime: "1s", Knobs: []string{"GOGC=1"}}, app, "", ""},
	} {
		a, b, err := changed(c.f, c.command...)
		if c.a == "" {
			if err == nil {
				t.Errorf("changed(%+v, %q) = %q, %q, want an error", c.f, c.command, a, b)
			}
			continue
		}
		if err != nil || a != c.a || b != c.b {
			t.Errorf("changed(%+v, %q) = A %q, B %q, %v, want A %q, B %q", c.f, c.command, a, b, err, c.a, c.b)
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
	a := &arm{found: []*diagnosis.Diagnosis{found("gone", "both", "half"), found("both", "gone")}}
	b := &arm{found: []*diagnosis.Diagnosis{found("both", "came"), found("came", "other")}}
	gone, came, ok := differ(a, b)
	if !ok || len(gone) != 1 || gone[0].Rule != "gone" || gone[0].Title != "T gone" || len(came) != 1 || came[0].Rule != "came" {
		t.Errorf("gone %v, came %v, %v", gone, came, ok)
	}
	if _, _, ok := differ(a, &arm{}); ok {
		t.Error("an arm that was not counted has findings")
	}
}

// What a file names is told from what the user does.
func TestForeign(t *testing.T) {
	recorded := model.Model{Run: model.Run{Command: []string{"./app"}, Dir: t.TempDir(), Env: []string{"LD_PRELOAD=x.so"}}}
	nowhere := model.Model{Run: model.Run{Command: []string{"./app"}}}
	procs := diagnosis.Experiment{Set: []string{"GOMAXPROCS=2"}, Now: []string{"GOMAXPROCS=8"}}
	preload := diagnosis.Experiment{Set: []string{"LD_PRELOAD=y.so"}}
	upgrade := diagnosis.Experiment{Upgrade: []string{"example.com/x@v1"}}
	place := []string{"{binary}"}
	built := model.Model{Build: &model.Build{Path: "example.com/m"}}
	for name, c := range map[string]struct {
		e     diagnosis.Experiment
		m     model.Model
		setup Setup
		want  string
	}{
		"its command":            {procs, recorded, Setup{}, "./app LD_PRELOAD=x.so GOMAXPROCS=8 GOMAXPROCS=2"},
		"its command, no place":  {procs, nowhere, Setup{}, "./app GOMAXPROCS=8 GOMAXPROCS=2"},
		"my command, its change": {preload, recorded, Setup{Command: []string{"./mine"}}, "LD_PRELOAD=y.so"},
		"all mine":               {preload, recorded, Setup{Command: []string{"./mine"}, Change: Change{Knobs: []string{"X=1"}}}, ""},
		"its module":             {upgrade, built, Setup{Command: place}, "example.com/x@v1"},
		"my module":              {upgrade, built, Setup{Command: place, Change: Change{Upgrade: []string{"example.com/x@v2"}}}, ""},
		"a setting of Go's":      {procs, recorded, Setup{Command: []string{"./mine"}}, ""},
	} {
		k := &Claim{Finding: diagnosis.Finding{Rule: "illness"}, Experiment: c.e, from: "r.gowhy", model: &c.m}
		if err := c.setup.take(k); err != nil {
			t.Fatal(name, err)
		}
		got := ""
		if f := c.setup.Foreign(k); f != nil {
			got = strings.Join(slices.Concat(f.Command, f.Env, f.Modules), " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// proposed returns what a finding's experiment makes of flags and recording.
func proposed(e diagnosis.Experiment, m model.Model, f *Setup) error {
	f.Files, f.Apply = []string{"r.gowhy"}, "illness"
	return f.take(&Claim{Finding: diagnosis.Finding{Rule: "illness", Title: "An illness", Experiment: &e, Try: []string{"gowhy tune …"}},
		Experiment: e, from: "r.gowhy", model: &m})
}

func TestPropose(t *testing.T) {
	there := t.TempDir()
	recorded := model.Model{Run: model.Run{Command: []string{"./app", "-n", "1"}, Dir: there, Env: []string{"GOGC=50"}},
		Build: &model.Build{Path: "example.com/m/cmd/app"}}
	knob := diagnosis.Experiment{Set: []string{"GOMAXPROCS=2"}, Now: []string{"GOMAXPROCS=8"}}

	var f Setup
	if err := proposed(knob, recorded, &f); err != nil || !slices.Equal(f.Command, recorded.Run.Command) || f.Change.dir != there ||
		!slices.Equal(f.Change.Knobs, knob.Set) || !slices.Equal(f.Change.KnobsA, knob.Now) || !slices.Equal(f.Change.recorded, recorded.Run.Env) {
		t.Errorf("a knob: command %q in %q, knobs %q, of A %q, environment %q, %v, want %q in %q, %q, %q, %q",
			f.Command, f.Change.dir, f.Change.Knobs, f.Change.KnobsA, f.Change.recorded, err,
			recorded.Run.Command, there, knob.Set, knob.Now, recorded.Run.Env)
	}
	f = Setup{}
	if err := proposed(diagnosis.Experiment{}, recorded, &f); err != nil || f.Change.Base != "HEAD" || f.Change.Package != "example.com/m/cmd/app" ||
		!slices.Equal(f.Command, []string{"{binary}", "-n", "1"}) {
		t.Errorf("code: base %q, package %q, command %q, %v, want HEAD, example.com/m/cmd/app, {binary} -n 1",
			f.Change.Base, f.Change.Package, f.Command, err)
	}
	f = Setup{}
	if err := proposed(diagnosis.Experiment{Upgrade: []string{"example.com/x@v1.2.0"}, Go: "1.27.0"}, recorded, &f); err != nil || f.Change.Base != "" ||
		!slices.Equal(f.Change.Upgrade, []string{"example.com/x@v1.2.0"}) || f.Change.Go != "1.27.0" || f.Change.Package != "example.com/m/cmd/app" || f.Command[0] != "{binary}" {
		t.Errorf("a release: base %q, upgrade %q, Go %q, package %q, command %q, %v, "+
			"want none, example.com/x@v1.2.0, 1.27.0, example.com/m/cmd/app, {binary} first",
			f.Change.Base, f.Change.Upgrade, f.Change.Go, f.Change.Package, f.Command, err)
	}
	f = Setup{Change: Change{Upgrade: []string{"example.com/y@latest"}}}
	if err := proposed(diagnosis.Experiment{}, recorded, &f); err != nil || f.Change.Base != "" || f.Change.Package != "example.com/m/cmd/app" || f.Command[0] != "{binary}" {
		t.Errorf("an upgrade that was given: base %q, package %q, command %q, %v, "+
			"want none, example.com/m/cmd/app, {binary} first", f.Change.Base, f.Change.Package, f.Command, err)
	}
	f = Setup{}
	tests := recorded
	tests.Build = &model.Build{Path: "example.com/m/parser.test"}
	if err := proposed(diagnosis.Experiment{}, tests, &f); err != nil || f.Change.Package != "example.com/m/parser" || !f.Change.test {
		t.Errorf("a test binary: package %q, test %v, %v, want example.com/m/parser, true",
			f.Change.Package, f.Change.test, err)
	}
	// What was given wins.
	f = Setup{Command: []string{"./other"}, Change: Change{Env: []string{"X=1"}}}
	if err := proposed(knob, recorded, &f); err != nil || f.Command[0] != "./other" || f.Change.dir != "" || f.Change.Knobs != nil {
		t.Errorf("given: command %q in %q, knobs %q, %v, want ./other, no folder, no knobs",
			f.Command, f.Change.dir, f.Change.Knobs, err)
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
		if err := proposed(c.e, c.m, &Setup{}); err == nil || !strings.Contains(err.Error(), c.want) {
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

func TestBenchtimeForm(t *testing.T) {
	for s, want := range map[string]bool{"100x": true, "2s": true, "1m30s": true, "0x": false, "x": false, "-1x": false, "99999999999x": false, "0s": false, "100": false, "": false} {
		if benchtimeForm(s) != want {
			t.Errorf("%q", s)
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
	k := &Claim{Experiment: diagnosis.Experiment{Primary: diagnosis.AllocsOp, Else: diagnosis.CPUPerOp}}
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
		if got, ok := k.decidingMetric(c.tr, diagnosis.AllocsOp); got != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q, %v", c.tr, got, ok)
		}
	}
	if _, ok := k.decidingMetric(trial(diagnosis.CPUPerOp), diagnosis.P99); ok {
		t.Error("a metric that was asked for gave way")
	}
	if _, ok := (*Claim)(nil).decidingMetric(trial(diagnosis.CPUPerOp), diagnosis.AllocsOp); ok {
		t.Error("without a finding")
	}
}
