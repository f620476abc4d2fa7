package rules

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestEvidenceLines: what a line of a fixture says is what stands in the
// model. A misread line would bless a rule that is wrong.
func TestEvidenceLines(t *testing.T) {
	m := oneCase(t, `== sick: everything
window 2s procs=2
stack work main.work@main.go:12 < main.main@main.go:3
process n=3 user=1s..3s system=200ms major=10 rss=1MiB..3MiB threads=9 fds=4
thread app id=7 user=1s runqueue=20ms
machine cpus=2 busy=3s cpu-stall=100ms load=2.5 available=1GiB
limits cpus=2 quota=1.5 period=100ms memory=512MiB periods=20 throttled=9 throttled-time=500ms held=1KiB..3KiB
build go=go1.26 set.-race=true set.-gcflags="all=-N -l" env.GOGC=25
metric /gc/heap/live:bytes 0s=4KiB 1s=8KiB every=500ms noise=1
metric /sched/gomaxprocs:threads 0s=2
histogram /sched/latencies:seconds 900x-inf..10us 50x1ms..10ms 1x10ms..inf
gcline n=2 every=50ms cycle=1 at=10ms aligned=true share=0.03 live=4MiB cpu-assist=1ms
schedline n=2 every=1s procs=2 local=1,2 ticks=5,6 queue=3
block stack=work count=10 delay=1s
goroutines start
goroutines end stack=work count=7
leak stack=work count=4
moment goroutine dead=true
lock main.cache.mu naming=source address=4096
standing stack=work count=60 waited=80m wants=main.cache.mu
standing stack=work state=sleep holds=main.cache.mu frame=1 sure=true shared=true id=9
liveheap end stack=work objects=3 bytes=2MiB all-objects=9 all-bytes=3MiB
heapcourse stack=work each=2KiB at=1s,2s objects=3,5
look at=0s objects=3 reached=2KiB
holder global main.cache objects=3 bytes=1KiB
look at=1s objects=4 reached=4KiB
holder global main.other bytes=1KiB
holder global main.cache objects=3 bytes=3KiB
step string field=.raw bytes=2KiB use=0.25
oncpu stack=work mode=kernel syscall=futex count=10 time=100ms
switch stack=work preempted=true count=3 time=1ms
syscalls window=2s
syscall futex count=900 time=1s errors.EAGAIN=5
escape geo.go:40 "... argument" variadic=true
reason concat-loop main.join main.go:40 last=44 through=runtime.concatstring,fmt.Sprint what="s += w"
result k6 duration=10s ops=900 q.0.5=1ms q.0.99=9ms closed=true generator="too slow" generator-cpu=0.5 generator-procs=2
backlog at=1s n=30
benchmark BenchmarkGet-2 n=1000 v.ns/op=120
`)
	p := m.Process
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	check("moments of the process", []time.Duration{p.Samples[0].At, p.Samples[1].At, p.Samples[2].At}, []time.Duration{0, time.Second, 2 * time.Second})
	check("process", p.Samples[1], model.ProcessSample{At: time.Second, User: 2 * time.Second, System: 100 * time.Millisecond, MajorFaults: 5, RSS: 2 << 20, Threads: 9, FDs: 4})
	check("thread", p.Threads, []model.Thread{{ID: 7, Name: "app", User: time.Second, RunQueue: 20 * time.Millisecond}})
	check("machine", m.Machine.Samples[1], model.MachineSample{At: 2 * time.Second, Busy: 3 * time.Second, CPUStall: 100 * time.Millisecond, MemoryStall: -1, IOStall: -1, Load: 2.5, Available: 1 << 30})
	check("limits", m.Limits.Samples[1], model.LimitSample{At: 2 * time.Second, Periods: 20, Throttled: 9, ThrottledTime: 500 * time.Millisecond, Memory: 3 << 10})
	check("limit of memory", m.Limits.Memory, uint64(512<<20))
	check("build", *m.Build, model.Build{Go: "go1.26", Settings: map[string]string{"-race": "true", "-gcflags": "all=-N -l"}, Environment: map[string]string{"GOGC": "25"}})
	check("metric", m.Metrics.Series["/gc/heap/live:bytes"], model.Series{{At: 0, Value: 4097}, {At: 500 * time.Millisecond, Value: 6143}, {At: time.Second, Value: 8193}})
	check("gauge metric", m.Metrics.Series["/sched/gomaxprocs:threads"], model.Series{{At: 0, Value: 2}})
	h := m.Metrics.Histograms["/sched/latencies:seconds"]
	check("counts", h.Counts, []uint64{900, 0, 50, 1})
	check("bounds", h.Bounds, []float64{math.Inf(-1), 1e-5, 1e-3, 1e-2, math.Inf(1)})
	check("gctrace", m.GCLog[1], model.GCLine{Cycle: 2, At: 60 * time.Millisecond, Aligned: true, Share: 0.03, Live: 4 << 20, CPUAssist: time.Millisecond})
	check("schedtrace", m.SchedLog[1], model.SchedLine{At: time.Second, Procs: 2, NeedSpinning: -1, RunQueue: 3, Local: []int{1, 2}, Ticks: []int64{5, 6}})
	check("block", m.Block.Samples, []model.Sample{{Stack: 1, Values: []int64{10, 1e9}}})
	check("goroutines at the start", len(m.Goroutines.Start.Samples), 0)
	check("goroutines at the end", m.Goroutines.End.Samples, []model.Sample{{Stack: 1, Values: []int64{7}}})
	check("leaks", m.Leaks.Samples[0].Values, []int64{4})
	check("heap at moments", m.HeapCourse[1].At, 2*time.Second)
	check("heap at a moment", m.HeapCourse[1].Samples, []model.Sample{{Stack: 1, Values: []int64{5, 10 << 10, 5, 10 << 10}}})
	check("locks", m.Moment.Locks, []model.Lock{{Address: 4096, Name: "main.cache.mu", Naming: model.BySource}})
	check("goroutines that wait", m.Moment.Goroutines[0], model.Standing{Count: 60, Stack: 1, State: "running", Waited: 80 * time.Minute, Wants: 1})
	check("who holds it", m.Moment.Goroutines[1], model.Standing{Count: 1, Stack: 1, State: "sleep", Goroutine: 9,
		Holds: []model.Holding{{Lock: 1, Taken: model.Frame{Func: "main.main", File: "main.go", Line: 3}, Shared: true, Sure: true}}})
	check("live heap", m.LiveHeap.End.Samples[0].Values, []int64{9, 3 << 20, 3, 2 << 20})
	cache := m.Run.Holders[1].Holders[0]
	check("who holds the heap", []any{cache.Way(), cache.Growth(), *cache.Path[0].Use, m.Run.Holders[1].Over}, []any{"main.cache.raw → string (25.0% in use)", int64(2 << 10), 0.25, time.Second})
	check("on the CPU", m.Kernel.CPU.Samples, []model.Sample{{Stack: 1, Values: []int64{10, 1e8}, Labels: map[string]string{"mode": "kernel", "syscall": "futex"}}})
	check("off the CPU", m.Kernel.Off.Samples[0].Labels, map[string]string{"preempted": "true"})
	check("system calls", m.Syscalls.Call("futex"), model.Syscall{Name: "futex", Count: 900, Time: time.Second, Errors: map[string]int64{"EAGAIN": 5}})
	check("escapes", m.Escapes, []model.Escaping{{File: "geo.go", Line: 40, What: "... argument", Variadic: true}})
	check("reasons", m.Reasons, []model.Reason{{Pattern: model.ConcatLoop, Func: "main.join", File: "main.go", Line: 40, Last: 44,
		Through: []string{"runtime.concatstring", "fmt.Sprint"}, What: "s += w"}})
	check("latency", m.Load.Latency, []model.Quantile{{Q: 0.5, Value: time.Millisecond}, {Q: 0.99, Value: 9 * time.Millisecond}})
	check("backlog", m.Load.Backlog, model.Series{{At: time.Second, Value: 30}})
	check("generator", m.Load.Generator, model.Generator{Limit: "too slow", CPU: 0.5, Procs: 2})
	check("closed loop", m.Load.Closed, true)
	check("benchmark", m.Load.Benchmarks, []model.Benchmark{{Name: "BenchmarkGet-2", N: 1000, Values: map[string]float64{"ns/op": 120}}})
}

// TestEvidenceMistakes: a misspelling is an error, not a zero.
func TestEvidenceMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"process usr=1s":                        `no attribute "usr"`,
		"thread app user=1s":                    "before process",
		"oncpu count=1 mode=idle":               "user or kernel",
		"metric /gc/heap/live:bytes":            "no points",
		"metric /gc/heap/live:bytes now=3":      "invalid duration",
		"histogram /x:seconds 5x2ms..3ms 1x1ms": "COUNTxFROM..TO",
		"goroutines middle count=1":             "neither start nor end",
		"syscall read count=1":                  "before syscalls",
		"interval at=1s ops=3":                  "before its result line",
		"standing count=1":                      "before moment",
		"moment cpu":                            "goroutine or trace",
		"holder global main.x bytes=1KiB":       "before its look",
		"step string use=1":                     "before its holder",
		"limits memory=1MB":                     "invalid syntax",
	} {
		_, _, err := parseFixtures("== sick: a mistake\nwindow 1s\n" + line + "\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func oneCase(t *testing.T, text string) *model.Model {
	t.Helper()
	_, cases, err := parseFixtures(text)
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	return cases[0].model
}
