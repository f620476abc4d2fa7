package timeline

import (
	"reflect"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// Regions that a piece's edge cuts are one again, those of other tasks are left
// out, and times are the timeline's.
func TestTaskDetail(t *testing.T) {
	d := taskReader{id: 7, origin: 1000, open: map[regionKey]int{}}
	d.add(&exectrace.Piece{
		Regions: []exectrace.RegionSpan{
			{From: 900, To: 1100, Task: 7, Goroutine: 1, Name: "before the trace", Ended: true},
			{From: 1100, To: 1300, Task: 7, Goroutine: 1, Name: "parse", Began: true, Ended: true},
			{From: 1100, To: 2000, Task: 8, Goroutine: 2, Name: "parse", Began: true},
			{From: 1400, To: 2000, Task: 7, Goroutine: 1, Name: "parse", Began: true},
		},
		Logs: []exectrace.LogEvent{{At: 1500, Task: 7, Goroutine: 1, Category: "c", Message: "m"}, {At: 1600, Task: 8}},
	})
	d.add(&exectrace.Piece{Regions: []exectrace.RegionSpan{
		{From: 2000, To: 2500, Task: 7, Goroutine: 1, Name: "parse"},
		{From: 2100, To: 2200, Task: 7, Goroutine: 3, Name: "parse", Began: true, Ended: true},
	}})
	d.add(&exectrace.Piece{Regions: []exectrace.RegionSpan{{From: 2500, To: 2600, Task: 7, Goroutine: 1, Name: "parse", Ended: true}}})
	want := TaskDetail{
		Regions: []Region{{"before the trace", 1, 0, 100}, {"parse", 1, 100, 300}, {"parse", 1, 400, 1600}, {"parse", 3, 1100, 1200}},
		Logs:    []Log{{500, 1, "c", "m"}},
	}
	if !reflect.DeepEqual(d.out, want) {
		t.Errorf("task %+v, want %+v", d.out, want)
	}
}

// A task can have any number of regions and logs.
func TestTaskDetailIsBounded(t *testing.T) {
	d := taskReader{id: 7, open: map[regionKey]int{}}
	p := &exectrace.Piece{}
	for i := range 3 * maxTaskParts {
		at := exectrace.Time(i)
		p.Regions = append(p.Regions, exectrace.RegionSpan{From: at, To: at + 1, Task: 7, Began: true, Ended: true})
		p.Logs = append(p.Logs, exectrace.LogEvent{At: at, Task: 7})
	}
	d.add(p)
	if len(d.out.Regions) != maxTaskParts || len(d.out.Logs) != maxTaskParts || d.out.Cut == "" {
		t.Errorf("%d regions, %d logs, cut %q; want %d of each and that it is cut", len(d.out.Regions), len(d.out.Logs), d.out.Cut, maxTaskParts)
	}
}

// A filter says the same of sums as of the stretches that they are of.
func TestFilterAccount(t *testing.T) {
	a := &Account{
		ID: 17, Names: []string{"main.Worker", "/src/main.go:12"}, Life: 40 * time.Millisecond,
		Spent: func(s State) time.Duration {
			return map[State]time.Duration{Running: time.Millisecond, GC: time.Microsecond}[s]
		},
		Reasons: map[string]time.Duration{"chan receive": time.Second, "network": 0, "sleep": 1},
		Under:   func(part string) bool { return part == "readfile" },
	}
	for text, want := range map[string]bool{
		"": true, "worker": true, "func:work main.go:12": true, "idle": false, "-idle": true, "idle,worker": true,
		"state:running": true, "state:gc": true, "state:syscall": false, "state:waiting": true, "state:sync": true, "state:net": false, "state:wait": true,
		`reason:"chan receive"`: true, "reason:network": false, "-reason:chan": false,
		"stack:ReadFile": true, "stack:WriteFile": false, "stack:WriteFile,ReadFile": true,
		"id:17": true, "id:10-16": false, "id>16": true, "dur>10ms": true, "dur<10ms": false, "dur>10ms id:3": false,
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Account(a); got != want {
			t.Errorf("%q matches: %v, want %v", text, got, want)
		}
	}
	group := *a
	group.ID = -1
	if f, _ := ParseFilter("id:17"); f.Account(&group) {
		t.Error("a group has a number")
	}
	if f, _ := ParseFilter("worker -label:x"); true {
		if word, ok := f.Accounts(); ok || word != "-label:x" {
			t.Errorf("%q, %v: sums know no labels", word, ok)
		}
	}
}
