package rules

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/model"
)

// A search begins where workers keep the Ps busy, whatever number of them ran.
func TestSweepStart(t *testing.T) {
	busy := model.Times{Running: 2 * time.Second, Syscall: time.Second, SyscallBlocked: time.Second}
	for _, c := range []struct {
		what    string
		ps      int
		peak    int
		blocked map[string]time.Duration
		want    int
	}{
		{"nothing but work", 4, 100, nil, 4},
		{"as long for the network as at work", 4, 100, map[string]time.Duration{"network": 4 * time.Second}, 8},
		{"a third more for the network", 4, 100, map[string]time.Duration{"network": 1400 * time.Millisecond}, 6},
		{"leisure", 4, 100, map[string]time.Duration{"chan receive": time.Minute, "sync": time.Minute, "network": 4 * time.Second}, 8},
		{"no more than there were", 4, 3, nil, 3},
		{"one at least", 1, 1, nil, 1},
	} {
		g := &model.Group{Peak: c.peak, Times: busy}
		g.Blocked = c.blocked
		if got := sweepStart(c.ps, g); got != c.want {
			t.Errorf("%s: sweepStart(%d) = %d, want %d", c.what, c.ps, got, c.want)
		}
	}
}

func TestDelayedPart(t *testing.T) {
	g := &model.Group{Times: model.Times{Runnable: time.Second, Running: 2 * time.Second, Syscall: 3 * time.Second, SyscallBlocked: 4 * time.Second,
		Blocked: map[string]time.Duration{"network": time.Minute}}}
	if got := delayedPart(g); math.Abs(got-0.1) > 1e-12 {
		t.Errorf("delayedPart() = %v, want 0.1", got)
	}
}

func TestIsServing(t *testing.T) {
	for name, want := range map[string]bool{
		"net/http.(*conn).serve":           true,
		"main.(*api).ServeHTTP":            true,
		"main.handleLookup":                true,
		"net.(*TCPListener).Accept":        true,
		"net.(*UDPConn).ReadFromUDP":       true,
		"net.(*UDPConn).WriteTo":           false,
		"main.worker":                      false,
		"net/http.(*persistConn).readLoop": false,
	} {
		if got := isServing(name); got != want {
			t.Errorf("isServing(%q) = %v, want %v", name, got, want)
		}
	}
}

// A flood is of goroutines that come, wait for each other and end.
func TestFlooding(t *testing.T) {
	group := func(created, ended, peak, count int, edit func(*model.Group)) *model.Group {
		g := &model.Group{Created: created, Ended: ended, Peak: peak, Count: count,
			Times: model.Times{Running: time.Second, Blocked: map[string]time.Duration{"sync": 99 * time.Second}}}
		if edit != nil {
			edit(g)
		}
		return g
	}
	for _, c := range []struct {
		what string
		g    *model.Group
		want bool
	}{
		{"ten thousand at once", group(20_000, 19_000, 10_000, 20_000, nil), true},
		{"fewer at once, however many came", group(20_000, 19_500, 9_999, 20_000, nil), false},
		{"there before the window", group(4_999, 4_500, 10_000, 15_000, nil), false},
		{"a thousand more, of many that come and go", group(20_000, 19_000, 9_000, 20_000, nil), true},
		{"a thousand more, of workers that stay", group(2_000, 1_000, 1_500, 2_500, nil), false},
		{"hardly one ends", group(20_000, 1_999, 15_000, 20_000, nil), false},
		{"a tenth ends", group(20_000, 2_000, 15_000, 20_000, nil), true},
		{"none began here", group(0, 0, 20_000, 20_000, nil), false},
		{"the runtime's", group(20_000, 19_000, 10_000, 20_000, func(g *model.Group) { g.System = true }), false},
		{"they wait for the network", group(20_000, 19_000, 10_000, 20_000, func(g *model.Group) {
			g.Blocked = map[string]time.Duration{"network": 99 * time.Second}
		}), false},
		{"they wait for a P", group(20_000, 19_000, 10_000, 20_000, func(g *model.Group) {
			g.Blocked, g.Runnable = nil, 99*time.Second
		}), true},
	} {
		if got := flooding(c.g); got != c.want {
			t.Errorf("%s: flooding() = %v, want %v", c.what, got, c.want)
		}
	}
}

// Places of the same cost keep an order that does not depend on a map's.
func TestComparePlaces(t *testing.T) {
	place := func(share float64, function, file string, line int) cpuPlace {
		return cpuPlace{Place: diagnosis.Place{Function: function, File: file, Line: line}, share: share}
	}
	sorted := []cpuPlace{place(0.5, "b", "b.go", 9), place(0.2, "a", "a.go", 7), place(0.2, "a", "b.go", 3), place(0.2, "a", "b.go", 4), place(0.2, "b", "a.go", 1)}
	for i := range sorted {
		for j := range sorted {
			got, want := comparePlaces(sorted[i], sorted[j]), i-j
			if got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Errorf("comparePlaces(%+v, %+v) = %d, want the sign of %d", sorted[i], sorted[j], got, want)
			}
		}
	}
	shuffled := []cpuPlace{sorted[3], sorted[1], sorted[4], sorted[0], sorted[2]}
	slices.SortFunc(shuffled, comparePlaces)
	if !slices.EqualFunc(shuffled, sorted, func(a, b cpuPlace) bool { return a.Place == b.Place }) {
		t.Errorf("sorted places %+v, want %+v", shuffled, sorted)
	}
}

// The stack of a goroutine that was there tells its group, with and without the
// frame that every goroutine ends in.
func TestGroupsOfStacks(t *testing.T) {
	m := &model.Model{Sched: &model.Sched{Groups: []model.Group{{Name: "main.serve"}, {Name: "main.work"}}}}
	stack := func(functions ...string) model.Stack {
		var frames []model.Frame
		for _, f := range functions {
			frames = append(frames, model.Frame{Func: f})
		}
		return m.Stacks.Add(frames)
	}
	foreign := stack("strings.Index", "main.other")
	work := stack("strings.Index", "main.work", "runtime.goexit")
	serve := stack("main.serve")
	if got, want := groupsOfStacks(m, []model.Stack{foreign, work, serve, work}), []string{"main.work", "main.serve"}; !slices.Equal(got, want) {
		t.Errorf("groupsOfStacks() = %q, want %q", got, want)
	}
	m.Sched = nil
	if got := groupsOfStacks(m, []model.Stack{work}); got != nil {
		t.Errorf("groupsOfStacks() = %q without a trace, want none", got)
	}
}
