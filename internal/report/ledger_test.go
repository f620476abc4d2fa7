package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/model"
)

const ms = time.Millisecond

// ledgerModel is a second of a small program on two Ps.
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
	return m
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
		golden(t, "ledger-"+by+".txt", ledger(t, ledgerModel(), LedgerOptions{By: by, Options: Options{Width: 110}}))
		golden(t, "ledger-"+by+".json", ledger(t, ledgerModel(), LedgerOptions{By: by, JSON: true}))
	}
}

// A line that is too long breaks in the middle of a figure.
func TestLedgerWidth(t *testing.T) {
	for _, by := range LedgerTables {
		for _, width := range []int{80, 100, 120} {
			m := ledgerModel()
			m.Sched.Groups[1].Ranges = m.Sched.Groups[0].Ranges
			for line := range strings.Lines(string(ledger(t, m, LedgerOptions{By: by, Options: Options{Width: width}}))) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("by %s at %d columns has a line of %d: %q", by, width, n, line)
				}
			}
		}
	}
	m := ledgerModel()
	m.Sched.Groups = m.Sched.Groups[1:3] // nothing unknown
	out := string(ledger(t, m, LedgerOptions{Options: Options{Width: 80}}))
	if strings.Contains(out, "UNKNOWN") || !strings.Contains(out, "component…veConnection.func1") {
		t.Errorf("the place that zeros took is not the name's:\n%s", out)
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"main.main", 9, "main.main"},
		{"net/http.(*conn).serve", 21, "…/http.(*conn).serve"},
		{"net/http.(*conn).serve", 18, "http.(*conn).serve"},
		{"net/http.(*conn).serve", 12, "htt…n).serve"},
		{"slices.Sort[go.shape.[]a/b.T]", 20, "slices…hape.[]a/b.T]"},
	} {
		if got := shorten(tt.name, tt.width); got != tt.want {
			t.Errorf("%s in %d: %q, want %q", tt.name, tt.width, got, tt.want)
		}
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
		t.Errorf("all are there:\n%s", out)
	}
}

func TestMostlyUnrecorded(t *testing.T) {
	if got, want := mostly(map[string]int64{"": 90, "sync": 10}), "(not recorded) 90 %"; got != want {
		t.Errorf("%q, want %q", got, want)
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
	} {
		var rows []map[string]any
		if err := json.Unmarshal(ledger(t, ledgerModel(), LedgerOptions{By: by, JSON: true}), &rows); err != nil || len(rows) == 0 {
			t.Fatalf("%s: %d rows, %v", by, len(rows), err)
		}
		for i, row := range rows {
			for _, k := range strings.Fields(keys) {
				if _, ok := row[k]; !ok {
					t.Errorf("by %s: no %q in row %d", by, k, i)
				}
				if v, ok := row[k].(float64); ok && v != math.Trunc(v) {
					t.Errorf("by %s: %q is %v, not a whole number", by, k, v)
				}
			}
			for _, k := range []string{"blocked_ns", "ranges"} {
				if v, ok := row[k]; ok && v == nil {
					t.Errorf("by %s: %q is null in row %d", by, k, i)
				}
			}
		}
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
		t.Fatalf("%d rows for %d groups", len(rows), len(total))
	}
	for _, r := range rows {
		sum := r.Running + r.Runnable + r.Syscall + r.Unknown
		for _, d := range r.Blocked {
			sum += d
		}
		if time.Duration(sum) != total[r.Name] {
			t.Errorf("%q: %v, the model has %v", r.Name, time.Duration(sum), total[r.Name])
		}
	}
}

func TestLedgerSort(t *testing.T) {
	m := ledgerModel()
	first := func(by, sort string) string {
		out := string(ledger(t, m, LedgerOptions{By: by, Sort: sort, Top: 1, Options: Options{Width: 200}}))
		return strings.Split(out, "\n")[1]
	}
	if got := first("p", "idle"); !strings.HasPrefix(got, "1 ") {
		t.Errorf("most idle: %q", got)
	}
	if got := first("group", "name"); !strings.Contains(got, "(start not seen)") {
		t.Errorf("first name: %q", got)
	}
	if got := first("gc", "pause"); !strings.Contains(got, "900 ms") {
		t.Errorf("longest pause: %q", got)
	}
	var column *SortError
	for _, by := range LedgerTables {
		err := Ledger(new(bytes.Buffer), m, LedgerOptions{By: by, Sort: "nonsense"})
		if !errors.As(err, &column) || len(column.Known) == 0 {
			t.Errorf("%s: %v", by, err)
			continue
		}
		for _, known := range column.Known {
			ledger(t, m, LedgerOptions{By: by, Sort: known})
		}
	}
}

func TestLedgerTop(t *testing.T) {
	out := string(ledger(t, ledgerModel(), LedgerOptions{Top: 2}))
	if !strings.Contains(out, "and 2 more rows") {
		t.Error(out)
	}
	if !strings.Contains(strings.Split(out, "\n")[3], "all") {
		t.Errorf("the totals are not those of all rows:\n%s", out)
	}
}

func TestLedgerOfNothing(t *testing.T) {
	if err := Ledger(new(bytes.Buffer), &model.Model{}, LedgerOptions{}); !errors.Is(err, ErrNoTrace) {
		t.Error(err)
	}
	if err := Ledger(new(bytes.Buffer), ledgerModel(), LedgerOptions{By: "nonsense"}); err == nil {
		t.Error("no error")
	}
	empty := &model.Model{Sched: &model.Sched{}, GC: &model.GC{}, Tasks: &model.Tasks{}}
	for _, by := range LedgerTables {
		if out := string(ledger(t, empty, LedgerOptions{By: by, JSON: true})); out != "[]\n" {
			t.Errorf("%s: %q", by, out)
		}
		if out := string(ledger(t, empty, LedgerOptions{By: by})); !strings.HasPrefix(out, "no ") && !strings.HasPrefix(out, "the program marks no") {
			t.Errorf("%s: %q", by, out)
		}
	}
}
