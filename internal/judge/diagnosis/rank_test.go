package diagnosis

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// bounded returns a finding with a bound.
func bounded(summary string, goal Goal, unit fact.Unit, value, share float64) Finding {
	f := finding(summary, share)
	f.Bound.Goal, f.Bound.Unit, f.Bound.Value = goal, unit, value
	return f
}

// explaining returns a finding that has those of other rules for its symptoms.
func explaining(f Finding, rules ...string) Finding {
	f.Explains = rules
	return f
}

// TestRunOrder has what decides the order of two findings that are alike in all that comes
// before.
func TestRunOrder(t *testing.T) {
	costs := func(share, value float64) Finding {
		f := finding("same", 0.1)
		f.Cost.Share, f.Cost.Value = share, value
		return f
	}
	stalls, fails := finding("", 0.1), finding("", 0.1)
	stalls.Stalls, fails.Fails = true, true
	for _, c := range []struct {
		name  string
		rules []*Rule
		goal  Goal
		want  string
	}{
		{"what stands still", []*Rule{says("a", finding("", 0.9)), says("b", stalls)}, AnyGoal, "b a"},
		{"what stands still, given first", []*Rule{says("a", stalls), says("b", finding("", 0.9))}, AnyGoal, "a b"},
		{"what fails", []*Rule{says("a", finding("", 0.9)), says("b", fails)}, AnyGoal, "b a"},
		{"what fails, given first", []*Rule{says("a", fails), says("b", finding("", 0.9))}, AnyGoal, "a b"},
		{"what costs more", []*Rule{says("a", costs(0.3, 1)), says("b", costs(0.4, 0.5)), says("c", costs(0.2, 2))}, AnyGoal, "b a c"},
		{"the order of rules", []*Rule{says("z", finding("3", 0.1)), says("a", finding("2", 0.1)), says("b", finding("1", 0.1))}, AnyGoal, "z a b"},
		{"a cause of no goal, by its symptom", []*Rule{says("a", explaining(finding("", 0.1), "s")), says("b", finding("", 0.5)), says("s", bounded("", CPUGoal, fact.Ratio, 1, 0.9))}, AnyGoal, "a(s) b"},
		{"a cause of another goal, by its symptom", []*Rule{says("a", explaining(bounded("", MemoryGoal, fact.Bytes, 1, 0.9), "s")), says("b", bounded("", Latency, fact.Seconds, 1, 0.5)),
			says("s", bounded("", Latency, fact.Seconds, 1, 0.1))}, Latency, "b a(s)"},
		{"the same, by a larger one", []*Rule{says("a", explaining(bounded("", MemoryGoal, fact.Bytes, 1, 0.1), "s", "u")), says("b", bounded("", Latency, fact.Seconds, 1, 0.3)),
			says("s", bounded("", Latency, fact.Seconds, 1, 0.1)), says("u", bounded("", CPUGoal, fact.Ratio, 1, 0.9))}, Latency, "b a(s u)"},
		{"CPU that was asked for, by its share", []*Rule{says("a", bounded("", CPUGoal, fact.Cores, 0.1, 0.5)), says("b", bounded("", CPUGoal, fact.Cores, 0.9, 0.3))}, CPUGoal, "a b"},
		{"cores of another goal, by their share", []*Rule{says("a", bounded("", Latency, fact.Cores, 0.1, 0.5)), says("b", finding("", 0.3))}, AnyGoal, "a b"},
		{"CPU by its cores, which are more than its share", []*Rule{says("a", bounded("", CPUGoal, fact.Cores, 0.6, 0.5)), says("b", finding("", 0.55))}, AnyGoal, "b a"},
		{"CPU by its cores, which are less", []*Rule{says("a", bounded("", CPUGoal, fact.Cores, 0.3, 0.5)), says("b", finding("", 0.4))}, AnyGoal, "b a"},
		{"a cause with a smaller symptom", []*Rule{says("a", explaining(finding("", 0.3), "s")), says("b", finding("", 0.4)), says("s", finding("", 0.2))}, AnyGoal, "b a(s)"},
		{"a cause with a larger symptom", []*Rule{says("a", explaining(finding("", 0.1), "s")), says("b", finding("", 0.4)), says("s", finding("", 0.3))}, AnyGoal, "b a(s)"},
		{"symptoms", []*Rule{says("a", explaining(finding("", 0.9), "s", "u")), says("s", finding("", 0.2)), says("u", finding("", 0.3))}, AnyGoal, "a(u s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := outline(Run(busy(0.9), c.rules, Options{Goal: c.goal}).Findings); got != c.want {
				t.Errorf("the findings are %s, want %s", got, c.want)
			}
		})
	}
	// Of one rule the words decide, so that the order is always the same.
	d := Run(busy(0.9), []*Rule{says("a", finding("2", 0.1), finding("1", 0.1), finding("3", 0.1))}, Options{})
	if got, want := d.Findings[0].Summary+d.Findings[1].Summary+d.Findings[2].Summary, "123"; got != want {
		t.Errorf("the findings of one rule are %s, want %s", got, want)
	}
}

// TestRunKeepsWords has what a rule gave: its own names, a scope, what it found well and what
// it could not tell.
func TestRunKeepsWords(t *testing.T) {
	own := finding("own", 0.3)
	own.Rule, own.Title, own.Scope, own.Cost.Share = "other", "Another", "the machine", 1.5
	named := finding("named", 0.2)
	named.Rule = "third"
	m := sampled(0.9)
	m.Run.Files, m.Run.Command = []string{"run.gowhy"}, []string{"./app"}
	rules := []*Rule{
		says("a", own, named),
		{Name: "fine", Title: "Fine", Check: func(p *Pass) {
			p.Fine("no queues")
			p.Unchecked("what", "why", "how")
		}},
		{Name: "doubts", Title: "Doubts", Check: func(p *Pass) {
			p.Doubt("whether one", "it did", "record")
			p.Doubt("whether two", "it did, too", "record")
		}},
		{Name: "nan", Title: "Not a number", Check: func(p *Pass) { p.Report(finding("", math.NaN())) }},
		{Name: "panics", Title: "Panics", Check: func(p *Pass) { panic("no group") }},
	}
	d := Run(m, rules, Options{})
	if f := d.Findings[0]; f.Rule != "other" || f.Title != "Another" || f.Scope != "the machine" || f.Cost.Share != 1 {
		t.Errorf("the first finding is %+v, want other, Another, the machine, and a share of 1", f)
	}
	if f := d.Findings[1]; f.Rule != "third" || f.Title != "the a" {
		t.Errorf("the second finding is %s, %s, want third, the a", f.Rule, f.Title)
	}
	if want := []Fine{{"fine", "no queues"}}; !reflect.DeepEqual(d.Fine, want) || d.Fine[0].String() != "no queues" {
		t.Errorf("fine: %+v, want %+v", d.Fine, want)
	}
	want := []Unchecked{{"what", "why", "how", []string{"fine"}}, {"whether one", "it did", "record", []string{"doubts"}}, {"whether two", "it did, too", "record", []string{"doubts"}}}
	if !reflect.DeepEqual(d.Unchecked, want) {
		t.Errorf("unchecked: %+v, want %+v", d.Unchecked, want)
	}
	warnings := []string{"rule nan reported a number that is not finite; its finding was left out", "rule panics failed and was left out: no group"}
	if !reflect.DeepEqual(d.Warnings, warnings) {
		t.Errorf("warnings: %q, want %q", d.Warnings, warnings)
	}
	if want := []string{"run.gowhy"}; !reflect.DeepEqual(d.Files, want) {
		t.Errorf("files: %q, want %q", d.Files, want)
	}
	if got, want := Run(m, rules[2:3], Options{}).Summary, "Nothing is known to be wrong, but it is open whether one: it did."; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
}

// TestRunLeavesOut says which rules' findings are left out, each once.
func TestRunLeavesOut(t *testing.T) {
	d := Run(busy(0.9), []*Rule{says("a", finding("1", 0.9)), says("b", finding("1", 0.5), finding("2", 0.4)), says("c", finding("1", 0.1))}, Options{Max: 1})
	if want := []string{"3 smaller findings are left out (b, c); fix the first ones and record again"}; !reflect.DeepEqual(d.Warnings, want) {
		t.Errorf("warnings: %q, want %q", d.Warnings, want)
	}
}

// TestRunRefusesEachNonsense leaves out a finding with any number that is none.
func TestRunRefusesEachNonsense(t *testing.T) {
	for name, set := range map[string]func(*Finding){
		"the cost":        func(f *Finding) { f.Cost.Value = math.NaN() },
		"the cost's part": func(f *Finding) { f.Cost.Share = math.Inf(1) },
		"the bound":       func(f *Finding) { f.Bound.Value = math.Inf(-1) },
		"the bound's":     func(f *Finding) { f.Bound.Share = math.NaN() },
		"a promise":       func(f *Finding) { f.Experiment = &Experiment{Promised: []Promise{{Best: math.NaN()}}} },
	} {
		f := finding("", 0.1)
		set(&f)
		if d := Run(busy(0.9), []*Rule{says("a", f)}, Options{}); len(d.Findings) != 0 {
			t.Errorf("Run() has %d findings, want none, as %s is no number", len(d.Findings), name)
		}
	}
}

// TestReasonsOfDisturbances has the words for what lowers a finding.
func TestReasonsOfDisturbances(t *testing.T) {
	crowded := crowdedBy(0.5)
	crowded.Sched.Groups = []model.Group{{Name: "main.worker", Count: 2, Times: model.Times{Runnable: time.Second}}}
	ready := fact.Meter{Model: crowded}.Goroutines("time that they were ready", []string{"main.worker"}, "runnable")
	f := finding("", 0.19)
	f.Cost = CostOf(ready, 0.2)
	short := busy(0.9)
	short.Run.Duration = 100 * time.Millisecond
	for want, got := range map[string]Finding{
		"lowered: other processes used 50% of the machine while it was full, and the ready threads of this one spent 50% of that time waiting for a CPU\n" +
			"a remark: without what others took it is worth 9.5% at least, and nobody knows what more": Run(crowded, []*Rule{says("a", f)}, Options{}).Findings[0],
		"lowered: the trace covers only 100 ms": Run(short, []*Rule{says("a", finding("", 0.2))}, Options{}).Findings[0],
	} {
		if got := strings.Join(got.Reasons, "\n"); got != want {
			t.Errorf("the reasons are %s\nwant %s", got, want)
		}
	}
}

// TestOwnModule knows a module by the whole of its path.
func TestOwnModule(t *testing.T) {
	m := &model.Model{Build: &model.Build{Module: "example.com/app", Version: "v1"}}
	got := ownFirst(m, []Place{{Function: "example.com/apples.Eat", File: "a.go"}, {Function: "example.com/app.Run", File: "b.go"}})
	if got[0].Function != "example.com/app.Run" {
		t.Errorf("ownFirst() = %v, want example.com/app.Run first", got)
	}
}

// TestFoldNeedsTheSame keeps findings apart that are about other goroutines, however their stacks
// are called, and does without a trace.
func TestFoldNeedsTheSame(t *testing.T) {
	m := busy(0.9)
	m.Sched.Waits = []model.Wait{{Group: "h", Stack: 8}}
	cause, symptom := explaining(finding("", 0.9), "b"), finding("", 0.1)
	cause.Groups, cause.Stacks, symptom.Groups = []string{"g"}, []model.Stack{8}, []string{"h"}
	if got, want := outline(Run(m, []*Rule{says("a", cause), says("b", symptom)}, Options{}).Findings), "a b"; got != want {
		t.Errorf("the findings are %s, want %s", got, want)
	}
	cause.Groups = nil
	if got, want := outline(Run(counted10(time.Second, 0, 0), []*Rule{says("a", cause), says("b", symptom)}, Options{}).Findings), "a b"; got != want {
		t.Errorf("without a trace the findings are %s, want %s", got, want)
	}
}

// TestQueueIsASymptom folds the queue before busy processors under what takes a tenth of them needlessly, and leaves any
// other wait where it was.
func TestQueueIsASymptom(t *testing.T) {
	for _, c := range []struct {
		name   string
		goal   Goal
		share  float64
		remark bool
		queues bool
		want   string
	}{
		{"a tenth of the CPU", CPUGoal, 0.1, false, true, "a(b)"},
		{"less", CPUGoal, 0.09, false, true, "b a"},
		{"a remark", CPUGoal, 0.3, true, true, "b a"},
		{"memory", MemoryGoal, 0.3, false, true, "b a"},
		{"processors that are free", CPUGoal, 0.1, false, false, "b a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := bounded("", c.goal, fact.Cores, 0.2, c.share)
			work.Cost.Share, work.Remark = c.share, c.remark
			queue := bounded("", Latency, fact.Seconds, 0.01, 0.7)
			queue.Queues = c.queues
			if got := outline(Run(busy(0.9), []*Rule{says("a", work), says("b", queue)}, Options{}).Findings); got != c.want {
				t.Errorf("the findings are %s, want %s", got, c.want)
			}
		})
	}
}

// TestPromises holds a bound to what its unit and goal say, and to nothing else.
func TestPromises(t *testing.T) {
	m := &model.Model{Process: &model.Process{Samples: []model.ProcessSample{{RSS: 1000}}}}
	for _, c := range []struct {
		name string
		b    Bound
		want []Promise
	}{
		{"CPU in cores", Bound{Value: 1, Unit: fact.Cores, Goal: CPUGoal, Share: 0.25}, []Promise{{Metric: CPUPerOp, Best: 0.75}}},
		{"CPU in seconds", Bound{Value: 2, Unit: fact.Seconds, Goal: CPUGoal, Share: 0.25}, nil},
		{"latency in cores", Bound{Value: 2, Unit: fact.Cores, Goal: Latency, Share: 0.25}, nil},
		{"a factor of throughput", Bound{Value: 2, Unit: fact.Factor, Goal: Throughput}, []Promise{{Metric: OpsPerSec, Best: 2}, {Metric: Elapsed, Best: 0.5}}},
		{"a factor of less than one", Bound{Value: 0.75, Unit: fact.Factor, Goal: Throughput}, nil},
		{"a factor of latency", Bound{Value: 2, Unit: fact.Factor, Goal: Latency}, nil},
		{"throughput in seconds", Bound{Value: 2, Unit: fact.Seconds, Goal: Throughput}, nil},
		{"memory in bytes", Bound{Value: 100, Unit: fact.Bytes, Goal: MemoryGoal}, []Promise{{Metric: PeakRSS, Best: 0.9}}},
		{"all memory", Bound{Value: 1000, Unit: fact.Bytes, Goal: MemoryGoal}, nil},
		{"memory in objects", Bound{Value: 100, Unit: fact.Count, Goal: MemoryGoal}, nil},
		{"bytes of throughput", Bound{Value: 100, Unit: fact.Bytes, Goal: Throughput}, nil},
	} {
		c.b.Kind = IsLimit
		if got := c.b.promises(m); !reflect.DeepEqual(got, c.want) {
			t.Errorf("promises() of %s = %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestPlaces has where goroutines come from, how many Ps there are, and what a profile without
// one of its columns tells.
func TestPlaces(t *testing.T) {
	m := &model.Model{}
	creator := stackOf(m, "net/http.(*Server).Serve main.listen@main.go:7")
	p := &Pass{Meter: fact.Meter{Model: m}}
	start := model.Frame{Func: "main.other", File: "work.go", Line: 3}
	for _, c := range []struct {
		name string
		want Place
	}{
		{"main.work", Place{"main.work", "work.go", 3}},
		{"net/http.(*conn).serve", Place{"main.listen", "main.go", 7}},
		{"", Place{"main.listen", "main.go", 7}},
	} {
		if got, ok := p.GroupPlace(&model.Group{Name: c.name, Start: start, Creator: creator}); !ok || got != c.want {
			t.Errorf("GroupPlace(%q) = %+v, %t, want %+v", c.name, got, ok, c.want)
		}
	}
	for _, c := range []struct {
		run   model.Run
		sched *model.Sched
		want  int
	}{
		{model.Run{}, nil, 1}, {model.Run{PID: 7}, &model.Sched{}, 1}, {model.Run{PID: 7}, &model.Sched{Procs: make([]model.Proc, 3)}, 3},
		{model.Run{Procs: 4, PID: 7}, &model.Sched{Procs: make([]model.Proc, 3)}, 4}, {model.Run{Procs: 4}, nil, 4},
	} {
		p.Model = &model.Model{Run: c.run, Sched: c.sched}
		if got := p.Procs(); got != c.want {
			t.Errorf("Procs() of %d and %+v = %d, want %d", c.run.Procs, c.sched, got, c.want)
		}
	}
	both, counts, times := cpuTypes, cpuTypes[:1], cpuTypes[1:]
	for _, c := range []struct {
		name   string
		types  []model.ValueType
		values []int64
		d      time.Duration
		n      int64
	}{
		{"both", both, []int64{3, 30}, 30, 3}, {"counts", counts, []int64{3}, 0, 3}, {"times", times, []int64{30}, 30, 0},
		{"the first alone", both, []int64{3}, 0, 3}, {"nothing", both, nil, 0, 0},
	} {
		m := &model.Model{CPU: &model.Profile{Types: c.types, Samples: []model.Sample{{Values: c.values}}}}
		if d, n := CPUTime(m); d != c.d || n != c.n {
			t.Errorf("CPUTime() of %s = %v, %d, want %v, %d", c.name, d, n, c.d, c.n)
		}
	}
}

// TestCPUParts copies the account of the CPU, with the most frequent of its system calls.
func TestCPUParts(t *testing.T) {
	m := counted10(6*time.Second, 2*time.Second, 0)
	m.Kernel = &model.Kernel{CPU: &model.Profile{Types: cpuTypes, Duration: 5 * time.Second, Known: true}}
	m.Process.Samples[1].At, m.Process.Samples[1].User = 5*time.Second, 6*time.Second
	names := []string{"read", "write", "futex", "close", "openat", "mmap", "accept", "sendto"}
	for i, n := range names {
		m.Kernel.CPU.Samples = append(m.Kernel.CPU.Samples, model.Sample{Stack: stackOf(m, "syscall.Syscall6 main.f"), Values: []int64{10, int64(i+1) * 1e8}, Labels: map[string]string{"mode": "kernel", "syscall": n}})
	}
	m.Kernel.CPU.Samples = append(m.Kernel.CPU.Samples, model.Sample{Stack: stackOf(m, "main.f"), Values: []int64{440, 44e8}, Labels: map[string]string{"mode": "user"}})
	c := cpuOf(m)
	if c.WindowNS != 5e9 || c.TotalNS != 8e9 || c.Cores != 1.6 || c.UserNS != 6e9 || c.SystemNS != 2e9 || c.Scale != 1 {
		t.Errorf("cpuOf() = %+v, want 8 s in 5 s, 6 s of them in user mode", c)
	}
	for _, p := range c.Parts {
		if p.Name != string(model.InKernel) {
			continue
		}
		if len(p.By) != 6 || !reflect.DeepEqual(p.By[0], CPUPart{Name: "sendto", NS: 8e8, Share: 0.1}) || p.By[5].Name != "futex" {
			t.Errorf("the kernel's part is of %+v, want six calls from sendto with a tenth to futex", p.By)
		}
	}
	m.Run.Overhead = &model.Overhead{Recorder: 3 * time.Second, Target: 8 * time.Second, Wall: 4 * time.Second, Before: 2 * time.Second, BeforeWall: 5 * time.Second}
	if r := recordingOf(m); r.RecorderNS != 3e9 || *r.TargetCores != 2 || *r.BeforeCores != 0.4 {
		t.Errorf("recordingOf() = %+v, want 3 s, 2 cores and 0.4 before", r)
	}
}
