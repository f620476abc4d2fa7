package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

const ms = time.Millisecond

// ledgerModel returns a second of a small program on two Ps.
func ledgerModel() *model.Model {
	var latency model.Histogram
	for i := range 100 {
		latency.Add(time.Duration(i+1) * ms)
	}
	workers := model.Times{Running: 700 * ms, Runnable: 2300 * ms, Syscall: 100 * ms, SyscallBlocked: 50 * ms, Unknown: 10 * ms,
		Blocked: map[string]time.Duration{"chan receive": 500 * ms, "sync": 1500 * ms}}
	m := &model.Model{}
	m.Run = model.Run{Go: "go1.26", Duration: time.Second, Procs: 2, Coverage: model.Coverage{
		Bytes: 1 << 20, Events: 123456, Generations: 2, LostBytes: 2048, LostEvents: 300, Lost: 3 * ms, Unknown: 10 * ms,
		Notes: []string{"generation 2 is cut \x1b[2J"}}}
	m.Sched = &model.Sched{
		Groups: []model.Group{
			{Name: "main.worker\x1b[31m", Count: 10, Created: 10, Ended: 9, Runs: 5000, Times: workers,
				Ranges: map[string]time.Duration{"GC mark assist": 30 * ms, "GC incremental sweep": 2 * ms}},
			{Name: "github.com/example/a-very-long-module-name/internal/component.(*Server).serveConnection.func1", Count: 1, Runs: 7,
				Times: model.Times{Running: 5 * ms, Blocked: map[string]time.Duration{"network": 995 * ms}}},
			{Name: "runtime.gcBgMarkWorker", System: true, Count: 2, Times: model.Times{Running: 200 * ms}},
			{Name: "", Count: 1, Times: model.Times{Unknown: 0}},
		},
		Goroutines: []model.Goroutine{
			{ID: 7, Group: "main.worker\x1b[31m", Created: -1, Ended: -1, Runs: 3, Times: model.Times{Running: 70 * ms, Runnable: 230 * ms}},
			{ID: 8, Group: "main.worker\x1b[31m", Created: 5 * ms, Ended: 500 * ms, Runs: 4, Times: model.Times{Running: 90 * ms, Blocked: map[string]time.Duration{"sync": 400 * ms}}},
		},
		Procs: []model.Proc{
			{ID: 0, User: 600 * ms, GC: 100 * ms, GCIdle: 20 * ms, Syscall: 80 * ms, Scheduler: 50 * ms, Idle: 150 * ms, Starts: 900},
			{ID: 1, User: 305 * ms, GC: 100 * ms, Syscall: 20 * ms, Scheduler: 75 * ms, Idle: 490 * ms, Unknown: 10 * ms, Starts: 1100},
		},
	}
	m.GC = &model.GC{
		Cycles: []model.Cycle{{Seq: 3, Begin: -1, End: 40 * ms}, {Seq: 5, Begin: 300 * ms, End: 350 * ms}, {Seq: 7, Begin: 900 * ms, End: -1}},
		Heap:   []model.HeapSample{{At: 10 * ms, Alloc: 4 << 20, Goal: 8 << 20}, {At: 299 * ms, Alloc: 8 << 20, Goal: 9 << 20}, {At: 600 * ms, Alloc: 5 << 20, Goal: 10 << 20}},
		Pauses: []model.Pause{{Kind: "GC mark termination", At: 39 * ms, Duration: 100 * time.Microsecond}, {At: 300 * ms, Duration: 50 * time.Microsecond},
			{At: 349 * ms, Duration: 150 * time.Microsecond}, {At: 950 * ms, Duration: 1 * ms}},
	}
	m.Tasks = &model.Tasks{
		Tasks:   []model.TaskType{{Name: "order", Count: 101, Complete: 100, Latency: latency}, {Name: "refund", Count: 1}},
		Regions: []model.RegionType{{Name: "pay", Count: 100, Open: 1, Latency: latency, Times: workers}},
	}
	addAccounts(m)
	return m
}

// addAccounts gives the model evidence of the kernel, the process, the machine
// and the load.
func addAccounts(m *model.Model) {
	stack := func(names ...string) model.Stack {
		var fs []model.Frame
		for _, n := range names {
			fs = append(fs, model.Frame{Func: n, File: "main.go", Line: 7})
		}
		return m.Stacks.Add(fs)
	}
	types := []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}
	sample := func(d time.Duration, call string, s model.Stack) model.Sample {
		mode := "user"
		if call != "" {
			mode = "kernel"
		}
		return model.Sample{Stack: s, Values: []int64{int64(d / ms), int64(d)}, Labels: map[string]string{"mode": mode, "syscall": call}}
	}
	write := stack("internal/runtime/syscall/linux.Syscall6", "syscall.Syscall", "syscall.write", "main.worker")
	m.Kernel = &model.Kernel{CPU: &model.Profile{Types: types, Known: true, Duration: time.Second, Samples: []model.Sample{
		sample(600*ms, "", stack("main.worker")), sample(150*ms, "", stack("runtime.mallocgc", "main.worker")),
		sample(200*ms, "", stack("runtime.gcDrain", "runtime.gcBgMarkWorker")), sample(90*ms, "write", write),
		sample(40*ms, "evil\x1b[2J", write), sample(60*ms, "futex", stack("runtime.futex", "runtime.notewakeup", "runtime.wakep")),
	}}}
	m.CPU = &model.Profile{Types: types, Known: true, Duration: time.Second, Samples: []model.Sample{{Stack: write, Values: []int64{70, int64(700 * ms)},
		Labels: map[string]string{"route": "/orders\x1b[2J"}}}}
	m.Goroutines.End = &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}, Samples: []model.Sample{
		{Stack: write, Values: []int64{3}, Labels: map[string]string{"state": "select", "route": "/orders\x1b[2J"}}, {Stack: write, Values: []int64{2}}}}
	m.Process = &model.Process{PID: 7, Threads: []model.Thread{
		{ID: 7, Name: "app\x1b[31m", User: 700 * ms, System: 150 * ms, RunQueue: 90 * ms, Voluntary: 1200, Involuntary: 30}, {ID: 9, Name: "app", User: 250 * ms, System: 50 * ms}}}
	m.Machine = &model.Machine{CPUs: 2}
	m.Limits = &model.Limits{CPUs: 2, Quota: 1.5, Period: 100 * ms, Memory: 512 << 20}
	for i := range 11 {
		at := time.Duration(i) * 100 * ms
		m.Process.Samples = append(m.Process.Samples, model.ProcessSample{At: at, User: at * 95 / 100, System: at / 5, RunQueue: at / 10, Voluntary: int64(120 * i),
			RSS: uint64(40<<20 + i<<20), ReadCalls: int64(i)})
		m.Machine.Samples = append(m.Machine.Samples, model.MachineSample{At: at, Busy: at * 3 / 2, Idle: at * 2 / 5, Steal: at / 10, CPUStall: at / 4, MemoryStall: -1, IOStall: -1})
		m.Limits.Samples = append(m.Limits.Samples, model.LimitSample{At: at, Usage: at * 23 / 20, Periods: int64(i), Throttled: int64(i / 5), ThrottledTime: at / 50})
	}
	m.Syscalls = &model.Syscalls{Window: time.Second, Lost: 3, Calls: []model.Syscall{
		{Name: "write", Count: 4000, Time: 120 * ms, Bytes: 1 << 20, Errors: map[string]int64{"EAGAIN": 40, "EPIPE": 2}}, {Name: "futex", Count: 1500, Time: 700 * ms}, {Name: "close", Count: 12}}}
	m.Load = &model.Load{Tool: "wrk", Ops: 2000, Rate: 1000, Duration: 2 * time.Second}
	two := func(a, b float64) model.Series { return model.Series{{At: 0, Value: a}, {At: time.Second, Value: b}} }
	m.Metrics = &model.Metrics{Series: map[string]model.Series{
		"/gc/heap/allocs:bytes": two(0, 64<<20), "/gc/heap/allocs:objects": two(100, 500_100), "/gc/heap/live:bytes": two(3<<20, 4<<20), "/gc/heap/goal:bytes": two(8<<20, 8<<20),
		"/memory/classes/heap/objects:bytes": two(5<<20, 6<<20), "/memory/classes/heap/released:bytes": two(2<<20, 2<<20), "/memory/classes/total:bytes": two(10<<20, 12<<20),
		"/cpu/classes/total:cpu-seconds": two(0, 2), "/cpu/classes/idle:cpu-seconds": two(0, 0.4), "/cpu/classes/gc/total:cpu-seconds": two(0, 0.3)}}
}

func ledger(t *testing.T, m *model.Model, o LedgerOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Ledger(&b, m, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLedgerGolden(t *testing.T) {
	for _, by := range LedgerTables {
		golden(t, "ledger-"+by+".txt", ledger(t, ledgerModel(), LedgerOptions{By: by, Options: layout.Options{Width: 110}}))
		golden(t, "ledger-"+by+".json", ledger(t, ledgerModel(), LedgerOptions{By: by, JSON: true}))
	}
}

// A line that is too long breaks in the middle of a figure.
func TestLedgerWidth(t *testing.T) {
	for _, by := range LedgerTables {
		for _, width := range []int{80, 100, 120} {
			m := ledgerModel()
			m.Sched.Groups[1].Ranges = m.Sched.Groups[0].Ranges
			for line := range strings.Lines(string(ledger(t, m, LedgerOptions{By: by, Options: layout.Options{Width: width}}))) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("by %s at %d columns has a line of %d, want at most as many: %q", by, width, n, line)
				}
			}
		}
	}
	m := ledgerModel()
	m.Sched.Groups = m.Sched.Groups[1:3] // nothing unknown
	out := string(ledger(t, m, LedgerOptions{Options: layout.Options{Width: 80}}))
	if strings.Contains(out, "UNKNOWN") || !strings.Contains(out, "component…veConnection.func1") {
		t.Errorf("the place that zeros took is not the name's:\n%s", out)
	}
}

// A table of some goroutines must not look like one of all.
func TestLedgerOfSomeGoroutines(t *testing.T) {
	m := ledgerModel()
	if out := string(ledger(t, m, LedgerOptions{By: "goroutine"})); !strings.Contains(out, "2 of 14") {
		t.Errorf("not said that there are more:\n%s", out)
	}
	m.Sched.AllKept = true
	if out := string(ledger(t, m, LedgerOptions{By: "goroutine"})); strings.Contains(out, "2 of 14") {
		t.Errorf("want all goroutines and no count of them in\n%s", out)
	}
}

func TestMostlyUnrecorded(t *testing.T) {
	if got, want := mostly(map[string]time.Duration{"": 90, "sync": 10}), "(not recorded) 90.0%"; got != want {
		t.Errorf("mostly() = %q, want %q", got, want)
	}
}

// Readers depend on these keys; README.md has the same list.
func TestLedgerJSONKeys(t *testing.T) {
	times := " running_ns runnable_ns syscall_ns syscall_blocked_ns blocked_ns unknown_ns"
	for by, keys := range map[string]string{
		"group":     "name system count created ended runs ranges" + times,
		"goroutine": "id group created_ns ended_ns runs ranges" + times,
		"p":         "id user_ns gc_ns gc_idle_ns syscall_ns scheduler_ns idle_ns unknown_ns starts",
		"gc":        "seq begin_ns end_ns duration_ns heap_bytes goal_bytes pauses pause_ns pause_max_ns",
		"task":      "name count complete latency_ns",
		"region":    "name count open latency_ns" + times,
		"cpu":       "part cpu_ns share cores by",
		"time":      "axis part time_ns window_ns share",
		"memory":    "name of value unit share from growth growth_low growth_high headroom reached_seconds",
		"operation": "name value unit source",
		"label":     "label value cpu_ns share goroutines",
		"function":  "function cpu_ns cum_ns share bytes cum_bytes inuse_bytes cum_inuse_bytes",
		"line":      "function file line cpu_ns cum_ns share objects bytes cpu_ns_per_op cum_ns_per_op",
		"work":      "work function file line cpu_ns share",
		"syscall":   "name count time_ns cpu_ns bytes errors per_operation",
		"thread":    "id name user_ns system_ns run_queue_ns voluntary involuntary",
	} {
		fractions := by == "memory" || by == "operation"
		var rows []map[string]any
		if err := json.Unmarshal(ledger(t, ledgerModel(), LedgerOptions{By: by, JSON: true}), &rows); err != nil || len(rows) == 0 {
			t.Fatalf("ledger by %s: %d rows, %v; want some", by, len(rows), err)
		}
		for i, row := range rows {
			for _, k := range strings.Fields(keys) {
				if _, ok := row[k]; !ok {
					t.Errorf("by %s: no %q in row %d", by, k, i)
				}
				fraction := fractions || k == "share" || k == "cores" || k == "per_operation"
				if v, ok := row[k].(float64); ok && !fraction && v != math.Trunc(v) {
					t.Errorf("by %s: %q is %v, not a whole number", by, k, v)
				}
			}
			for _, k := range []string{"blocked_ns", "ranges", "by", "errors"} {
				if v, ok := row[k]; ok && v == nil {
					t.Errorf("by %s: %q is null in row %d", by, k, i)
				}
			}
		}
	}
}

// What functions cost by themselves adds up to all, and a function that calls itself counts
// once.
func TestLedgerByFunction(t *testing.T) {
	m := &model.Model{}
	f := func(names ...string) (s model.Stack) {
		var frames []model.Frame
		for _, n := range names {
			frames = append(frames, model.Frame{Func: n, File: "a.go", Line: 1})
		}
		return m.Stacks.Add(frames)
	}
	m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Duration: time.Second,
		Samples: []model.Sample{
			{Stack: f("main.walk", "main.walk", "main.main"), Values: []int64{30, int64(300 * ms)}},
			{Stack: f("example.com/lib.sum", "main.walk", "main.main"), Values: []int64{50, int64(500 * ms)}},
		}}
	out := string(ledger(t, m, LedgerOptions{By: "function"}))
	want := []string{"500 ms  500 ms  62.5%  lib.sum", "300 ms  800 ms   100%  main.walk", "0 s  800 ms   100%  main.main", "800 ms  800 ms   100%  all"}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
	heap := &model.Model{}
	heap.LiveHeap.End = &model.Profile{Types: []model.ValueType{{Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"}},
		Samples: []model.Sample{{Stack: heap.Stacks.Add([]model.Frame{{Func: "main.keep"}}), Values: []int64{1, 4096}}}}
	if out := string(ledger(t, heap, LedgerOptions{})); !strings.Contains(out, "4 KiB  4 KiB  main.keep") || strings.Contains(out, "SHARE") {
		t.Errorf("a heap profile without --by is\n%s", out)
	}
}

// What a line allocates for one operation stands beside its CPU time, and those of lines
// add up to all but for the runtime's own.
func TestLedgerByLine(t *testing.T) {
	m := ledgerModel()
	m.Heap = &model.Profile{Types: []model.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}},
		Samples: []model.Sample{{Stack: m.Stacks.Add([]model.Frame{{Func: "main.worker", File: "main.go", Line: 7}}), Values: []int64{6000, 96 << 10}}}}
	out := string(ledger(t, m, LedgerOptions{By: "line"}))
	each := m.OperationShare(6000)
	for _, want := range []string{"CPU/OP", "OBJECTS/OP", "BYTES/OP", "main.worker:7", " " + figures.Number(each) + " "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var rows []struct {
		CPU int64 `json:"cpu_ns"`
	}
	if err := json.Unmarshal(ledger(t, m, LedgerOptions{By: "line", JSON: true}), &rows); err != nil {
		t.Fatal(err)
	}
	_, all := m.Lines()
	var sum time.Duration
	for _, r := range rows {
		sum += time.Duration(r.CPU)
	}
	if own := all.CPU - sum; own != 260*ms { // the collector and the futex of the scheduler
		t.Errorf("lines have %v of %v: %v are left for the runtime, want 260ms", sum, all.CPU, own)
	}
	m.Load, m.Tasks, m.Heap = nil, nil, nil
	if out := string(ledger(t, m, LedgerOptions{By: "line"})); strings.Contains(out, "/OP") || strings.Contains(out, "OBJECTS") {
		t.Errorf("columns that nothing tells of in\n%s", out)
	}
}

// What JSON says adds up to what the model holds.
func TestLedgerAddsUp(t *testing.T) {
	var rows []struct {
		Name     string           `json:"name"`
		Running  int64            `json:"running_ns"`
		Runnable int64            `json:"runnable_ns"`
		Syscall  int64            `json:"syscall_ns"`
		Blocked  map[string]int64 `json:"blocked_ns"`
		Unknown  int64            `json:"unknown_ns"`
	}
	m := ledgerModel()
	if err := json.Unmarshal(ledger(t, m, LedgerOptions{JSON: true}), &rows); err != nil {
		t.Fatal(err)
	}
	total := map[string]time.Duration{}
	for _, g := range m.Sched.Groups {
		total[g.Name] = g.Total()
	}
	if len(rows) != len(total) {
		t.Fatalf("%d rows, want one for each of %d groups", len(rows), len(total))
	}
	for _, r := range rows {
		sum := r.Running + r.Runnable + r.Syscall + r.Unknown
		for _, d := range r.Blocked {
			sum += d
		}
		if time.Duration(sum) != total[r.Name] {
			t.Errorf("%q: %v, want %v as in the model", r.Name, time.Duration(sum), total[r.Name])
		}
	}
}

func TestLedgerSort(t *testing.T) {
	m := ledgerModel()
	first := func(by, sort string) string {
		out := string(ledger(t, m, LedgerOptions{By: by, Sort: sort, Top: 1, Options: layout.Options{Width: 200}}))
		return strings.Split(out, "\n")[1]
	}
	if got := first("p", "idle"); !strings.HasPrefix(got, "1 ") {
		t.Errorf("most idle: %q, want P 1", got)
	}
	if got := first("group", "name"); !strings.Contains(got, "(start not seen)") {
		t.Errorf("first name: %q, want (start not seen)", got)
	}
	if got := first("gc", "pause"); !strings.Contains(got, "900 ms") {
		t.Errorf("longest pause: %q, want 900 ms", got)
	}
	for _, by := range LedgerTables {
		err := Ledger(new(bytes.Buffer), m, LedgerOptions{By: by, Sort: "nonsense"})
		_, list, ok := strings.Cut(fmt.Sprint(err), "; it knows ")
		if !ok || !problem.Is(err, problem.Misuse) {
			t.Errorf("ledger by %s, sorted by nonsense: error %v, want misuse with what it knows", by, err)
			continue
		}
		for known := range strings.SplitSeq(list, ", ") {
			ledger(t, m, LedgerOptions{By: by, Sort: known})
		}
	}
}

func TestLedgerTop(t *testing.T) {
	out := string(ledger(t, ledgerModel(), LedgerOptions{Top: 2}))
	if !strings.Contains(out, "and 2 more rows") {
		t.Errorf("ledger of 2 rows: %s\nwant 2 more named", out)
	}
	if !strings.Contains(strings.Split(out, "\n")[3], "all") {
		t.Errorf("the totals are not those of all rows:\n%s", out)
	}
}

// ofTrace is how many accounts need a trace.
const ofTrace = 6

func TestLedgerOfNothing(t *testing.T) {
	if err := Ledger(new(bytes.Buffer), &model.Model{}, LedgerOptions{}); !problem.Is(err, problem.Absence) {
		t.Error(err)
	}
	if err := Ledger(new(bytes.Buffer), ledgerModel(), LedgerOptions{By: "nonsense"}); err == nil {
		t.Error("no error")
	}
	empty := &model.Model{Sched: &model.Sched{}, GC: &model.GC{}, Tasks: &model.Tasks{}}
	for _, by := range LedgerTables[ofTrace:] {
		var missing *problem.Error
		if err := Ledger(new(bytes.Buffer), empty, LedgerOptions{By: by}); !errors.As(err, &missing) || missing.Kind != problem.Absence || missing.Hint == "" {
			t.Errorf("ledger by %s of nothing: error %v, want an absence with a hint", by, err)
		}
	}
	for _, by := range LedgerTables[:ofTrace] {
		if out := string(ledger(t, empty, LedgerOptions{By: by, JSON: true})); out != "[]\n" {
			t.Errorf("ledger by %s of nothing: %q, want []", by, out)
		}
		if out := string(ledger(t, empty, LedgerOptions{By: by})); !strings.HasPrefix(out, "no ") && !strings.HasPrefix(out, "the program marks no") {
			t.Errorf("ledger by %s of nothing: %q, want a line that there is none", by, out)
		}
	}
}

// Without a trace the ledger is the account of CPU time, and the others say
// what they lack.
func TestLedgerWithoutTrace(t *testing.T) {
	m := ledgerModel()
	m.Sched, m.GC, m.Tasks = nil, nil, nil
	if got, want := ledger(t, m, LedgerOptions{}), ledger(t, m, LedgerOptions{By: "cpu"}); !bytes.Equal(got, want) || !bytes.Contains(got, []byte("PART")) {
		t.Errorf("not the account of CPU time:\n%s", got)
	}
	for _, by := range LedgerTables[ofTrace:] {
		ledger(t, m, LedgerOptions{By: by})
	}
	if err := Ledger(new(bytes.Buffer), m, LedgerOptions{By: "p"}); !problem.Is(err, problem.Absence) {
		t.Error(err)
	}
}

// The rows of the CPU account add up to rusage, and their pieces are within them.
func TestLedgerCPUAddsUp(t *testing.T) {
	var rows []struct {
		CPU   int64            `json:"cpu_ns"`
		Share float64          `json:"share"`
		By    map[string]int64 `json:"by"`
	}
	if err := json.Unmarshal(ledger(t, ledgerModel(), LedgerOptions{By: "cpu", JSON: true}), &rows); err != nil {
		t.Fatal(err)
	}
	var sum int64
	var shares float64
	for _, r := range rows {
		sum, shares = sum+r.CPU, shares+r.Share
		var by int64
		for _, n := range r.By {
			by += n
		}
		if by > r.CPU {
			t.Errorf("pieces of %d in %d, want no more than the whole", by, r.CPU)
		}
	}
	if sum != int64(1150*ms) || math.Abs(shares-1) > 1e-9 {
		t.Errorf("%d ns in %v of the whole, want 1.15 s", sum, shares)
	}
}
