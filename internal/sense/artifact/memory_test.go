package artifact

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

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
	p := GoroutineProfile(s, 0)
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
	p := GoroutineProfile(&goroutines.Snapshot{Time: time.Unix(7, 0), Groups: []goroutines.Group{g}, Unread: 4}, 2*time.Second)
	want := []map[string][]string{
		{"route": {"/orders"}, "state": {"select"}, "minutes": {"1"}, StillLabel: {"25"}},
		{"state": {"select"}, "minutes": {"60"}, StillLabel: {"5"}},
	}
	if err := p.CheckValid(); err != nil || len(p.Sample) != 2 || p.Sample[0].Value[0] != 31 || p.Sample[1].Value[0] != 9 {
		t.Fatalf("the profile is %v, %v", p, err)
	}
	for i, s := range p.Sample {
		if !maps.EqualFunc(s.Label, want[i], slices.Equal) {
			t.Errorf("labels are %v, want %v", s.Label, want[i])
		}
	}
	if n := UnlabelledCount(p.Comments); n != 4 {
		t.Errorf("%d goroutines have labels that are not known, want 4", n)
	}
	for _, c := range []string{"", UnlabelledComment(0), UnlabelledComment(-3), "gowhy read no labels of goroutines that have some: many"} {
		if n := UnlabelledCount([]string{c}); n != 0 {
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
		p := GoroutineProfile(s, watched)
		if got := p.Sample[0].Label[StillLabel]; strings.Join(got, "") != want[0] || StillFor(p.Comments).String() != want[1] {
			t.Errorf("watched for %v, %v are still in %v, want %s in %s", watched, got, StillFor(p.Comments), want[0], want[1])
		}
		if got := p.Sample[1].Label[StillLabel]; got != nil {
			t.Errorf("of those that run %v are still", got)
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
