package diagnosis

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// TestStarved has each reason just above and just below where it counts.
func TestStarved(t *testing.T) {
	const s = time.Second
	// Counters begin at a second and are read for ten.
	stopped := func(d time.Duration) *model.Model {
		return &model.Model{Limits: &model.Limits{Quota: 1.5, Samples: []model.LimitSample{{At: s, Usage: 3 * s, ThrottledTime: 2 * s}, {At: 11 * s, Usage: 9 * s, ThrottledTime: 2*s + d}}}}
	}
	overlap := func(d time.Duration) *model.Model {
		m := busy(0.9)
		m.Run.Coverage.MaxOverlap, m.Run.Coverage.Lost = d, s
		return m
	}
	taken := func(d time.Duration) *model.Model {
		return &model.Model{Machine: &model.Machine{CPUs: 2, Samples: []model.MachineSample{{At: s}, {At: 11 * s, Busy: 10 * s, Steal: d, Idle: 10*s - d}}}}
	}
	// A full machine of two CPUs, of which others use a part; its own threads wait, or where that is
	// not counted, all that are ready do.
	beside := func(own, waits, stall time.Duration) *model.Model {
		return &model.Model{
			Machine: &model.Machine{CPUs: 2, Samples: []model.MachineSample{{At: s, CPUStall: s, MemoryStall: 9 * s}, {At: 11 * s, Busy: 20 * s, CPUStall: s + stall, MemoryStall: 9 * s}}},
			Process: &model.Process{Samples: []model.ProcessSample{{At: s}, {At: 11 * s, User: own, RunQueue: waits}}},
		}
	}
	untold := beside(10*s, 0, 5*s)
	untold.Machine.Samples[0].CPUStall = -1
	for _, c := range []struct {
		name string
		m    *model.Model
		want string
	}{
		{"an overlap of 60 ms", overlap(60 * time.Millisecond), "the process itself waited for a CPU, once for 60.0 ms"},
		{"an overlap of 40 ms", overlap(40 * time.Millisecond), ""},
		{"an overlap without a trace", &model.Model{Run: model.Run{Coverage: model.Coverage{MaxOverlap: s}}}, ""},
		{"a quota for 6%", stopped(600 * time.Millisecond), "a CPU quota of 1.5 cores stopped the process for 6% of the time"},
		{"a quota for 4%", stopped(400 * time.Millisecond), ""},
		{"a quota for longer than all", stopped(15 * s), "a CPU quota of 1.5 cores stopped the process for 100% of the time"},
		{"a hypervisor's 6%", taken(1200 * time.Millisecond), "the hypervisor took 6% of the machine's CPU time"},
		{"a hypervisor's 4%", taken(800 * time.Millisecond), ""},
		{"others with 12% of the machine", beside(17600*time.Millisecond, 10*s, 0),
			"other processes used 12% of the machine while it was full, and the ready threads of this one spent 36% of that time waiting for a CPU"},
		{"others with 8%", beside(18400*time.Millisecond, 10*s, 0), ""},
		{"waits of 12%", beside(8800*time.Millisecond, 1200*time.Millisecond, 0),
			"other processes used 56% of the machine while it was full, and the ready threads of this one spent 12% of that time waiting for a CPU"},
		{"waits of 8%", beside(9200*time.Millisecond, 800*time.Millisecond, 0), ""},
		{"a program that does nothing", beside(0, 5*s, 5*s), ""},
		{"pressure of 25%", beside(10*s, 0, 2500*time.Millisecond), "other processes used 50% of the machine while it was full, and tasks waited for a CPU"},
		{"pressure of 15%", beside(5*s, 0, 1500*time.Millisecond), ""},
		{"pressure that is not counted", untold, ""},
		{"nothing", &model.Model{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Starved(c.m); got != c.want {
				t.Errorf("Starved() = %q, want %q", got, c.want)
			}
		})
	}
}

// TestLostPart takes the largest of what was lost by bytes, by events and by time.
func TestLostPart(t *testing.T) {
	groups := &model.Sched{Groups: []model.Group{{Times: model.Times{Running: 60 * time.Second}}, {Times: model.Times{Running: 39 * time.Second, Unknown: time.Second}}}}
	for _, c := range []struct {
		name  string
		c     model.Coverage
		sched *model.Sched
		want  float64
	}{
		{"bytes", model.Coverage{Bytes: 1000, LostBytes: 20, Events: 99, LostEvents: 1, Forced: 7, Unknown: time.Second}, groups, 0.02},
		{"events", model.Coverage{Bytes: 1000, LostBytes: 10, Events: 90, LostEvents: 10, Forced: 7, Unknown: time.Second}, groups, 0.1},
		{"time", model.Coverage{Bytes: 1000, LostBytes: 10, Events: 99, LostEvents: 1, Unknown: 3 * time.Second}, groups, 0.03},
		{"bytes, no time known", model.Coverage{Bytes: 1000, LostBytes: 20, Events: 99, LostEvents: 1, Unknown: time.Second}, nil, 0.02},
		{"nothing", model.Coverage{Bytes: 1000, Events: 100}, groups, 0},
	} {
		m := &model.Model{Sched: c.sched, Run: model.Run{Coverage: c.c}}
		if got := LostPart(m); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("LostPart() of %s = %v, want %v", c.name, got, c.want)
		}
	}
	// From a hundredth of the trace on its times are not to be trusted.
	for lost, want := range map[int64]string{15: "1.5% of the trace is lost or unknown", 8: ""} {
		m := busy(0.9)
		m.Run.Coverage.Bytes, m.Run.Coverage.LostBytes = 1000, lost
		if got := Disturbed(m); got != want {
			t.Errorf("Disturbed() with %d of 1000 bytes lost = %q, want %q", lost, got, want)
		}
	}
}

// TestBusy counts what Ps do, but for the collector's work in idle time.
func TestBusy(t *testing.T) {
	const s = time.Second
	ps := &model.Model{Sched: &model.Sched{Procs: []model.Proc{{User: s, GC: 2 * s, GCIdle: 100 * s, Syscall: 4 * s, Scheduler: 8 * s, Idle: 200 * s}, {User: 5 * s}}}}
	ps.Run.Duration, ps.Run.Procs = 10*s, 4
	lost := &model.Model{Sched: &model.Sched{Procs: []model.Proc{{User: 6 * s, Idle: 2 * s, Unknown: 2 * s}}}}
	lost.Run.Duration, lost.Run.Procs = 10*s, 1
	unknown := &model.Model{Sched: ps.Sched}
	unknown.Run.Duration = 10 * s
	system := counted10(0, 4*s, 0)
	system.Run.Procs = 0
	machine := counted10(s, 0, 0)
	machine.Run.Procs, machine.Machine = 0, &model.Machine{CPUs: 4}
	for _, c := range []struct {
		name      string
		m         *model.Model
		cores, of float64
		ok        bool
	}{
		{"Ps", ps, 2, 4, true},
		{"a P of which a fifth is lost", lost, 0.75, 1, true},
		{"Ps of no known number", unknown, 2, 1, true},
		{"counters", counted10(6*s, 2*s, 0), 0.8, 2, true},
		{"counters of the kernel's time alone", system, 0.4, 1, true},
		{"counters on a machine", machine, 0.1, 4, true},
		{"nothing", &model.Model{}, 0, 0, false},
	} {
		if cores, of, ok := Busy(c.m); math.Abs(cores-c.cores) > 1e-9 || of != c.of || ok != c.ok {
			t.Errorf("Busy() of %s = %v, %v, %t, want %v, %v, %t", c.name, cores, of, ok, c.cores, c.of, c.ok)
		}
	}
}

// TestThin says of each sort of evidence why it does not tell whether the program is well.
func TestThin(t *testing.T) {
	with := func(change func(*model.Model)) *model.Model {
		m := busy(0.9)
		change(m)
		return m
	}
	samples := func(n int64, types ...model.ValueType) *model.Model {
		m := &model.Model{}
		m.CPU = &model.Profile{Types: types, Samples: []model.Sample{{Values: []int64{n, n * 1e7}}}}
		return m
	}
	printed := []*model.Table{{}}
	const alone = "a CPU profile alone tells where processor time goes, not what the program waits for"
	timesAlone := &model.Model{CPU: &model.Profile{Types: cpuTypes[1:], Samples: []model.Sample{{Values: []int64{1e7}}}}}
	for _, c := range []struct {
		name string
		m    *model.Model
		want string
	}{
		{"1.5 s", with(func(m *model.Model) { m.Run.Duration = 1500 * time.Millisecond }), ""},
		{"0.9 s", with(func(m *model.Model) { m.Run.Duration = 900 * time.Millisecond }), "the trace covers only 900 ms"},
		{"1500 events", with(func(m *model.Model) { m.Run.Coverage.Events = 1500 }), ""},
		{"900 events", with(func(m *model.Model) { m.Run.Coverage.Events = 900 }), "the trace holds only 900 events"},
		{"events that were not counted", with(func(m *model.Model) { m.Run.Coverage.Events = 0 }), ""},
		{"900 events at rest", func() *model.Model { m := busy(0.015); m.Run.Coverage.Events = 900; return m }(), ""},
		{"900 events, nearly at rest", func() *model.Model { m := busy(0.03); m.Run.Coverage.Events = 900; return m }(), "the trace holds only 900 events"},
		{"60% lost", with(func(m *model.Model) { m.Run.Coverage.Bytes, m.Run.Coverage.LostBytes = 100, 60 }), "60% of the trace is lost or unknown"},
		{"40% lost", with(func(m *model.Model) { m.Run.Coverage.Bytes, m.Run.Coverage.LostBytes = 100, 40 }), ""},
		{"150 samples", samples(150, cpuTypes...), alone},
		{"90 samples", samples(90, cpuTypes...), "the CPU profile holds only 90 samples"},
		{"samples without a number", timesAlone, alone},
		{"counters of 0.9 s", func() *model.Model {
			m := counted10(9*time.Second, 0, 0)
			m.Process.Samples[1].At = 900 * time.Millisecond
			return m
		}(), "the process's counters cover only 900 ms"},
		{"counters and 150 samples", counted10(1500*time.Millisecond, 3*time.Second, 150), ""},
		{"counters and 90 samples", counted10(1500*time.Millisecond, 3*time.Second, 90), "there are only 90 samples of its CPU time"},
		{"counters of a program that does little", counted10(3900*time.Millisecond, 0, 0), ""},
		{"benchmarks", &model.Model{Load: &model.Load{Benchmarks: []model.Benchmark{{}}}}, "benchmarks tell what an operation costs, not what for; -cpuprofile and -memprofile do"},
		{"a load", &model.Model{Load: &model.Load{}}, "there is neither a trace nor a profile of the CPU or of allocations"},
		{"a wall-clock profile", &model.Model{Wall: &model.Profile{}}, "a wall-clock profile alone does not tell what uses the CPU"},
		{"a heap profile", &model.Model{Heap: &model.Profile{}}, "a heap profile alone does not tell how the program spends its time"},
		{"metrics", &model.Model{Metrics: &model.Metrics{Series: map[string]model.Series{"x": nil}}}, "a moment of its metrics tells how much, not why"},
		{"metrics of nothing", &model.Model{Metrics: &model.Metrics{}}, "there is neither a trace nor a profile of the CPU or of allocations"},
		{"metrics beside what is printed", &model.Model{Metrics: &model.Metrics{Series: map[string]model.Series{"x": nil}}, Tables: printed}, "of its profiles there is only the text"},
		{"counts", &model.Model{Counts: []*model.Counts{{}}}, "counts tell how often, not for what"},
		{"counts beside what is printed", &model.Model{Counts: []*model.Counts{{}}, Tables: printed}, "of its profiles there is only the text"},
		{"what is printed", &model.Model{Tables: printed}, "of its profiles there is only the text"},
		{"nothing", &model.Model{}, "there is neither a trace nor a profile of the CPU or of allocations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := thin(c.m); got != c.want {
				t.Errorf("thin() = %q, want %q", got, c.want)
			}
		})
	}
}

// TestWaitsForIt counts who waits for a program at rest, just above and just below where that
// means something.
func TestWaitsForIt(t *testing.T) {
	const window = 5 * time.Second
	for _, c := range []struct {
		name            string
		locks, sends    float64 // how many wait on average
		blocked, nobody float64 // nothing tells for what, or in which state they are
		want            string
	}{
		{"locks", 1.25, 0, 0, 0, "1.25 goroutines waited for locks on average"},
		{"few locks", 0.75, 0, 0, 0, ""},
		{"senders", 0, 1.75, 0, 0, "1.75 goroutines waited to send on average"},
		{"few senders", 0, 1.25, 0, 0, ""},
		{"what is not told", 0, 0, 1.25, 1.25, "what 2.5 of its goroutines waited for is not in the trace"},
		{"little that is not told", 0, 0, 1, 0.75, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := busy(0.001)
			of := func(n float64) time.Duration { return time.Duration(n * float64(window)) }
			m.Sched.Groups = []model.Group{{Name: "main.f", Times: model.Times{Blocked: map[string]time.Duration{"": of(c.blocked)}, Unknown: of(c.nobody)}}}
			m.Sched.Waits = []model.Wait{
				{Reason: "sync", Group: "main.f", Stack: stackOf(m, "sync.(*Mutex).Lock main.f"), Total: of(c.locks)},
				{Reason: "chan send", Group: "main.f", Stack: stackOf(m, "runtime.chansend1 main.f"), Total: of(c.sends)},
			}
			if got := waitsForIt(m); got != c.want {
				t.Errorf("waitsForIt() = %q, want %q", got, c.want)
			}
		})
	}
}

// TestHeldAt tells locks from what only looks like one.
func TestHeldAt(t *testing.T) {
	for _, c := range []struct{ reason, stack, want string }{
		{"chan send", "runtime.chansend1 main.f", "send"},
		{"select", "sync.(*Mutex).Lock main.f", ""},
		{"sync", "runtime.gopark sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow main.f", "lock"},
		{"sync", "runtime.gopark sync.(*RWMutex).RLock main.f", "lock"},
		{"sync", "runtime.gopark internal/sync.(*HashTrieMap[...]).Swap main.f", "lock"},
		{"sync", "runtime.gopark sync.(*WaitGroup).Wait main.f", ""},
		{"sync", "main.wait sync.(*Mutex).Lock", ""},
		{"sync", "", ""},
	} {
		m := &model.Model{}
		if got := heldAt(m, &model.Wait{Reason: c.reason, Stack: stackOf(m, c.stack)}); got != c.want {
			t.Errorf("heldAt(%s, %s) = %q, want %q", c.reason, c.stack, got, c.want)
		}
	}
}

// TestSummaries has the sentence of each verdict, to the letter.
func TestSummaries(t *testing.T) {
	ask := func(summary string, share float64) Finding {
		f := finding(summary, 0.1)
		f.Remark, f.Bound.Goal, f.Where, f.Cost.Share, f.Cost.Value = true, CPUGoal, []Place{{Function: "main.f"}}, share, 1-3*share
		return f
	}
	other := ask("The machine was busy.", 0.9)
	other.Bound.Goal = Latency
	nowhere := ask("It is hot somewhere.", 0.9)
	nowhere.Where = nil
	stalls, fails := finding("It stands.", 0.1), finding("It fails.", 0.1)
	stalls.Stalls, fails.Fails = true, true
	waits := ask("It waits.", 0.1)
	waits.Waits = true
	accused := finding("It is slow.", 0.5)
	accused.Bound.Goal, accused.Cost.Share, accused.Where = CPUGoal, 0.3, []Place{{Function: "main.f"}}
	doubts := &Rule{Name: "doubts", Check: func(p *Pass) { p.Doubt("whether it grows", "it did", "record longer") }}
	died := counted10(9*time.Second, time.Second, 50)
	died.Run.Death = &model.Death{Words: "panic: no"}
	// A machine on which a hypervisor takes a tenth and others use much, too.
	both := crowdedBy(0.5)
	both.Machine.Samples[1].Steal = 2 * time.Second
	locked := sampled(0.9)
	locked.Sched.Waits = []model.Wait{{Reason: "sync", Group: "main.f", Stack: stackOf(locked, "sync.(*Mutex).Lock main.f"), Total: time.Minute}}
	stuck := busy(0.015)
	stuck.Sched.Waits = []model.Wait{{Reason: "sync", Group: "main.f", Stack: stackOf(stuck, "sync.(*Mutex).Lock main.f"), Total: 20 * time.Second}}
	unloaded := counted10(2*time.Second, time.Second, 0)
	unloaded.Run.Duration = time.Minute
	for _, c := range []struct {
		name  string
		m     *model.Model
		rules []*Rule
		want  string
	}{
		{"one finding", sampled(0.9), []*Rule{says("a", finding("It is slow.", 0.5), ask("It looks.", 0.1))}, "problem: It is slow."},
		{"three findings", sampled(0.9), []*Rule{says("a", accused, finding("b.", 0.2), finding("c.", 0.1), waits)}, "problem: It is slow (and 2 more)."},
		{"what stands", sampled(0.9), []*Rule{says("a", stalls)}, "stalled: It stands."},
		{"what fails", sampled(0.9), []*Rule{says("a", fails)}, "problem: It fails."},
		{"a busy machine", both, []*Rule{says("a", fails)}, "problem: It fails. The machine was busy: the hypervisor took 17% of the machine's CPU time."},
		{"a doubt", sampled(0.9), []*Rule{doubts}, "unclear: Nothing is known to be wrong, but it is open whether it grows: it did."},
		{"a doubt of little load", sampled(0.15), []*Rule{doubts},
			"unclear: Nothing is known to be wrong, but it is open whether it grows: it did. The program was not under load: 0.3 of 2 Ps were busy over 5.00 s."},
		{"a doubt of a quarter of the load", sampled(0.25), []*Rule{doubts}, "unclear: Nothing is known to be wrong, but it is open whether it grows: it did."},
		{"rest", busy(0.015), nil, "idle: The program hardly ran: 0.03 of 2 Ps were busy over 5.00 s."},
		{"locks of a program at rest", stuck, nil,
			"unclear: The program hardly ran, 0.03 of 2 Ps were busy over 5.00 s, and it is open whether it had nothing to do: 4 goroutines waited for locks on average."},
		{"hardly rest", busy(0.03), nil, "not-loaded: No problem seen, but the program was not under load: 0.06 of 2 Ps were busy over 5.00 s, so what limits it cannot be judged."},
		{"little load, by counters", unloaded, nil, "not-loaded: No problem seen, but the program was not under load: 0.3 of 2 cores were busy over 10.0 s, so what limits it cannot be judged."},
		{"health", sampled(0.9), []*Rule{says("a", ask("main.g takes 10%.", 0.1), other, nowhere, ask("main.f takes 30%.", 0.3), ask("main.h takes 20%.", 0.2))},
			"healthy: No bottleneck found: 1 of 1 checks ran and found nothing, while 1.8 of 2 Ps were busy over 5.00 s. What takes most: main.f takes 30%."},
		{"a quarter of the load", sampled(0.25), []*Rule{says("a")}, "healthy: No bottleneck found: 1 of 1 checks ran and found nothing, while 0.5 of 2 Ps were busy over 5.00 s."},
		{"locks of a program at work", locked, []*Rule{says("a")}, "healthy: No bottleneck found: 1 of 1 checks ran and found nothing, while 1.8 of 2 Ps were busy over 5.00 s."},
		{"45% in one function", sampled(0.9), []*Rule{says("a", ask("main.f takes 45%.", 0.45))}, "unclear: Nothing is known to be wrong. What takes most: main.f takes 45%."},
		{"a death", died, nil, "partial: The program died: panic: no. 10.0 s of CPU time in 10.0 s, which is 1 core: not sampled 95.0%, application 5.0%. Whether the program is well cannot be said: there are only 50 samples of its CPU time."},
		{"few samples", counted10(9*time.Second, time.Second, 50), nil, "partial: 10.0 s of CPU time in 10.0 s, which is 1 core: not sampled 95.0%, application 5.0%. Whether the program is well cannot be said: there are only 50 samples of its CPU time."},
		{"nothing", &model.Model{}, nil, "too-thin: Not enough evidence to say that the program is well: there is neither a trace nor a profile of the CPU or of allocations."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Run(c.m, c.rules, Options{})
			if got := string(d.Verdict) + ": " + d.Summary; got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestSilenceOfOldRecordings says how long something was looked at where only the recording
// tells, and nothing of cores that nobody counted.
func TestSilenceOfOldRecordings(t *testing.T) {
	r := runner{m: &model.Model{Run: model.Run{Duration: 7 * time.Second}}, d: &Diagnosis{}}
	if got, want := r.window(), "7.00 s"; got != want {
		t.Errorf("window() = %s, want %s", got, want)
	}
	if got, want := r.silence(3), "No bottleneck found: 0 of 3 checks ran and found nothing."; got != want {
		t.Errorf("silence(3) = %s, want %s", got, want)
	}
	r.m = counted10(0, time.Second, 0)
	r.m.Run.Duration = 7 * time.Second
	if got, want := r.window(), "10.0 s"; got != want {
		t.Errorf("window() of counters = %s, want %s", got, want)
	}
	unknown := &model.Model{CPU: profileOf(&model.Model{}, cpuTypes, part{"main.f", []int64{1, 1e7}}), Run: model.Run{Duration: 7 * time.Second}}
	r.m = unknown
	if got, want := r.window(), "7.00 s"; got != want {
		t.Errorf("window() of samples of no known time = %s, want %s", got, want)
	}
}

// TestTraceInfo copies what was read of a trace, and each of a P's times to its line.
func TestTraceInfo(t *testing.T) {
	m := busy(0.9)
	m.Run.Go, m.Run.Recording = "go1.26", "run.gowhy"
	m.Run.Coverage = model.Coverage{Events: 100, LostEvents: 3, Generations: 4, Damaged: 2, LostBytes: 7, Bytes: 900}
	if got, want := traceInfo(m), (&TraceInfo{"go1.26", int64(5 * time.Second), 100, 4, 7}); !reflect.DeepEqual(got, want) {
		t.Errorf("traceInfo() = %+v, want %+v", got, want)
	}
	if got := traceInfo(&model.Model{}); got != nil {
		t.Errorf("traceInfo() without a trace = %+v, want none", got)
	}
	p := model.Proc{User: 1, GC: 2, GCIdle: 4, Syscall: 8, Scheduler: 16, Idle: 32, Unknown: 64}
	m.Sched.Procs = []model.Proc{p, p}
	got := ""
	for _, s := range timeShares(m) {
		got += fmt.Sprintf("%s %d, ", s.Name, s.NS)
		if want := float64(s.NS) / 254; s.Share != want {
			t.Errorf("the share of %s = %v, want %v", s.Name, s.Share, want)
		}
	}
	want := "user code 2, garbage collector 4, garbage collector in idle time 8, system calls 16, scheduler 32, idle 64, unknown 128, "
	if got != want {
		t.Errorf("timeShares() = %s, want %s", got, want)
	}
}

// TestGain has the words for what each kind of bound brings to each goal.
func TestGain(t *testing.T) {
	cores := fact.Figure("CPU", 0.5, fact.Cores, "elsewhere")
	bytes := fact.Figure("memory", 3*mib, fact.Bytes, "elsewhere")
	wait := fact.Figure("wait", 0.25, fact.Seconds, "elsewhere")
	factor := fact.Figure("speed", 1.5, fact.Factor, "elsewhere")
	ratio := fact.Figure("part", 0.25, fact.Ratio, "elsewhere")
	none := fact.Figure("nothing", 0, fact.Cores, "elsewhere")
	times := fact.Figure("speed", 2, fact.Ratio, "elsewhere")
	for _, c := range []struct {
		name string
		b    Bound
		want string
	}{
		{"a limit of CPU", Limit(cores, CPUGoal, 0.2, ""), "at most 20.0% less CPU (0.500 cores)"},
		{"a limit of memory", Limit(bytes, MemoryGoal, 0.2, ""), "at most 20.0% less memory (3 MiB)"},
		{"a limit of latency", Limit(wait, Latency, 0.2, ""), "at most 20.0% less latency (250 ms)"},
		{"a limit of no known share", Limit(cores, CPUGoal, 0, ""), "at most 0.500 cores of the CPU"},
		{"a limit of a factor", Limit(factor, Throughput, 0.2, ""), "at most 1.50× the throughput"},
		{"a limit of a factor of no goal", Limit(factor, AnyGoal, 0.2, ""), "at most 1.50×"},
		{"a factor of the CPU", Limit(factor, CPUGoal, 0.2, ""), "at most 1.50× the CPU"},
		{"a factor of schema 1", Limit(times, CPUGoal, 0.2, ""), "at most 2× the CPU"},
		{"a part of the CPU", Limit(ratio, CPUGoal, 0.2, ""), "at most 25.0% of the CPU"},
		{"time of throughput", Limit(wait, Throughput, 0.2, ""), "at most 250 ms of the throughput"},
		{"no goal", Limit(wait, AnyGoal, 0.2, ""), "at most 250 ms"},
		{"a direction", Direction(cores, CPUGoal, 0.2, ""), "20.0% less CPU (0.500 cores), perhaps more"},
		{"an estimate", Estimate(cores, 0.25, 0.75, CPUGoal, 0.2, ""), "10.0% to 30.0% less CPU (0.250 to 0.750 cores)"},
		{"an estimate of a factor", Estimate(factor, 1.25, 1.75, Throughput, 0.2, ""), "1.25× to 1.75× the throughput"},
		{"an estimate of minutes", Estimate(wait, 30, 900, Throughput, 0.2, ""), "30.0 s to 15m0s of the throughput"},
		{"an estimate of two units", Estimate(bytes, 512*1024, 6*mib, MemoryGoal, 0.3, ""), "5.0% to 60.0% less memory (512 KiB to 6 MiB)"},
		{"an open one", NoLimit(cores, CPUGoal, 0.2, ""), "no limit can be given"},
		{"a release", Release(none), "what stands still goes on"},
		{"nothing", Limit(none, CPUGoal, 0.2, ""), "no saving can be promised"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.b.Gain(); got != c.want {
				t.Errorf("Gain() = %s, want %s", got, c.want)
			}
		})
	}
}

// TestBounds keeps the fact, its share and a note in a bound and in a cost, and gives it back.
func TestBounds(t *testing.T) {
	f := fact.Figure("CPU of it", 0.5, fact.Cores, "elsewhere")
	for kind, b := range map[BoundKind]Bound{
		IsLimit: Limit(f, CPUGoal, 0.2, "a note"), IsDirection: Direction(f, CPUGoal, 0.2, "a note"),
		IsOpen: NoLimit(f, CPUGoal, 0.2, "a note"), IsEstimate: Estimate(f, 0, 0, CPUGoal, 0.2, "a note"),
	} {
		want := Bound{Kind: kind, Value: 0.5, Unit: fact.Cores, Text: f.Text, Name: "CPU of it", Method: f.Origin.String() + "; a note", Origin: f.Origin, Goal: CPUGoal, Share: 0.2}
		if !reflect.DeepEqual(b, want) {
			t.Errorf("the %s is %+v, want %+v", kind, b, want)
		}
		b.Low = 7
		if got := b.Fact(); !reflect.DeepEqual(got, f) {
			t.Errorf("Fact() of the %s = %+v, want %+v", kind, got, f)
		}
	}
	if got, want := Limit(f, CPUGoal, 0.2, "").Method, f.Origin.String(); got != want {
		t.Errorf("the method without a note is %s, want %s", got, want)
	}
	c := CostOf(f, 0.2)
	if want := (Cost{Value: 0.5, Unit: fact.Cores, Text: f.Text, What: "CPU of it", Origin: f.Origin, Share: 0.2}); !reflect.DeepEqual(c, want) {
		t.Errorf("CostOf() = %+v, want %+v", c, want)
	}
	if got := c.Fact(); !reflect.DeepEqual(got, f) {
		t.Errorf("Fact() of the cost = %+v, want %+v", got, f)
	}
}

// TestSay keeps the facts of a sentence as evidence, each once, but for the cost and the bound.
func TestSay(t *testing.T) {
	fact := func(name string, v float64) fact.Fact { return fact.Figure(name, v, fact.Count, "elsewhere") }
	cost, bound, one, two := fact("cost", 1), fact("bound", 2), fact("one", 3), fact("two", 4)
	f := Finding{Cost: CostOf(cost, 0.1), Bound: Limit(bound, CPUGoal, 0.1, "")}
	f.Say("%s %s %s %s %s", cost, one, bound, two, one.Named("the same"))
	if f.Summary != "1 3 2 4 3" || len(f.Evidence) != 2 || f.Evidence[0].Name != "one" || f.Evidence[1].Name != "two" {
		t.Errorf("Say() says %q and keeps %+v, want one and two", f.Summary, f.Evidence)
	}
}
