package diagnosis

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// busy returns a model of a program under load: 2 Ps, 5 s, the given share in use.
func busy(share float64) *model.Model {
	m := &model.Model{Sched: &model.Sched{}}
	m.Run.Duration, m.Run.Procs = 5*time.Second, 2
	m.Run.Coverage = model.Coverage{Events: 100_000, Bytes: 1 << 20, Generations: 5}
	user := time.Duration(share * float64(5*time.Second))
	for id := range 2 {
		m.Sched.Procs = append(m.Sched.Procs, model.Proc{ID: id, User: user, Idle: 5*time.Second - user})
	}
	return m
}

// sampled returns a busy program of which a CPU profile tells what it did, too.
func sampled(share float64) *model.Model {
	m := busy(share)
	m.CPU = &model.Profile{
		Types:   []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Samples: []model.Sample{{Stack: m.Stacks.Add([]model.Frame{{Func: "main.work", File: "w.go", Line: 1}}), Values: []int64{int64(1000 * share), int64(1e10 * share)}}}, Duration: 5 * time.Second, Known: true,
	}
	return m
}

// says returns a rule that reports the given findings.
func says(name string, fs ...Finding) *Rule {
	return &Rule{Name: name, Title: "the " + name, Check: func(p *Pass) {
		for _, f := range fs {
			p.Report(f)
		}
	}}
}

func finding(summary string, share float64) Finding {
	return Finding{Summary: summary, Bound: Bound{Share: share}, Confidence: High}
}

func outline(fs []Finding) string {
	var b strings.Builder
	for i, f := range fs {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Rule)
		if len(f.Symptoms) > 0 {
			b.WriteString("(" + outline(f.Symptoms) + ")")
		}
	}
	return b.String()
}

// What grows until it ends the program comes before what costs more, and remarks, whose
// benefit nobody knows, in the order of what they are about.
func TestRunRanksGrowthFirst(t *testing.T) {
	leak, waste := finding("leak", 0.1), finding("waste", 0.9)
	leak.Grows = true
	small, large := finding("small", 0.9), finding("large", 0.1)
	small.Remark, small.Cost.Share = true, 0.2
	large.Remark, large.Cost.Share = true, 0.8
	d := Run(busy(0.9), []*Rule{says("a", waste), says("b", leak), says("c", small), says("d", large)}, Options{})
	if got, want := outline(d.Findings), "b a d c"; got != want {
		t.Errorf("findings %s, want %s", got, want)
	}
}

func TestRunRanksByBound(t *testing.T) {
	slow := finding("", 0.1)
	slow.Cost.Share = 0.9 // a large cost without a large benefit stays behind
	d := Run(busy(0.9), []*Rule{says("a", slow), says("b", finding("", 0.5)), says("c", finding("", 0.3))}, Options{})
	if got := outline(d.Findings); got != "b c a" {
		t.Errorf("order %q, want b c a", got)
	}
	if d.Verdict != Problem || d.Schema != Schema {
		t.Errorf("verdict %s, schema %d; want %s, %d", d.Verdict, d.Schema, Problem, Schema)
	}
	if f := d.Findings[0]; f.Title != "the b" {
		t.Errorf("title %q, want the b", f.Title)
	}
}

// Half of the CPU of a program that mostly waits is little of its time.
func TestRunRanksCPUByCores(t *testing.T) {
	for used, want := range map[float64]string{0.2: "b a", 2: "a b"} {
		computing, waiting := finding("", 0.5), finding("", 0.3)
		computing.Bound.Goal, computing.Bound.Unit, computing.Bound.Value = CPUGoal, fact.Cores, 0.5*used
		waiting.Bound.Goal, waiting.Bound.Unit, waiting.Bound.Value = Throughput, fact.Factor, 1.4
		d := Run(busy(0.9), []*Rule{says("a", computing), says("b", waiting)}, Options{})
		if got := outline(d.Findings); got != want {
			t.Errorf("with %v cores in use the order is %q, want %q", used, got, want)
		}
	}
}

// TestRemarks rank last, whatever they name, and make nobody sick.
func TestRemarks(t *testing.T) {
	look := finding("look here", 0.9)
	look.Remark, look.Bound.Goal = true, CPUGoal
	rules := []*Rule{says("a", look), says("b", finding("", 0.1))}
	if got := outline(Run(busy(0.9), rules, Options{Goal: CPUGoal}).Findings); got != "b a" {
		t.Errorf("order %q, want b a", got)
	}
	d := Run(sampled(0.9), rules[:1], Options{Goal: CPUGoal})
	if len(d.Findings) != 1 || d.Verdict != Healthy || strings.Contains(d.Summary, "look here") {
		t.Errorf("verdict %s: %s, with %d findings; want %s and one remark, which is not the summary", d.Verdict, d.Summary, len(d.Findings), Healthy)
	}
}

// A program that is known to wait is neither at rest nor without load: the remark says for what.
func TestWaits(t *testing.T) {
	waits := finding("It waits for 900 calls.", 0.9)
	waits.Remark, waits.Waits = true, true
	for _, share := range []float64{0.001, 0.1} {
		d := Run(busy(share), []*Rule{says("a", waits)}, Options{})
		if d.Verdict != Unclear || d.Summary != "Nothing is known to be wrong. It waits for 900 calls." {
			t.Errorf("%g of the Ps in use: %s: %s", share, d.Verdict, d.Summary)
		}
		if d := Run(busy(share), []*Rule{says("a", waits), says("b", finding("it is b", 0.1))}, Options{}); d.Verdict != Problem || d.Summary != "it is b" {
			t.Errorf("beside a problem: %s: %s", d.Verdict, d.Summary)
		}
	}
}

func TestRunGoalFirst(t *testing.T) {
	memory, cpu, symptom := finding("", 0.1), finding("", 0.5), finding("", 0.2)
	memory.Bound.Goal, cpu.Bound.Goal, symptom.Bound.Goal = MemoryGoal, CPUGoal, Latency
	memory.Explains = []string{"symptom"}
	rules := []*Rule{says("memory", memory), says("cpu", cpu), says("symptom", symptom)}
	for goal, want := range map[Goal]string{
		AnyGoal:    "cpu memory(symptom)",
		MemoryGoal: "memory(symptom) cpu",
		CPUGoal:    "cpu memory(symptom)",
		// The cause serves latency by what it explains.
		Latency:    "memory(symptom) cpu",
		Throughput: "cpu memory(symptom)",
	} {
		if got := outline(Run(busy(0.9), rules, Options{Goal: goal}).Findings); got != want {
			t.Errorf("goal %q: %q, want %q", goal, got, want)
		}
	}
}

func TestRunFoldsSymptoms(t *testing.T) {
	about := func(share float64, group string, explains ...string) Finding {
		f := finding("", share)
		f.Explains = explains
		if group != "" {
			f.Groups = []string{group}
		}
		return f
	}
	stack := func(share float64, s model.Stack) Finding {
		f := finding("", share)
		f.Stacks = []model.Stack{s}
		return f
	}
	at := func(f Finding, line int) Finding {
		f.Where = []Place{{Function: "main.run", File: "run.go", Line: line}}
		return f
	}
	m := busy(0.9)
	m.Sched.Waits = []model.Wait{{Group: "g", Stack: 7}, {Group: "h", Stack: 8}}
	for _, c := range []struct {
		name  string
		rules []*Rule
		want  string
	}{
		{"same group", []*Rule{says("a", about(0.1, "g", "b")), says("b", about(0.5, "g"))}, "a(b)"},
		{"other group", []*Rule{says("a", about(0.1, "g", "b")), says("b", about(0.5, "h"))}, "b a"},
		{"whole program", []*Rule{says("a", about(0.1, "", "b")), says("b", about(0.5, "h"))}, "a(b)"},
		{"not named", []*Rule{says("a", about(0.1, "g")), says("b", about(0.5, "g"))}, "b a"},
		{"chain", []*Rule{says("c", about(0.3, "g")), says("b", about(0.2, "g", "c")), says("a", about(0.1, "g", "b"))}, "a(b(c))"},
		{"circle", []*Rule{says("a", about(0.3, "g", "b")), says("b", about(0.2, "g", "a"))}, "a(b)"},
		{"circle of three", []*Rule{says("a", about(0.1, "g", "b")), says("b", about(0.2, "g", "c")), says("c", about(0.3, "g", "a"))}, "c(a(b))"},
		{"two causes", []*Rule{says("a", about(0.1, "g", "c")), says("b", about(0.2, "g", "c")), says("c", about(0.3, "g"))}, "b(c) a"},
		{"stack to group", []*Rule{says("a", about(0.1, "g", "b")), says("b", stack(0.2, 7))}, "a(b)"},
		{"stack of another group", []*Rule{says("a", about(0.1, "g", "b")), says("b", stack(0.2, 8))}, "b a"},
		{"same line, other stacks", []*Rule{says("a", at(about(0.1, "g", "b"), 7)), says("b", at(stack(0.2, 8), 7))}, "a(b)"},
		{"another line of the function", []*Rule{says("a", at(about(0.1, "g", "b"), 7)), says("b", at(stack(0.2, 8), 8))}, "b a"},
		{"no line known", []*Rule{says("a", at(about(0.1, "g", "b"), 0)), says("b", at(stack(0.2, 8), 0))}, "b a"},
		{"itself", []*Rule{says("a", about(0.1, "g", "a"), about(0.2, "g", "a"))}, "a a"},
	} {
		if got := outline(Run(m, c.rules, Options{}).Findings); got != c.want {
			t.Errorf("%s: findings %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRunKeepsEveryFinding: folding moves findings, it loses none and repeats
// none, whatever explains whatever.
func TestRunKeepsEveryFinding(t *testing.T) {
	const n = 6
	for seed := range uint64(500) {
		var rules []*Rule
		bits := seed*2654435761 + 12345
		for i := range n {
			f := finding(fmt.Sprint(i), float64(bits>>8%7)/10)
			for j := range n {
				bits = bits*6364136223846793005 + 1442695040888963407
				if bits>>60 < 5 {
					f.Explains = append(f.Explains, string(rune('a'+j)))
				}
			}
			rules = append(rules, says(string(rune('a'+i)), f))
		}
		d := Run(busy(0.9), rules, Options{})
		count := map[string]int{}
		var walk func([]Finding)
		walk = func(fs []Finding) {
			for _, f := range fs {
				count[f.Rule]++
				walk(f.Symptoms)
			}
		}
		walk(d.Findings)
		for i := range n {
			if count[string(rune('a'+i))] != 1 {
				t.Fatalf("seed %d: findings %v in %s, want each once", seed, count, outline(d.Findings))
			}
		}
	}
}

func TestRunSurvivesPanic(t *testing.T) {
	bad := &Rule{Name: "bad", Check: func(p *Pass) {
		p.Report(finding("half", 1))
		panic("no such group")
	}}
	d := Run(busy(0.9), []*Rule{bad, says("good", finding("whole", 0.1))}, Options{})
	if got := outline(d.Findings); got != "good" {
		t.Errorf("findings %q, want good", got)
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "bad") || !strings.Contains(d.Warnings[0], "no such group") {
		t.Errorf("warnings %q, want one that bad panicked: no such group", d.Warnings)
	}
}

func TestRunRefusesNonsense(t *testing.T) {
	nan, inf := finding("", math.NaN()), finding("", 0.1)
	inf.Evidence = []fact.Fact{{Value: math.Inf(1)}}
	promise := finding("", 0.1)
	promise.Experiment = &Experiment{Primary: OpsPerSec, Promised: []Promise{{Metric: OpsPerSec, Best: math.Inf(1)}}}
	d := Run(busy(0.9), []*Rule{says("nan", nan), says("inf", inf), says("promise", promise), says("big", finding("", 7))}, Options{})
	if got := outline(d.Findings); got != "big" || d.Findings[0].Bound.Share != 1 {
		t.Errorf("findings %q, share %v; want big, 1", got, d.Findings[0].Bound.Share)
	}
	if len(d.Warnings) != 3 {
		t.Errorf("warnings %q, want 3", d.Warnings)
	}
}

func TestRunSkipsWithoutSources(t *testing.T) {
	never := func(p *Pass) { t.Errorf("%s ran without its source", p.Rule.Name) }
	rules := []*Rule{
		{Name: "x", Needs: []model.Source{model.CPU}, Check: never},
		{Name: "y", Needs: []model.Source{model.Trace, model.CPU}, Check: never},
		{Name: "z", Needs: []model.Source{model.Heap}, Check: never},
		says("w", finding("", 0)),
	}
	d := Run(busy(0.9), rules, Options{})
	if len(d.Unchecked) != 2 || d.Unchecked[0].What != "x, y" || d.Unchecked[1].What != "z" {
		t.Fatalf("unchecked %+v, want \"x, y\" and \"z\"", d.Unchecked)
	}
	for _, u := range d.Unchecked {
		if u.Why == "" || u.How == "" {
			t.Errorf("unchecked %s: why %q, how %q, want a reason and a command", u.What, u.Why, u.How)
		}
	}
}

// A rule that could not look is listed with those that lack the same, and did not look.
func TestRunCountsWhoLooked(t *testing.T) {
	blind := func(name, why string) *Rule {
		return &Rule{Name: name, Check: func(p *Pass) { p.Lacks(why, "record it") }}
	}
	d := Run(sampled(0.9), []*Rule{blind("a", "no samples"), blind("b", "no counts"), blind("c", "no samples"), says("d")}, Options{})
	want := []Unchecked{{"a, c", "no samples", "record it", []string{"a", "c"}}, {"b", "no counts", "record it", []string{"b"}}}
	if !reflect.DeepEqual(d.Unchecked, want) {
		t.Errorf("unchecked %q, want %q", d.Unchecked, want)
	}
	if !strings.Contains(d.Summary, "1 of 4 checks ran") {
		t.Errorf("summary %q", d.Summary)
	}
}

// No finding is without a place and without a word about that.
func TestRunSaysWhere(t *testing.T) {
	place, group := finding("", 0), finding("", 0)
	place.Where, group.Groups = []Place{{Function: "main.f"}}, []string{"main.a", "main.b"}
	whole := says("whole", finding("", 0))
	whole.Whole = true
	d := Run(sampled(0.9), []*Rule{says("place", place), says("group", group), whole, says("none", finding("", 0))}, Options{})
	want := map[string]string{"place": "", "group": "goroutines of main.a, main.b", "whole": wholeProgram, "none": noLineKnown}
	if len(d.Findings) != len(want) {
		t.Errorf("%d findings", len(d.Findings))
	}
	for _, f := range d.Findings {
		if f.Scope != want[f.Rule] {
			t.Errorf("%s: scope %q, want %q", f.Rule, f.Scope, want[f.Rule])
		}
	}
}

func TestRunKeepsMost(t *testing.T) {
	var fs []Finding
	for i := range 14 {
		fs = append(fs, finding(fmt.Sprint(i), float64(i)/100))
	}
	d := Run(busy(0.9), []*Rule{says("a", fs...)}, Options{})
	if len(d.Findings) != defaultMax || d.Findings[0].Summary != "13" || len(d.Warnings) != 1 {
		t.Errorf("%d findings, warnings %q; want %d and one", len(d.Findings), d.Warnings, defaultMax)
	}
	if d := Run(busy(0.9), []*Rule{says("a", fs...)}, Options{Max: 2}); len(d.Findings) != 2 {
		t.Errorf("%d findings, want 2", len(d.Findings))
	}
}

func TestRunLowersConfidence(t *testing.T) {
	starved, lost, short, unknown := busy(0.9), busy(0.9), busy(0.9), busy(0.9)
	starved.Run.Coverage.MaxOverlap = time.Second
	lost.Run.Coverage.LostBytes = lost.Run.Coverage.Bytes / 10
	short.Run.Duration = 100 * time.Millisecond
	unknown.Run.Coverage.Unknown = time.Second
	unknown.Sched.Groups = []model.Group{{Times: model.Times{Running: 9 * time.Second, Unknown: time.Second}}}
	meter := fact.Meter{Model: busy(0.9)}
	meter.Model.Sched.Groups = []model.Group{{Name: "main.worker", Count: 2, Times: model.Times{Runnable: time.Second}}}
	costs := map[string]fact.Fact{
		"time":  meter.Goroutines("time that they were ready", []string{"main.worker"}, "runnable"),
		"count": meter.Goroutines("goroutines", []string{"main.worker"}, "count"),
		"bytes": meter.Samples("allocated", "alloc_space", nil),
	}
	costs["time of each"] = fact.Quotient.Of("time of each", fact.Seconds, costs["time"], costs["count"])
	for _, c := range []struct {
		name  string
		m     *model.Model
		sures map[string]Confidence // High where nothing is said
		about Confidence            // of what disturbs
	}{
		{"whole", busy(0.9), nil, High},
		{"starved", starved, map[string]Confidence{"time": Low, "time of each": Low}, High},
		{"lost", lost, map[string]Confidence{"time": Low, "time of each": Low, "count": Low}, High},
		{"unknown", unknown, map[string]Confidence{"time": Low, "time of each": Low, "count": Low}, High},
		{"short", short, map[string]Confidence{"time": Medium, "time of each": Medium, "count": Medium, "bytes": Medium}, Medium},
	} {
		for what, cost := range costs {
			f := finding("", 0.2)
			f.Cost = CostOf(cost, 0.2)
			about := says("about", f)
			about.Disturbing = true
			fs := Run(c.m, []*Rule{says("of", f), about}, Options{}).Findings
			want := cmp.Or(c.sures[what], High)
			if fs[0].Confidence != want || fs[1].Confidence != c.about {
				t.Errorf("%s, %s: got %s, and %s of what disturbs; want %s and %s", c.name, what, fs[0].Confidence, fs[1].Confidence, want, c.about)
			}
			if fs[0].Confidence != High && len(fs[0].Reasons) == 0 {
				t.Errorf("%s, %s: lowered without a reason", c.name, what)
			}
		}
	}
}

// A time of which others may have made so much that too little is left accuses nobody.
func TestRunRemarksOnWhatOthersMade(t *testing.T) {
	crowded := crowdedBy(0.5) // whose threads waited for half of the time
	crowded.Sched.Groups = []model.Group{{Name: "main.worker", Count: 2, Times: model.Times{Runnable: time.Second}}}
	meter := fact.Meter{Model: crowded}
	ready := meter.Goroutines("time that they were ready", []string{"main.worker"}, "runnable")
	count := meter.Goroutines("goroutines", []string{"main.worker"}, "count")
	for _, c := range []struct {
		name   string
		cost   fact.Fact
		change func(f *Finding)
		m      *model.Model
		want   bool
	}{
		{"a time of which 9.5% are left", ready, func(f *Finding) { f.Bound.Share = 0.19 }, crowded, true},
		{"a time of which 10.5% are left", ready, func(f *Finding) { f.Bound.Share = 0.21 }, crowded, false},
		{"a count", count, func(f *Finding) { f.Bound.Share = 0.19 }, crowded, false},
		{"memory", ready, func(f *Finding) { f.Bound.Share, f.Bound.Goal = 0.19, MemoryGoal }, crowded, false},
		{"no share", ready, func(f *Finding) { f.Bound.Share = 0 }, crowded, false},
		{"what stands still", ready, func(f *Finding) { f.Bound.Share, f.Stalls = 0.19, true }, crowded, false},
		{"what fails", ready, func(f *Finding) { f.Bound.Share, f.Fails = 0.19, true }, crowded, false},
		{"a machine of its own", ready, func(f *Finding) { f.Bound.Share = 0.05 }, busy(0.9), false},
	} {
		f := finding("", 0)
		f.Cost = CostOf(c.cost, 0.2)
		c.change(&f)
		got := Run(c.m, []*Rule{says("of", f)}, Options{}).Findings[0]
		if got.Remark != c.want || c.want && len(got.Reasons) != 2 {
			t.Errorf("%s: remark %v for %q, want %v", c.name, got.Remark, got.Reasons, c.want)
		}
	}
}

// Healthy is a claim, and says what the CPU went into where a remark knows it.
func TestHealthySaysWhatTakesMost(t *testing.T) {
	remark, machine := finding("search takes 84% of the CPU in use.", 0.8), finding("The machine was busy.", 0.9)
	remark.Remark, remark.Bound.Goal, remark.Where = true, CPUGoal, []Place{{Function: "main.search"}}
	machine.Remark, machine.Cost.Share = true, 1
	d := Run(sampled(0.9), []*Rule{says("hot", remark), says("machine", machine)}, Options{})
	if d.Verdict != Healthy || !strings.Contains(d.Summary, "What takes most: search takes 84%") || strings.Contains(d.Summary, "busy.") {
		t.Errorf("%s: %q, want what takes most", d.Verdict, d.Summary)
	}
}

// Nothing found is not healthy where something could hide it.
func TestGreenNeedsEvidence(t *testing.T) {
	hot := finding("main.crunch takes 74% of the CPU in use.", 0.74)
	hot.Remark, hot.Bound.Goal, hot.Where, hot.Cost.Share = true, CPUGoal, []Place{{Function: "main.crunch"}}, 0.74
	cool := hot
	cool.Cost.Share = 0.3
	needs := says("asks")
	needs.Needs = []model.Source{model.SyscallLog}
	doubts := &Rule{Name: "doubts", Check: func(p *Pass) { p.Doubt("whether it grows", "it was 18 MiB and is 232 MiB", "record longer") }}
	for _, c := range []struct {
		name  string
		m     *model.Model
		rules []*Rule
		want  Verdict
		says  string
	}{
		{"all is known", sampled(0.9), []*Rule{says("a", cool)}, Healthy, "What takes most: main.crunch takes 74%"},
		{"one function is most of it", sampled(0.9), []*Rule{says("a", hot)}, Unclear, "Nothing is known to be wrong. What takes most: main.crunch takes 74%"},
		{"a trace alone", busy(0.9), []*Rule{says("a"), needs}, Unclear, "nothing tells what the CPU goes into, and 1 of 2 rules did not look."},
		{"what may be an illness", sampled(0.9), []*Rule{doubts}, Unclear, "it is open whether it grows: it was 18 MiB and is 232 MiB."},
		{"what may be one, at rest", busy(0.01), []*Rule{doubts}, Unclear, "232 MiB. The program was not under load: 0.0"},
		{"what may be one, beside one that is", sampled(0.9), []*Rule{doubts, says("a", finding("It is.", 0.5))}, Problem, "It is."},
		{"others had the machine", crowdedBy(0.5), []*Rule{says("a")}, Unclear, "cannot be said: other processes used 50% of the machine"},
		{"others had a little of it", crowdedBy(0.05), []*Rule{says("a")}, Healthy, "No bottleneck found"},
	} {
		d := Run(c.m, c.rules, Options{})
		if d.Verdict != c.want || !strings.Contains(d.Summary, c.says) {
			t.Errorf("%s: %s, %q; want %s with %q", c.name, d.Verdict, d.Summary, c.want, c.says)
		}
	}
}

// crowdedBy returns a well-known program on a machine of which others use a part while it is full.
func crowdedBy(others float64) *model.Model {
	m := sampled(0.9)
	const s = 5 * time.Second
	own := time.Duration((1 - others) * float64(2*s))
	m.Process = &model.Process{Samples: []model.ProcessSample{{}, {At: s, User: own, RunQueue: own}}}
	m.Machine = &model.Machine{CPUs: 2, Samples: []model.MachineSample{{}, {At: s, Busy: 2 * s}}}
	return m
}

func TestVerdicts(t *testing.T) {
	short, few, ruined := busy(0.9), busy(0.9), busy(0.9)
	short.Run.Duration = 10 * time.Millisecond
	few.Run.Coverage.Events = 20
	rest, blink := busy(0.001), busy(0.001)
	rest.Run.Coverage.Events = 20
	blink.Run.Duration = 10 * time.Millisecond
	ruined.Run.Coverage.LostBytes = ruined.Run.Coverage.Bytes * 3 / 4
	many, onMany := busy(0.05), busy(0.05) // 0.1 cores
	many.Run.Procs, onMany.Run.Procs = 8, 8
	many.Machine, onMany.Machine = &model.Machine{CPUs: 2}, &model.Machine{CPUs: 8}
	cpu := func(samples int64) *model.Model {
		return &model.Model{CPU: &model.Profile{
			Types:    []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
			Samples:  []model.Sample{{Values: []int64{samples, samples * 1e7}}},
			Duration: 10 * time.Second,
		}}
	}
	for _, c := range []struct {
		name string
		m    *model.Model
		want Verdict
	}{
		{"nothing", &model.Model{}, TooThin},
		{"busy", sampled(0.9), Healthy},
		{"busy, by a trace alone", busy(0.9), Unclear},
		{"a little", busy(0.1), NotLoaded},
		{"asleep", busy(0.001), Idle},
		{"more Ps than cores", many, NotLoaded},
		{"as many", onMany, Idle},
		{"short", short, TooThin},
		{"few events", few, TooThin},
		{"asleep, few events", rest, Idle},
		{"asleep for a moment", blink, TooThin},
		{"ruined", ruined, TooThin},
		{"cpu profile", cpu(900), Partial},
		{"thin cpu profile", cpu(30), Partial},
		{"heap profile", &model.Model{Heap: &model.Profile{}}, TooThin},
	} {
		d := Run(c.m, nil, Options{})
		if d.Verdict != c.want {
			t.Errorf("%s: verdict %s, want %s", c.name, d.Verdict, c.want)
		}
		if d.Summary == "" {
			t.Errorf("%s: no summary", c.name)
		}
		if d := Run(c.m, []*Rule{says("a", finding("it is a", 0))}, Options{}); d.Verdict != Problem || d.Summary != "it is a" {
			t.Errorf("%s with a finding: %s, %q; want %s, it is a", c.name, d.Verdict, d.Summary, Problem)
		}
	}
}

// A trace too short and too small gives no rates; what it does not count, and what stands
// still, it may show.
func TestAnecdotesAreNoFindings(t *testing.T) {
	short, small, tiny := busy(0.9), busy(0.9), busy(0.9)
	short.Run.Duration, tiny.Run.Duration = 10*time.Millisecond, 10*time.Millisecond
	small.Run.Coverage.Events, tiny.Run.Coverage.Events = 20, 20
	meter := fact.Meter{Model: busy(0.9)}
	rate := finding("a rate", 0.2)
	rate.Cost = CostOf(fact.Quotient.Of("calls", fact.PerSec, meter.WaitCount("calls", model.SyscallWait, nil), meter.WindowLength()), 0.2)
	stuck := rate
	stuck.Stalls = true
	elsewhere := finding("a size", 0.2)
	elsewhere.Cost = CostOf(meter.Samples("allocated", "alloc_space", nil), 0.2)
	for _, c := range []struct {
		name string
		m    *model.Model
		f    Finding
		want int
	}{
		{"a rate, whole", busy(0.9), rate, 1},
		{"a rate, short", short, rate, 1},
		{"a rate, small", small, rate, 1},
		{"a rate, short and small", tiny, rate, 0},
		{"stuck, short and small", tiny, stuck, 1},
		{"not of the trace, short and small", tiny, elsewhere, 1},
	} {
		if d := Run(c.m, []*Rule{says("a", c.f)}, Options{}); len(d.Findings) != c.want {
			t.Errorf("%s: %d findings, want %d", c.name, len(d.Findings), c.want)
		}
	}
}

// A program that hardly runs is idle when nobody waits for it.
func TestIdleIsAClaim(t *testing.T) {
	waits := func(reason string, n time.Duration, leaf string) *model.Model {
		m := busy(0.001)
		stack := m.Stacks.Add([]model.Frame{{Func: leaf}, {Func: "main.f"}})
		m.Sched.Groups = []model.Group{{Name: "main.f", Times: model.Times{Blocked: map[string]time.Duration{reason: n * 5 * time.Second}}}}
		m.Sched.Waits = []model.Wait{{Kind: model.Sync, Reason: reason, Stack: stack, Group: "main.f", Open: int64(n), Total: n * 5 * time.Second}}
		return m
	}
	old := busy(0.001)
	old.Sched.Groups = []model.Group{{Name: "main.f", Times: model.Times{Blocked: map[string]time.Duration{"": 60 * time.Second}}}}
	served := waits("chan send", 1, "runtime.chansend1")
	served.Sched.Handovers = []model.Handover{{Stack: served.Sched.Waits[0].Stack, Waits: 400, Waited: 4900 * time.Millisecond, Seen: 5 * time.Second}}
	rare := waits("chan send", 1, "runtime.chansend1")
	rare.Sched.Handovers = []model.Handover{{Stack: rare.Sched.Waits[0].Stack, Waits: 4, Waited: 4900 * time.Millisecond, Seen: 5 * time.Second}}
	asks := waits("network", 1, "internal/poll.(*FD).Read")
	asks.Sched.Callers = []model.Caller{{Calls: 90, Waited: 4 * time.Second, Took: 5 * time.Second}}
	asked := waits("network", 1, "internal/poll.(*FD).Read")
	asked.Sched.Callers = []model.Caller{{Calls: 90, Waited: 2 * time.Second, Took: 5 * time.Second}}
	system := waits("sync", 9, "sync.(*Mutex).Lock")
	system.Sched.Groups[0].System = true
	stood := func(leaf string, part float64) *model.Model {
		m := busy(0.001)
		m.Sched = nil
		m.Process = &model.Process{Samples: []model.ProcessSample{{}, {At: 5 * time.Second, User: 10 * time.Millisecond}}}
		stack := m.Stacks.Add([]model.Frame{{Func: "runtime.gopark"}, {Func: leaf}, {Func: "main.f"}})
		m.Wall = &model.Profile{Types: []model.ValueType{{Name: "samples"}, {Name: "wall"}}, Duration: 5 * time.Second,
			Samples: []model.Sample{{Stack: stack, Values: []int64{100, int64(part * 5e9)}}}}
		return m
	}
	for _, c := range []struct {
		name string
		m    *model.Model
		want Verdict
	}{
		{"locks", waits("sync", 9, "sync.(*Mutex).Lock"), Unclear},
		{"one lock", waits("sync", 1, "sync.(*RWMutex).RLock"), Unclear},
		{"a wait group", waits("sync", 9, "sync.(*WaitGroup).Wait"), Idle},
		{"senders", waits("chan send", 9, "runtime.chansend1"), Unclear},
		{"a generator", waits("chan send", 1, "runtime.chansend1"), Idle},
		{"one whose work is taken", served, Unclear},
		{"one whose work is hardly taken", rare, Idle},
		{"a client", asks, Unclear},
		{"a client that asks at times", asked, Idle},
		{"workers without work", waits("chan receive", 9, "runtime.chanrecv1"), Idle},
		{"nobody knows", old, Unclear},
		{"the runtime's own", system, Idle},
		{"a sender, by samples", stood("runtime.chansend1", 0.9), Unclear},
		{"a sender at times, by samples", stood("runtime.chansend1", 0.2), Idle},
		{"a lock, by samples", stood("sync.(*Mutex).Lock", 0.9), Unclear},
		{"workers without work, by samples", stood("runtime.chanrecv1", 4), Idle},
	} {
		if d := Run(c.m, nil, Options{}); d.Verdict != c.want {
			t.Errorf("%s: verdict %s, want %s: %s", c.name, d.Verdict, c.want, d.Summary)
		}
	}
}

func TestTimeShares(t *testing.T) {
	m := busy(0.75)
	m.Sched.Procs[0].GCIdle = 2 * time.Second
	d := Run(m, nil, Options{})
	var sum float64
	names := map[string]int64{}
	for _, s := range d.Time {
		sum += s.Share
		names[s.Name] = s.NS
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the shares add up to %v, want 1", sum)
	}
	if names["user code"] != int64(7500*time.Millisecond) || names["garbage collector in idle time"] != int64(2*time.Second) {
		t.Errorf("times %v, want 7.5s of user code and 2s of the collector in idle time", names)
	}
	if _, ok := names["unknown"]; ok {
		t.Error("unknown is listed without any")
	}
}

func TestEncodeDecode(t *testing.T) {
	f := finding("a & b <c>", 0.25)
	f.Evidence = []fact.Fact{fact.Figure("n", 3, fact.Count, "elsewhere")}
	f.Symptoms = []Finding{}
	m := busy(0.9)
	m.Run.Go, m.Run.Files = "go1.26", []string{"t.out"}
	want := Run(m, []*Rule{says("a", f), {Name: "h", Needs: []model.Source{model.Heap}}}, Options{Goal: CPUGoal})
	var b bytes.Buffer
	if err := want.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "null") {
		t.Errorf("want no null in\n%s", &b)
	}
	text := b.String()
	got, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	got.Findings[0].Symptoms = want.Findings[0].Symptoms // [] is left out when saved
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	var again bytes.Buffer
	if err := got.Encode(&again); err != nil || again.String() != text {
		t.Errorf("saved twice, it differs (%v)", err)
	}
}

// A rule that looks at each place may say the same of several; the reader
// reads it once, and it makes nobody sick.
func TestObsolete(t *testing.T) {
	r := &Rule{Name: "old", Check: func(p *Pass) {
		p.Obsolete("a ballast", "Go 1.19", "GOMEMLIMIT does it")
		p.Obsolete("a ballast", "Go 1.19", "GOMEMLIMIT does it")
		p.Obsolete("another", "Go 1.20", "it has no lock")
	}}
	d := Run(sampled(0.9), []*Rule{r}, Options{})
	want := []Obsolete{{"old", "a ballast", "Go 1.19", "GOMEMLIMIT does it"}, {"old", "another", "Go 1.20", "it has no lock"}}
	if !reflect.DeepEqual(d.Obsolete, want) || d.Verdict != Healthy || len(d.Fine) != 0 {
		t.Errorf("obsolete %+v, verdict %s; want %+v, %s", d.Obsolete, d.Verdict, want, Healthy)
	}
	if got := d.Obsolete[1].String(); got != "another: harmless since Go 1.20, it has no lock" {
		t.Errorf("obsolete %q, want another: harmless since Go 1.20, it has no lock", got)
	}
}

func TestEncodeEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := new(Diagnosis).Encode(&b); err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"findings", "fine", "obsolete", "unchecked", "warnings", "files"} {
		if _, ok := m[k].([]any); !ok {
			t.Errorf("%s is %v, want a list", k, m[k])
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":       "hello",
		"a list":         "[]",
		"no schema":      `{"verdict":"sick"}`,
		"another object": `{"schema":1}`,
		"newer":          `{"schema":9,"verdict":"sick","findings":"not even a list"}`,
		"wrong type":     `{"schema":1,"verdict":"sick","findings":7}`,
		"empty":          "",
		"trailing":       `{"schema":1,"verdict":"sick"} {}`,
	} {
		if _, err := Decode(strings.NewReader(text)); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: Decode(): error %v, want %v", name, err, ErrSchema)
		}
	}
}

func TestPass(t *testing.T) {
	m := busy(0.9)
	s := m.Stacks.Add([]model.Frame{
		{Func: "_cgo_call"}, {Func: "runtime.chansend"}, {Func: "log.(*Logger).output"}, {Func: "app.work", File: "w.go", Line: 4}, {Func: "main.main"},
	})
	lib := m.Stacks.Add([]model.Frame{{Func: "runtime.gcBgMarkWorker"}})
	m.CPU = &model.Profile{
		Types:   []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
		Samples: []model.Sample{{Stack: s, Values: []int64{30, 3e8}}, {Stack: lib, Values: []int64{10, 1e8}}},
	}
	p := &Pass{Meter: fact.Meter{Model: m}}
	if got, ok := p.UserPlace(s); !ok || got != (Place{"app.work", "w.go", 4}) {
		t.Errorf("UserPlace() = %v, %v; want app.work at w.go:4", got, ok)
	}
	if got, ok := p.UserPlace(lib); ok {
		t.Errorf("the runtime is no user's place: %v", got)
	}
	g := &model.Group{Name: "net/http.(*conn).serve", Creator: s}
	if got, _ := p.GroupPlace(g); got.Function != "app.work" {
		t.Errorf("a library's goroutine comes from who made it, not %v", got)
	}
	if share, n := p.CPUShare(func(f string) bool { return f == "runtime.gcBgMarkWorker" }); share != 0.25 || n != 10 {
		t.Errorf("CPUShare() = %v of %d samples, want 0.25 of 10", share, n)
	}
	if p.Procs() != 2 || p.Seconds() != 5 {
		t.Errorf("%d Ps, %v s; want 2 and 5", p.Procs(), p.Seconds())
	}
}

func TestRunIsDeterministic(t *testing.T) {
	var rules []*Rule
	for i := range 20 {
		f := finding(fmt.Sprint(i%3), 0.1)
		f.Explains = []string{string(rune('a' + (i+1)%20))}
		f.Groups = []string{fmt.Sprint("g", i/4), fmt.Sprint("h", i%5)}
		rules = append(rules, says(string(rune('a'+i)), f))
	}
	first := outline(Run(busy(0.9), rules, Options{Max: 30}).Findings)
	for range 50 {
		if got := outline(Run(busy(0.9), rules, Options{Max: 30}).Findings); got != first {
			t.Fatalf("findings %q, want the same each time: %q", got, first)
		}
	}
	if !slices.ContainsFunc(rules, func(r *Rule) bool { return strings.Contains(first, r.Name+"(") }) {
		t.Errorf("nothing was folded in %q", first)
	}
}

// FuzzDecode: whatever is decoded can be saved and is the same when read again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"schema":1,"verdict":"healthy"}`,
		`{"schema":1,"verdict":"sick","findings":[{"rule":"a","where":[{"function":"main.f","line":3}],"symptoms":[{"rule":"b"}]}]}`,
		`{"schema":1,"verdict":"sick","findings":null,"trace":{"duration_ns":-1},"time":[{"share":1e308}]}`,
		`{"schema":1,"verdict":"\u001b[31m","files":["\ud800"]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(bytes.NewReader(b))
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		if err := d.Encode(&first); err != nil {
			t.Fatal(err)
		}
		text := first.String()
		again, err := Decode(&first)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if err := again.Encode(&second); err != nil || second.String() != text {
			t.Fatalf("saved again it differs (%v):\n%s\n%s", err, text, second.String())
		}
	})
}

// Older documents have another word for a program with problems.
func TestDecodeOldVerdict(t *testing.T) {
	for schema := oldestSchema; schema <= Schema; schema++ {
		d, err := Decode(strings.NewReader(fmt.Sprintf(`{"schema":%d,"verdict":"sick"}`, schema)))
		if err != nil {
			t.Errorf("Decode() of schema %d: %v", schema, err)
		} else if d.Verdict != Problem || d.Schema != Schema {
			t.Errorf("Decode() of schema %d has verdict %q, schema %d, want %q, %d",
				schema, d.Verdict, d.Schema, Problem, Schema)
		}
	}
}

// A remark about the recording comes after those about the program, whatever it costs.
func TestDisturbancesRankLast(t *testing.T) {
	remark := func(name string, share float64, disturbing bool) *Rule {
		return &Rule{Name: name, Title: name, Disturbing: disturbing, Check: func(p *Pass) {
			p.Report(Finding{Summary: name, Remark: true, Cost: Cost{Share: share}})
		}}
	}
	d := Run(&model.Model{}, []*Rule{remark("neighbour", 0.9, true), remark("hotfunction", 0.1, false)}, Options{})
	if len(d.Findings) != 2 || d.Findings[0].Rule != "hotfunction" {
		t.Errorf("findings %+v, want hotfunction first", d.Findings)
	}
}

// Places in the reader's own module come first, in their order; where nobody knows which
// they are, all stay.
func TestOwnPlacesFirst(t *testing.T) {
	places := []Place{{Function: "example.com/lib.Do"}, {Function: "example.com/app/store.Get"}, {Function: "example.com/apples.Eat"}, {Function: "main.run"}}
	names := func(ps []Place) (s string) {
		for _, p := range ps {
			s += p.Function + " "
		}
		return s
	}
	m := &model.Model{Build: &model.Build{Module: "example.com/app"}}
	if got, want := names(ownFirst(m, places)), "example.com/app/store.Get main.run example.com/lib.Do example.com/apples.Eat "; got != want {
		t.Errorf("own first: %s, want %s", got, want)
	}
	if got := names(ownFirst(&model.Model{}, places)); got != names(places) {
		t.Errorf("of no known module: %s", got)
	}
}
