package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/bench/gen"
)

func TestMain(m *testing.M) {
	// As the measured process of the tests below.
	switch os.Getenv("BENCH_TEST_CHILD") {
	case "burn":
		for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		}
		os.Exit(0)
	case "grow":
		var kept [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			//lint:ignore SA4010 it grows until it is ended
			kept = append(kept, b)
		}
	case "hold":
		b := bytes.Repeat([]byte{1}, 64<<20)
		fmt.Println(len(b))
		os.Exit(0)
	case "hang":
		select {}
	case "fail":
		fmt.Fprintln(os.Stderr, "broken\nin detail")
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func measureChild(t *testing.T, as string, p process) usage {
	t.Helper()
	t.Setenv("BENCH_TEST_CHILD", as)
	p.argv = []string{os.Args[0]}
	if p.timeout == 0 {
		p.timeout = time.Minute
	}
	u, err := p.measure(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestMeasure(t *testing.T) {
	if u := measureChild(t, "burn", process{oneCore: true}); u.failure != "" || u.cpu <= 0 || u.cpu > u.wall || u.wall < 100*time.Millisecond {
		t.Errorf("burning 100 ms: %+v, want as long or longer, and CPU time for at most that", u)
	}
	u := measureChild(t, "hold", process{})
	if u.failure != "" || strings.TrimSpace(string(u.stdout)) != fmt.Sprint(64<<20) {
		t.Errorf("holding 64 MiB: %+v, want that printed", u)
	}
	if u.rss != 0 && (u.rss < 64<<20 || u.rss > 256<<20) {
		t.Errorf("64 MiB held, %d bytes measured; want 64 to 256 MiB", u.rss)
	}
	if u := measureChild(t, "hang", process{timeout: time.Second}); u.failure != "ended after 1s" {
		t.Errorf("hanging: %+v, want it ended after 1s", u)
	}
	if u := measureChild(t, "fail", process{}); u.failure != "exit status 3: broken" {
		t.Errorf("failing: %+v, want exit status 3: broken", u)
	}
	if peakOf("self") > 0 {
		if u := measureChild(t, "grow", process{memory: 200e6}); u.failure != "ended at 200 MB resident" || u.rss < 190e6 { // each thread's count is a little behind
			t.Errorf("growing: failure %q, %d bytes; want it ended at 200 MB", u.failure, u.rss)
		}
	}
}

// TestMeasureSmallChild: what the kernel hands down from a large parent must
// not be taken for the child's own memory.
func TestMeasureSmallChild(t *testing.T) {
	if peakOf("self") == 0 {
		t.Skip("peak memory is only read on Linux")
	}
	ballast := bytes.Repeat([]byte{1}, 128<<20)
	u := measureChild(t, "hang", process{timeout: time.Second}) // which leaves time to look at it
	if u.rss > 100<<20 || u.rss == 0 {
		t.Errorf("a small child of a large parent measures %d bytes, want at most 100 MiB", u.rss)
	}
	if ballast[len(ballast)-1] != 1 {
		t.Error("ballast lost")
	}
}

func TestMeasureCancelled(t *testing.T) {
	t.Setenv("BENCH_TEST_CHILD", "hang")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := (process{argv: []string{os.Args[0]}, timeout: time.Minute}).measure(ctx); err == nil {
		t.Error("no error after the context ended")
	}
	if _, err := (process{argv: []string{"/does/not/exist"}, timeout: time.Minute}).measure(context.Background()); err == nil {
		t.Error("no error for a program that is not there")
	}
}

func TestCleanEnv(t *testing.T) {
	t.Setenv("GOGC", "off")
	t.Setenv("GOMAXPROCS", "7")
	t.Setenv("BENCH_KEPT", "yes")
	env := strings.Join(cleanEnv(), "\n") + "\n"
	if strings.Contains(env, "GOGC=") || strings.Contains(env, "GOMAXPROCS=") || !strings.Contains(env, "BENCH_KEPT=yes\n") {
		t.Error("the environment of measured processes is", env)
	}
}

func names(specs []spec) (n []string) {
	for _, s := range specs {
		n = append(n, s.name())
	}
	return n
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		o    options
		want []string
	}{
		{options{kinds: "gc,pool"}, []string{"pool", "gc-20", "gc-100"}},
		{options{kinds: "gc, pool", sizes: "3"}, []string{"pool", "gc-3"}},
		{options{kinds: "ms64", sizes: "1,2", large: true}, []string{"ms64-1", "ms64-2", "channels-1000"}},
		{options{kinds: "channels", sizes: "1000", large: true}, []string{"channels-1000"}},
	} {
		specs, err := choose(c.o)
		if got := names(specs); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v chooses %q (%v), want %q", c.o, got, err, c.want)
		}
	}
	for _, o := range []options{{kinds: "nothing"}, {sizes: "0"}, {sizes: "x"}} {
		if _, err := choose(o); err == nil {
			t.Errorf("choose(kinds %q, sizes %q) gives no error, want one", o.kinds, o.sizes)
		}
	}
	all, err := choose(options{})
	if err != nil || len(all) < len(gen.Kinds) {
		t.Errorf("the usual traces are %q (%v), want %d or more", names(all), err, len(gen.Kinds))
	}
	for _, k := range gen.Kinds {
		if len(usual[k.Name]) == 0 {
			t.Errorf("kind %s is never measured", k.Name)
		}
	}
}

func made(names ...string) (traces []trace) {
	for _, n := range names {
		traces = append(traces, trace{spec: spec{kind: gen.Kind{Name: n, Fixed: true}}, path: n})
	}
	return traces
}

func fake(names ...string) (list []contender) {
	for _, n := range names {
		list = append(list, contender{name: n, all: n == allCores, argv: func(trace string) []string { return []string{n, trace} }})
	}
	return list
}

// TestSession: everything takes its turn in every round, in another order each
// time; who fails or is slow is spared.
func TestSession(t *testing.T) {
	var orders []string
	s := session{
		options:    options{rounds: 5, long: 10 * time.Second, seed: 1, memory: 5},
		contenders: fake(subject, allCores, loopName, sumName, toolName),
		traces:     made("a", "b"),
		progress:   &bytes.Buffer{},
		measure: func(_ context.Context, p process) (usage, error) {
			orders = append(orders, p.argv[0]+p.argv[1])
			if p.oneCore == (p.argv[0] == allCores) || p.memory != 5e6 {
				t.Errorf("%q: one core is %v, memory %d; want it of all but %s, and 5 MB", p.argv, p.oneCore, p.memory, allCores)
			}
			u := usage{cpu: time.Second, wall: time.Second, stdout: []byte(`{"events":3}` + "\n")}
			switch p.argv[0] {
			case sumName:
				u.wall = time.Minute
			case toolName:
				u.failure = "hangs"
			}
			return u, nil
		},
	}
	runs, err := s.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, r := range runs {
		counts[r.Contender+" "+r.Trace]++
	}
	for name, want := range map[string]int{subject: 5, allCores: 5, loopName: 5, sumName: 2, toolName: 1} {
		for _, tr := range []string{"a", "b"} {
			if got := counts[name+" "+tr]; got != want {
				t.Errorf("%s read %s %d times, want %d", name, tr, got, want)
			}
		}
	}
	if first, second := strings.Join(orders[:10], " "), strings.Join(orders[10:18], " "); strings.HasPrefix(first, second) {
		t.Errorf("two rounds in the order %s, want different ones", first)
	}
	if events(runs, "a") != 3 {
		t.Errorf("events are %d, want 3", events(runs, "a"))
	}
}

func TestSessionError(t *testing.T) {
	broken := errors.New("broken")
	s := session{
		options: options{rounds: 1}, contenders: fake(subject), traces: made("a"), progress: &bytes.Buffer{},
		measure: func(context.Context, process) (usage, error) { return usage{}, broken },
	}
	if _, err := s.run(context.Background()); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func TestCompare(t *testing.T) {
	run := func(c string, round int, cpu float64, others float64) Run {
		return Run{Trace: "a", Contender: c, Round: round, CPU: cpu, Wall: 2 * cpu, RSS: int64(1000 * cpu), Others: others}
	}
	runs := []Run{
		run(subject, 0, 1, 0), run(loopName, 0, 8, 0.1),
		run(subject, 1, 2, 0), run(loopName, 1, 20, 0), // a slow machine, for both
		run(subject, 2, 1, 0), run(loopName, 2, 9, -1),
		run(subject, 3, 1, 1.5), run(loopName, 3, 100, 0), // disturbed
		run(subject, 4, 1, 0), // no partner
	}
	got, ok := compare(runs, "a", loopName)
	want := Ratio{
		Trace: "a", Peer: loopName, Rounds: 3,
		CPU: Spread{9, 8, 10}, Wall: Spread{9, 8, 10}, Memory: Spread{9, 8, 10},
	}
	if !ok || got != want {
		t.Errorf("compare is %+v, want %+v", got, want)
	}
	if _, ok := compare(runs, "a", toolName); ok {
		t.Error("compared with a peer that did not run")
	}

	loud := []Run{run(subject, 0, 1, 1), run(loopName, 0, 8, 1)}
	if got, ok := compare(loud, "a", loopName); !ok || !got.Disturbed || got.CPU.Median != 8 {
		t.Errorf("compare() of disturbed rounds has the CPU median %v, disturbed %v, %v, want 8, true, true",
			got.CPU.Median, got.Disturbed, ok)
	}
	ended := run(toolName, 0, 8, 0)
	ended.Failure = "ended"
	if got, ok := compare([]Run{run(subject, 0, 1, 0), ended}, "a", toolName); !ok || !got.AtLeast {
		t.Errorf("ended peer: %+v, want at least that", got)
	}
}

func TestFigure(t *testing.T) {
	runs := []Run{
		{Trace: "a", Contender: subject, CPU: 1, Wall: 3, RSS: 10},
		{Trace: "a", Contender: subject, CPU: 3, Wall: 5, RSS: 30},
		{Trace: "a", Contender: subject, CPU: 99, Wall: 99, RSS: 99, Others: 1},
	}
	want := Figure{Trace: "a", Contender: subject, CPU: 2, MinCPU: 1, Wall: 4, RSS: 20, Runs: 2, Disturbed: 1}
	if got := figure(runs, "a", subject); got != want {
		t.Errorf("figure is %+v, want %+v", got, want)
	}
	if got, want := figure(runs, "b", subject), (Figure{Trace: "b", Contender: subject}); got != want {
		t.Errorf("figure() without runs is %+v, want %+v", got, want)
	}
}

func TestGeomean(t *testing.T) {
	if got := geomean([]float64{2, 8}); math.Abs(got-4) > 1e-12 {
		t.Errorf("geomean(2, 8) = %v, want 4", got)
	}
	if got := geomean(nil); got != 0 {
		t.Errorf("geomean of nothing is %v", got)
	}
}

func TestStandard(t *testing.T) {
	ratio := func(trace string, cpu float64, atLeast bool) Ratio {
		return Ratio{Trace: trace, Peer: loopName, CPU: Spread{Median: cpu}, AtLeast: atLeast}
	}
	each := standard{text: "each", peer: loopName, of: cpuOf, traces: anyTrace, want: 4}
	mean := standard{text: "mean", peer: loopName, of: cpuOf, traces: anyTrace, mean: true, want: 4}
	many := standard{text: "many", peer: loopName, of: cpuOf, traces: manyThreads, mean: true, want: 9}
	for _, c := range []struct {
		s       standard
		ratios  []Ratio
		got     float64
		where   string
		verdict string
	}{
		{each, []Ratio{ratio("a", 9, false), ratio("b", 4, false)}, 4, "b", met},
		{each, []Ratio{ratio("a", 9, false), ratio("b", 3.9, false)}, 3.9, "b", missed},
		{each, []Ratio{ratio("a", 9, false), ratio("b", 3, true)}, 9, "a", met},
		{each, []Ratio{ratio("b", 3, true)}, 0, "", notMeasured},
		{each, []Ratio{ratio("a", 5, true)}, 5, "a", met},
		{each, nil, 0, "", notMeasured},
		{each, []Ratio{{Trace: "a", Peer: toolName, CPU: Spread{Median: 1}}}, 0, "", notMeasured},
		{mean, []Ratio{ratio("a", 2, false), ratio("b", 8, false)}, 4, "", met},
		{mean, []Ratio{ratio("a", 2, false), ratio("b", 7, false)}, math.Sqrt(14), "", missed},
		{many, []Ratio{ratio("a", 2, false), ratio("ms64-20", 10, false)}, 10, "", met},
	} {
		b := c.s.judge(c.ratios)
		if math.Abs(b.Got-c.got) > 1e-9 || b.Where != c.where || b.Verdict != c.verdict {
			t.Errorf("%s of %+v: got %v at %q, %s; want %v at %q, %s", c.s.text, c.ratios, b.Got, b.Where, b.Verdict, c.got, c.where, c.verdict)
		}
	}
}

// sample returns a result of three contenders on two traces and on the large one.
func sample(loopTimes float64) *Result {
	var runs []Run
	for round := range 3 {
		for _, t := range []string{"a", "ms64-20", "channels-1000"} {
			runs = append(runs,
				Run{Trace: t, Contender: subject, Round: round, CPU: 2, Wall: 2, RSS: 20e6, Answer: json.RawMessage(`{"events":1000}`)},
				Run{Trace: t, Contender: allCores, Round: round, CPU: 2, Wall: 1, RSS: 30e6},
				Run{Trace: t, Contender: loopName, Round: round, CPU: 2 * loopTimes, Wall: 20, RSS: 40e6},
			)
		}
	}
	runs = append(runs, Run{Trace: "a", Contender: toolName, CPU: 300, Wall: 300, RSS: 8e9, Failure: "ended at 8000 MB resident"})
	return newResult(options{rounds: 3, timeout: time.Minute, memory: 8000}, made("a", "ms64-20", "channels-1000"),
		fake(subject, allCores, loopName, toolName), runs)
}

func TestResult(t *testing.T) {
	r := sample(10)
	parent := filepath.Join(t.TempDir(), "runs")
	dir, err := r.save(parent)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.save(parent); err != nil || again <= dir {
		t.Errorf("a second run of the day is in %q (%v), want it after the first, %q", again, err, dir)
	}
	back, err := load(dir)
	if err != nil || !reflect.DeepEqual(back.Ratios, r.Ratios) || !reflect.DeepEqual(back.Bars, r.Bars) {
		t.Errorf("read back %+v (%v), want %+v", back, err, r)
	}
	report, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| CPU of the bare loop, every trace | ≥ 4 x | 10 x | a | met |",
		"| CPU of the loop with a summary, geometric mean | ≥ 12 x | – | – | not measured |",
		"| 1 GB on one core | ≤ 2.50 s | 2 s | channels-1000 | met |",
		"| a | 10 (10–10) | ≥ 150 |",
		"| ms64-20 | 10 (10–10) | – |",
		"| **geometric mean** | **10.0** | **150** |",
		"- tool on a: ended at 8000 MB resident, after 300.0 s of CPU and at most 8000 MB",
		"| channels-1000 | gowhy-all | 2.000 | 2.000 | 1.000 | 30 | 3 | 0 |",
	} {
		if !strings.Contains(string(report), want+"\n") {
			t.Errorf("the report lacks %q", want)
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 4 && strings.Contains(string(report)+dirName(r.Date, r.Machine), host) {
		t.Error("the report names the machine")
	}
}

func TestCheck(t *testing.T) {
	recorded := sample(10)
	var out bytes.Buffer
	if err := check(&out, sample(8.1), recorded); err != nil {
		t.Errorf("81 %% of the recorded ratio: %v", err)
	}
	if err := check(&out, sample(7.9), recorded); !errors.Is(err, errSlower) {
		t.Errorf("79 %% of the recorded ratio: error %v, want %v", err, errSlower)
	}
	if !strings.Contains(out.String(), "WORSE") {
		t.Errorf("says %q, want WORSE", out.String())
	}
	if err := check(&out, sample(10), &Result{}); err == nil || errors.Is(err, errSlower) {
		t.Errorf("nothing in common: %v", err)
	}
}

// TestGenerateAndLoop makes a small trace the way a measured run does, and
// reads it with the bare loop and the summary.
func TestGenerateAndLoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.trace")
	if err := run(context.Background(), []string{"-generate", "ms64", "-size", "300000", path}, nil, os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{subject, loopName, sumName} {
		var out bytes.Buffer
		if err := runContender(context.Background(), name, path, &out); err != nil {
			t.Errorf("%s: %v, want nil", name, err)
			continue
		}
		var a answer
		if err := json.Unmarshal(out.Bytes(), &a); err != nil || a.Events+a.Goroutines == 0 {
			t.Errorf("%s answers %q (%v), want events or goroutines", name, &out, err)
		}
	}
	if err := runContender(context.Background(), toolName, path, nil); err == nil {
		t.Error("the tool has a binary of its own")
	}
}

// TestToolIsThere: the peers that other programs are can be found and run.
func TestToolIsThere(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	ready, err := contend(context.Background(), toolName)
	if err != nil {
		t.Fatal(err)
	}
	defer ready.cleanup()
	if len(ready.list) != 2 || ready.list[0].name != subject || ready.list[1].name != toolName {
		t.Fatalf("contenders are %+v, want %s and %s", ready.list, subject, toolName)
	}
	path := filepath.Join(t.TempDir(), "t.trace")
	if err := writeTrace("ms64", 300_000, path); err != nil {
		t.Fatal(err)
	}
	profile, err := exec.Command(ready.list[1].argv(path)[0], ready.list[1].argv(path)[1:]...).Output()
	if err != nil || len(profile) == 0 {
		t.Errorf("go tool trace wrote %d bytes: %v, want some", len(profile), err)
	}
	if _, err := contend(context.Background(), "nobody"); err == nil {
		t.Error("an unknown contender is accepted")
	}
}
