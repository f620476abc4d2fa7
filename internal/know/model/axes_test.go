package model

import (
	"reflect"
	"testing"
	"time"
)

// sharedMachine returns a model whose counters all begin above nothing and grow by different amounts.
func sharedMachine() *Model {
	m := &Model{Run: Run{Duration: 10 * time.Second, Overhead: &Overhead{Recorder: time.Second}}}
	m.Sched = &Sched{Procs: []Proc{{User: 1, GC: 20, GCIdle: 300, Syscall: 4000, Scheduler: 50000, Idle: 600000, Unknown: 7000000}}}
	m.Process = &Process{Samples: []ProcessSample{
		{At: time.Second, User: 2 * time.Second, System: 3 * time.Second, RunQueue: 500 * ms},
		{At: 9 * time.Second, User: 5 * time.Second, System: 4 * time.Second, RunQueue: 1200 * ms},
	}}
	m.Machine = &Machine{CPUs: 2, Samples: []MachineSample{
		{At: time.Second, Busy: 10 * time.Second, Idle: 20 * time.Second, Steal: 3 * time.Second, IOWait: 4 * time.Second,
			CPUStall: 100 * ms, MemoryStall: 200 * ms, IOStall: 300 * ms},
		{At: 9 * time.Second, Busy: 18 * time.Second, Idle: 25 * time.Second, Steal: 4 * time.Second, IOWait: 6 * time.Second,
			CPUStall: 150 * ms, MemoryStall: 270 * ms, IOStall: 390 * ms},
	}}
	m.Limits = &Limits{Quota: 0.5, Samples: []LimitSample{
		{At: time.Second, Usage: 7 * time.Second, ThrottledTime: 2 * time.Second}, {At: 9 * time.Second, Usage: 10 * time.Second, ThrottledTime: 3500 * ms},
	}}
	return m
}

func TestAxesOfAll(t *testing.T) {
	want := []Axis{
		{"Ps", "GOMAXPROCS × window", 10 * time.Second, 7654321, []AxisPart{{"user code", 1}, {"garbage collector", 20},
			{"garbage collector in idle time", 300}, {"system calls", 4000}, {"scheduler", 50000}, {"idle", 600000}, {"unknown", 7000000}}, nil},
		{"threads", "time in which threads ran or wanted to", 8 * time.Second, 4700 * ms, []AxisPart{{"on a CPU, user mode", 3 * time.Second},
			{"on a CPU, in the kernel", time.Second}, {"waiting for a CPU", 700 * ms}}, nil},
		{"machine", "CPUs × window", 8 * time.Second, 16 * time.Second, []AxisPart{{"this process", 4 * time.Second},
			{"other processes", 3200 * ms}, {"the recorder", 800 * ms}, {"taken by the hypervisor", time.Second},
			{"waiting for a disk", 2 * time.Second}, {"idle", 5 * time.Second}},
			[]AxisPart{{"some task waited for a CPU", 50 * ms}, {"some task waited for memory", 70 * ms}, {"some task waited for a disk", 90 * ms}}},
		{"control group", "quota × window", 8 * time.Second, 4 * time.Second, []AxisPart{{"used", 3 * time.Second}, {"not used", time.Second}},
			[]AxisPart{{"stopped by the quota", 1500 * ms}}},
	}
	m := sharedMachine()
	if got := m.Axes(); !reflect.DeepEqual(got, want) {
		t.Errorf("Axes() =\n%+v, want\n%+v", got, want)
	}
	n, ok := m.Neighbours()
	if want := (Neighbours{Window: 8 * time.Second, Own: 4 * time.Second, Others: 3200 * ms, Steal: time.Second, Capacity: 16 * time.Second,
		Waited: 700 * ms}); !ok || n != want {
		t.Errorf("Neighbours() = %+v, %v, want %+v, true", n, ok, want)
	}
	m.Limits.Samples[1].ThrottledTime = time.Hour
	m.Machine.Samples[0].CPUStall = -1                  // the kernel does not count it
	m.Machine.Samples[1].MemoryStall = 100 * ms         // which no counter does
	m.Machine.Samples[1].Busy = 13 * time.Second        // less than the process says it had
	m.Run.Overhead, m.Run.Duration = nil, 5*time.Second // and nothing is the recorder's
	axes := m.Axes()
	if got, want := axes[3].Beside, []AxisPart{{"stopped by the quota", 8 * time.Second}}; !reflect.DeepEqual(got, want) {
		t.Errorf("Axes() has beside the group %v, want %v: no longer than all of it", got, want)
	}
	if got, want := axes[2].Beside, []AxisPart{{"some task waited for a disk", 90 * ms}}; !reflect.DeepEqual(got, want) {
		t.Errorf("Axes() has beside the machine %v, want %v", got, want)
	}
	if got, want := axes[2].Parts[:3], []AxisPart{{"this process", 3 * time.Second}, {"other processes", 0}, {"taken by the hypervisor", time.Second}}; !reflect.DeepEqual(got, want) {
		t.Errorf("Axes() has of the machine %v, want %v", got, want)
	}
	m.Sched.Procs = nil
	if got := m.Axes()[0].Name; got != "threads" {
		t.Errorf("Axes() without Ps begin with %q, want threads", got)
	}
}

// The recorder's CPU is the program's window's: no more than all of it is in a longer stretch.
func TestNeighboursRecorder(t *testing.T) {
	m := sharedMachine()
	m.Run.Duration = 4 * time.Second
	if n, _ := m.Neighbours(); n.Others != 3*time.Second {
		t.Errorf("Neighbours() = %v of others, want 3s: 8s less 4s of the process and 1s of the recorder", n.Others)
	}
}

// A machine counts as full where less than a tenth of what it could do was idle.
func TestNeighboursFull(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		busy, steal, idle, ioWait time.Duration
		cpus                      int // that the process may use
		want                      bool
	}{
		{"hardly idle", 14500, 0, 1500, 0, 0, true},
		{"idle", 14300, 0, 1700, 0, 0, false},
		{"hardly idle, or waiting for a disk", 14500, 0, 700, 800, 0, true},
		{"idle, or waiting for a disk", 14200, 0, 900, 900, 0, false},
		{"taken by the hypervisor", 6000, 8500, 1500, 0, 0, true},
		{"waiting for a disk alone", 14300, 0, 0, 1700, 0, false},
		{"idle, and some CPUs are not for the process", 1000, 0, 15000, 0, 1, true},
		{"idle, and all are", 1000, 0, 15000, 0, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := sharedMachine()
			m.Limits.CPUs = tt.cpus
			from := m.Machine.Samples[0]
			m.Machine.Samples[1] = MachineSample{At: 9 * time.Second, Busy: from.Busy + tt.busy*ms, Steal: from.Steal + tt.steal*ms,
				Idle: from.Idle + tt.idle*ms, IOWait: from.IOWait + tt.ioWait*ms}
			n, _ := m.Neighbours()
			want := Neighbours{}
			if tt.want {
				want = Neighbours{Full: 8 * time.Second, FullOwn: min(4*time.Second, tt.busy*ms), FullOthers: max(0, (tt.busy-4800)*ms), FullWaited: 700 * ms}
			}
			if got := (Neighbours{Full: n.Full, FullOwn: n.FullOwn, FullOthers: n.FullOthers, FullWaited: n.FullWaited}); got != want {
				t.Errorf("Neighbours() = %+v, want %+v", got, want)
			}
		})
	}
}

// What is too short to be judged is judged with what follows, and at the end by itself.
func TestNeighboursShort(t *testing.T) {
	m := &Model{Machine: &Machine{CPUs: 1}}
	busy, idle := time.Duration(0), time.Duration(0)
	for _, s := range []struct {
		at   time.Duration
		busy bool
	}{{1000, false}, {1090, true}, {1180, false}, {1330, true}, {1340, false}} {
		if n := len(m.Machine.Samples); n > 0 {
			if d := s.at*ms - m.Machine.Samples[n-1].At; s.busy {
				busy += d
			} else {
				idle += d
			}
		}
		m.Machine.Samples = append(m.Machine.Samples, MachineSample{At: s.at * ms, Busy: busy, Idle: idle})
	}
	if n, ok := m.Neighbours(); !ok || n.Full != 150*ms || n.FullOthers != 150*ms || n.FullOwn != 0 {
		t.Errorf("Neighbours() = %+v, %v, want full for 150ms, with others", n, ok)
	}
}

func TestCPUAt(t *testing.T) {
	p := &Process{Samples: []ProcessSample{{At: 10, User: 100, System: 1000, RunQueue: 7}, {At: 20, User: 200, System: 3000, RunQueue: 9},
		{At: 20, User: 300, System: 4000, RunQueue: 9}, {At: 50, User: 600, System: 4900, RunQueue: 11}}}
	for at, want := range map[time.Duration][2]time.Duration{0: {100, 1000}, 10: {100, 1000}, 14: {140, 1800}, 20: {200, 3000}, 30: {400, 4300}, 50: {600, 4900}, 99: {600, 4900}} {
		if user, system := p.CPUAt(at); user != want[0] || system != want[1] {
			t.Errorf("CPUAt(%d) = %d, %d, want %d, %d", at, user, system, want[0], want[1])
		}
	}
	for _, none := range []*Process{nil, {}} {
		if user, system := none.CPUAt(5); user != 0 || system != 0 {
			t.Errorf("CPUAt(5) of %v = %d, %d, want 0", none, user, system)
		}
	}
}

func TestProcessRate(t *testing.T) {
	for _, tt := range []struct {
		name        string
		first, last int64
		over        time.Duration
		want        float64
		ok          bool
	}{
		{"grows", 30, 90, 4 * time.Second, 15, true}, {"not read at first", -1, 90, 4 * time.Second, 0, false},
		{"not read at last", 30, -1, 4 * time.Second, 0, false}, {"nothing at first", 0, 8, 4 * time.Second, 2, true},
		{"of one moment", 30, 90, 0, 0, false},
	} {
		p := &Process{Samples: []ProcessSample{{At: time.Second, Voluntary: tt.first}, {At: time.Second + tt.over, Voluntary: tt.last}}}
		if got, ok := p.Rate(func(s ProcessSample) int64 { return s.Voluntary }); got != tt.want || ok != tt.ok {
			t.Errorf("Rate(…) of what %s = %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	if _, _, ok := (&Machine{Samples: []MachineSample{{At: 1, Busy: 5}, {At: 1, Busy: 9}}}).Window(); ok {
		t.Error("Window() of a machine at one moment = true, want false")
	}
	if _, _, ok := (&Limits{Samples: []LimitSample{{At: 1, Usage: 5}, {At: 1, Usage: 9}}}).Window(); ok {
		t.Error("Window() of a group at one moment = true, want false")
	}
	if _, _, ok := (&Process{Samples: []ProcessSample{{At: 1, User: 5}, {At: 1, User: 9}}}).Window(); ok {
		t.Error("Window() of a process at one moment = true, want false")
	}
	if first, last, ok := (&Machine{Samples: make([]MachineSample, 1)}).Window(); ok || first != last {
		t.Errorf("Window() of one sample = %v, want false", ok)
	}
}
