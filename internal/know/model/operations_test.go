package model

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestLoadOperations(t *testing.T) {
	for _, c := range []struct {
		name string
		l    Load
		want float64
	}{
		{"inside", Load{Ops: 500, Known: true, Start: 2 * time.Second, Duration: 5 * time.Second}, 500},
		{"half before", Load{Ops: 500, Known: true, Start: -5 * time.Second, Duration: 10 * time.Second}, 250},
		{"longer than the run", Load{Ops: 3000, Known: true, Start: -10 * time.Second, Duration: 30 * time.Second}, 1000},
		{"over time", Load{Ops: 900, Known: true, Duration: 20 * time.Second, Over: []Interval{{At: -time.Second, Width: time.Second, Ops: 70},
			{At: 0, Width: time.Second, Ops: 80}, {At: 9500 * ms, Width: time.Second, Ops: 50}}}, 105},
		{"intervals of two seconds", Load{Ops: 90, Known: true, Over: []Interval{{At: 0, Width: 2 * time.Second, Ops: 60},
			{At: 9 * time.Second, Width: 2 * time.Second, Ops: 30}, {Ops: 9}}}, 75},
		{"a tenth unanswered", Load{Ops: 500, Unanswered: 50, Known: true, Duration: 5 * time.Second}, 450},
		{"when is not said", Load{Ops: 500, Rate: 40, Duration: 12 * time.Second}, 400},
		{"shorter, when is not said", Load{Ops: 184, Rate: 40, Duration: 4600 * ms}, 184},
		{"shorter, no rate", Load{Ops: 184, Duration: 4600 * ms}, 184},
		{"no rate", Load{Ops: 500, Duration: 20 * time.Second}, 250},
		{"another time", Load{Ops: 500, Known: true, Start: 20 * time.Second, Duration: 5 * time.Second}, 0},
		{"nothing", Load{}, 0},
	} {
		m := &Model{Load: &c.l}
		m.Load.Tool, m.Load.URL = "k6", "http://localhost"
		m.Run.Duration = 10 * time.Second
		o := m.Operations()
		if from := map[bool]string{true: "k6", false: "k6, at its mean rate"}[c.l.Known]; o != nil && o.From != from {
			t.Errorf("%s: Operations() are from %q, want %q", c.name, o.From, from)
		}
		if c.want == 0 && o != nil || c.want > 0 && (o == nil || math.Abs(o.Count-c.want) > 1e-9 || o.Source != LoadResult) {
			t.Errorf("%s: Operations() = %+v, want %v", c.name, o, c.want)
		}
	}
}

// A load of another time has operations elsewhere, and so has one of which nothing was answered.
func TestLoadElsewhere(t *testing.T) {
	later := Load{Ops: 500, Known: true, Start: 20 * time.Second, Duration: 5 * time.Second}
	with := func(change func(l *Load)) *Load {
		l := later
		change(&l)
		return &l
	}
	for _, tt := range []struct {
		name                  string
		l                     *Load
		window                time.Duration
		elsewhere, unanswered bool
	}{
		{"no load", nil, 10 * time.Second, false, false},
		{"no operations", with(func(l *Load) { l.Ops = 0 }), 10 * time.Second, false, false},
		{"no window", &later, 0, false, false},
		{"inside", with(func(l *Load) { l.Start = 0 }), 10 * time.Second, false, false},
		{"later", &later, 10 * time.Second, true, false},
		{"later, and half of it unanswered", with(func(l *Load) { l.Unanswered = 250 }), 10 * time.Second, true, false},
		{"unanswered", with(func(l *Load) { l.Start, l.Unanswered = 0, 500 }), 10 * time.Second, false, true},
		{"unanswered, at an unknown time", with(func(l *Load) { l.Known, l.Unanswered = false, 500 }), 10 * time.Second, false, true},
		{"of an unknown time and length", &Load{Ops: 500}, 10 * time.Second, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &Model{Load: tt.l, Run: Run{Duration: tt.window}}
			if elsewhere, unanswered := m.LoadElsewhere(); elsewhere != tt.elsewhere || unanswered != tt.unanswered {
				t.Errorf("LoadElsewhere() = %v, %v, want %v, %v", elsewhere, unanswered, tt.elsewhere, tt.unanswered)
			}
		})
	}
}

func TestTaskOperations(t *testing.T) {
	m := &Model{Tasks: &Tasks{
		Tasks: []TaskType{{Name: "query", Count: 900, Complete: 900}, {Name: "few", Count: 200, Complete: 200},
			{Name: "request", Count: 310, Complete: 300}, {Name: "fewer", Count: 900, Complete: 100}, {Name: "open", Count: 5000}},
		Slow: []Task{{ID: 2, Parent: 1, Name: "query"}, {ID: 1, Name: "request"}},
	}}
	if o := m.Operations(); o == nil || o.Name != "request" || o.Count != 300 {
		t.Errorf("Operations() = %+v, want 300 of request: a query is a part of one, and open tasks are not done", o)
	}
	m.Tasks.Tasks = m.Tasks.Tasks[4:]
	if o := m.Operations(); o != nil {
		t.Errorf("Operations() of no finished task = %+v, want nil", o)
	}
}

// A server that starts a goroutine for each packet; the others look like it.
func TestServedOperations(t *testing.T) {
	build := func(name string, ended int, loopReads bool, ownWaits int64) *Operations {
		m := &Model{Sched: &Sched{}}
		creator := m.Stacks.Add(frames("runtime.newproc main.serve main.main"))
		other := m.Stacks.Add(frames("runtime.netpollblock main.elsewhere"))
		loop := m.Stacks.Add(frames("internal/poll.runtime_pollWait net.(*UDPConn).ReadFrom main.serve main.main"))
		m.Sched.Groups = []Group{{Name: name, Count: ended + 3, Created: ended, Ended: ended, Creator: creator}, {Name: "main.main", Count: 1}}
		if loopReads {
			m.Sched.Waits = append(m.Sched.Waits, Wait{Kind: Net, Stack: loop, Group: "main.main", Count: 9})
		} else { // what it starts waits there, and it elsewhere
			m.Sched.Waits = []Wait{{Kind: Net, Stack: loop, Group: name}, {Kind: Net, Stack: other, Group: "main.main"}}
		}
		m.Sched.Waits = append(m.Sched.Waits, Wait{Kind: Net, Stack: other, Group: name, Count: ownWaits})
		return m.Operations()
	}
	if o := build("main.handle", 5000, true, 5000); o == nil || o.Count != 5000 || o.Source != Trace {
		t.Errorf("Operations() = %+v, want 5000 from the trace", o)
	}
	for ended, want := range map[int]bool{99: false, 100: true} {
		if o := build("main.handle", ended, true, 0); (o != nil) != want {
			t.Errorf("Operations() of %d goroutines = %+v, want some: %v", ended, o, want)
		}
	}
	for waits, want := range map[int64]bool{10_000: true, 10_001: false} {
		if o := build("main.handle", 5000, true, waits); (o != nil) != want {
			t.Errorf("Operations() of 5000 goroutines that waited %d times = %+v, want some: %v", waits, o, want)
		}
	}
	if o := build("main.handle", 5000, false, 0); o != nil {
		t.Errorf("Operations() of a loop that serves nobody = %+v, want nil", o)
	}
	if o := build("main.handle", 5000, true, 60_000); o != nil {
		t.Errorf("Operations() of connections with twelve requests each = %+v, want nil", o)
	}
	if o := build("net/http.(*conn).serve", 5000, true, 5000); o != nil {
		t.Errorf("Operations() of connections = %+v, want nil", o)
	}
}

// Of two groups of a server the one of which more have ended counts.
func TestServedMost(t *testing.T) {
	m := &Model{Sched: &Sched{}}
	creator := m.Stacks.Add(frames("runtime.newproc main.serve main.main"))
	loop := m.Stacks.Add(frames("internal/poll.runtime_pollWait net.(*UDPConn).ReadFrom main.serve main.main"))
	m.Sched.Waits = []Wait{{Kind: Net, Stack: loop, Group: "main.main", Count: 9}}
	for _, g := range []Group{{Name: "main.a", Ended: 300, Peak: 1000}, {Name: "main.b", Ended: 400, Peak: 3},
		{Name: "main.c", Ended: 350, Peak: 350}, {Name: "main.d", Ended: 400, Peak: 2}, {Name: "main.e", Ended: 900, System: true}} {
		g.Creator = creator
		m.Sched.Groups = append(m.Sched.Groups, g)
	}
	if o := m.Operations(); o == nil || o.Name != "main.b" || o.Count != 400 {
		t.Errorf("Operations() = %+v, want 400 of main.b", o)
	}
}

func TestPerOperation(t *testing.T) {
	m := &Model{Process: counters(3*time.Second, time.Second), Load: &Load{Ops: 2000, Rate: 200},
		Syscalls: &Syscalls{Window: 5 * time.Second, Calls: []Syscall{{Name: "read", Count: 3000}, {Name: "futex", Count: 500}}}}
	m.Run.Duration = 10 * time.Second
	m.Sched = &Sched{Groups: []Group{{Name: "main.f", Created: 700}, {Name: "main.g", Count: 9, Created: 300}}}
	m.Process.Samples[1].Voluntary = 6000
	got := map[string]float64{}
	for _, p := range m.PerOperation() {
		got[p.Name()] = p.Value
	}
	// 2,000 operations: 4 s of CPU, 7,000 calls in 10 s at the rate of the 5 s.
	for name, want := range map[string]float64{"CPU": 0.002, "system calls": 3.5, "system calls: read": 3, "context switches, voluntary": 3,
		"goroutines created": 0.5} {
		if math.Abs(got[name]-want) > 1e-9 {
			t.Errorf("%s for each operation: %v, want %v", name, got[name], want)
		}
	}
	// Of nine calls by name eight are listed, and of each quantity its own counter is taken.
	for range 7 {
		m.Syscalls.Calls = append(m.Syscalls.Calls, Syscall{Name: "x", Count: 100})
	}
	m.Metrics = &Metrics{Series: map[string]Series{"/gc/heap/allocs:bytes": {{0, 5}, {time.Second, 10_005}},
		"/gc/heap/allocs:objects": {{0, 9}, {time.Second, 409}}}}
	end := &m.Process.Samples[1]
	end.Involuntary, end.ReadCalls, end.WriteCalls, end.MinorFaults, end.MajorFaults = 2000, 4000, 8000, 600, 400
	var list []PerOperation
	for _, p := range m.PerOperation() {
		if p.Name() != "system calls: x" && p.Resource != CPUTime {
			list = append(list, p)
		}
	}
	want := []PerOperation{
		{SystemCalls, "", 4.2, "count", SyscallLog}, {SystemCalls, "read", 3, "count", SyscallLog}, {SystemCalls, "futex", 0.5, "count", SyscallLog},
		{AllocatedBytes, "", 50, "bytes", MetricsLog}, {AllocatedObjects, "", 2, "count", MetricsLog},
		{VoluntarySwitches, "", 3, "count", ProcFS}, {InvoluntarySwitches, "", 1, "count", ProcFS},
		{ReadCalls, "", 2, "count", ProcFS}, {WriteCalls, "", 4, "count", ProcFS}, {PageFaults, "", 0.5, "count", ProcFS},
		{GoroutinesCreated, "", 0.5, "count", Trace},
	}
	if !slices.Equal(list, want) {
		t.Errorf("PerOperation() has\n%v, want\n%v", list, want)
	}
	if n := len(m.PerOperation()); n != len(want)+2+6 {
		t.Errorf("PerOperation() has %d quantities, want %d, with two of CPU time and six calls more", n, len(want)+8)
	}
	delete(m.Metrics.Series, "/gc/heap/allocs:objects")
	for _, p := range m.PerOperation() {
		if p.Resource == AllocatedObjects {
			t.Errorf("PerOperation() has %+v, want no objects, which nobody counted", p)
		}
	}
	// What was not permitted to be read is not nothing.
	for i := range m.Process.Samples {
		m.Process.Samples[i].ReadCalls = -1
	}
	for _, p := range m.PerOperation() {
		if p.Resource == ReadCalls {
			t.Errorf("PerOperation() has %+v, want no read calls, which were not read", p)
		}
	}
	// The CPU time of the kernel alone, and that of samples, are shown with who told them.
	m = &Model{Process: counters(0, 4*time.Second), Load: m.Load, Run: m.Run}
	want = []PerOperation{{CPUTime, "", 0.002, "seconds", ProcFS}, {CPUTime, "not sampled", 0.002, "seconds", ""}}
	if got := m.PerOperation(); len(got) < 2 || !slices.Equal(got[:2], want) {
		t.Errorf("PerOperation() = %v, want %v first", got, want)
	}
	b := tally{&Model{Load: m.Load, Run: m.Run}}
	b.CPU = b.profile(nil, map[string]time.Duration{appStack: 2 * time.Second})
	want = []PerOperation{{CPUTime, "", 0.001, "seconds", CPU}, {CPUTime, "application", 0.001, "seconds", CPU}}
	if got := b.PerOperation(); !slices.Equal(got, want) {
		t.Errorf("PerOperation() = %v, want %v", got, want)
	}
	m.Load = nil
	if list := m.PerOperation(); list != nil {
		t.Errorf("%v of no operation", list)
	}
}

func TestAxes(t *testing.T) {
	m := &Model{Process: counters(3*time.Second, time.Second)}
	m.Run.Duration = 10 * time.Second
	m.Process.Samples[1].RunQueue = 2 * time.Second
	m.Machine = &Machine{CPUs: 2, Samples: []MachineSample{{Busy: 100 * time.Second, CPUStall: -1, MemoryStall: -1, IOStall: time.Second},
		{At: 10 * time.Second, Busy: 107 * time.Second, Idle: 12 * time.Second, Steal: time.Second, CPUStall: -1, MemoryStall: -1, IOStall: 2 * time.Second}}}
	m.Limits = &Limits{Quota: 0.5, Samples: []LimitSample{{}, {At: 10 * time.Second, Usage: 4 * time.Second, ThrottledTime: 3 * time.Second}}}
	got := map[string]time.Duration{}
	for _, a := range m.Axes() {
		got[a.Name] = a.Total
		var sum time.Duration
		for _, p := range a.Parts {
			got[a.Name+": "+p.Name] = p.Time
			sum += p.Time
		}
		if sum != a.Total || a.Window != 10*time.Second {
			t.Errorf("%s: parts of %v, total %v over %v; want them equal, over 10s", a.Name, sum, a.Total, a.Window)
		}
		for _, p := range a.Beside {
			got[a.Name+": "+p.Name] = p.Time
		}
	}
	for name, want := range map[string]time.Duration{
		"threads": 6 * time.Second, "threads: waiting for a CPU": 2 * time.Second,
		"machine": 20 * time.Second, "machine: this process": 4 * time.Second, "machine: other processes": 3 * time.Second, "machine: taken by the hypervisor": time.Second,
		"machine: some task waited for a disk": time.Second, "control group": 5 * time.Second, "control group: stopped by the quota": 3 * time.Second,
	} {
		if got[name] != want {
			t.Errorf("axis %s = %v, want %v", name, got[name], want)
		}
	}
	if _, ok := got["machine: some task waited for a CPU"]; ok {
		t.Error("pressure that the kernel does not have")
	}
	m.Process.Samples[1].RunQueue = 0 // not counted, and nothing was not waited for
	m.Limits.Samples[1].Usage = 0
	m.Run.Overhead = &Overhead{Recorder: time.Second}
	axes := m.Axes()
	if len(axes) != 2 || len(axes[0].Parts) != 2 || axes[1].Total != 20*time.Second || axes[1].Parts[2] != (AxisPart{"the recorder", time.Second}) {
		t.Errorf("axes %+v, want 2, the second of 20s with 1s of the recorder", axes)
	}
	if axes := (&Model{}).Axes(); axes != nil {
		t.Errorf("%v of nothing", axes)
	}
}

// TestNeighbours: a machine that is full for the first two of ten seconds.
func TestNeighbours(t *testing.T) {
	m := &Model{Process: &Process{}, Machine: &Machine{CPUs: 2}}
	var busy, idle, used, waited time.Duration
	for i := range 101 {
		at := time.Duration(i) * 100 * ms
		m.Process.Samples = append(m.Process.Samples, ProcessSample{At: at, User: used, RunQueue: waited})
		m.Machine.Samples = append(m.Machine.Samples, MachineSample{At: at, Busy: busy, Idle: idle})
		used, waited = used+50*ms, waited+10*ms
		if at < 2*time.Second {
			busy, idle, waited = busy+185*ms, idle+15*ms, waited+60*ms
		} else {
			busy, idle = busy+100*ms, idle+100*ms
		}
	}
	n, ok := m.Neighbours()
	want := Neighbours{Window: 10 * time.Second, Own: 5 * time.Second, Others: 6700 * ms, Capacity: 20 * time.Second, Waited: 2200 * ms,
		Full: 2 * time.Second, FullOwn: time.Second, FullOthers: 2700 * ms, FullWaited: 1400 * ms}
	if !ok || n != want {
		t.Errorf("Neighbours() = %+v, %v; want %+v", n, ok, want)
	}
	// The recorder is nobody's neighbour.
	m.Run.Duration, m.Run.Overhead = 10*time.Second, &Overhead{Recorder: time.Second}
	if n, _ = m.Neighbours(); n.Own != 5*time.Second || n.Others != 5700*ms || n.FullOthers != 2500*ms {
		t.Errorf("beside a recorder: %+v, want 5s of its own, 5.7s of others, 2.5s of them where all is full", n)
	}
	// The threads of a process that ends take their counts along.
	end := m.Process.Samples[100]
	m.Process.Samples[100].RunQueue = 20 * ms
	if n, _ = m.Neighbours(); n.Waited != 2190*ms {
		t.Errorf("waits at its end: %+v, want 2.19s waited", n)
	}
	m.Process.Samples[100] = end
	// How busy two of its CPUs are, the machine does not tell. The last piece may be a short one.
	m.Machine.Samples = append(m.Machine.Samples, MachineSample{At: 10_050 * ms, Busy: busy + 50*ms, Idle: idle + 50*ms})
	m.Run.Overhead, m.Limits, m.Machine.CPUs = nil, &Limits{CPUs: 2}, 16
	if n, _ = m.Neighbours(); n.Full != n.Window || n.FullWaited != n.Waited || n.FullOthers != n.Others {
		t.Errorf("on two of sixteen CPUs: %+v, want all of the window full", n)
	}
	if _, ok = (&Model{}).Neighbours(); ok {
		t.Error("neighbours of nothing")
	}
}

func TestFrozen(t *testing.T) {
	m := &Model{Process: counters(3*time.Second, time.Second)}
	f := m.Frozen()
	account := f.CPUAccount()
	if f == m || f.Frozen() != f || f.CPUAccount() != account || account.Total != m.CPUAccount().Total {
		t.Error("not computed once")
	}
	m.Process = counters(6*time.Second, time.Second)
	if a := m.CPUAccount(); a.User != 6*time.Second {
		t.Errorf("CPUAccount() of the model that changed has user %v, want 6s", a.User)
	}
}

// TestMemoryAtOneMoment: what is resident is compared with what the runtime had mapped
// then, and never less than nothing.
func TestMemoryAtOneMoment(t *testing.T) {
	m := &Model{Process: &Process{}, Metrics: &Metrics{Series: map[string]Series{"/memory/classes/total:bytes": {{0, 20 << 20}, {2 * time.Second, 40 << 20}}}}}
	for at, rss := range []uint64{10, 30, 44, 6} { // it ends, and the last reading sees that
		m.Process.Samples = append(m.Process.Samples, ProcessSample{At: time.Duration(at) * time.Second, RSS: rss << 20})
	}
	if a := m.MemoryAccount(); a.RSS != 6<<20 || a.part(partRest) != 4<<20 || a.Untouched != 0 || a.Counted != 44<<20 {
		t.Errorf("resident %d, outside %d, untouched %d, %d in all; want 6, 4, 0 and 44 MiB", a.RSS>>20, a.part(partRest)>>20, a.Untouched>>20, a.Counted>>20)
	}
	m.Process.Samples[3].RSS = 0 // all was given back when it was read last
	if a := m.MemoryAccount(); a.RSS != 44<<20 || !a.Resident || a.Counted != 44<<20 {
		t.Errorf("of a process that has ended: resident %d MiB (%v), %d in all; want 44 and 44 MiB", a.RSS>>20, a.Resident, a.Counted>>20)
	}
	m.Process.Samples = m.Process.Samples[:3]
	m.Metrics.Series["/memory/classes/total:bytes"][1].At = 3 * time.Second
	m.Process.Samples = append(m.Process.Samples, ProcessSample{At: 3 * time.Second})
	if a := m.MemoryAccount(); a.Counted != 44<<20 {
		t.Errorf("of a process that ended beside the last reading: %d in all; want 44 MiB", a.Counted>>20)
	}
	m.Process.Samples[2].RSS = 15 << 20
	if a := m.MemoryAccount(); a.part(partRest) != 0 || a.Untouched != 25<<20 || a.part(partRuntime) != 15<<20 {
		t.Errorf("outside %d, untouched %d of %d; want 0, 25 and 15 MiB", a.part(partRest)>>20, a.Untouched>>20, a.part(partRuntime)>>20)
	}
}

// TestLiveHeapOfTrace: of a heap that grows the sizes before the last collections are not
// what is alive at its end.
func TestLiveHeapOfTrace(t *testing.T) {
	ms := time.Millisecond
	m := &Model{GC: &GC{Cycles: []Cycle{{1, 0, 5 * ms}, {2, 90 * ms, 92 * ms}, {3, 95 * ms, 97 * ms}}}}
	for i := range 100 {
		m.GC.Heap = append(m.GC.Heap, HeapSample{At: time.Duration(i) * ms, Alloc: uint64(i+1) << 20})
	}
	if a := m.MemoryAccount(); a.Live != 91<<20 {
		t.Errorf("live %d MiB, want 91: the least since the last collection but one began", a.Live>>20)
	}
	m.GC.Cycles = nil
	if a := m.MemoryAccount(); a.Live != 76<<20 {
		t.Errorf("live %d MiB, want 76: the least of the last quarter", a.Live>>20)
	}
}

func TestMemoryAccount(t *testing.T) {
	two := func(a, b float64) Series { return Series{{0, a}, {10 * time.Second, b}} }
	m := &Model{Process: &Process{}, Limits: &Limits{Memory: 512 << 20}, Metrics: &Metrics{Series: map[string]Series{
		"/gc/heap/live:bytes": two(3<<20, 5<<20), "/gc/heap/allocs:bytes": two(10<<20, 110<<20), "/gc/heap/allocs:objects": two(0, 5000),
		"/memory/classes/total:bytes": two(20<<20, 40<<20), "/memory/classes/heap/objects:bytes": two(1, 10<<20), "/memory/classes/heap/released:bytes": two(1, 8<<20)}}}
	for i := range 11 {
		m.Process.Samples = append(m.Process.Samples, ProcessSample{At: time.Duration(i) * time.Second, RSS: uint64(i+40) << 20})
	}
	a := m.MemoryAccount()
	if a.Live != 5<<20 || a.AllocBytes != 10<<20 || a.AllocObjects != 500 || a.RSS != 50<<20 || a.Limit != 512<<20 {
		t.Errorf("account %+v, want 5 MiB live, 10 MiB and 500 objects a second, 50 of 512 MiB resident", a)
	}
	// 40 MiB mapped and 8 of them given back leave 18 of 50 to others.
	if a.Mapped != 40<<20 || a.part(partRest) != 18<<20 {
		t.Errorf("mapped %d, outside %d; want %d and %d", a.Mapped, a.part(partRest), 40<<20, 18<<20)
	}
	var sum uint64
	for i, c := range a.Classes {
		sum += c.Bytes
		if i > 0 && c.Bytes > a.Classes[i-1].Bytes {
			t.Errorf("not the largest first: %v", a.Classes)
		}
	}
	if sum != a.Mapped {
		t.Errorf("classes of %d, want the %d that are mapped", sum, a.Mapped)
	}
	if len(a.Growth) != 1 || a.Growth[0].Name != "resident memory" || a.Growth[0].PerSecond != 1<<20 || a.Growth[0].Low != 1<<20 {
		t.Errorf("growth %+v, want resident memory by 1 MiB a second", a.Growth)
	}
	// What a recorder leaves out is told, however little it is.
	m.Metrics.Series["/memory/classes/total:bytes"] = two(20<<20, 19<<20)
	if a := m.MemoryAccount(); a.Mapped != 19<<20 || a.Classes[2] != (MemoryClass{"not listed", 1 << 20}) {
		t.Errorf("account %+v, want 19 MiB mapped, 1 MiB of them not listed", a)
	}
	if (&Model{}).MemoryAccount() != nil {
		t.Error("an account of nothing")
	}
	warm := &Model{GC: &GC{Heap: []HeapSample{{0, 1 << 20, 4 << 20}, {ms, 5 << 20, 8 << 20}, {2 * ms, 7 << 20, 8 << 20}, {3 * ms, 6 << 20, 8 << 20}}}}
	if a := warm.MemoryAccount(); a.Live != 6<<20 {
		t.Errorf("a heap that was filled has %d live, want 6 MiB", a.Live)
	}
	trace := &Model{GC: &GC{Heap: []HeapSample{{0, 4 << 20, 8 << 20}, {time.Second, 8 << 20, 8 << 20}, {1100 * ms, 4 << 20, 8 << 20}, {2 * time.Second, 6 << 20, 8 << 20}}}}
	if a := trace.MemoryAccount(); a == nil || a.AllocBytes != 3<<20 || a.Goal != 8<<20 {
		t.Errorf("account of a trace = %+v, want 3 MiB a second and a goal of 8 MiB", a)
	}
}
