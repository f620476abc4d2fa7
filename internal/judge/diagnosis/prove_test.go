package diagnosis

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// proved runs one rule that reports f over m and returns what became of it.
func proved(t *testing.T, m *model.Model, f Finding) *Finding {
	t.Helper()
	f.Summary = "It is slow."
	d := Run(m, []*Rule{{Name: "slow", Title: "Slow", Check: func(p *Pass) { p.Report(f) }}}, Options{})
	if len(d.Findings) != 1 {
		t.Fatalf("%d findings, warnings %q; want one finding", len(d.Findings), d.Warnings)
	}
	return &d.Findings[0]
}

func ran(command ...string) *model.Model {
	m := &model.Model{}
	m.Run.Command = command
	return m
}

func recorded(m *model.Model, file string) *model.Model {
	m.Run.Recording, m.Run.Files = file, []string{file}
	return m
}

func read(m *model.Model, files ...string) *model.Model { m.Run.Files = files; return m }

func served(m *model.Model) *model.Model { m.Run.URL = "http://localhost:6060/debug/pprof/"; return m }

func loaded(m *model.Model, rate float64) *model.Model {
	m.Run.Duration = 10 * time.Second
	m.Load = &model.Load{Tool: "wrk", Rate: rate, Ops: int64(10 * rate), Duration: 10 * time.Second, URL: "http://localhost:8080/x", Connections: 16}
	return m
}

func named(m *model.Model, rate float64) *model.Model {
	m = loaded(m, rate)
	m.Load.Names = true
	return m
}

func built(m *model.Model, path string) *model.Model { m.Build = &model.Build{Path: path}; return m }

func TestTry(t *testing.T) {
	knob := Experiment{Primary: CPUPerOp, Set: []string{"GOMAXPROCS=2"}, Now: []string{"GOMAXPROCS=8"}}
	code := Experiment{Primary: AllocsOp, Else: CPUPerOp}
	tune := Experiment{Primary: Elapsed, Tune: "workers=1..1000", At: 1000}
	build := Experiment{Primary: CPUPerOp, Rebuild: true}
	upgrade := Experiment{Primary: CPUPerOp, Upgrade: []string{"example.com/x@v1.2.0"}}
	newGo := Experiment{Primary: CPUPerOp, Go: "1.27.0"}
	const load = " --load 'gowhy load http://localhost:8080/x --closed -c 16 -d 5s' --ready http://localhost:8080/x"
	for _, c := range []struct {
		name  string
		m     *model.Model
		e     Experiment
		want  []string
		lacks []string // without commands
	}{
		{"knob", ran(), knob, nil, []string{"command line"}},
		{"knob, command", ran("./app", "-x", "a b", "it's", ""), knob,
			[]string{`gowhy verify --primary cpu/op --knob GOMAXPROCS=8:2 -- ./app -x 'a b' 'it'\''s' ''`}, nil},
		{"knob, recording", recorded(ran("./app"), "my run.gowhy"), knob, []string{"gowhy verify 'my run.gowhy' --apply slow"}, nil},
		{"knob, recording of a server", served(recorded(ran("./app"), "run.gowhy")), knob, nil, []string{"address that the load"}},
		{"knob, under a load", loaded(ran("./app"), 500), knob,
			[]string{"gowhy verify --primary cpu/op --knob GOMAXPROCS=8:2 --load 'gowhy load http://localhost:8080/x --rate 500 -c 16 -d 5s' --ready http://localhost:8080/x -- ./app"}, nil},
		{"knob, a name server", named(ran("./app"), 500), knob,
			nil, []string{"a load of queries"}},
		{"throughput, under a load", loaded(ran("./app"), 500), Experiment{Primary: OpsPerSec, Set: knob.Set}, []string{"gowhy verify --primary ops/s --knob GOMAXPROCS=2" + load + " -- ./app"}, nil},
		{"knob, recording without a command", recorded(ran(), "run.gowhy"), knob, nil, []string{"command line"}},
		{"knob, files", read(ran(), "trace.out", "cpu.pprof"), knob, nil, []string{"command line"}},
		{"knob, standard input", read(ran(), "-"), knob, nil, []string{"command line"}},
		{"knob, a pipe", read(ran(), "trace.out", "/dev/fd/63"), knob, nil, []string{"command line"}},
		{"a command that no line can hold", recorded(ran("./app", "a\nb"), "run.gowhy"), knob, nil, []string{"command line"}},
		{"a command that a shell would expand", ran("./app", "{1..3}", "=ls", "{n}", "$(id)", "`id`", "~", "a;b", "{a,b}"), knob,
			[]string{"gowhy verify --primary cpu/op --knob GOMAXPROCS=8:2 -- ./app '{1..3}' '=ls' {n} '$(id)' '`id`' '~' 'a;b' '{a,b}'"}, nil},
		{"a benchmark of a test binary that is gone", built(recorded(ran("/tmp/go-build1/b001/sort.test", "-test.bench=Stable|Int"), "run.gowhy"), "sort.test"), code,
			[]string{"gowhy verify --base HEAD --package sort --bench 'Stable|Int'"}, nil},
		{"a knob for it", recorded(ran("/tmp/go-build1/b001/sort.test", "-test.bench=."), "run.gowhy"), knob, nil, []string{"command line"}},
		{"a file like a flag", read(ran(), "-o"), knob, nil, []string{"command line"}},
		{"a package like a flag", built(ran("./app"), "-toolexec=x"), code, nil, []string{"main package"}},
		{"a package of control characters", built(ran("./app", "x"), "a\x1b[2J"), build, nil, []string{"main package"}},
		{"a command of control characters", ran("./app", "\x1b[2J"), code, nil, []string{"arguments", "main package"}},
		{"a command that nobody pastes", ran("./app", strings.Repeat("x", 4000)), tune, nil, []string{"command line", "which argument"}},
		{"code", built(ran("./app", "-n", "3"), "example.com/app/cmd/app"), code,
			[]string{"gowhy verify --primary allocs/op --base HEAD --package example.com/app/cmd/app -- {binary} -n 3"}, nil},
		{"code, started by go run", built(ran("/usr/bin/go", "run", ".", "-n", "3"), "command-line-arguments"), code,
			nil, []string{"arguments", "main package"}},
		{"code, server", served(ran()), code, nil, []string{"arguments", "main package", "address that the load"}},
		{"code, recording", built(recorded(ran("./app"), "run.gowhy"), "example.com/app"), code, []string{"gowhy verify run.gowhy --apply slow"}, nil},
		{"code, recording without a package", recorded(ran("./app"), "run.gowhy"), code, nil, []string{"main package"}},
		{"code, recording of a shell", built(recorded(ran("sh", "-c", "./app"), "run.gowhy"), "example.com/app"), code, nil, []string{"arguments"}},
		{"code, recording of nothing known", recorded(ran(), "run.gowhy"), code, nil, []string{"arguments", "main package"}},
		{"upgrade, recording", built(recorded(ran("./app"), "run.gowhy"), "example.com/app"), upgrade, []string{"gowhy verify run.gowhy --apply slow"}, nil},
		{"upgrade, profiles", built(ran("./app", "-n", "3"), "example.com/app"), upgrade,
			[]string{"gowhy verify --primary cpu/op --upgrade example.com/x@v1.2.0 --package example.com/app -- {binary} -n 3"}, nil},
		{"upgrade, a benchmark", built(recorded(ran("/tmp/go-build1/b001/sort.test", "-test.bench=Int"), "run.gowhy"), "sort.test"), newGo,
			[]string{"gowhy verify --go 1.27.0 --package sort --bench Int"}, nil},
		{"upgrade to what nobody pastes", built(ran("./app"), "example.com/app"), Experiment{Primary: CPUPerOp, Upgrade: []string{"-x\x1b@v1"}},
			nil, []string{"module to upgrade"}},
		{"tune", ran(), tune, nil, []string{"command line", "which argument"}},
		{"tune, one place", ran("./app", "-workers", "1000", "-files", "1001"), tune, []string{"gowhy tune --knob workers=1..1000 --goal 'min(elapsed)' -- ./app -workers {workers} -files 1001"}, nil},
		{"tune, one place with =", ran("./app", "-workers=1000"), tune, []string{"gowhy tune --knob workers=1..1000 --goal 'min(elapsed)' -- ./app -workers={workers}"}, nil},
		{"tune, two places", ran("./app", "-a=1000", "-b=1000"), tune, nil, []string{"which argument"}},
		{"tune, a variable", served(ran("./app")), Experiment{Primary: OpsPerSec, Tune: "GOMAXPROCS=1..8"},
			nil, []string{"address that the load"}},
		{"build", built(ran("./app", "-n", "3"), "example.com/app"), build,
			[]string{"go build -o rebuilt example.com/app", "gowhy verify --primary cpu/op --a './app -n 3' --b './rebuilt -n 3'"}, nil},
		{"build, nothing known", ran(), build, nil, []string{"command line", "arguments", "main package"}},
		{"build, no arguments", ran("./app"), build, nil, []string{"main package"}},
	} {
		f := proved(t, c.m, Finding{Experiment: &c.e})
		if !slices.Equal(f.Try, c.want) {
			t.Errorf("%s: try %q, want %q", c.name, f.Try, c.want)
		}
		if (len(f.Try) > 0) != (f.Missing == "") || !strings.HasSuffix(f.Prove, f.Missing) {
			t.Errorf("%s: try %q, missing %q, prove %q", c.name, f.Try, f.Missing, f.Prove)
		}
		for _, lack := range c.lacks {
			if !strings.Contains(f.Missing, lack) {
				t.Errorf("%s: missing %q, want %q in it", c.name, f.Missing, lack)
			}
		}
		if strings.ContainsRune(strings.Join(f.Try, " ")+f.Prove, 0) {
			t.Errorf("%s: a blank is shown: %q, %q", c.name, f.Try, f.Prove)
		}
	}
}

func TestRecordAgain(t *testing.T) {
	long := recorded(served(ran("./server")), "run.gowhy")
	long.Run.Duration = 59500 * time.Millisecond
	for _, c := range []struct {
		name string
		m    *model.Model
		want []string
	}{
		{"nothing is known", ran(), nil},
		{"a command", recorded(ran("./app", "a b"), "run.gowhy"), []string{"gowhy record -d 10s -o after.gowhy -- ./app 'a b'", "gowhy compare run.gowhy after.gowhy"}},
		{"a minute of a server", long, []string{"gowhy record -d 60s -o after.gowhy --url http://localhost:6060/debug/pprof/", "gowhy compare run.gowhy after.gowhy"}},
		{"an address of control characters", &model.Model{Run: model.Run{URL: "http://h/\nrm"}}, nil},
	} {
		f := proved(t, c.m, Finding{Prove: "No run can decide."})
		if !slices.Equal(f.Try, c.want) || !strings.HasPrefix(f.Prove, "No run can decide.") || f.Experiment != nil {
			t.Errorf("%s: try %q, prove %q; want %q, and that no run can decide", c.name, f.Try, f.Prove, c.want)
		}
	}
	if f := proved(t, ran(), Finding{}); f.Prove != "" || len(f.Try) != 0 {
		t.Errorf("a finding without any proof: %q, %q", f.Prove, f.Try)
	}
}

func TestPredicted(t *testing.T) {
	cores := Bound{Value: 0.5, Unit: fact.Cores, Goal: CPUGoal, Share: 0.25, Method: "Amdahl"}
	factor := Bound{Value: 2, Unit: fact.Ratio, Goal: Throughput, Share: 0.5, Method: "asymptotic"}
	bytes := Bound{Value: 300, Unit: fact.Bytes, Goal: MemoryGoal, Share: 0.9, Method: "stacks"}
	wait := Bound{Value: 0.1, Unit: fact.Seconds, Goal: Latency, Share: 0.5, Method: "a wait"}
	partial := cores
	partial.Kind = IsDirection
	rss := &model.Model{Process: &model.Process{Samples: []model.ProcessSample{{RSS: 1000}, {RSS: 400}}}}
	for _, c := range []struct {
		name    string
		m       *model.Model
		b       Bound
		primary Metric
		want    float64 // 0 for no promise
	}{
		{"a share of the CPU", &model.Model{}, cores, CPUPerOp, 0.75},
		{"which says nothing of time", &model.Model{}, cores, Elapsed, 0},
		{"nor of counts", &model.Model{}, cores, AllocsOp, 0},
		{"a factor", &model.Model{}, factor, OpsPerSec, 2},
		{"a factor of fixed work", &model.Model{}, factor, Elapsed, 0.5},
		{"memory", rss, bytes, PeakRSS, 0.7},
		{"memory of an unknown whole", &model.Model{}, bytes, PeakRSS, 0},
		{"more memory than there is", rss, Bound{Value: 1001, Unit: fact.Bytes, Goal: MemoryGoal}, PeakRSS, 0},
		{"a wait, which may come twice", &model.Model{}, wait, P99, 0},
		{"a part of what is gained", &model.Model{}, partial, CPUPerOp, 0},
		{"nothing", &model.Model{}, Bound{Unit: fact.Cores, Goal: CPUGoal}, CPUPerOp, 0},
		{"all", &model.Model{}, Bound{Value: 2, Unit: fact.Cores, Goal: CPUGoal, Share: 1}, CPUPerOp, 0},
	} {
		f := proved(t, c.m, Finding{Bound: c.b, Experiment: &Experiment{Primary: c.primary}})
		metric, best, method, ok := f.Predicted()
		if ok != (c.want > 0) || best != c.want || metric != c.primary || ok && method != c.b.Method {
			t.Errorf("%s: Predicted() = %v, %v, %q, %v; want %v of %s", c.name, metric, best, method, ok, c.want, c.primary)
		}
	}
	// The rule's own promise goes before that of its bound.
	own := Experiment{Primary: CPUPerOp, Promised: []Promise{{CPUPerOp, 0.9, "ours"}, {AllocsOp, 0.1, "a count"}}}
	f := proved(t, &model.Model{}, Finding{Bound: cores, Experiment: &own})
	if _, best, method, _ := f.Predicted(); best != 0.9 || method != "ours" || len(own.Promised) != 2 {
		t.Errorf("Predicted() = %v, %q; want 0.9, ours", best, method)
	}
	if p, ok := f.PredictedFor(AllocsOp); !ok || p.Best != 0.1 {
		t.Errorf("PredictedFor(allocs/op) = %+v, %v; want 0.1", p, ok)
	}
	if _, _, _, ok := (&Finding{}).Predicted(); ok {
		t.Error("a promise without an experiment")
	}
	if !strings.Contains(f.Prove, "CPU time per operation must fall, by at most 10%") {
		t.Errorf("prove %q, want a fall by at most 10%%", f.Prove)
	}
}

// Two findings of one rule may share an experiment; what is added to one is not
// added to the other.
func TestExperimentShared(t *testing.T) {
	e := &Experiment{Primary: CPUPerOp}
	d := Run(&model.Model{}, []*Rule{{Name: "slow", Title: "Slow", Check: func(p *Pass) {
		for _, share := range []float64{0.5, 0.25} {
			p.Report(Finding{Summary: "x", Experiment: e, Bound: Bound{Value: share, Unit: fact.Cores, Share: share, Goal: CPUGoal}})
		}
	}}}, Options{})
	for i, want := range []float64{0.5, 0.75} {
		if _, best, _, _ := d.Findings[i].Predicted(); best != want {
			t.Errorf("finding %d: %v, want %v", i, best, want)
		}
	}
	if e.Promised != nil {
		t.Error("the rule's value was changed")
	}
	// All of it survives being saved.
	var b bytes.Buffer
	if err := d.Encode(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(&b)
	if err != nil || again.Findings[1].Experiment == nil || again.Findings[1].Experiment.Promised[0] != d.Findings[1].Experiment.Promised[0] {
		t.Errorf("Decode() = %+v, %v; want the promise %+v", again, err, d.Findings[1].Experiment.Promised[0])
	}
}

func TestServes(t *testing.T) {
	for _, c := range []struct {
		name string
		m    *model.Model
		want bool
	}{
		{"a command", ran("./app"), false},
		{"recorded while it ran", served(ran("./app")), true},
		{"under load", &model.Model{Load: &model.Load{Tool: "wrk"}}, true},
		{"a benchmark", &model.Model{Load: &model.Load{Tool: "go test", Benchmarks: []model.Benchmark{{Name: "X"}}}}, false},
	} {
		metric := Elapsed
		if c.want {
			metric = OpsPerSec
		}
		if Serves(c.m) != c.want || ThroughputMetric(c.m) != metric {
			t.Errorf("%s: Serves() = %v, ThroughputMetric() = %v; want %v, %v", c.name, Serves(c.m), ThroughputMetric(c.m), c.want, metric)
		}
	}
}

// What counts rounds is told of a command that ends, and of a server whose load is known.
func TestCountRounds(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*model.Model)
		want string
	}{
		{"a command", func(*model.Model) {}, "gowhy count run.gowhy"},
		{"no command", func(m *model.Model) { m.Run.Command = nil }, ""},
		{"two files", func(m *model.Model) { m.Run.Files = append(m.Run.Files, "cpu.pprof") }, ""},
		{"a server", func(m *model.Model) { m.Run.URL = "http://localhost:6060" }, ""},
		{"a server with its load", func(m *model.Model) {
			m.Load = &model.Load{URL: "http://localhost:8080/a?b=1&c", Offered: 500}
		}, "gowhy count run.gowhy --load 'gowhy load '\\''http://localhost:8080/a?b=1&c'\\'' --rate 500 -d 5s' --ready 'http://localhost:8080/a?b=1&c'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &model.Model{Run: model.Run{Command: []string{"./app"}, Files: []string{"run.gowhy"}}}
			c.set(m)
			p := &Pass{Meter: fact.Meter{Model: m}}
			if got := p.CountRounds(); got != c.want {
				t.Errorf("CountRounds() = %s, want %s", got, c.want)
			}
		})
	}
}
