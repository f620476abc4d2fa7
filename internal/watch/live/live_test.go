package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/judge/vote"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

func TestPace(t *testing.T) {
	for _, c := range []struct {
		every, cost time.Duration
		budget      float64
		want        time.Duration
	}{
		{time.Second, 10 * time.Millisecond, 0.02, time.Second},
		{time.Second, 40 * time.Millisecond, 0.02, 2 * time.Second},
		{time.Second, 10 * time.Second, 0.02, slowest},
		{time.Minute, 10 * time.Second, 0.02, time.Minute},
		{time.Second, time.Hour, 0, time.Second},
	} {
		if got := pace(c.every, c.cost, c.budget); got != c.want {
			t.Errorf("pace(%v, %v, %v) = %v, want %v", c.every, c.cost, c.budget, got, c.want)
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	for i := range 200 {
		h.add(time.Unix(int64(i), 0), 10*i)
	}
	if got := h.growth(); got != 600 {
		t.Errorf("growth() = %v, want 600 a minute", got)
	}
	if len(h.points) > 62 {
		t.Errorf("%d points are kept, want those of a minute", len(h.points))
	}
}

// TestHistoryRests has a number stay the same for long, of which nothing is kept but its
// begin and end, and then rise.
func TestHistoryRests(t *testing.T) {
	var h history
	for i := range 500 {
		h.add(time.Unix(int64(i), 0), 7)
		if got := h.growth(); got != 0 || len(h.points) > 2 {
			t.Fatalf("growth() = %v of a number that stays the same, by %d points", got, len(h.points))
		}
	}
	for i := range 31 {
		h.add(time.Unix(499+int64(i), 0), 7+10*i)
	}
	if got := h.growth(); got != 300 {
		t.Errorf("growth() = %v, want 300 in the last minute", got)
	}
}

// TestWaited compares counters of switches and waits.
func TestWaited(t *testing.T) {
	at := time.Unix(1000, 0)
	sample := func(after, queued time.Duration, slices, voluntary int64) proc.Sample {
		return proc.Sample{Time: at.Add(after), Process: proc.Counters{RunQueue: queued, Slices: slices, Voluntary: voluntary, Involuntary: -1}}
	}
	for name, c := range map[string]struct {
		from, to proc.Sample
		want     waits
	}{
		"in two seconds":     {sample(0, time.Second, 50, 10), sample(2*time.Second, 2*time.Second, 60, 30), waits{0.5, 100 * time.Millisecond, 10, -1}},
		"no thread ran":      {sample(0, time.Second, 50, 10), sample(time.Second, time.Second, 50, 10), waits{0, -1, 0, -1}},
		"no wait at all":     {sample(0, time.Second, 50, 10), sample(time.Second, time.Second, 52, 12), waits{0, 0, 2, -1}},
		"not counted":        {sample(0, 0, 0, 10), sample(time.Second, 0, 0, 20), waits{-1, -1, 10, -1}},
		"at the same moment": {sample(0, 0, 1, 10), sample(0, 0, 1, 10), waits{-1, -1, -1, -1}},
	} {
		if got := waitDelta(c.from, c.to); got != c.want {
			t.Errorf("%s: waited() = %+v, want %+v", name, got, c.want)
		}
	}
}

func finding(rule, function string, c diagnosis.Confidence) diagnosis.Finding {
	return diagnosis.Finding{Rule: rule, Title: rule, Confidence: c, Where: []diagnosis.Place{{Function: function, File: "/x/a.go", Line: 1}}}
}

// TestVote gives pieces with and without a finding, and asks when it is shown.
func TestVote(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces string // x has it, . has not; X is sure of it
		shown  string // + after a piece that shows it
	}{
		{"once is nothing", ".x...", "....."},
		{"twice it is there", ".xx..", "..+++"},
		{"with a gap", "x.x..", "..+++"},
		{"it goes after three without", ".xx....", "..+++.."},
		{"it does not flicker", ".xx.x.x..x", "..++++++++"},
		{"the first piece is sure", "X....", "+++.."},
		{"a later one is not enough", ".X...", "....."},
	} {
		is := &judgedProgram{}
		got := ""
		for i, p := range c.pieces {
			d := &diagnosis.Diagnosis{}
			switch p {
			case 'x':
				d.Findings = []diagnosis.Finding{finding("r", "f", diagnosis.Medium)}
			case 'X':
				d.Findings = []diagnosis.Finding{finding("r", "f", diagnosis.High)}
			}
			is.vote(d, time.Unix(int64(i), 0), "")
			if slices.ContainsFunc(is.votes, func(a *suspect) bool { return a.shown }) {
				got += "+"
			} else {
				got += "."
			}
		}
		if got != c.shown {
			t.Errorf("%s: %s is shown as %s, want %s", c.name, c.pieces, got, c.shown)
		}
	}
	// Two places are two findings, in the order of the last piece.
	is := &judgedProgram{}
	a, b := finding("r", "f", diagnosis.High), finding("r", "g", diagnosis.High)
	is.vote(&diagnosis.Diagnosis{Findings: []diagnosis.Finding{a, b}}, time.Unix(0, 0), "1")
	is.vote(&diagnosis.Diagnosis{Findings: []diagnosis.Finding{b, a}}, time.Unix(1, 0), "2")
	if len(is.votes) != 2 {
		t.Errorf("two pieces with two findings give %d votes, want 2", len(is.votes))
	} else if v := is.votes[0]; v.finding.Where[0].Function != "g" || v.first != time.Unix(0, 0) || v.file != "2" {
		t.Errorf("the first vote is for %s, since %v, in %q, want g, %v, 2",
			v.finding.Where[0].Function, v.first, v.file, time.Unix(0, 0))
	}
}

// The counts of a pool that is well go up and down: the later of two is the larger one
// again and again, and nothing grows. Those of a leak rise, also when it began just now.
func TestGrowth(t *testing.T) {
	pool := []int{135, 220, 282, 225, 768, 768, 225, 324, 152, 152, 138, 123, 123, 153, 186, 456, 201, 240, 156, 156, 246, 189, 618, 147, 147, 373} // as they were read
	for _, c := range []struct {
		name  string
		every int // seconds
		count func(second int) int
		shown bool
	}{
		{"a pool", 1, func(s int) int { return pool[s%len(pool)] }, false},
		{"a full pool, seldom read", 7, func(s int) int { return min(1006, 941+10*s) }, false},
		{"a leak, seldom read", 9, func(s int) int { return 100 + 10*s }, true},
		{"a start", 1, func(s int) int { return min(s, 5) * 100 }, false},
		{"a leak", 1, func(s int) int { return 100 + 10*s }, true},
		{"a leak that began late", 1, func(s int) int { return 100 + 10*max(0, s-40) }, true},
	} {
		begin := time.Unix(0, 0)
		is := &judgedProgram{since: begin, rules: rules.All}
		shown := false
		for s := range 100 {
			read := s / c.every * c.every
			is.count(&Goroutines{Total: c.count(read), Age: time.Duration(s-read) * time.Second}, begin.Add(time.Duration(s)*time.Second))
			if s%10 == 9 {
				is.vote(&diagnosis.Diagnosis{Findings: []diagnosis.Finding{finding("goroutinegrowth", "f", diagnosis.Low)}}, begin, "")
				shown = shown || len(is.votes) > 0 && is.votes[0].shown
			}
		}
		if shown != c.shown {
			t.Errorf("%s: after pieces that all have more at the end, the finding is shown: %v, want %v", c.name, shown, c.shown)
		}
	}
	is := &judgedProgram{}
	for _, age := range []time.Duration{0, time.Second, 2 * time.Second} { // read once
		is.count(&Goroutines{Total: 7, Age: age}, time.Unix(10, 0).Add(age))
	}
	is.count(&Goroutines{Why: "not permitted"}, time.Unix(20, 0))
	if len(is.counts) != 1 {
		t.Errorf("one reading gives the counts %v", is.counts)
	}
}

// TestNext asks who is judged next.
func TestNext(t *testing.T) {
	j := &judge{cases: map[int]*judgedProgram{
		1: {pid: 1, cores: 0.001},
		2: {pid: 2, cores: 0.5, at: time.Now().Add(-10 * time.Second)},
		3: {pid: 3, cores: 0.1, at: time.Now().Add(-20 * time.Second)},
	}}
	if c, d, _ := j.nextTurn(); c == nil || c.pid != 2 || d != turnTime {
		t.Errorf("next() = %+v, %v, want process 2 for %v", c, d, turnTime)
	}
	j.cases[3].at = time.Time{}
	if c, _, _ := j.nextTurn(); c == nil || c.pid != 3 {
		t.Errorf("next() = %+v, want process 3, which was never judged", c)
	}
	j.attend(1, true)
	if c, d, trace := j.nextTurn(); c.pid != 1 || d != firstTime || !trace {
		t.Errorf("next() = %+v, %v, %v, want process 1, which is looked at, with a trace", c, d, trace)
	}
	if _, _, trace := j.nextTurn(); trace {
		t.Error("one t takes two traces")
	}
}

// A child is a program of this machine that the test started.
func child(t *testing.T, text string, flags ...string) *exec.Cmd {
	t.Helper()
	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("watches a program that it builds")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": text, "go.mod": "module sample\n\ngo 1.22\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", append([]string{"build", "-o", "sample"}, flags...)...)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("go build: %v\n%s", err, out)
	}
	return start(t, filepath.Join(dir, "sample"))
}

func start(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

const waiting = `package main

import "time"

func waits(c chan int) { <-c }

func main() {
	for range 100 {
		go waits(make(chan int))
	}
	for n := 0; ; n++ {
		if n%1000000 == 0 {
			time.Sleep(time.Microsecond)
		}
	}
}
`

// TestWatch watches a program until it ends, and one without symbols.
func TestWatch(t *testing.T) {
	for _, flag := range []string{"-ldflags=", "-ldflags=-s"} {
		t.Run(flag, func(t *testing.T) { watches(t, child(t, waiting, flag)) })
	}
}

func watches(t *testing.T, cmd *exec.Cmd) {
	pid := cmd.Process.Pid
	w, err := New(Options{PIDs: []int{pid}, Stacks: true})
	if errors.Is(err, proc.ErrSystem) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	err = attempt.Repeat(t, func() error {
		var f *Frame
		for range 3 {
			time.Sleep(200 * time.Millisecond)
			var err error
			if f, err = w.Refresh(); err != nil {
				return err
			}
		}
		if err := f.Absent([]int{pid}); err != nil || len(f.Processes) != 1 {
			return errors.New("the program is not the one that is watched")
		}
		p := f.Processes[0]
		switch {
		case p.Program != "sample" || !p.IsGo():
			t.Fatalf("the program is %q of %q, want sample", p.Program, p.Go)
		case p.CPU.Cores() < 0.05 || p.Counters == nil:
			return fmt.Errorf("a busy program uses %v of a CPU, counters %+v, want 0.05 or more, some counters",
				p.CPU.Cores(), p.Counters)
		case p.Goroutines != nil && p.Goroutines.Why != "":
			t.Skip(p.Goroutines.Why)
		case p.Goroutines == nil || p.Goroutines.Total != 101:
			return errors.New("it has 101 goroutines")
		}
		g := p.Goroutines.Groups[0]
		if g.Function != "main.waits" || g.State != "waiting" || g.Reason != "chan receive" || g.Count != 100 || g.At != "main.waits:5" || g.Creator != "main.main:9" {
			return fmt.Errorf("its first group is %+v, want 100 of main.waits in chan receive at main.waits:5, "+
				"by main.main:9", g)
		}
		if p.Runtime == nil || p.Runtime.Procs != runtime.GOMAXPROCS(0) || p.Runtime.HeapLive <= 0 {
			return fmt.Errorf("its runtime counts %+v, want %d Ps, a live heap", p.Runtime, runtime.GOMAXPROCS(0))
		}
		if m := p.Memory; m == nil || m.Why == "" && (m.PSS == 0 || m.Age < 0) {
			return fmt.Errorf("its share of memory is %+v, want one or why there is none", m)
		}
		if _, err := json.Marshal(f); err != nil {
			t.Errorf("a frame is no JSON: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	f, err := w.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Absent([]int{pid}); !errors.Is(err, proc.ErrGone) {
		t.Errorf("Absent() of a program that ended = %v, want %v", err, proc.ErrGone)
	}
	if w.ended[cmd.Path] != 1 {
		t.Errorf("%v have ended, want the program among them", w.ended)
	}
}

// TestWeighs asks whose share of memory is read; a program begun anew takes the place
// of the one that is looked at.
func TestWeighs(t *testing.T) {
	w := &Watch{}
	wants := func(what string, want bool) {
		t.Helper()
		if got := w.weighs(7); got != want {
			t.Errorf("%s: weighs() = %v, want %v", what, got, want)
		}
	}
	wants("among all", false)
	w.o.PIDs = []int{7, 8}
	wants("one of two", false)
	w.Attend(7, false)
	wants("looked at", true)
	w.Attend(0, false)
	wants("no longer", false)
	w.o.PIDs = []int{7}
	wants("alone", true)
	w.o.PIDs = nil
	w.Attend(6, false)
	now := time.Now()
	w.left = []*process{{pid: 6, gone: now, program: proc.Program{Exe: "/x"}}}
	w.fresh = []*process{{pid: 7, program: proc.Program{Exe: "/x"}}}
	w.succeed(now)
	wants("begun anew", true)
}

// TestAll lists what is no Go program too.
func TestAll(t *testing.T) {
	w, err := New(Options{All: true})
	if errors.Is(err, proc.ErrSystem) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, err := w.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Processes) < 2 || f.Machine.CPUs < 1 {
		t.Errorf("%d processes on %d CPUs, want this one and others", len(f.Processes), f.Machine.CPUs)
	}
	w.ShowAll(false)
	g, err := w.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(g.Processes, func(p Process) bool { return !p.IsGo() || p.PID == os.Getpid() }); i >= 0 {
		p := g.Processes[i]
		t.Errorf("the list has %q, PID %d, of Go %q, want Go programs alone, and not this one", p.Name, p.PID, p.Go)
	}
}

// TestHurries holds that the first pieces of the program that is looked at come at once,
// and only these: one that nobody looks at, or that cannot be recorded, waits.
func TestHurries(t *testing.T) {
	j := &judge{attended: 7}
	for _, c := range []struct {
		pid, recorded int
		want          bool
	}{{7, 0, false}, {7, 1, true}, {7, vote.Voters - 1, true}, {7, vote.Voters, false}, {8, 1, false}} {
		if got := j.hurries(&judgedProgram{pid: c.pid, recorded: c.recorded}); got != c.want {
			t.Errorf("process %d after %d pieces: %v, want %v", c.pid, c.recorded, got, c.want)
		}
	}
}

// Who waits for a lock for long is not idle, and what makes no step is said with its holder.
func TestStanding(t *testing.T) {
	waits := func(reason string, count int, oldest time.Duration) *Goroutines {
		return &Goroutines{Groups: []Group{{Reason: "chan receive", Count: 500, Oldest: time.Hour}, {Reason: reason, Count: count, Oldest: oldest}}}
	}
	for _, c := range []struct {
		g    *Goroutines
		want string
	}{
		{nil, ""},
		{waits("select", 50, time.Hour), ""},
		{waits("sync.Mutex.Lock", 50, time.Second), ""},
		{waits("sync.Cond.Wait", 50, time.Hour), ""},
		{waits("sync.Mutex.Lock", 1, 90*time.Second), "a goroutine waits for a lock, since 1m30s"},
		{waits("sync.RWMutex.RLock", 50, 90*time.Second), "50 goroutines wait for locks, the longest for 1m30s"},
	} {
		if got := standing(c.g); got != c.want {
			t.Errorf("standing(%+v) = %q, want %q", c.g, got, c.want)
		}
	}
	j := &judge{cases: map[int]*judgedProgram{7: {pid: 7, since: time.Now().Add(-time.Minute)}}}
	if v := j.verdict(7); v == nil || v.Line != "idle" {
		t.Errorf("a program without work: %+v, want idle", v)
	}
	j.cases[7].stands = "3 goroutines wait for locks, the longest for 20s"
	if v := j.verdict(7); v == nil || v.Line != j.cases[7].stands+"; not judged yet" {
		t.Errorf("verdict() of one whose goroutines wait for locks = %+v, want %s; not judged yet",
			v, j.cases[7].stands)
	}
	if c, _, _ := j.nextTurn(); c == nil || c.pid != 7 {
		t.Errorf("next() = %+v, want that one", c)
	}
	c := j.cases[7]
	c.vote(&diagnosis.Diagnosis{Verdict: diagnosis.Idle}, time.Now(), "")
	if v := j.verdict(7); v.Line != c.stands {
		t.Errorf("judged idle: %q, want what stands", v.Line)
	}
	stalled := finding("stalled", "main.hold", diagnosis.High)
	stalled.Stalls, stalled.Summary = true, "3 goroutines wait for the lock main.mu; main.hold holds it and sleeps."
	for range vote.Quorum {
		c.vote(&diagnosis.Diagnosis{Verdict: diagnosis.Stalled, Findings: []diagnosis.Finding{stalled}}, time.Now(), "")
	}
	if v := j.verdict(7); v.Line != "stalled: "+stalled.Summary || !v.Findings[0].Stalled {
		t.Errorf("verdict() = %q, findings %+v, want stalled: %s, the first stalled",
			v.Line, v.Findings, stalled.Summary)
	}
}
