package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// dumped returns a view of goroutines that stand at these functions, leaf first.
func dumped(locks int, list ...model.Standing) *View {
	m := &model.Model{Moment: &model.Moment{Source: model.GoroutineProfile, Goroutines: list}}
	for i := range locks {
		m.Moment.Locks = append(m.Moment.Locks, model.Lock{Name: fmt.Sprintf("main.mu%d", i+1), Naming: model.BySource})
	}
	for i := range list {
		list[i].Stack = m.Stacks.Add([]model.Frame{{Func: "runtime.gopark"}, {Func: fmt.Sprintf("main.f%d", i), File: "/x/main.go", Line: i + 1}, {Func: "main.main"}})
	}
	return &View{Model: m}
}

func standingsOf(t *testing.T, v *View, q url.Values) *Standings {
	t.Helper()
	value, err := v.standing(q)
	s := ask[Standings](t, value, err)
	return &s
}

// The labels that most of a group have are sent with it, whatever stack others have them at.
func TestStandingLabels(t *testing.T) {
	v := dumped(1, model.Standing{Count: 7, State: "chan receive"})
	stack := v.Model.Moment.Goroutines[0].Stack
	v.Model.Goroutines.End = &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}, Samples: []model.Sample{
		{Stack: stack, Values: []int64{2}, Labels: map[string]string{"zone": "b", "route": "/"}},
		{Stack: stack, Values: []int64{4}, Labels: map[string]string{"route": "/orders"}},
		{Stack: stack, Values: []int64{1}},
		{Stack: stack + 1, Values: []int64{9}, Labels: map[string]string{"route": "/other"}},
	}}
	got := standingsOf(t, v, nil).Groups[0].Labels
	if want := []string{"4 route=/orders", "2 route=/ zone=b"}; !slices.Equal(got, want) {
		t.Errorf("labels = %q, want %q", got, want)
	}
	for q, want := range map[string]int{"route=/Orders": 1, "route=/other": 0} {
		if got := len(standingsOf(t, v, url.Values{"q": {q}}).Groups); got != want {
			t.Errorf("groups with %s = %d, want %d", q, got, want)
		}
	}
}

// Two locks whose holders wait for each other are a cycle; what waits behind them is not
// part of it, and what merely is held long stands alone.
func TestStandingLocks(t *testing.T) {
	hold := func(locks ...int) (list []model.Holding) {
		for _, l := range locks {
			list = append(list, model.Holding{Lock: l, Taken: model.Frame{Func: "main.take", File: "/x/main.go", Line: 70 + l}, Sure: true})
		}
		return list
	}
	v := dumped(5,
		model.Standing{Count: 90, State: model.StateMutex, Wants: 1, Waited: time.Minute},
		model.Standing{Count: 40, State: model.StateRLock, Wants: 4},
		model.Standing{Count: 7, State: "IO wait"},
		model.Standing{Count: 5, State: model.StateMutex, Wants: 5},
		model.Standing{Count: 1, State: "sleep", Holds: hold(1), Waited: 2 * time.Minute},
		model.Standing{Count: 1, State: model.StateMutex, Wants: 3, Holds: hold(2)},
		model.Standing{Count: 1, State: model.StateMutex, Wants: 2, Holds: hold(3, 3)},
		model.Standing{Count: 1, State: model.StateMutex, Wants: 2, Holds: hold(4)},
		model.Standing{Count: 1, State: model.StateMutex, Wants: 5, Holds: hold(5)}, // it waits for itself
	)
	s := standingsOf(t, v, nil)
	if s.Total != 147 || len(s.Groups) != 9 || s.Left != 0 || s.States[0] != (StandingState{model.StateMutex, 99}) {
		t.Errorf("%d goroutines, %d groups, states %v; want 147, 9 and 99 that wait for a mutex first", s.Total, len(s.Groups), s.States)
	}
	var order, cycles []int
	for _, l := range s.Locks {
		order, cycles = append(order, l.ID), append(cycles, l.Cycle)
	}
	if !slices.Equal(order, []int{2, 3, 5, 1, 4}) || !slices.Equal(cycles, []int{1, 1, 2, 0, 0}) {
		t.Errorf("locks %v of cycles %v, want 2 and 3 of the first, 5 of the second, then 1 and 4 of none", order, cycles)
	}
	if l := s.Locks[3]; l.Waiting != 90 || l.LongestNS != int64(time.Minute) || l.Kinds != 1 || l.Holders[0].State != "sleep" || l.Holders[0].Taken != "/x/main.go:71" || l.Holders[0].Function != "main.f4" {
		t.Errorf("the fourth lock is %+v, want 90 waiting up to 1m0s, of 1 kind, "+
			"for main.f4 in sleep since /x/main.go:71", l)
	}
	if g := s.Groups[6]; !slices.Equal(g.Holds, []int{3}) || g.Wants != 2 || g.Function != "main.f6" || g.Root != "main.main" || len(g.Stack) != 3 {
		t.Errorf("the seventh group holds %v, wants %d, is in %s from %s, %d frames, "+
			"want [3], 2, main.f6 from main.main, 3", g.Holds, g.Wants, g.Function, g.Root, len(g.Stack))
	}
	if s := standingsOf(t, v, query("q", "F4")); len(s.Groups) != 1 || s.Groups[0].ID != 4 || s.Total != 147 || len(s.Locks) != 5 {
		t.Errorf("filtered: %d groups of %d, want one of 147 with all locks", len(s.Groups), s.Total)
	}
	if s := standingsOf(t, v, query("q", "rwmutex")); len(s.Groups) != 1 || s.Groups[0].Count != 40 {
		t.Errorf("filtered by state the groups are %+v, want one of 40", s.Groups)
	}
	if _, err := (&View{Model: &model.Model{}}).standing(nil); !refused(err, "nothing here says") {
		t.Errorf("without a moment: %v", err)
	}
}

// As many stacks as goroutines: what is sent has a bound, and what locks are about is in it.
func TestStandingOfMany(t *testing.T) {
	const n = 100_000
	list := make([]model.Standing, n)
	for i := range list {
		list[i] = model.Standing{Count: 1, State: "chan receive"}
	}
	list[n-1].Holds = []model.Holding{{Lock: 1}}
	list[n-2].Wants, list[n-2].State = 1, model.StateMutex
	v := dumped(1, list...)
	begin := time.Now()
	s := standingsOf(t, v, nil)
	took := time.Since(begin)
	if s.Total != n || len(s.Groups) != maxStandings+2 || s.Left != n-maxStandings-2 || s.Groups[maxStandings+1].ID != n-1 {
		t.Errorf("%d of %d groups and %d left; want the largest %d and the two of the lock", len(s.Groups), s.Total, s.Left, maxStandings)
	}
	text, err := json.Marshal(s)
	if err != nil || len(text) > 1<<18 {
		t.Errorf("%d bytes are sent, %v; want at most 256 KiB", len(text), err)
	}
	t.Logf("%d goroutines: %v, %d bytes", n, took, len(text))
}
