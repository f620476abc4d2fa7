package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// counted adds to a model's profile a sample of these frames, the leaf first.
func counted(m *model.Model, p *model.Profile, values []int64, functions ...string) {
	var frames []model.Frame
	for _, f := range functions {
		frames = append(frames, model.Frame{Func: f, File: "/x/" + f + ".go", Line: 7})
	}
	p.Samples = append(p.Samples, model.Sample{Stack: m.Stacks.Add(frames), Values: values})
}

func heapRun(name string, inUse, allocated int64) Reading {
	m := &model.Model{}
	types := []model.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}, {Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"}}
	p := &model.Profile{Types: types}
	counted(m, p, []int64{10, allocated, 2, inUse}, "main.keep", "main.main")
	counted(m, p, []int64{10, 100 * allocated, 0, 0}, "main.churn", "main.main")
	m.Heap, m.LiveHeap.End = p, p
	return Reading{Name: name, Model: m}
}

func goroutineRun(name string, leaked int64) Reading {
	m := &model.Model{}
	p := &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}}
	counted(m, p, []int64{leaked}, "runtime.gopark", "runtime.chanrecv1", "example.com/srv/jobs.wait")
	counted(m, p, []int64{3}, "runtime.gopark", "sync.(*Mutex).Lock", "main.locked", "main.main")
	m.Goroutines.End = p
	return Reading{Name: name, Model: m}
}

func TestSnapshotsOfOneKind(t *testing.T) {
	gc := func(assist time.Duration) Reading {
		m := &model.Model{}
		for i := range 11 {
			m.GCLog = append(m.GCLog, model.GCLine{Cycle: i, At: time.Duration(i) * time.Second / 10, CPUAssist: assist, Live: 40 << 20, Goal: 80 << 20})
		}
		return Reading{Name: "gc", Model: m}
	}
	sched := func(queue int) Reading {
		m := &model.Model{SchedLog: []model.SchedLine{{Procs: 2, RunQueue: queue, Local: []int{1, 1}}, {At: time.Second, Procs: 2, RunQueue: queue, Local: []int{1, 1}}}}
		return Reading{Name: "sched", Model: m}
	}
	load := func(failed int64) Reading {
		return Reading{Name: "load", Model: &model.Model{Load: &model.Load{Tool: "hey", Ops: 100, Failed: failed, Rate: 10, Latency: []model.Quantile{{Q: 0.99, Value: time.Second / time.Duration(1+failed)}}}}}
	}
	for _, x := range []struct {
		name  string
		a, b  Reading
		first string // words that the first line begins with
		table string // the first
	}{
		{"heaps by what is in use", heapRun("a", 100<<20, 1<<30), heapRun("b", 1200<<20, 4<<30), "live heap ×12 (mostly main.keep, +1.07 GiB)", inUseTable},
		{"goroutines", goroutineRun("a", 3000), goroutineRun("b", 18000), "goroutines ×6.00 (mostly jobs.wait, +15,000)", standingTable},
		{"gctrace", gc(0), gc(50 * time.Millisecond), "CPU of collections 0 cores → 0.500 cores", ""},
		{"schedtrace", sched(8), sched(998), "goroutines that are ready and queue ×100", ""},
		{"failures before all that got better", load(0), load(50), "failed operations 0% → 50.0%, p99 −98.0%", ""},
		{"failures of both", load(50), load(50), "50.0% of operations failed in both", ""},
	} {
		c := compared(t, x.a, x.b)
		if !strings.HasPrefix(c.Summary, x.first) {
			t.Errorf("%s: the first line is %q, want it to begin with %q", x.name, c.Summary, x.first)
		}
		if x.table != "" && (len(c.Tables) == 0 || c.Tables[0].Name != x.table) {
			t.Errorf("%s: tables are %+v, want %s first", x.name, c.Tables, x.table)
		}
		if len(c.Warnings) > 0 {
			t.Errorf("%s: warnings %q about quantities that are no rates", x.name, c.Warnings)
		}
	}
	// The line that waits names what it called, and what nobody called has no reason.
	rows := compared(t, goroutineRun("a", 1), goroutineRun("b", 9)).Tables[0].Rows
	if rows[0].Function != "example.com/srv/jobs.wait" || rows[0].Reason != "runtime.chanrecv1" || rows[1].Reason != "sync.(*Mutex).Lock" {
		t.Errorf("rows of %s for %s, then for %s, "+
			"want example.com/srv/jobs.wait, runtime.chanrecv1, sync.(*Mutex).Lock",
			rows[0].Function, rows[0].Reason, rows[1].Reason)
	}
	if _, err := Runs(heapRun("a", 1, 1), goroutineRun("b", 1)); err == nil {
		t.Error("a heap profile and goroutines were compared, want an error")
	}
}

// What moved within a total that stayed is a change, too.
func TestShiftWithinATotal(t *testing.T) {
	b := heapRun("b", 100<<20, 1<<30)
	b.Model.LiveHeap.End.Samples[0].Values[3], b.Model.LiveHeap.End.Samples[1].Values[3] = 40<<20, 60<<20
	c := compared(t, heapRun("a", 100<<20, 1<<30), b)
	if got := c.Tables[0].shift(); got != 0.6 {
		t.Errorf("shift is %v, want 0.6", got)
	}
}

// A saved diagnosis has no evidence: its findings and the largest parts are compared.
func TestSavedDiagnoses(t *testing.T) {
	saved := func(v float64, rules ...string) Reading {
		d := &diagnosis.Diagnosis{Verdict: diagnosis.Problem, Accounts: []diagnosis.Account{{Source: model.GoroutineProfile, Rows: []diagnosis.AccountRow{
			{Name: "main.leak", Value: fact.Figure("main.leak", v, fact.Count, ""), Share: 0.5}}}}}
		for _, r := range rules {
			d.Findings = append(d.Findings, diagnosis.Finding{Rule: r, Title: r})
		}
		return Reading{Name: "d.json", Model: &model.Model{}, Diagnosis: d, Saved: true}
	}
	c := compared(t, saved(10, "leak"), saved(90, "spin"))
	if want := "1 finding gone, 1 new finding, goroutines ×9"; !strings.HasPrefix(c.Summary, want) {
		t.Errorf("the first line is %q, want %q", c.Summary, want)
	}
	if table := c.Tables[0]; table.TotalA != 20 || table.TotalB != 180 {
		t.Errorf("totals are %v and %v, want those that the shares tell", table.TotalA, table.TotalB)
	}
	if c := compared(t, saved(1), saved(1)); c.Summary == "" {
		t.Error("two equal diagnoses have no first line")
	}
}
