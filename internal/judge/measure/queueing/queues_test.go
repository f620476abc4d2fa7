package queueing

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The queue in which most time is spent is the first.
func TestQueuesInOrder(t *testing.T) {
	for _, totals := range [][]time.Duration{{3 * time.Second, 2 * time.Second}, {2 * time.Second, 3 * time.Second}} {
		j := &joiner{sums: map[int]*queueSums{}}
		for id, total := range totals {
			j.sums[id] = &queueSums{Queue: Queue{Kind: Lock, Total: total, Served: queueServed}}
		}
		if got := j.queues(); len(got) != 2 || got[0].Total != 3*time.Second {
			t.Errorf("%v: %+v, want the longest first", totals, got)
		}
	}
}

// A scene is a trace made of stacks: who waits, who ended it.
type scene struct {
	m *model.Model
	p *diagnosis.Pass
}

func newScene(groups ...model.Group) *scene {
	m := &model.Model{Run: model.Run{Duration: time.Second, Procs: 4}, Sched: &model.Sched{Groups: groups}}
	return &scene{m, &diagnosis.Pass{Meter: fact.Meter{Model: m}}}
}

// stack adds functions, the innermost first, each at a line of its own.
func (s *scene) stack(functions ...string) model.Stack {
	var frames []model.Frame
	for i, f := range functions {
		frames = append(frames, model.Frame{Func: f, File: "main.go", Line: i + 1})
	}
	return s.m.Stacks.Add(frames)
}

// wait adds waits of a group, which take 100 ms each and end.
func (s *scene) wait(reason, group string, at model.Stack, count int64) {
	s.m.Sched.Waits = append(s.m.Sched.Waits, model.Wait{Kind: model.Sync, Reason: reason, Stack: at, Group: group, Count: count, Total: time.Duration(count) * 100 * time.Millisecond})
}

func (s *scene) wake(waker, woken model.Stack, count int64) {
	s.m.Sched.Wakes = append(s.m.Sched.Wakes, model.Wake{Waker: waker, Woken: woken, Count: count})
}

// Places that one unlock wakes are taken for one lock; what waits for a first use, a wait group or
// nobody is no queue.
func TestQueues(t *testing.T) {
	s := newScene(model.Group{Name: "main.work", Peak: 8, Count: 8}, model.Group{Name: "main.save", Peak: 2, Count: 2})
	take := s.stack("sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow", "main.take", "main.work")
	save := s.stack("sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow", "main.put", "main.save")
	give := s.stack("sync.(*Mutex).unlockSlow", "main.give", "main.work")
	once := s.stack("sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow", "sync.(*Once).doSlow", "main.load", "main.work")
	group := s.stack("sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait", "main.all", "main.work")
	for _, at := range []model.Stack{take, once, group} {
		s.wait("sync", "main.work", at, 20)
		s.wake(give, at, 20)
	}
	s.wait("sync", "main.save", save, 10)
	s.wake(give, save, 10)
	list := Queues(s.p)
	if len(list) != 1 {
		t.Fatalf("%d queues, want one", len(list))
	}
	q := &list[0]
	if q.Kind != Lock || q.Served != 30 || q.Total != 3*time.Second || !slices.Equal(q.Groups, []string{"main.work", "main.save"}) {
		t.Errorf("queue for %v served %d in %v of %q, want a lock, 30 in 3s, of main.work and main.save", q.Kind, q.Served, q.Total, q.Groups)
	}
	if got := q.Place(s.p); got.Function != "main.take" {
		t.Errorf("Place() = %s, want main.take, where most wait", got.Function)
	}
	if got := q.Server(s.p); got.Function != "main.give" {
		t.Errorf("Server() = %s, want main.give", got.Function)
	}
	if got := q.Waiting(s.p, "waiting"); got.Value != 3 {
		t.Errorf("Waiting() = %v, want 3 in a second", got.Value)
	}
	if got := q.MeanWait(s.p, "mean"); math.Abs(got.Value-0.1) > 1e-9 {
		t.Errorf("MeanWait() = %v, want 0.1 s", got.Value)
	}
}

// Who waits to send waits for a receiver; where those who send also receive it is a semaphore, and
// a pool of a library is one by its name.
func TestKindsOfQueues(t *testing.T) {
	for _, c := range []struct {
		what         string
		reason       string
		waits, wakes []string
		want         Demand
	}{
		{"a channel", "chan send", []string{"runtime.gopark", "runtime.chansend", "main.produce"}, []string{"runtime.goready", "runtime.chanrecv", "main.consume"}, Send},
		{"a channel that counts", "chan send", []string{"runtime.gopark", "runtime.chansend", "main.produce"}, []string{"runtime.goready", "runtime.chanrecv", "main.produce"}, Slot},
		{"a pool", "select", []string{"runtime.selectgo", "database/sql.(*DB).conn", "main.produce"}, []string{"runtime.selectgo", "database/sql.(*DB).putConn", "main.produce"}, Pool},
		{"a descriptor", "sync", []string{"runtime.gopark", "internal/poll.(*fdMutex).rwlock", "os.(*File).Write", "main.produce"}, []string{"internal/poll.(*fdMutex).rwunlock", "main.produce"}, Descriptor},
	} {
		s := newScene(model.Group{Name: "main.produce", Peak: 9}, model.Group{Name: "main.consume", Peak: 1})
		at := s.stack(c.waits...)
		s.wait(c.reason, "main.produce", at, 50)
		s.wake(s.stack(c.wakes...), at, 50)
		list := Queues(s.p)
		if len(list) != 1 || list[0].Kind != c.want {
			t.Errorf("%s: %v, want a queue for %v", c.what, list, c.want)
		}
	}
}

// Few waits that are over are an anecdote; one that goes on is a queue.
func TestBusy(t *testing.T) {
	for _, c := range []struct {
		served, open int64
		want         bool
	}{{queueServed, 0, true}, {queueServed - 1, 0, false}, {1, 1, true}} {
		if q := (&Queue{Served: c.served, open: c.open}); q.Busy() != c.want {
			t.Errorf("%d served and %d waiting: %v, want %v", c.served, c.open, !c.want, c.want)
		}
	}
}

// Who stands somewhere does so in a function, also where nobody knows its file; below the
// runtime alone there is none to name.
func TestStandsAt(t *testing.T) {
	s := newScene()
	for want, frames := range map[string][]model.Frame{
		"sleeps in main.serve": {{Func: "time.Sleep"}, {Func: "main.serve", Line: 9}},
		"sleeps":               {{Func: "time.Sleep"}, {Func: "runtime.main", Line: 9}},
	} {
		if got := Activity(s.p, &model.Standing{Stack: s.m.Stacks.Add(frames), State: "sleep"}); got != want {
			t.Errorf("StandsAt() = %q, want %q", got, want)
		}
	}
}

// Of goroutines that only start what they are given, the function tells the team.
func TestTeamOf(t *testing.T) {
	const starter = "sync.(*WaitGroup).Go.func1"
	s := newScene(model.Group{Name: starter}, model.Group{Name: "main.work"})
	for want, functions := range map[string][]string{
		"main.serve": {"main.serve", starter}, "main.load": {"time.Sleep", "main.load", starter},
		"main.work": {"time.Sleep", "main.wait", "main.work"}, starter: {starter},
	} {
		if got := teamOf(s.m, s.stack(functions...)); got.FunctionName() != want {
			t.Errorf("teamOf(%q) does %q, want %q", functions, got.FunctionName(), want)
		}
	}
}

// A factor of too few turns is no limit: without the time that its formula takes off, the turns are what is known.
func TestTurnsLimitOfFew(t *testing.T) {
	part := func(v float64) fact.Fact { return fact.Figure("part", v, fact.Seconds, "test") }
	turns := fact.Figure("turns", 1, fact.Count, "test")
	if got := TurnsLimit(fact.Quotient.Of("factor", fact.Factor, part(6), part(2)), turns, "at once"); got.Value != 1 {
		t.Errorf("TurnsLimit() of a quotient = %v, want the one turn", got.Value)
	}
	if got := TurnsLimit(fact.Bottleneck.Of("factor", fact.Factor, part(4), part(1), part(9), part(5)), turns, "at once"); got.Value != 5 {
		t.Errorf("TurnsLimit() of a bottleneck = %v, want the 5 s that it takes off", got.Value)
	}
}
