package record

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

func TestGoroutineProfile(t *testing.T) {
	main := symbols.Place{Func: "main.main", File: "/x/main.go", Line: 9}
	s := &goroutines.Snapshot{Time: time.Unix(7, 0), Groups: []goroutines.Group{
		{Start: symbols.Place{Func: "main.work"}, Count: 40, State: goroutines.Waiting, Reason: "sync.Mutex.Lock", Oldest: 150 * time.Second, Stack: []symbols.Place{{Func: "runtime.gopark"}, {Func: "main.work", File: "/x/main.go", Line: 5}, {Func: "runtime.goexit"}}},
		{Start: main, Count: 1, State: goroutines.Running, Oldest: time.Hour}, // it runs
		{Start: symbols.Place{Func: "runtime.bgsweep"}, System: true, Count: 1},
		{Count: 3}, // nothing is known of them
	}}
	p := goroutineProfile(s, 0)
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	if len(p.Sample) != 2 || p.Sample[0].Value[0] != 40 || len(p.Sample[0].Location) != 2 || p.Sample[0].Location[1].Line[0].Function.Name != "main.work" ||
		p.Sample[1].Location[0].Line[0].Line != 9 || p.TimeNanos != 7e9 {
		t.Errorf("the profile is %v", p)
	}
	if a, b := p.Sample[0].Label, p.Sample[1].Label; !maps.EqualFunc(a, map[string][]string{"state": {"sync.Mutex.Lock"}, "minutes": {"2"}}, slices.Equal) ||
		!maps.EqualFunc(b, map[string][]string{"state": {"running"}}, slices.Equal) {
		t.Errorf("labels are %v and %v, want what a dump prints", a, b)
	}
}

// The labels of a program are in the profile, beside what a dump prints, and how many have
// some that are not.
func TestGoroutineLabels(t *testing.T) {
	orders := []goroutines.Label{{Key: "route", Value: "/orders"}, {Key: "state", Value: "theirs"}}
	g := goroutines.Group{Start: symbols.Place{Func: "main.work"}, Count: 40, State: goroutines.Waiting, Reason: "select", Oldest: time.Hour, Ages: goroutines.Ages{30, 30},
		Parts: []goroutines.Part{{Labels: orders, Count: 31, Oldest: 90 * time.Second, Ages: goroutines.Ages{25, 25}}, {Count: 9, Oldest: time.Hour, Ages: goroutines.Ages{5, 5}}}}
	p := goroutineProfile(&goroutines.Snapshot{Time: time.Unix(7, 0), Groups: []goroutines.Group{g}, Unread: 4}, 2*time.Second)
	want := []map[string][]string{
		{"route": {"/orders"}, "state": {"select"}, "minutes": {"1"}, artifact.StillLabel: {"25"}},
		{"state": {"select"}, "minutes": {"60"}, artifact.StillLabel: {"5"}},
	}
	if err := p.CheckValid(); err != nil || len(p.Sample) != 2 || p.Sample[0].Value[0] != 31 || p.Sample[1].Value[0] != 9 {
		t.Fatalf("the profile is %v, %v", p, err)
	}
	for i, s := range p.Sample {
		if !maps.EqualFunc(s.Label, want[i], slices.Equal) {
			t.Errorf("labels are %v, want %v", s.Label, want[i])
		}
	}
	if n := artifact.Unlabelled(p.Comments); n != 4 {
		t.Errorf("%d goroutines have labels that are not known, want 4", n)
	}
	for _, c := range []string{"", artifact.UnlabelledComment(0), artifact.UnlabelledComment(-3), "gowhy read no labels of goroutines that have some: many"} {
		if n := artifact.Unlabelled([]string{c}); n != 0 {
			t.Errorf("%q says %d", c, n)
		}
	}
}

// What was watched before a profile is in it, for the longest time by which it is counted.
func TestStillGoroutines(t *testing.T) {
	g := goroutines.Group{Start: symbols.Place{Func: "main.work"}, Count: 40, State: goroutines.Waiting, Reason: "sync.Mutex.Lock", Oldest: time.Hour}
	g.Ages = [...]int{40, 39, 38, 37, 5, 4, 3, 2, 1, 1, 1, 1}
	runs := g
	runs.State = goroutines.Running
	s := &goroutines.Snapshot{Time: time.Unix(7, 0), Groups: []goroutines.Group{g, runs}}
	for watched, want := range map[time.Duration][2]string{0: {"", "0s"}, 900 * time.Millisecond: {"", "0s"}, time.Second: {"40", "1s"}, 10 * time.Second: {"37", "8s"}, 5 * time.Hour: {"1", "34m8s"}} {
		p := goroutineProfile(s, watched)
		if got := p.Sample[0].Label[artifact.StillLabel]; strings.Join(got, "") != want[0] || artifact.StillFor(p.Comments).String() != want[1] {
			t.Errorf("watched for %v, %v are still in %v, want %s in %s", watched, got, artifact.StillFor(p.Comments), want[0], want[1])
		}
		if got := p.Sample[1].Label[artifact.StillLabel]; got != nil {
			t.Errorf("of those that run %v are still", got)
		}
	}
}

// The goroutines of a program that has no endpoint are counted all the same.
func TestRecordGoroutinesFromOutside(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is read on Linux")
	}
	argv := program(t, "plain")
	cmd := exec.Command(argv[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r, err := goroutines.Open(cmd.Process.Pid)
		if err == nil {
			s, err := r.Read()
			r.Close()
			if err == nil && s.Count > 0 && s.State(goroutines.Waiting) > 0 {
				break // it serves
			}
		}
		if time.Now().After(deadline) {
			t.Skip("its memory cannot be read: ", err)
		}
	}
	out := filepath.Join(t.TempDir(), "run.gowhy")
	if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, Options{Out: out, Duration: 300 * time.Millisecond, unwatched: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	m := load(t, evidence.Options{}, out)
	if !m.Has(model.GoroutineProfile) || m.Goroutines.Start == nil || m.Goroutines.End == nil {
		t.Fatalf("no goroutine profiles at both ends: %+v", m.Run.Coverage)
	}
	found := false
	for i := range m.Goroutines.End.Samples {
		for _, f := range m.Stacks.Frames(m.Goroutines.End.Samples[i].Stack) {
			found = found || f.Func == "net/http.(*Server).Serve"
		}
	}
	if !found {
		t.Error("the goroutine that serves is not in the profile")
	}
}

const collects = `package main

import (
	_ "net/http/pprof" // so that it keeps a memory profile
	"runtime"
	"time"
)

var kept [][]byte

//go:noinline
func keeps() { kept = append(kept, make([]byte, 1<<20)) }

func main() {
	println("runs")
	for {
		if len(kept) < 1000 {
			keeps()
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}
`

// What the runtime of such a program counts is read, under the names of its metrics.
func TestRecordCountersFromOutside(t *testing.T) {
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("builds a program, whose memory is read on Linux")
	}
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(collects), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("go", "build", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	cmd := exec.Command(exe)
	says, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if _, err := says.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r, err := goroutines.Open(cmd.Process.Pid)
	if err != nil {
		t.Skip("its memory cannot be read: ", err)
	}
	r.Close()
	out := filepath.Join(dir, "run.gowhy")
	if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, Options{Out: out, Duration: 300 * time.Millisecond, unwatched: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	m := load(t, evidence.Options{}, out)
	for name, least := range map[string]float64{"/sched/gomaxprocs:threads": 1, "/gc/heap/goal:bytes": 4 << 20, "/gc/heap/live:bytes": 1,
		"/gc/gogc:percent": 100, "/gc/gomemlimit:bytes": 1 << 62, "/gc/heap/allocs:bytes": 1, "/memory/classes/total:bytes": 1 << 20} {
		if v, ok := m.Metrics.Last(name); !ok || v < least {
			t.Errorf("%s: %v, want %v at least", name, v, least)
		}
	}
	if m.Heap == nil || m.LiveHeap.Start == nil || m.LiveHeap.End == nil {
		t.Fatalf("no heap profiles at both ends: %+v", m.Run.Coverage)
	}
	bytes := m.Heap.Column("alloc_space")
	allocated := 0.0
	for i := range m.Heap.Samples {
		s := &m.Heap.Samples[i]
		if f := m.Stacks.Frames(s.Stack); len(f) > 1 && f[0].Func == "main.keeps" && f[1].Func == "main.main" {
			allocated += s.Value(bytes)
		}
	}
	if m.Heap.Duration <= 0 || allocated < 1<<20 {
		t.Errorf("main.keeps allocated %v bytes in %v, want some MB", allocated, m.Heap.Duration)
	}
	all, _, _ := m.Metrics.Delta("/gc/cycles/total:gc-cycles")
	if forced, _, ok := m.Metrics.Delta("/gc/cycles/forced:gc-cycles"); !ok || forced < 1 || forced > all {
		t.Errorf("%v forced collections of %v, want some", forced, all)
	}
	for _, name := range []string{"/gc/heap/allocs:objects", "/sched/goroutines:goroutines"} {
		if v, ok := m.Metrics.Last(name); ok {
			t.Errorf("%s: %v, which nobody read", name, v)
		}
	}
}

// What is not known, or not sure, is left out of the log.
func TestCounterMetrics(t *testing.T) {
	values := func(c goroutines.Runtime) map[string]int64 {
		all := map[string]int64{}
		for _, m := range counterMetrics {
			if v := m.of(&c); v >= 0 {
				all[m.name] = v
			}
		}
		return all
	}
	c := goroutines.Runtime{Procs: 2, HeapMarked: -1, HeapGoal: -1, GOGC: goroutines.Off, MemoryLimit: goroutines.Off,
		Allocated: 0, Mapped: 5, Released: -1, Collections: 3, Forced: -1}
	want := map[string]int64{"/sched/gomaxprocs:threads": 2, "/gc/gogc:percent": goroutines.Off, "/gc/gomemlimit:bytes": goroutines.Off,
		"/gc/heap/allocs:bytes": 0, "/gc/cycles/total:gc-cycles": 3}
	if got := values(c); !maps.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
	c.HeapGoal, c.MemoryLimit, c.Released = 9, 100, 2
	if got := values(c); got["/gc/heap/goal:bytes"] != 0 || got["/memory/classes/total:bytes"] != 7 {
		t.Errorf("metrics %v, want no goal beside a memory limit, and 7 bytes in all", got)
	}
}

// TestWatchedBefore: who watches a program anyway may have nothing newer at the end than
// at the start, and knows who has stood since before.
func TestWatchedBefore(t *testing.T) {
	cmd := exec.Command(program(t, "plain")[0])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for watched, want := range map[time.Duration]time.Duration{10 * time.Second: time.Second, 100 * time.Millisecond: 0} {
		s := &goroutines.Snapshot{Time: time.Now(), Watched: watched, Count: 40, Groups: []goroutines.Group{
			{Start: symbols.Place{Func: "main.f", File: "a.go", Line: 3}, State: goroutines.Waiting, Reason: "chan receive", Count: 40, Ages: goroutines.Ages{40, 40}}}}
		out := filepath.Join(t.TempDir(), "run.gowhy")
		o := Options{Out: out, Duration: 1100 * time.Millisecond, unwatched: time.Millisecond, Only: []string{"goroutine"},
			Goroutines: func() *goroutines.Snapshot { return s }}
		if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, o); err != nil {
			t.Fatal(err)
		}
		if m := load(t, evidence.Options{}, out); m.Moment == nil || m.Moment.Watched != want || m.Moment.Goroutines[0].Still != 40*int64(want/time.Second) {
			t.Errorf("watched for %v before: %+v, want %v and those that stood", watched, m.Moment, want)
		}
	}
}
