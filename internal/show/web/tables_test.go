package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

const ms = time.Millisecond

// accounts returns a run of two groups with goroutines, and one that the runtime started.
func accounts() *View {
	m := &model.Model{Run: model.Run{Go: "go1.26", Duration: time.Second, Procs: 2}}
	read := m.Stacks.Add([]model.Frame{{Func: "os.ReadFile", File: "/go/os.go", Line: 9}, {Func: "main.worker", File: "/src/main.go", Line: 20}})
	made := m.Stacks.Add([]model.Frame{{Func: "main.start", File: "/src/main.go", Line: 7}, {Func: "main.main", File: "/src/main.go", Line: 3}})
	m.Sched = &model.Sched{
		Groups: []model.Group{
			{Name: "main.worker", Start: model.Frame{Func: "main.worker", File: "/src/main.go", Line: 12}, Creator: made, Count: 3, Created: 3, Ended: 1, Peak: 3, Runs: 30},
			{Name: "main.idle", Start: model.Frame{Func: "main.idle", File: "/src/idle.go", Line: 2}, Count: 1},
			{Name: "", System: true, Count: 1},
		},
		Waits: []model.Wait{{Kind: model.SyscallWait, Stack: read, Group: "main.worker", Count: 3, Total: 30 * ms}},
	}
	add := func(id int64, group string, t model.Times, ranges map[string]time.Duration) {
		m.Sched.Goroutines = append(m.Sched.Goroutines, model.Goroutine{ID: id, Group: group, Created: time.Duration(id) * ms, First: -1, Ended: -1, Runs: id, Times: t, Ranges: ranges})
		g := m.Sched.Group(group)
		g.Times.Add(t)
		for r, d := range ranges {
			if g.Ranges == nil {
				g.Ranges = map[string]time.Duration{}
			}
			g.Ranges[r] += d
		}
	}
	blocked := func(pairs ...any) map[string]time.Duration {
		b := map[string]time.Duration{}
		for i := 0; i < len(pairs); i += 2 {
			b[pairs[i].(string)] = pairs[i+1].(time.Duration)
		}
		return b
	}
	add(17, "main.worker", model.Times{Running: 40 * ms, Runnable: 10 * ms, Syscall: 5 * ms, SyscallBlocked: 5 * ms, Blocked: blocked("chan send", 30*ms)}, map[string]time.Duration{"GC mark assist": 2 * ms})
	add(18, "main.worker", model.Times{Running: 20 * ms, Blocked: blocked("chan receive", 100*ms)}, nil)
	add(1<<60, "main.worker", model.Times{Running: ms, Unknown: 2 * ms}, nil)
	add(1, "main.idle", model.Times{Blocked: blocked("sleep", time.Second)}, nil)
	add(2, "", model.Times{Blocked: blocked("", 500*ms)}, nil)
	m.Sched.AllKept = true
	return &View{Name: "run.gowhy", Model: m, Diagnosis: &diagnosis.Diagnosis{}}
}

func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// ask asks as the server does, and returns what the page gets.
func ask[T any](t *testing.T, value any, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	data, err := encode(value)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("decoding the answer: %v\n%s", err, data)
	}
	return out
}

func askTable(t *testing.T, of func(url.Values) (any, error), pairs ...string) Table {
	t.Helper()
	value, err := of(query(pairs...))
	return ask[Table](t, value, err)
}

// cells returns those of a column, as JSON.
func cells(t *testing.T, table Table, key string) (list []string) {
	t.Helper()
	i := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Key == key })
	if i < 0 {
		t.Fatalf("the columns are %+v, want %s among them", table.Columns, key)
	}
	for _, row := range table.Rows {
		list = append(list, string(row[i]))
	}
	return append(list, string(table.Sums[i]))
}

// Each row's parts add up to its total, and the rows to the sums.
func TestTablesAddUp(t *testing.T) {
	v := accounts()
	for name, of := range map[string]func(url.Values) (any, error){"groups": v.groups, "goroutines": v.goroutines} {
		table := askTable(t, of)
		parts := []string{"running", "runnable", "syscall", "syscall_blocked", "blocked", "unknown"}
		total := cells(t, table, "total")
		var reasons []string
		for _, c := range table.Columns {
			if strings.HasPrefix(c.Key, "blocked:") {
				reasons = append(reasons, c.Key)
			}
		}
		if len(reasons) != 4 {
			t.Errorf("%s: reasons %v, want 4", name, reasons)
		}
		for i := range total {
			if got := sumAt(t, table, i, parts); got != total[i] {
				t.Errorf("%s, row %d: the parts add up to %s, want the total, %s", name, i, got, total[i])
			}
			if got, want := sumAt(t, table, i, reasons), cells(t, table, "blocked")[i]; got != want {
				t.Errorf("%s, row %d: the reasons add up to %s, want what is blocked, %s", name, i, got, want)
			}
		}
		if got := total[len(total)-1]; got != fmt.Sprint(int64(1713*ms)) {
			t.Errorf("%s: all goroutines have %s, want 1713 ms", name, got)
		}
		if got := cells(t, table, "range:GC mark assist"); got[len(got)-1] != "2000000" {
			t.Errorf("%s: assists of %v, want 2000000 in all", name, got)
		}
	}
}

func sumAt(t *testing.T, table Table, row int, keys []string) string {
	t.Helper()
	var sum int64
	for _, k := range keys {
		var n int64
		if err := json.Unmarshal([]byte(cells(t, table, k)[row]), &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return fmt.Sprint(sum)
}

// Pages fit together whatever the order, and say how many rows there are.
func TestTablePages(t *testing.T) {
	v := accounts()
	for _, sort := range []string{"goroutine", "group", "total", "begin", "blocked:sleep"} {
		for _, desc := range []string{"", "1"} {
			whole := cells(t, askTable(t, v.goroutines, "sort", sort, "desc", desc), "goroutine")
			var pages []string
			for i := range 5 {
				p := askTable(t, v.goroutines, "sort", sort, "desc", desc, "offset", fmt.Sprint(i), "limit", "1")
				if p.Total != 5 || p.All != 5 || len(p.Rows) != 1 || len(p.Links) != 1 {
					t.Fatalf("page %d: %d rows of %d of %d, want 1 of 5 of 5", i, len(p.Rows), p.Total, p.All)
				}
				pages = append(pages, cells(t, p, "goroutine")[0])
			}
			if !slices.Equal(pages, whole[:5]) {
				t.Errorf("by %s %s: pages %v, want %v", sort, desc, pages, whole[:5])
			}
		}
	}
	if got := cells(t, askTable(t, v.goroutines, "sort", "goroutine"), "goroutine"); got[4] != `"1152921504606846976"` {
		t.Errorf("an id beyond 2^53 is sent as %s, which a page would round", got[4])
	}
	if p := askTable(t, v.goroutines, "offset", "1000"); len(p.Rows) != 0 || p.Total != 5 {
		t.Errorf("behind the end: %+v, want none of 5", p)
	}
	first := cells(t, askTable(t, v.goroutines), "goroutine")[0]
	if first != "1" { // slept for a second
		t.Errorf("without an order, %s is first", first)
	}
}

func TestTableFilter(t *testing.T) {
	v := accounts()
	for q, want := range map[string]string{
		"":                           "1 2 17 18 1152921504606846976",
		"worker":                     "17 18 1152921504606846976",
		"WORKER main.go":             "17 18 1152921504606846976",
		"main.go:12":                 "17 18 1152921504606846976",
		"func:idle":                  "1",
		"state:runnable":             "17",
		"state:waiting func:worker":  "17 18",
		"state:unknown":              "1152921504606846976",
		`reason:"chan s"`:            "17",
		"reason:chan":                "17 18",
		"stack:ReadFile":             "17 18 1152921504606846976",
		"stack:ReadFile reason:chan": "17 18",
		"dur>100ms":                  "1 2 18",
		"dur<100ms":                  "17 1152921504606846976",
		"dur>100ms dur<600ms":        "2 18",
		"id:18":                      "18",
		"id:17-18 -state:runnable":   "18",
		"-worker":                    "1 2",
		"func:idle,worker dur>=1s":   "1",
		"nothing of this name":       "",
	} {
		got := cells(t, askTable(t, v.goroutines, "q", q, "sort", "goroutine"), "goroutine")
		text := strings.ReplaceAll(strings.Join(got[:len(got)-1], " "), `"`, "")
		if text != want {
			t.Errorf("goroutines(%q) = %s, want %s", q, text, want)
		}
	}
	for q, want := range map[string]string{
		"state:asleep": "no state", "id:seven": "no number of a goroutine", "dur>long": "no duration", "label:x": "does not know",
		"colour:red": "nothing to ask for", strings.Repeat("a ", 5000): "10000 bytes long",
	} {
		if _, err := v.goroutines(query("q", q)); !refused(err, want) {
			t.Errorf("goroutines(%.20q): error %v, want one with %q", q, err, want)
		}
	}
}

// refused reports whether an error is one that the page can show.
func refused(err error, want string) bool {
	var p *problem.Error
	return errors.As(err, &p) && strings.Contains(p.What, want)
}

func TestTableErrors(t *testing.T) {
	v := accounts()
	for _, tt := range []struct {
		of   func(url.Values) (any, error)
		q    url.Values
		want string
	}{
		{v.goroutines, query("group", "main.nosuch"), "no goroutines"},
		{v.goroutines, query("sort", "colour"), "no column"},
		{v.groups, query("sort", "goroutine"), "no column"},
		{v.goroutines, query("limit", "-1"), "is no whole number"},
		{v.goroutines, query("limit", "1000000"), "no whole number"},
		{v.goroutines, query("offset", "x"), "no whole number"},
		{(&View{Model: &model.Model{}}).groups, nil, "no execution trace"},
		{(&View{Model: &model.Model{}}).goroutines, nil, "no execution trace"},
	} {
		if _, err := tt.of(tt.q); !refused(err, tt.want) {
			t.Errorf("table(%v): error %v, want %q", tt.q, err, tt.want)
		}
	}
}

// A group's row leads to its goroutines, whatever its name: none, of megabytes,
// or no text at all. What is sent stays small.
func TestGroupLinks(t *testing.T) {
	v := accounts()
	for _, odd := range []string{strings.Repeat("α", 5<<20), "main.\xff\xfe<img src=x>\x1b[31m&group=x", strings.Repeat("main.", 3000)} {
		v.Model.Sched.Groups[1].Name = odd
		v.Model.Sched.Goroutines[3].Group = odd
		v.Model.Sched.Groups[1].Blocked[odd] = ms
		value, err := v.groups(nil)
		if data, err := encode(value); err != nil || len(data) > 100_000 {
			t.Errorf("%.20q: an answer of %d bytes, %v; want at most 100,000", odd, len(data), err)
		}
		table := ask[Table](t, value, err)
		seen := 0
		for _, link := range table.Links {
			screen, rest, _ := strings.Cut(link, "?")
			q, err := url.ParseQuery(rest)
			if screen != "goroutines" || err != nil || len(q) != 1 {
				t.Fatalf("link %.80q: %v; want goroutines and one condition", link, err)
			}
			seen += askTable(t, v.goroutines, "group", q.Get("group")).Total
		}
		if seen != 5 {
			t.Errorf("%.20q: the links of the groups lead to %d goroutines, want 5", odd, seen)
		}
	}
}

// A trace can name as many reasons to wait as it likes.
func TestManyReasons(t *testing.T) {
	v := accounts()
	g := &v.Model.Sched.Groups[0]
	for i := range 1000 {
		g.Blocked[fmt.Sprint("reason ", i)] = time.Duration(i+1) * ms
	}
	table := askTable(t, v.groups)
	if len(table.Columns) > 60 {
		t.Errorf("a table with 1000 reasons has %d columns, want at most 60", len(table.Columns))
	}
	reasons := []string{"blocked_other"}
	for _, c := range table.Columns {
		if strings.HasPrefix(c.Key, "blocked:") {
			reasons = append(reasons, c.Key)
		}
	}
	if got, want := sumAt(t, table, 0, reasons), cells(t, table, "blocked")[0]; got != want {
		t.Errorf("the reasons add up to %s, want what is blocked, %s", got, want)
	}
}

func TestKeptNote(t *testing.T) {
	v := accounts()
	v.Model.Sched.AllKept = false
	v.Model.Sched.Groups[0].Count = 1000
	table := askTable(t, v.goroutines, "group", "main.worker")
	if !strings.Contains(table.Note, "3 of 1000") {
		t.Errorf("%q does not say that not all are there", table.Note)
	}
}
