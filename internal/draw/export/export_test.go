package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

var update = flag.Bool("update", false, "write testdata from what is written now")

const hostile = "main.(*T).\x1b[31mred;x"

// example returns a small model with everything in it that a format shows, and
// names that try to break formats.
func example() *model.Model {
	m := &model.Model{Run: model.Run{Go: "go1.26", Start: time.Unix(1_700_000_000, 0).UTC(), Duration: time.Second, Procs: 2}}
	m.Run.Coverage.Notes = []string{"generation 2: 17 bytes could not be read"}
	m.Run.Holders = []*model.HeapLook{{Tree: []model.HeldNode{
		{Parent: -1, Type: "main.cache", ObjectSum: model.ObjectSum{Objects: 1, Bytes: 48}}, {Parent: 0, Field: ".by", Type: hostile},
		{Parent: 1, Field: ".raw", Type: "[]byte", ObjectSum: model.ObjectSum{Objects: 7, Bytes: 7000}},
	}}}
	ms := time.Millisecond
	worker := model.Frame{PC: 0x1010, Func: "main.worker", File: "/src/main.go", Line: 12}
	send := m.Stacks.Add([]model.Frame{{PC: 0x2020, Func: "runtime.chansend1", File: "/go/chan.go", Line: 161}, worker})
	read := m.Stacks.Add([]model.Frame{{PC: 0x3030, Func: "syscall.Read", File: "/go/syscall.go", Line: 9}, worker})
	odd := m.Stacks.Add([]model.Frame{{Func: hostile, File: "/src/red.go", Line: 3}, {Func: "main.serve"}})
	m.Sched = &model.Sched{
		Groups: []model.Group{
			{Name: "main.worker", Start: worker, Count: 3, Created: 2, Ended: 1, Peak: 2, Runs: 9,
				Times: model.Times{Running: 700 * ms, Runnable: 100 * ms, Syscall: 30 * ms, SyscallBlocked: 20 * ms,
					Blocked: map[string]time.Duration{"chan send": 1100 * ms, "sleep": 50 * ms}},
				Ranges: map[string]time.Duration{"GC mark assist": 7 * ms}},
			{Name: hostile, Count: 1, Times: model.Times{Running: ms, Blocked: map[string]time.Duration{"network": 999 * ms}}},
			{Name: "", Count: 1, Times: model.Times{Unknown: 40 * ms, Blocked: map[string]time.Duration{"": 60 * ms}}},
		},
		Goroutines: []model.Goroutine{{ID: 7, Group: "main.worker", Created: -1, First: 2 * ms, Ended: -1, Runs: 5,
			Times: model.Times{Running: 500 * ms, Blocked: map[string]time.Duration{"chan send": 500 * ms}}}},
		Procs:    []model.Proc{{ID: 0, User: 600 * ms, GC: 100 * ms, Syscall: 30 * ms, Scheduler: 20 * ms, Idle: 250 * ms, Starts: 4}},
		Timeline: []model.Bucket{{Start: 0, Width: 500 * ms, Running: 1.5, Held: 2, Runnable: 0.25}, {Start: 500 * ms, Width: 500 * ms, Held: 1}},
		Waits: []model.Wait{
			{Kind: model.Sync, Reason: "chan send", Stack: send, Group: "main.worker", Count: 11, Total: 1000 * ms},
			{Kind: model.Net, Reason: "network", Stack: odd, Group: hostile, Count: 2, Total: 900 * ms},
			{Kind: model.SchedWait, Stack: send, Group: "main.worker", Count: 9, Total: 100 * ms},
			{Kind: model.SyscallWait, Stack: read, Group: "main.worker", Count: 5, Total: 45 * ms},
			{Kind: model.OtherWait, Reason: "sleep", Group: "main.worker", Count: 1, Total: 50 * ms},
		},
		Wakes: []model.Wake{{Waker: send, Woken: read, Count: 3}},
	}
	m.GC = &model.GC{
		Cycles: []model.Cycle{{Seq: 4, Begin: -1, End: 100 * ms}, {Seq: 5, Begin: 300*ms + 1, End: 400 * ms}},
		Heap:   []model.HeapSample{{At: 0, Alloc: 1 << 20}, {At: 300 * ms, Alloc: 4 << 20, Goal: 8 << 20}},
		Pauses: []model.Pause{{Kind: "GC mark termination", At: 100 * ms, Duration: 1234, Stack: send}},
		Load: []model.LoadChange{{At: 300 * ms, Proc: 1, Kind: model.LoadBackground, Dedicated: true, Delta: 1},
			{At: 400 * ms, Proc: 1, Kind: model.LoadBackground, Dedicated: true, Delta: -1}},
	}
	task := model.TaskType{Name: "=HYPERLINK(1)", Count: 2, Complete: 1}
	task.Latency.Add(20 * ms)
	m.Tasks = &model.Tasks{
		Tasks:   []model.TaskType{task},
		Slow:    []model.Task{{ID: 3, Name: "=HYPERLINK(1)", Begin: 10 * ms, End: 30 * ms, Logs: 2}, {ID: 4, Parent: 3, Name: "open", Begin: 20 * ms, End: -1}},
		Regions: []model.RegionType{{Name: "parse", Count: 2, Times: model.Times{Running: 3 * ms}}},
	}
	m.CPU = &model.Profile{
		Types:   []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Samples: []model.Sample{{Stack: read, Values: []int64{2, 20e6}, Group: "main.worker", Labels: map[string]string{"tenant": "a"}}, {Stack: odd, Values: []int64{1, 10e6}}, {Values: []int64{1, 10e6}}},
	}
	addProfiles(m, read, odd)
	addCounters(m)
	return m
}

// addProfiles gives the model a profile of each kind.
func addProfiles(m *model.Model, read, odd model.Stack) {
	of := func(types ...string) *model.Profile {
		p := &model.Profile{Known: true, At: 100 * time.Millisecond, Duration: 800 * time.Millisecond}
		for i, t := range types {
			name, unit, _ := strings.Cut(t, "/")
			p.Types = append(p.Types, model.ValueType{Name: name, Unit: unit})
			if i == 0 {
				p.Samples = []model.Sample{{Stack: read}, {Stack: odd, Labels: map[string]string{"mode": "kernel", "sys\x1bcall": "read;\x1b[1m"}}}
			}
			for j := range p.Samples {
				p.Samples[j].Values = append(p.Samples[j].Values, int64((i+1)*(j+3)))
			}
		}
		return p
	}
	m.Kernel = &model.Kernel{CPU: of("samples/count", "cpu/nanoseconds"), Off: of("switches/count", "offcpu/nanoseconds")}
	m.Wall = of("samples/count", "wall/nanoseconds")
	m.Block, m.Mutex = of("contentions/count", "delay/nanoseconds"), of("contentions/count", "delay/nanoseconds")
	m.Heap = of("alloc_objects/count", "alloc_space/bytes")
	m.LiveHeap.End = of("alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes")
	m.Goroutines.End = of("goroutine/count")
}

// addCounters gives the model what was counted.
func addCounters(m *model.Model) {
	const ms = time.Millisecond
	m.Process = &model.Process{PID: 7, Threads: []model.Thread{{ID: 7, Name: "=app\x1b[31m", User: 5 * ms, Voluntary: 3}},
		Samples: []model.ProcessSample{{FDs: -1}, {At: time.Second, User: 5 * ms, System: ms, RSS: 1 << 20, FDs: 9, Threads: 4, ReadCalls: 8}}}
	m.Machine = &model.Machine{CPUs: 2, Samples: []model.MachineSample{{CPUStall: -1, MemoryStall: -1, IOStall: ms}, {At: time.Second, Busy: 300 * ms, Idle: 1700 * ms, CPUStall: -1, MemoryStall: -1, IOStall: ms, Load: 0.25}}}
	m.Limits = &model.Limits{Quota: 1, Samples: []model.LimitSample{{At: time.Second, Usage: 9 * ms, Periods: 10, Throttled: 1, ThrottledTime: ms, Memory: 4096}}}
	m.Metrics = &model.Metrics{Series: map[string]model.Series{"/gc/heap/live:bytes": {{At: 0, Value: 4096}, {At: ms, Value: math.NaN()}}, "=evil\x1b": {{At: 0, Value: 0.5}}}}
	m.Syscalls = &model.Syscalls{Window: time.Second, Calls: []model.Syscall{{Name: "read", Count: 4, Time: ms, Bytes: 11, Errors: map[string]int64{"EAGAIN": 3, "EINTR": 1}}}}
}

func slicesOf(list ...Slice) func(func(Slice) bool) { return slices.Values(list) }

// exampleRuns are single runs of the example.
func exampleRuns() func(func(Slice) bool) {
	const ms = time.Millisecond
	return slicesOf(
		Slice{Proc: 0, Goroutine: 7, Group: "main.worker", Begin: 2 * ms, End: 5*ms + 7, Stack: 1},
		Slice{Proc: -1, Goroutine: 7, Group: "main.worker", Name: "chan send", Begin: 5*ms + 7, End: 9 * ms},
		Slice{Proc: 1, Goroutine: 8, Group: hostile, Begin: 3 * ms, End: 4 * ms},
	)
}

func TestGolden(t *testing.T) {
	runs := exampleRuns()
	type test struct {
		file   string
		format string
		o      Options
	}
	tests := []test{
		{"chrome.json", "chrome", Options{}},
		{"chrome-slices.json", "chrome", Options{Slices: runs}},
		{"chrome-group.json", "chrome", Options{Slices: runs, Group: hostile}},
		{"perfetto.txt", "perfetto", Options{}},
		{"perfetto-slices.txt", "perfetto", Options{Slices: runs}},
		{"perfetto-group.txt", "perfetto", Options{Slices: runs, Group: hostile}},
		{"speedscope.json", "speedscope", Options{}},
		{"speedscope-slices.json", "speedscope", Options{Slices: runs}},
		{"speedscope-group.json", "speedscope", Options{Slices: runs, Group: hostile}},
		{"speedscope-cpu.json", "speedscope", Options{Profile: CPU, Slices: runs}},
		{"group.folded", "folded", Options{Group: "main.worker"}},
		{"waits-sync.csv", "csv", Options{Profile: Sync}},
	}
	for _, p := range Profiles {
		tests = append(tests, test{string(p) + ".folded", "folded", Options{Profile: p}}, test{string(p) + ".pprof.txt", "pprof", Options{Profile: p}})
	}
	for _, table := range Tables() {
		tests = append(tests, test{table + ".csv", "csv", Options{Table: table}})
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got := write(t, tt.format, example(), tt.o)
			if again := write(t, tt.format, example(), tt.o); !bytes.Equal(got, again) {
				t.Error("the same model gave two different files")
			}
			if tt.format == "pprof" {
				p, err := profile.ParseData(got)
				if err != nil {
					t.Fatal(err)
				}
				got = []byte(p.String() + "\n")
			}
			if tt.format == "perfetto" {
				got = protoText(t, got)
			}
			checkHarmless(t, got)
			golden(t, filepath.Join("testdata", tt.file), got)
		})
	}
}

func write(t *testing.T, format string, m *model.Model, o Options) []byte {
	t.Helper()
	i := slices.IndexFunc(All, func(f Format) bool { return f.Name == format })
	var buf bytes.Buffer
	if err := All[i].Write(&buf, m, o); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func checkHarmless(t *testing.T, data []byte) {
	t.Helper()
	for i, c := range data {
		if c < ' ' && c != '\n' || c == 0x7f {
			t.Fatalf("control character %#x at byte %d, want none", c, i)
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (-update writes it):\n%s", file, got)
	}
}

// The states profile is another view of the ledger: not a nanosecond more or less.
func TestStatesAddUp(t *testing.T) {
	m := example()
	total := m.Sched.Total()
	var sum int64
	for line := range strings.Lines(string(write(t, "folded", m, Options{Profile: States}))) {
		value := line[strings.LastIndexByte(line, ' ')+1:]
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != int64(total.Total()) {
		t.Errorf("states add up to %v, want %v as the groups", time.Duration(sum), total.Total())
	}
}

func TestCSVIsRectangular(t *testing.T) {
	for _, table := range Tables() {
		rows, err := csv.NewReader(bytes.NewReader(write(t, "csv", example(), Options{Table: table}))).ReadAll()
		if err != nil { // also when rows differ in length
			t.Errorf("%s: %v, want rows of one length", table, err)
		}
		if len(rows) < 2 {
			t.Errorf("%s: %d rows, want a head and some more", table, len(rows))
		}
		for _, row := range rows {
			for _, c := range row {
				if _, err := strconv.ParseFloat(c, 64); err != nil && c != "" && strings.ContainsRune("=+-@", rune(c[0])) {
					t.Errorf("%s: a spreadsheet computes %q, want text", table, c)
				}
			}
		}
	}
}

func TestChromeShape(t *testing.T) {
	var file struct {
		OtherData struct{ Holds, Lacks []string }
		Events    []struct {
			Ph  string
			Ts  float64
			Dur *float64
			ID  string
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(write(t, "chrome", example(), Options{}), &file); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(file.OtherData.Lacks, "single runs of goroutines") {
		t.Errorf("without slices the file lacks %q, want single runs of goroutines among it", file.OtherData.Lacks)
	}
	open := map[string]int{}
	for _, e := range file.Events {
		switch e.Ph {
		case "X":
			if e.Dur == nil || *e.Dur < 0 || e.Ts < 0 || e.Ts+*e.Dur > 1e6 {
				t.Errorf("span %+v, want it inside of the window", e)
			}
		case "b":
			open[e.ID]++
		case "e":
			open[e.ID]--
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("task %s: %d begins without an end", id, n)
		}
	}
	data, err := json.Marshal([]micros{0, 1, 999, 1000, 1_234_567, -1, -1500})
	if want := "[0.000,0.001,0.999,1.000,1234.567,-0.001,-1.500]"; err != nil || string(data) != want {
		t.Errorf("micros: %s, %v, want %s", data, err, want)
	}
}

func TestErrors(t *testing.T) {
	empty, traced := &model.Model{}, example()
	traced.CPU = nil
	grouped := example()
	grouped.CPU.Samples = grouped.CPU.Samples[1:] // those without a group
	tests := []struct {
		format string
		m      *model.Model
		o      Options
		want   string
		needs  model.Source
	}{
		{"pprof", empty, Options{}, "no execution trace was recorded", model.Trace},
		{"folded", empty, Options{Profile: Sync}, "no execution trace was recorded", model.Trace},
		{"perfetto", empty, Options{}, "no execution trace was recorded", model.Trace},
		{"chrome", empty, Options{}, "no execution trace was recorded", model.Trace},
		{"speedscope", empty, Options{}, "none was recorded", model.CPU},
		{"speedscope", empty, Options{Profile: Sync}, "no execution trace was recorded", model.Trace},
		{"csv", empty, Options{Table: "tasks"}, "was not recorded", model.Trace},
		{"csv", traced, Options{Table: "cpu"}, "was not recorded", model.CPU},
		{"pprof", traced, Options{Profile: CPU}, "no CPU samples were recorded", model.CPU},
		{"pprof", grouped, Options{Profile: CPU, Group: "main.worker"}, "do not say which goroutine", ""},
		{"csv", example(), Options{Table: "procs", Group: "main.worker"}, "cannot be given for one goroutine group", ""},
		{"pprof", empty, Options{Group: "main.worker"}, "come from an execution trace", model.Trace},
	}
	for _, f := range All {
		unknown := tests[0]
		unknown.format, unknown.m, unknown.o, unknown.want, unknown.needs = f.Name, example(), Options{Group: "main.wroker"}, `no group "main.wroker" (there are: main.worker,`, ""
		tests = append(tests, unknown)
		if f.Holds != TimeLine {
			unknown.o, unknown.want = Options{Profile: "snyc"}, `no profile "snyc" (there are: net, sync, `
			tests = append(tests, unknown)
		}
	}
	tests = append(tests, tests[0])
	last := &tests[len(tests)-1]
	last.format, last.m, last.o, last.want, last.needs = "csv", example(), Options{Table: "stuff"}, `no table "stuff" (there are: groups, `, ""
	for _, tt := range tests {
		i := slices.IndexFunc(All, func(f Format) bool { return f.Name == tt.format })
		var buf bytes.Buffer
		err := All[i].Write(&buf, tt.m, tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %+v: error %v, want %q", tt.format, tt.o, err, tt.want)
		}
		var missing *problem.Error
		hint := ""
		if tt.needs != "" {
			hint = diagnosis.HowToGet(&tt.m.Run, tt.needs)
		}
		if errors.As(err, &missing) && missing.Kind == problem.Absence && missing.Hint != hint {
			t.Errorf("%s with %+v: hint %q, want %q", tt.format, tt.o, missing.Hint, hint)
		}
		if buf.Len() > 0 {
			t.Errorf("%s with %+v: wrote %d bytes before it failed, want none", tt.format, tt.o, buf.Len())
		}
	}
}

// A trace that is cut before it tells the number of Ps has no utilization, and
// JSON no NaN.
func TestNoProcs(t *testing.T) {
	m := example()
	m.Run.Procs = 0
	m.GC.Load = nil
	if data := write(t, "chrome", m, Options{}); !json.Valid(data) {
		t.Errorf("not JSON:\n%s", data)
	}
	if data := write(t, "csv", m, Options{Table: "utilization"}); bytes.Contains(data, []byte("NaN")) {
		t.Errorf("want no NaN in\n%s", data)
	}
	if got := decimal(math.Inf(1)) + decimal(math.NaN()); got != "" {
		t.Errorf("%q for no number", got)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	for _, f := range All {
		if err := f.Write(full{}, example(), Options{}); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s on a full disk: error %v, want disk full", f.Name, err)
		}
	}
}

// The reference tool must open what Pprof writes, and show the same sums.
func TestGoToolPprof(t *testing.T) {
	gocmd, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	file := filepath.Join(t.TempDir(), "sync.pb.gz")
	for p, want := range map[Profile][]string{
		Sync:   {"Type: delay", "1s   100%   100%         1s   100%  runtime.chansend1", "main.worker"},
		CPU:    {"Type: cpu", "20ms 50.00%", "syscall.Read"},
		States: {"Type: time", "[blocked: chan send]", "[running]", noName},
	} {
		if err := os.WriteFile(file, write(t, "pprof", example(), Options{Profile: p}), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(gocmd, "tool", "pprof", "-top", file)
		cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go tool pprof -top of %s: %v\n%s", p, err, out)
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s: no %q in\n%s", p, w, out)
			}
		}
	}
}

// Of an allocs profile with all four types of a heap profile the allocations
// are what is shown, of a heap profile what is in use.
func TestShownType(t *testing.T) {
	m := example()
	m.Heap = m.LiveHeap.End
	for p, want := range map[Profile]string{Allocs: "alloc_space", Heap: "inuse_space", Kernel: "cpu", OffCPU: "offcpu", Block: "delay", Goroutine: "goroutine"} {
		got, err := profile.ParseData(write(t, "pprof", m, Options{Profile: p}))
		if err != nil {
			t.Fatal(err)
		}
		if got.DefaultSampleType != want {
			t.Errorf("%s: default type %q, want %q", p, got.DefaultSampleType, want)
		}
		if p != Goroutine && (got.DurationNanos != int64(800*time.Millisecond) || got.TimeNanos != m.Run.Start.Add(100*time.Millisecond).UnixNano()) {
			t.Errorf("%s: %d ns at %d, not its own time", p, got.DurationNanos, got.TimeNanos)
		}
	}
	// The second sample's alloc_space is 2·4, the first one's 2·3.
	if got := string(write(t, "folded", m, Options{Profile: Allocs})); !strings.HasSuffix(got, "main.worker;syscall.Read 6\n") {
		t.Errorf("folded allocations %q, want main.worker;syscall.Read 6 at the end", got)
	}
}

// Who holds the heap is a profile whose stacks are the ways, the holders at their ends.
func TestHeld(t *testing.T) {
	m := &model.Model{Run: model.Run{Holders: example().Run.Holders}}
	if got := ProfilesOf(m); !slices.Equal(got, []Profile{Held}) {
		t.Errorf("ProfilesOf() = %v, want %v", got, Held)
	}
	got, err := profile.ParseData(write(t, "pprof", m, Options{Profile: Held}))
	if err != nil {
		t.Fatal(err)
	}
	if got.DefaultSampleType != "inuse_space" || len(got.Sample) != 2 || !slices.Equal(got.Sample[1].Value, []int64{7, 7000}) {
		t.Errorf("%v, want two samples, the second of 7 objects in 7000 bytes", got)
	}
	m.Run.Holders[0].Tree = nil
	var missing *problem.Error
	if _, err := collect(m, Options{Profile: Held}); !errors.As(err, &missing) || !strings.Contains(missing.Hint, "--holders") {
		t.Errorf("collect() of a look without ways: %v, want a problem with --holders in its hint", err)
	}
}

// What was not recorded is named with the evidence that would bring it.
func TestMissingProfiles(t *testing.T) {
	for _, p := range recordedProfiles {
		var missing *problem.Error
		_, err := collect(&model.Model{}, Options{Profile: p.profile})
		if !errors.As(err, &missing) || missing.Hint != diagnosis.HowToGet(&model.Run{}, p.source) || strings.HasSuffix(missing.What, ": ") {
			t.Errorf("%s: error %v, want a problem with %q", p.profile, err, diagnosis.HowToGet(&model.Run{}, p.source))
		}
		if Whole(&model.Model{}, p.profile) || !Whole(example(), p.profile) {
			t.Errorf("%s: a profile that is not there covers all, or one that is there does not", p.profile)
		}
	}
	if Whole(example(), Sync) {
		t.Error("what a trace tells is cut to the window")
	}
	for _, name := range []string{"process", "metrics", "syscalls", "kernel"} {
		var missing *problem.Error
		m := &model.Model{Run: model.Run{URL: "http://10.0.0.1:6060"}}
		if err := CSV(new(bytes.Buffer), m, Options{Table: name}); !errors.As(err, &missing) || missing.Hint == diagnosis.HowToGet(&m.Run, model.Trace) || missing.Hint == "" {
			t.Errorf("table of %s: error %v, want a problem with a hint that is not about the trace", name, err)
		}
	}
}
