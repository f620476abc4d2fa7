package diagnosis

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// counted10 is ten seconds of a process without a trace: its counters, and as
// many samples of 10 ms as asked for.
func counted10(user, system time.Duration, samples int64) *model.Model {
	m := &model.Model{}
	m.Run.Duration, m.Run.Procs = 10*time.Second, 2
	m.Process = &model.Process{Samples: []model.ProcessSample{{}, {At: 10 * time.Second, User: user, System: system}}}
	if samples > 0 {
		s := m.Stacks.Add([]model.Frame{{Func: "main.f"}})
		m.CPU = &model.Profile{
			Types:   []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
			Samples: []model.Sample{{Stack: s, Values: []int64{samples, samples * 1e7}}}, Duration: 10 * time.Second, Known: true,
		}
	}
	return m
}

func TestVerdictsWithoutTrace(t *testing.T) {
	short := counted10(900*time.Millisecond, 0, 90)
	short.Process.Samples[1].At = 500 * time.Millisecond
	short.CPU.Duration = 500 * time.Millisecond
	other := counted10(8*time.Second, 2*time.Second, 3000)
	for _, c := range []struct {
		name string
		m    *model.Model
		want Verdict
		says string
	}{
		{"asleep", counted10(100*time.Millisecond, 0, 0), Idle, "0.01 of 2 cores"},
		{"a little", counted10(2*time.Second, time.Second, 0), NotLoaded, "0.3 of 2 cores"},
		{"busy, no samples", counted10(9*time.Second, time.Second, 0), TooThin, "not for what"},
		{"busy, few samples", counted10(9*time.Second, time.Second, 50), Partial, "50 samples"},
		{"busy", counted10(9*time.Second, time.Second, 980), Unclear, "there is no execution trace, which would show"},
		{"busy, hardly sampled", counted10(9*time.Second, time.Second, 500), Unclear, "the samples cover 50%"},
		{"another process's samples", other, TooThin, "disagree"},
		{"short", short, Partial, "cover only 500 ms"},
	} {
		d := Run(c.m, nil, Options{})
		if d.Verdict != c.want || !strings.Contains(d.Summary, c.says) {
			t.Errorf("%s: %s, %q; want %s with %q", c.name, d.Verdict, d.Summary, c.want, c.says)
		}
	}
}

// The counters beat the profile: a profile that saw half of a busy program
// does not make it half as busy.
func TestBusyByCounters(t *testing.T) {
	if cores, of, ok := Busy(counted10(9*time.Second, time.Second, 500)); !ok || cores != 1 || of != 2 {
		t.Errorf("Busy() = %v of %v, %v; want 1 of 2", cores, of, ok)
	}
	m := counted10(9*time.Second, time.Second, 500)
	m.Limits = &model.Limits{CPUs: 2, Quota: 1.5}
	if _, of, _ := Busy(m); of != 1.5 {
		t.Errorf("Busy() of %v cores, want 1.5 of the quota", of)
	}
}

func TestDisturbed(t *testing.T) {
	machine := func(busy, steal, stall time.Duration) *model.Machine {
		return &model.Machine{CPUs: 2, Samples: []model.MachineSample{{CPUStall: min(stall, 0)},
			{At: 10 * time.Second, Busy: busy, Steal: steal, CPUStall: stall, Idle: 20*time.Second - busy - steal}}}
	}
	const s = time.Second
	for _, c := range []struct {
		name   string
		change func(*model.Model)
		want   string
	}{
		{"alone", func(m *model.Model) { m.Machine = machine(10*s, 0, 0) }, ""},
		{"its own queue", func(m *model.Model) {
			m.Machine = machine(10500*time.Millisecond, 0, 9*s)
			m.Process.Samples[1].RunQueue = 8 * s
		}, ""},
		{"neighbours that leave room", func(m *model.Model) { m.Machine = machine(15*s, 0, s); m.Process.Samples[1].RunQueue = s / 2 }, ""},
		{"neighbours", func(m *model.Model) { m.Machine = machine(18*s, 0, 5*s); m.Process.Samples[1].RunQueue = 5 * s }, "other processes used 40% of the machine while it was full, and the ready threads of this one spent 33%"},
		{"neighbours that leave room, and long waits", func(m *model.Model) { m.Machine = machine(17*s, 0, 5*s); m.Process.Samples[1].RunQueue = 5 * s }, ""},
		{"few neighbours, crowded by itself", func(m *model.Model) {
			m.Process.Samples[1].User, m.CPU.Samples[0].Values = 17*s, []int64{1800, 18e9}
			m.Machine = machine(19*s, 0, 5*s)
			m.Process.Samples[1].RunQueue = 50 * s
		}, ""},
		{"neighbours, no run-queue wait counted", func(m *model.Model) { m.Machine = machine(18*s, 0, 5*s) }, "and tasks waited for a CPU"},
		{"neighbours, no pressure", func(m *model.Model) { m.Machine = machine(18*s, 0, -1) }, ""},
		{"hypervisor", func(m *model.Model) { m.Machine = machine(10*s, 2*s, 0) }, "the hypervisor took 10%"},
		{"quota", func(m *model.Model) {
			m.Limits = &model.Limits{Quota: 1, Samples: []model.LimitSample{{}, {At: 10 * s, ThrottledTime: s}}}
		}, "a CPU quota of 1 cores stopped the process for 10%"},
		{"a quota that hardly acts", func(m *model.Model) {
			m.Limits = &model.Limits{Quota: 1, Samples: []model.LimitSample{{}, {At: 10 * s, ThrottledTime: s / 10}}}
		}, ""},
		{"coverage", func(m *model.Model) { m.CPU.Samples[0].Values = []int64{600, 6e9} }, "the samples cover 60%"},
	} {
		m := counted10(9*s, s, 990)
		c.change(m)
		got := Disturbed(m)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: Disturbed() = %q, want %q", c.name, got, c.want)
		}
	}
	// Few samples cover little by chance.
	m := counted10(80*time.Millisecond, 20*time.Millisecond, 6)
	if got := Disturbed(m); got != "" {
		t.Errorf("Disturbed() by 6 samples of 10 = %q, want \"\"", got)
	}
}

// Who else used the machine is said beside the first finding, and only then.
func TestBusyMachine(t *testing.T) {
	ill := &Rule{Name: "ill", Title: "Ill", Check: func(p *Pass) { p.Report(Finding{Summary: "It is ill."}) }}
	for want, busy := range map[string]time.Duration{
		"It is ill. The machine was busy: other processes used 40% of the machine": 18 * time.Second,
		"It is ill.": 15 * time.Second,
	} {
		m := counted10(9*time.Second, time.Second, 990)
		m.Machine = &model.Machine{CPUs: 2, Samples: []model.MachineSample{{}, {At: 10 * time.Second, Busy: busy, Idle: 20*time.Second - busy}}}
		m.Process.Samples[1].RunQueue = 5 * time.Second
		d := Run(m, []*Rule{ill}, Options{})
		if d.Verdict != Problem || !strings.HasPrefix(d.Summary, want) || busy < 16*time.Second && d.Summary != want {
			t.Errorf("%s busy: %s: %q, want %q", busy, d.Verdict, d.Summary, want)
		}
	}
}

func TestDiagnosisCPU(t *testing.T) {
	m := counted10(9*time.Second, time.Second, 970)
	m.Run.Overhead = &model.Overhead{Recorder: 50 * time.Millisecond, Target: 10 * time.Second, Wall: 10 * time.Second}
	d := Run(m, nil, Options{})
	var share float64
	var sum int64
	for _, p := range d.CPU.Parts {
		share, sum = share+p.Share, sum+p.NS
	}
	if sum != d.CPU.TotalNS || math.Abs(share-1) > 1e-9 || d.CPU.TotalNS != int64(10*time.Second) || d.CPU.Cores != 1 {
		t.Errorf("CPU %+v, want parts that add up to 10s, 1 core", d.CPU)
	}
	if c := d.CPU.Coverage["cpu"]; math.Abs(c-0.97) > 1e-9 || d.CPU.Source != "cpu" || !d.CPU.Counted {
		t.Errorf("coverage %v of %q, want 0.97 of cpu, which is counted", c, d.CPU.Source)
	}
	if r := d.Recording; r == nil || *r.TargetCores != 1 || r.BeforeCores != nil {
		t.Errorf("recording %+v, want 1 core of the target and none before", r)
	}
	if Run(&model.Model{}, nil, Options{}).CPU != nil {
		t.Error("an account of nothing")
	}
}

func TestHowToGet(t *testing.T) {
	// Sources of one recording are one command.
	d := Run(&model.Model{}, []*Rule{{Name: "x", Needs: []model.Source{model.Block, model.Mutex}}}, Options{})
	if how := d.Unchecked[0].How; strings.Count(how, "gowhy record") != 1 {
		t.Errorf("how to get two sources: %q, want one gowhy record", how)
	}
	// The same command brings the same once more of a program that tells nothing of itself.
	silent := model.Run{Command: []string{"./shop"}, Untold: true}
	for source, agent := range map[model.Source]bool{model.Trace: true, model.Heap: true, model.KernelCPU: false, model.ProcFS: false} {
		if how := HowToGet(&silent, source); strings.HasPrefix(how, "go get ") != agent || !strings.HasSuffix(how, "-- ./shop") {
			t.Errorf("how to get %s of a program that tells nothing: %q, want the agent: %t", source, how, agent)
		}
	}
}
