package live

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

func emptyJudge() *judge {
	return &judge{budget: 0.01, wake: make(chan struct{}, 1), share: func() float64 { return 0 }, cases: map[int]*judgedProgram{}}
}

// The judge knows the Go programs of a frame but the one that watches, by number and start.
func TestChoose(t *testing.T) {
	j, now := emptyJudge(), time.Unix(10_000, 0)
	process := func(pid int, up time.Duration) Process { return Process{PID: pid, Go: "go1.26", Up: up} }
	busy := process(7, time.Hour)
	busy.CPU.User, busy.Runtime = 0.5, &Runtime{Procs: 4}
	busy.Goroutines = &Goroutines{Total: 90, Growth: growing}
	j.choose(&Frame{Time: now, Processes: []Process{busy, process(8, time.Minute), process(os.Getpid(), time.Minute), {PID: 9}}})
	var pids []int
	for pid := range j.cases {
		pids = append(pids, pid)
	}
	if slices.Sort(pids); !slices.Equal(pids, []int{7, 8}) {
		t.Fatalf("cases = %v, want 7 and 8: one is of another language, one is the watcher", pids)
	}
	if c := j.cases[7]; c.cores != 0.5 || c.procs != 4 || !c.grows || len(c.counts) != 1 {
		t.Errorf("the case has %v cores, %d Ps, grows %v and %d counts; want 0.5, 4, true and 1", c.cores, c.procs, c.grows, len(c.counts))
	}

	same, other := j.cases[7], j.cases[8]
	j.choose(&Frame{Time: now.Add(time.Minute), Processes: []Process{process(7, time.Hour+time.Minute), process(8, time.Second)}})
	if j.cases[7] != same || j.cases[7].grows {
		t.Errorf("the case of a program that is still there is the same: %v, grows %v; want true, false", j.cases[7] == same, j.cases[7].grows)
	}
	if j.cases[8] == other {
		t.Error("a program that was started again under its number is judged as the old one")
	}
	if j.choose(&Frame{Time: now}); len(j.cases) != 0 {
		t.Errorf("cases after all have ended = %d, want none", len(j.cases))
	}
	(*judge)(nil).choose(&Frame{}) // where nothing is judged
	(*judge)(nil).follow(1, 2)
	(*judge)(nil).attend(1, false)
	(*judge)(nil).stop()
}

func TestFollowProgram(t *testing.T) {
	j := emptyJudge()
	j.attend(7, true)
	if j.follow(8, 9); j.attended != 7 {
		t.Errorf("attended after another was replaced = %d, want 7", j.attended)
	}
	if j.follow(7, 9); j.attended != 9 || !j.traceOne {
		t.Errorf("attended after it was replaced = %d, trace %v; want 9 and its trace", j.attended, j.traceOne)
	}
	if len(j.wake) != 1 {
		t.Errorf("calls that wait = %d, want 1", len(j.wake))
	}
	j.attend(9, false) // and does not wait for the one before
}

// Who watches beyond the budget pauses: until the share has fallen, somebody asks, it ends, or
// it has waited long enough.
func TestPayBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		share func(since time.Duration) float64
		act   func(j *judge, cancel func())
		want  time.Duration
	}{
		{"within the budget", func(time.Duration) float64 { return 0.005 }, nil, 0},
		{"until it has fallen", func(d time.Duration) float64 { return 0.02 - 0.002*d.Seconds() }, nil, 5 * time.Second},
		{"not for ever", func(time.Duration) float64 { return 1 }, nil, mostDebt * time.Second},
		{"until somebody asks", func(time.Duration) float64 { return 1 }, func(j *judge, _ func()) { j.attend(7, false) }, 1500 * time.Millisecond},
		{"until it ends", func(time.Duration) float64 { return 1 }, func(_ *judge, cancel func()) { cancel() }, 1500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				j, began := emptyJudge(), time.Now()
				j.share = func() float64 { return c.share(time.Since(began)) }
				if c.act != nil {
					time.AfterFunc(1500*time.Millisecond, func() { c.act(j, cancel) })
				}
				j.payBack(ctx)
				if took := time.Since(began); took != c.want {
					t.Errorf("payBack() takes %v, want %v", took, c.want)
				}
				time.Sleep(2 * time.Second) // for what still acts
			})
		})
	}
}

// What is said of a program in one line, from nothing known to its findings.
func TestVerdict(t *testing.T) {
	rules := []*diagnosis.Rule{{Name: "traced", Needs: []model.Source{model.Trace}}, {Name: "sampled"}}
	says := func(v diagnosis.Verdict) *diagnosis.Diagnosis { return &diagnosis.Diagnosis{Verdict: v} }
	traced := says(diagnosis.Healthy)
	traced.Trace = &diagnosis.TraceInfo{}
	shown := func(f diagnosis.Finding) *suspect { return &suspect{finding: f, shown: true} }
	lock := diagnosis.Finding{Rule: "hotmutex", Title: "A lock", Summary: "Nobody gets on.", Where: []diagnosis.Place{{Function: "main.f", File: "/x/main.go", Line: 3}}}
	stuck, remark := lock, lock
	stuck.Stalls, remark.Remark = true, true
	long := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name string
		c    *judgedProgram
		want string // "" is no verdict
	}{
		{"not there", nil, ""},
		{"could not be recorded", &judgedProgram{err: errors.New("no permission")}, "cannot be judged: no permission"},
		{"stands", &judgedProgram{stands: "9 goroutines wait for locks"}, "9 goroutines wait for locks; not judged yet"},
		{"just seen", &judgedProgram{since: time.Now()}, ""},
		{"idle for long", &judgedProgram{since: long}, Idle},
		{"busy and not judged", &judgedProgram{since: long, cores: 1}, ""},
		{"well", &judgedProgram{pieces: 1, last: traced}, "nothing found"},
		{"well, without a trace", &judgedProgram{pieces: 1, last: says(diagnosis.Healthy)}, "nothing found without a trace"},
		{"idle", &judgedProgram{pieces: 1, last: says(diagnosis.Idle)}, Idle},
		{"idle, and somebody stands", &judgedProgram{pieces: 1, last: says(diagnosis.Idle), stands: "a goroutine waits"}, "a goroutine waits"},
		{"thin", &judgedProgram{pieces: 1, last: says(diagnosis.TooThin)}, "not enough evidence"},
		{"partial", &judgedProgram{pieces: 1, last: says(diagnosis.Partial)}, "not enough evidence"},
		{"a problem once", &judgedProgram{pieces: 1, last: says(diagnosis.Problem)}, "one recording shows a problem; checking again"},
		{"no step once", &judgedProgram{pieces: 1, last: says(diagnosis.Stalled)}, "one recording shows goroutines that make no step; checking again"},
		{"a finding", &judgedProgram{pieces: 2, last: traced, votes: []*suspect{shown(lock)}}, "A lock: main.f main.go:3"},
		{"two", &judgedProgram{pieces: 2, last: traced, votes: []*suspect{shown(lock), shown(lock)}}, "A lock: main.f main.go:3 (+1)"},
		{"one that is not sure yet", &judgedProgram{pieces: 2, last: traced, votes: []*suspect{{finding: lock}}}, "nothing found"},
		{"a remark", &judgedProgram{pieces: 2, last: traced, votes: []*suspect{shown(remark)}}, "nothing found"},
		{"stalled", &judgedProgram{pieces: 2, last: traced, votes: []*suspect{shown(remark), shown(stuck)}}, "stalled: Nobody gets on."},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := emptyJudge()
			if j.rules = rules; c.c != nil {
				j.cases[7] = c.c
			}
			got := ""
			if v := j.verdict(7); v != nil {
				got = v.Line
			}
			if got != c.want {
				t.Errorf("verdict() = %q, want %q", got, c.want)
			}
		})
	}
	if v := (*judge)(nil).verdict(7); v != nil {
		t.Errorf("verdict() of nobody = %v, want none", v)
	}
	at := time.Unix(10_000, 0)
	j := emptyJudge()
	j.cases[7] = &judgedProgram{pieces: 3, last: traced, at: at, gone: []Finding{{Rule: "late", Until: at.Add(-time.Second)}, {Rule: "old", Until: at.Add(-2 * keptTime)}}}
	if v := j.verdict(7); len(v.Gone) != 1 || v.Gone[0].Rule != "late" || v.Judged != 3 {
		t.Errorf("verdict().Gone = %v of %d, want the late one of 3", v.Gone, v.Judged)
	}
}

// A history has a program as it was last, the busiest where none is named.
func TestProgram(t *testing.T) {
	h := Remember(nil)
	h.Add(frameAt(1, Process{PID: 7, Go: "go1.26"}, 0))
	h.Add(frameAt(2, Process{PID: 7, Go: "go1.26", CPU: CPU{User: 0.5}}, 0))
	if p := h.Program(7); p == nil || p.CPU.User != 0.5 {
		t.Errorf("Program(7) = %v, want it as it was last", p)
	}
	if p := h.Program(0); p == nil || p.PID != 7 {
		t.Errorf("Program(0) = %v, want the only one", p)
	}
	if p := h.Program(99); p != nil {
		t.Errorf("Program(99) = %v, want none", p)
	}
	for _, c := range []struct {
		a, b bool
		want int
	}{{false, false, 0}, {true, true, 0}, {false, true, -1}, {true, false, 1}} {
		if got := compareBool(c.a, c.b); got != c.want {
			t.Errorf("compareBool(%v, %v) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
