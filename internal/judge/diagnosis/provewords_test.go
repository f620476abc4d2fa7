package diagnosis

import (
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// fixed sets the arguments with which a demonstration runs without its problem.
func fixed(m *model.Model, arguments ...string) *model.Model { m.Run.Fixed = arguments; return m }

// TestProveWords has to the letter what is said of an experiment, and what it lacks.
func TestProveWords(t *testing.T) {
	app := func() *model.Model { return built(recorded(ran("./app", "-x"), "run.gowhy"), "example.com/app") }
	promised := func(m Metric, best float64) *Experiment {
		return &Experiment{Primary: m, Else: Elapsed, Set: []string{"A=1"}, Promised: []Promise{{m, best, "ours"}}}
	}
	for _, c := range []struct {
		name  string
		m     *model.Model
		e     *Experiment
		try   string
		prove string
	}{
		{"none", ran(), nil, "", "No run can decide. Tell gowhy record the program's command line (after --): this evidence does not say."},
		{"a knob", app(), &Experiment{Primary: CPUPerOp, Else: Elapsed, Set: []string{"A=1", "B=2"}, Now: []string{"A=0"}, Tune: "", Note: "A note."}, "gowhy verify run.gowhy --apply slow",
			"It runs the program as it is and with A=1 and B=2, in turns: CPU time per operation must fall. Where that cannot be counted, elapsed time decides. A note."},
		{"a knob of nothing known", ran(), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}, Note: "A note."}, "",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall. A note. Tell gowhy verify the program's command line (after --): this evidence does not say."},
		{"a knob of a demonstration", fixed(app(), "-well"), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify run.gowhy --apply slow",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"code of nothing known", recorded(ran(), "run.gowhy"), &Experiment{Primary: AllocsOp, Else: OpsPerSec}, "",
			"After the change, it builds the last commit and the working tree and runs both, in turns: allocations per operation must fall. Where that cannot be counted, operations per second decides. " +
				"Tell gowhy verify the program's main package (--package) and its arguments (after -- {binary}): this evidence does not say."},
		{"code of a server", served(ran()), &Experiment{Primary: OpsPerSec}, "",
			"After the change, it builds the last commit and the working tree and runs both, in turns: operations per second must rise. " +
				"Tell gowhy verify the program's main package (--package), its arguments (after -- {binary}) and the address that the load asks for (--load, --ready): this evidence does not say."},
		{"code of a demonstration", fixed(app(), "-well", "a b"), &Experiment{Primary: AllocsOp}, "gowhy verify run.gowhy --apply slow --flag -well --flag 'a b'",
			"It runs the program as it is and with -well 'a b', in turns: allocations per operation must fall."},
		{"code of a demonstration that no line can hold", fixed(app(), "a\nb"), &Experiment{Primary: AllocsOp}, "gowhy verify run.gowhy --apply slow",
			"After the change, it builds the last commit and the working tree and runs both, in turns: allocations per operation must fall."},
		{"code of a demonstration without files", fixed(built(ran("./app"), "example.com/app"), "-well"), &Experiment{Primary: AllocsOp}, "gowhy verify --primary allocs/op --base HEAD --package example.com/app -- {binary}",
			"After the change, it builds the last commit and the working tree and runs both, in turns: allocations per operation must fall."},
		{"code of a program", app(), &Experiment{Primary: AllocsOp}, "gowhy verify run.gowhy --apply slow",
			"After the change, it builds the last commit and the working tree and runs both, in turns: allocations per operation must fall."},
		{"a release", app(), &Experiment{Primary: AllocsOp, Upgrade: []string{"example.com/x@v1.2.0"}, Go: "1.27.0"}, "gowhy verify run.gowhy --apply slow",
			"It builds the working tree as it is and with example.com/x@v1.2.0 and Go 1.27.0, and runs both, in turns: allocations per operation must fall."},
		{"a release of a module", app(), &Experiment{Primary: AllocsOp, Upgrade: []string{"example.com/x@v1.2.0"}}, "gowhy verify run.gowhy --apply slow",
			"It builds the working tree as it is and with example.com/x@v1.2.0, and runs both, in turns: allocations per operation must fall."},
		{"a release of Go that nobody pastes", built(ran("./app"), "example.com/app"), &Experiment{Primary: AllocsOp, Go: "-x"}, "",
			"It builds the working tree as it is and with Go -x, and runs both, in turns: allocations per operation must fall. Tell gowhy verify the module to upgrade (--upgrade): this evidence does not say."},
		{"a build", app(), &Experiment{Primary: CPUPerOp, Rebuild: true}, "go build -o rebuilt example.com/app; gowhy verify --primary cpu/op --a './app -x' --b './rebuilt -x'",
			"It runs the old binary and the rebuilt one, in turns: CPU time per operation must fall."},
		{"a build of nothing known", ran(), &Experiment{Primary: CPUPerOp, Rebuild: true}, "",
			"It runs the old binary and the rebuilt one, in turns: CPU time per operation must fall. Tell gowhy verify the program's main package (--package), its command line (after --) and its arguments (after -- {binary}): this evidence does not say."},
		{"a value to find", ran("./app", "-workers=8"), &Experiment{Primary: Elapsed, Else: OpsPerSec, Tune: "workers=1..9", At: 8}, "gowhy tune --knob workers=1..9 --goal 'min(elapsed)' -- ./app -workers={workers}",
			"It tries values of workers, in turns, and recommends the smallest that does as well as the best in elapsed time."},
		{"a value to find for throughput", ran("./app"), &Experiment{Primary: OpsPerSec, Else: Elapsed, Tune: "GOMAXPROCS=1..9"}, "gowhy tune --knob GOMAXPROCS=1..9 --goal 'max(ops/s)' -- ./app",
			"It tries values of GOMAXPROCS, in turns, and recommends the smallest that does as well as the best in operations per second."},
		{"a promise", app(), promised(CPUPerOp, 0.75), "gowhy verify run.gowhy --apply slow",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall, by at most 25%. Where that cannot be counted, elapsed time decides."},
		{"a promise of more", app(), promised(CPUPerOp, 1.5), "gowhy verify run.gowhy --apply slow",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall, by at most 0%. Where that cannot be counted, elapsed time decides."},
		{"a promise of throughput", app(), promised(OpsPerSec, 1.5), "gowhy verify run.gowhy --apply slow",
			"It runs the program as it is and with A=1, in turns: operations per second must rise, to at most 1.5 times. Where that cannot be counted, elapsed time decides."},
		{"files like a flag", read(ran("./app", "-x"), "-o"), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- ./app -x",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"files of a pipe", read(ran("./app", "-x"), "trace.out", "/dev/fd/63"), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- ./app -x",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"files of control characters", read(ran("./app", "-x"), "a\nb"), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- ./app -x",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"files that nobody pastes", read(ran("./app", "-x"), strings.Repeat("x", 3000)), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- ./app -x",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"a long command", ran("./app", strings.Repeat("x", 1500)), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- ./app " + strings.Repeat("x", 1500),
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"a program built beside tests", ran("/tmp/go-build1/b001/app"), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- /tmp/go-build1/b001/app",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
		{"tests that are there", ran("./app.test"), &Experiment{Primary: CPUPerOp, Set: []string{"A=1"}}, "gowhy verify --primary cpu/op --knob A=1 -- ./app.test",
			"It runs the program as it is and with A=1, in turns: CPU time per operation must fall."},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Finding{Experiment: c.e}
			if c.e == nil {
				f.Prove = "No run can decide."
			}
			got := proved(t, c.m, f)
			if try := strings.Join(got.Try, "; "); try != c.try {
				t.Errorf("the commands are %s\nwant %s", try, c.try)
			}
			if got.Prove != c.prove {
				t.Errorf("the words are %s\nwant %s", got.Prove, c.prove)
			}
		})
	}
}

// TestRecordAgainFiles compares with the first recording where a command can name it.
func TestRecordAgainFiles(t *testing.T) {
	for file, want := range map[string]string{
		"run.gowhy": "gowhy compare run.gowhy after.gowhy", "": "gowhy diagnose after.gowhy", "-": "gowhy diagnose after.gowhy",
		"-run": "gowhy diagnose after.gowhy", "a\nb": "gowhy diagnose after.gowhy",
	} {
		m := ran("./app")
		m.Run.Recording, m.Run.Dir = file, "/srv"
		f := proved(t, m, Finding{Prove: "No run can decide."})
		if len(f.Try) != 2 || f.Try[1] != want {
			t.Errorf("after recording %q again: %q, want %q", file, f.Try, want)
		}
	}
}

// TestLoadAgain asks for as much as there was: at its rate, or as much as the program bears.
func TestLoadAgain(t *testing.T) {
	load := func(change func(*model.Load)) *model.Model {
		m := loaded(ran("./app"), 500)
		change(m.Load)
		return m
	}
	const open, closed = "--rate 500 -c 16", "--closed -c 16"
	for _, c := range []struct {
		name    string
		m       *model.Model
		primary Metric
		want    string
	}{
		{"its rate", load(func(l *model.Load) {}), CPUPerOp, open},
		{"for throughput", load(func(l *model.Load) {}), OpsPerSec, closed},
		{"a closed loop", load(func(l *model.Load) { l.Closed = true }), CPUPerOp, closed},
		{"a load of names", load(func(l *model.Load) { l.Names = true }), CPUPerOp, open},
		{"of no known connections", load(func(l *model.Load) { l.Connections = 0 }), CPUPerOp, "--rate 500"},
		{"what was offered", load(func(l *model.Load) { l.Offered = 700 }), CPUPerOp, "--rate 700 -c 16"},
		{"when it ran", load(func(l *model.Load) { l.Known, l.Ops = true, 3000 }), CPUPerOp, "--rate 300 -c 16"},
		{"a shorter one", load(func(l *model.Load) { l.Ops = 1000 }), CPUPerOp, open},
		{"of no known rate", load(func(l *model.Load) { l.Rate, l.Ops, l.Duration = 0, 2000, 10*time.Second }), CPUPerOp, "--rate 200 -c 16"},
		{"a slow one", load(func(l *model.Load) { l.Rate = 0.75 }), CPUPerOp, closed},
		{"a little faster", load(func(l *model.Load) { l.Rate = 1.5 }), CPUPerOp, "--rate 2 -c 16"},
		{"a fast one", load(func(l *model.Load) { l.Rate = 7e6 }), CPUPerOp, "--rate 7000000 -c 16"},
		{"faster than anybody asks", load(func(l *model.Load) { l.Rate = 1.5e7 }), CPUPerOp, closed},
		{"none", served(ran("./app")), CPUPerOp, "--closed"},
	} {
		w := proofWriter{m: c.m, e: &Experiment{Primary: c.primary}}
		if got := w.howMuch(); got != c.want {
			t.Errorf("howMuch() of %s = %s, want %s", c.name, got, c.want)
		}
	}
	for url, want := range map[string]string{"": " --load " + noURL, "-x": " --load " + noURL, "http://h/": " --load 'gowhy load http://h/ --rate 500 -c 16 -d 5s' --ready http://h/"} {
		w := proofWriter{m: load(func(l *model.Load) { l.URL = url }), e: &Experiment{Primary: CPUPerOp}}
		if got := w.load(); got != want {
			t.Errorf("load() of %q = %q, want %q", url, got, want)
		}
	}
}

// TestServesByTrace takes a program for a server that starts a goroutine for each packet it takes,
// and not for its own tasks.
func TestServesByTrace(t *testing.T) {
	packets := func() *model.Model {
		m := busy(0.9)
		m.Sched.Groups = []model.Group{{Name: "main.answer", Creator: stackOf(m, "main.listen"), Ended: 100_000}, {Name: "main.listen"}}
		m.Sched.Waits = []model.Wait{{Kind: model.Net, Group: "main.listen", Stack: stackOf(m, "internal/poll.runtime_pollWait net.(*UDPConn).ReadFrom main.listen"), Count: 100}}
		return m
	}
	tasks := packets()
	tasks.Tasks = &model.Tasks{}
	counted := packets()
	counted.Load = &model.Load{Ops: 10, Rate: 1, Benchmarks: []model.Benchmark{{}}}
	for _, c := range []struct {
		name string
		m    *model.Model
		want bool
	}{{"packets", packets(), true}, {"packets beside tasks", tasks, false}, {"a benchmark of packets", counted, false}} {
		if got := Serves(c.m); got != c.want {
			t.Errorf("Serves() of %s = %t, want %t", c.name, got, c.want)
		}
	}
}

// TestHowToGetEach has the command for each source of a server, of a command and of a program of
// which nothing is known.
func TestHowToGetEach(t *testing.T) {
	server := &model.Run{URL: "http://h:6060/debug/pprof/", Go: "go1.26", Files: []string{"run.gowhy"}}
	command := &model.Run{Command: []string{"./app"}, Go: "go1.26"}
	nothing := &model.Run{Files: []string{"-o"}}
	const record, agent = "gowhy record -d 10s -o again.gowhy -- ./app", "go get github.com/gowhy/gowhy/agent   # import it, then: "
	const fromServer = "gowhy record -d 10s -o again.gowhy --url http://h:6060"
	for _, c := range []struct {
		run  *model.Run
		s    model.Source
		want string
	}{
		{server, model.Heap, "curl -o allocs.pprof http://h:6060/debug/pprof/allocs"},
		{server, model.Wall, "curl -o wall.pprof 'http://h:6060/debug/fgprof?seconds=10'   # served by github.com/felixge/fgprof"},
		{server, model.Printed, "go tool pprof -top -cum http://h:6060/debug/pprof/profile > cpu.txt; gowhy diagnose cpu.txt"},
		{server, model.ProcFS, fromServer + "   # on its machine"},
		{server, model.CPU, fromServer},
		{server, model.Escape, "go build -gcflags=-m=2 ./... 2> escape.txt; gowhy diagnose run.gowhy escape.txt"},
		{server, model.Holders, "gowhy record --holders -d 60s -o again.gowhy --url http://h:6060"},
		{command, model.Heap, record}, {command, model.Wall, record}, {command, model.Printed, record}, {command, model.ProcFS, record}, {command, model.CPU, record},
		{command, model.Holders, "gowhy record --holders -d 60s -o again.gowhy -- ./app"},
		{command, model.Leak, "GOEXPERIMENT=goroutineleakprofile go build && " + record},
		{command, model.LoadResult, "gowhy load --help   # or k6, vegeta, wrk, hey, dnsperf or go test -bench: give gowhy the output beside the recording"},
		{command, model.Escape, "go build -gcflags=-m=2 ./... 2> escape.txt; gowhy diagnose escape.txt"},
		{command, model.KernelCPU, "gowhy doctor && " + record},
		{command, model.MetricsLog, agent + record},
		{nothing, model.Escape, "go build -gcflags=-m=2 ./... 2> escape.txt; gowhy diagnose escape.txt"},
		{nothing, model.CPU, "gowhy record --help"},
		{&model.Run{URL: "-x", Command: []string{"./app"}}, model.CPU, record},
		{&model.Run{Command: []string{"./gowhy record"}}, model.Holders, "gowhy record --holders -d 60s -o again.gowhy -- './gowhy record'"},
	} {
		if got := HowToGet(c.run, c.s); got != c.want {
			t.Errorf("HowToGet(%s) = %s\nwant %s", c.s, got, c.want)
		}
	}
	p := &Pass{Meter: fact.Meter{Model: ran("./app")}}
	if got, want := p.RecordAgain(7, "x.gowhy"), "gowhy record -d 7s -o x.gowhy -- ./app"; got != want {
		t.Errorf("RecordAgain(7) = %s, want %s", got, want)
	}
	if got := p.HowToGet(model.CPU); got != record {
		t.Errorf("HowToGet(cpu) = %s, want %s", got, record)
	}
}

// TestSteadyLoad asks at the rate that was offered, or else served.
func TestSteadyLoad(t *testing.T) {
	const help = "gowhy load --help"
	for _, c := range []struct {
		name string
		load *model.Load
		want string
	}{
		{"none", nil, help},
		{"of no address", &model.Load{Tool: "wrk", Rate: 5}, help},
		{"of an address like a flag", &model.Load{Tool: "wrk", URL: "-x", Rate: 5}, help},
		{"served", &model.Load{URL: "http://h/", Rate: 5}, "gowhy load http://h/ --rate 5 -d 3s"},
		{"offered", &model.Load{URL: "http://h/", Rate: 5, Offered: 9}, "gowhy load http://h/ --rate 9 -d 3s"},
		{"slow", &model.Load{URL: "http://h/", Rate: 0.25}, "gowhy load http://h/ --rate 1 -d 3s"},
	} {
		p := &Pass{Meter: fact.Meter{Model: &model.Model{Load: c.load}}}
		if got := p.SteadyLoad("3s"); got != c.want {
			t.Errorf("SteadyLoad() of a load %s = %s, want %s", c.name, got, c.want)
		}
	}
}
