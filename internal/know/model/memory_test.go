package model

import (
	"math"
	"reflect"
	"testing"
	"time"
)

// Classes of as many bytes are in the order of their names, and what the total has beyond them is listed.
func TestMemoryClasses(t *testing.T) {
	classes := map[string]uint64{"heap/objects": 300, "heap/stacks": 50, "heap/free": 50, "heap/unused": 50, "heap/released": 70, "other": 260}
	want := []MemoryClass{{"heap/objects", 300}, {"other", 260}, {"heap/released", 70}, {"heap/free", 50}, {"heap/stacks", 50}, {"heap/unused", 50}}
	for total, more := range map[uint64][]MemoryClass{780: nil, 700: nil, 790: {{"not listed", 10}}} {
		m := &Model{MemStats: &MemStats{Classes: map[string]uint64{classTotal: total}}}
		for name, n := range classes {
			m.MemStats.Classes[name] = n
		}
		a := m.MemoryAccount()
		if want := append(want[:len(want):len(want)], more...); !reflect.DeepEqual(a.Classes, want) || a.Mapped != max(780, total) || a.Released != 70 {
			t.Errorf("MemoryAccount() of %d in all has %d mapped, %d released, of %v, want %d, 70, of %v", total, a.Mapped, a.Released, a.Classes, max(780, total), want)
		}
	}
}

// Beside mappings the classes are those of the moment at which these were read.
func TestClassesBesideMaps(t *testing.T) {
	m := &Model{Process: mapped(46, 9), Metrics: &Metrics{Series: map[string]Series{
		"/memory/classes/heap/free:bytes": {{0, 5}, {4 * time.Second, 7}, {8 * time.Second, 9}}, "/gc/heap/goal:bytes": {{0, 3}}}}}
	m.Process.Maps.At = 4 * time.Second
	if got, want := m.countedClasses(), map[string]uint64{"heap/free": 7}; !reflect.DeepEqual(got, want) {
		t.Errorf("countedClasses() = %v, want %v", got, want)
	}
	m.Process = nil
	if got, want := m.countedClasses(), map[string]uint64{"heap/free": 9}; !reflect.DeepEqual(got, want) {
		t.Errorf("countedClasses() without mappings = %v, want %v", got, want)
	}
}

// What tells most exactly is believed, of sizes and of rates.
func TestHeapSizeAndRate(t *testing.T) {
	series := func(name string, from, to float64) *Metrics {
		return &Metrics{Series: map[string]Series{name: {{time.Second, from}, {5 * time.Second, to}}}}
	}
	alloc := &Profile{Types: []ValueType{{"alloc_objects", "count"}, {"alloc_space", "bytes"}}, Duration: 2 * time.Second,
		Samples: []Sample{{Values: []int64{6, 800}}, {Values: []int64{4, 200}}, {Values: []int64{2}}}}
	rates := series("/gc/heap/allocs:bytes", 100, 900)
	rates.Series["/gc/heap/allocs:objects"] = Series{{time.Second, 10}, {5 * time.Second, 50}}
	gc := &GC{Heap: []HeapSample{{At: time.Second, Alloc: 100, Goal: 70}, {At: 2 * time.Second, Alloc: 300, Goal: 71}, {At: 3 * time.Second, Alloc: 50, Goal: 72},
		{At: 5 * time.Second, Alloc: 90, Goal: 73}, {At: 5 * time.Second, Goal: 74}, {At: 5 * time.Second, Alloc: 500, Goal: 75}}}
	collected := func(cycles ...Cycle) Model { return Model{GC: &GC{Heap: gc.Heap[:2], Cycles: cycles}} }
	for _, tt := range []struct {
		name           string
		m              Model
		live, goal     uint64
		bytes, objects float64
		from           string
	}{
		{"counters", Model{Metrics: rates, Heap: alloc, GC: gc}, 90, 75, 200, 10, "runtime/metrics"},
		{"a profile", Model{Heap: alloc, GC: gc}, 90, 75, 500, 6, "allocs profile"},
		{"heap sizes", Model{GC: gc}, 90, 75, 60, 0, "heap sizes of the trace"},
		{"two heap sizes", Model{GC: &GC{Heap: gc.Heap[:2]}}, 300, 71, 200, 0, "heap sizes of the trace"},
		{"one heap size", Model{GC: &GC{Heap: gc.Heap[:1]}}, 100, 70, 0, 0, ""},
		{"one collection", collected(Cycle{1, 0, 1}), 300, 71, 200, 0, "heap sizes of the trace"},
		{"a collection from before", collected(Cycle{1, -1, 1}, Cycle{2, 3, 4}), 300, 71, 200, 0, "heap sizes of the trace"},
		{"two collections", collected(Cycle{1, 0, 1}, Cycle{2, 3, 4}), 100, 71, 200, 0, "heap sizes of the trace"},
		{"lines of gctrace", Model{GCLog: gcLog()}, 50, 0, 0, 0, ""},
		{"live heap of the metrics", Model{Metrics: series("/gc/heap/live:bytes", 5, 77), GCLog: gcLog()[:3]}, 77, 80, 0, 0, ""},
		{"goal of the metrics", Model{Metrics: series("/gc/heap/goal:bytes", 5, 33), GCLog: gcLog()[:2], GC: gc}, 70, 33, 60, 0, "heap sizes of the trace"},
		{"a heap profile", Model{LiveHeap: Snapshots{End: &Profile{Types: []ValueType{{"inuse_space", "bytes"}}, Samples: []Sample{{Values: []int64{44}}}}}}, 44, 0, 0, 0, ""},
		{"a printed MemStats", Model{MemStats: &MemStats{NextGC: 99, Classes: map[string]uint64{"other": 1}}}, 0, 99, 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.m.MemoryAccount()
			if a.Live != tt.live || a.Goal != tt.goal {
				t.Errorf("MemoryAccount() has %d alive and a goal of %d, want %d and %d", a.Live, a.Goal, tt.live, tt.goal)
			}
			if a.AllocBytes != tt.bytes || a.AllocObjects != tt.objects || a.AllocFrom != tt.from {
				t.Errorf("MemoryAccount() has %v bytes and %v objects a second from %q, want %v and %v from %q",
					a.AllocBytes, a.AllocObjects, a.AllocFrom, tt.bytes, tt.objects, tt.from)
			}
		})
	}
}

// A core tells the parts that it has, and of files only those that were written to.
func TestMemoryOfCore(t *testing.T) {
	of := func(n uint64) Resident { return Resident{RSS: n, PSS: 2 * n, Swap: 3 * n, Huge: 4 * n} }
	maps := func() *Maps {
		return &Maps{Core: true, Heap: of(1), Anonymous: of(20), Stack: of(300), Program: of(4000), Libraries: of(50000), Shared: of(7000000), Kernel: of(80000000),
			Largest: []Mapped{{Name: "x", RSS: 5}}}
	}
	m := &Model{Process: &Process{Maps: maps(), Samples: []ProcessSample{{RSS: 5}}}}
	a := m.MemoryAccount()
	want := []MemoryPart{{partHeap, 1, true, fromCore}, {Name: partOwn}, {Name: NativePart}, {partTogether, 20, true, fromCore}, {partData, 4000, true, fromCore},
		{partLibraries, 50000, true, fromCore}, {partFiles, 0, false, fromCore}, {partShared, 7000000, true, fromCore}, {partStack, 80000300, true, fromCore}, {Name: partText}}
	if !reflect.DeepEqual(a.Parts, want) || !a.Core || !a.Resident {
		t.Errorf("MemoryAccount() of a core has\n%v, want\n%v", a.Parts, want)
	}
	if a.Counted != 87054321 || a.PSS != 0 || a.Swap != 3*87054321 || a.Huge != 4*87054321 || !reflect.DeepEqual(a.Largest, maps().Largest) {
		t.Errorf("MemoryAccount() of a core = %d, PSS %d, swap %d, huge %d, largest %v; want 87054321, 0, thrice and four times it", a.Counted, a.PSS, a.Swap, a.Huge, a.Largest)
	}
	m.Process.Maps.Core, m.Process.Maps.Heap = false, Resident{}
	a = m.MemoryAccount()
	want = []MemoryPart{{Name: partHeap}, {Name: partOwn}, {Name: NativePart}, {partAll, 20, true, fromMaps}, {partProgram, 4000, true, fromMaps},
		{partLibraries, 50000, true, fromMaps}, {partFiles, 0, true, fromMaps}, {partShared, 7000000, true, fromMaps}, {partStack, 80000300, true, fromMaps}}
	if !reflect.DeepEqual(a.Parts, want) || a.Core || a.PSS != 2*87054320 {
		t.Errorf("MemoryAccount() without a heap has\n%v, PSS %d, want\n%v, %d", a.Parts, a.PSS, want, 2*87054320)
	}
}

func TestMappedWords(t *testing.T) {
	for _, tt := range []struct {
		m    Mapped
		want string
	}{
		{Mapped{Count: 1}, "private memory without a name, in one piece"},
		{Mapped{Count: 3, RSS: 9 << 20, Most: 2 << 20}, "private memory without a name, in 3 pieces, the largest of 2 MiB"},
		{Mapped{Name: "[heap]", Count: 1}, "C's heap: malloc's small pieces"},
		{Mapped{Name: "[anon:cache]", Count: 1}, "private memory that the program calls cache"},
		{Mapped{Name: "/lib/x.so", Count: 2}, "file /lib/x.so"},
	} {
		if got := tt.m.Words(); got != tt.want {
			t.Errorf("Words() of %+v = %q, want %q", tt.m, got, tt.want)
		}
	}
}

// A limit that is more than a month ahead is no news.
func TestReached(t *testing.T) {
	var s Series
	for i := range 12 {
		s = append(s, Point{time.Duration(5+i) * time.Second, 1000 + 2*float64(i)})
	}
	day := 24 * time.Hour.Seconds()
	for by, want := range map[float64]time.Duration{100: 50 * time.Second, -100: 0, 0: 0, 2 * 29 * day: 29 * 24 * time.Hour, 2 * 31 * day: 0} {
		if got := reached(s, by); got != want {
			t.Errorf("reached(…, %v) = %v, want %v", by, got, want)
		}
	}
	falls := make(Series, len(s))
	for i, p := range s {
		falls[i] = Point{p.At, -p.Value}
	}
	if got := reached(falls, 100); got != 0 {
		t.Errorf("reached(what becomes less, 100) = %v, want 0", got)
	}
	for over, want := range map[time.Duration]bool{9 * time.Second: false, 10 * time.Second: true, time.Hour: true} {
		if got := (&Growth{Over: over}).Lasts(); got != want {
			t.Errorf("Lasts() of %v = %v, want %v", over, got, want)
		}
	}
	if got := reached(s[:10], 100); got != 0 {
		t.Errorf("reached(9s of growth, 100) = %v, want 0", got)
	}
	if got := reached(s[:11], 100); got != 50*time.Second {
		t.Errorf("reached(10s of growth, 100) = %v, want 50s", got)
	}
}

func TestOutsideRuntime(t *testing.T) {
	m := &Model{Process: &Process{Samples: []ProcessSample{{At: 10, RSS: 900}, {At: 20, RSS: 1000}, {At: 30}}}}
	m.Metrics = &Metrics{Series: map[string]Series{memoryClasses + classTotal + ":bytes": {{10, 700}, {20, 5000}, {22, 600}, {30, 600}},
		memoryClasses + classReleased + ":bytes": {{10, 50}, {20, 150}, {30, 150}}}}
	if got, want := m.OutsideRuntime(), (Series{{10, 250}, {20, 0}, {22, 550}}); !reflect.DeepEqual(got, want) {
		t.Errorf("OutsideRuntime() = %v, want %v", got, want)
	}
	m.Process.Samples = m.Process.Samples[:1]
	if got := m.OutsideRuntime(); got != nil {
		t.Errorf("OutsideRuntime() of one moment = %v, want nil", got)
	}
	m = growing(2)
	if got := m.MemoryOver(); len(got) != 2 {
		t.Errorf("MemoryOver() of two moments has %d, want 2", len(got))
	}
}

// What an operation takes is known of the one benchmark that ran, or of what was counted.
func TestTimeOfAnOperation(t *testing.T) {
	bench := func(name, pkg string, nanos float64) Benchmark {
		return Benchmark{Name: name, Package: pkg, Values: map[string]float64{"ns/op": nanos}}
	}
	for _, tt := range []struct {
		name string
		l    Load
		want time.Duration // of CPU, of which two fifths of a core are used
		part float64       // of 5000 in the window of 10 s
	}{
		{"one benchmark", Load{Benchmarks: []Benchmark{bench("B", "p", 1000), bench("B", "p", 2000)}}, 600, 5000 * 1500 / 1e10},
		{"two benchmarks", Load{Benchmarks: []Benchmark{bench("B", "p", 1000), bench("C", "p", 2000)}}, 0, 0},
		{"of two packages", Load{Benchmarks: []Benchmark{bench("B", "p", 1000), bench("B", "q", 2000)}}, 0, 0},
		{"operations", Load{Ops: 2000, Rate: 200}, 2 * ms, 2.5},
		{"nothing", Load{}, 0, 0},
	} {
		m := &Model{Process: counters(3*time.Second, time.Second), Load: &tt.l}
		m.Run.Duration = 10 * time.Second
		if got := m.CPUPerOperation(); got != tt.want {
			t.Errorf("CPUPerOperation() of %s = %v, want %v", tt.name, got, tt.want)
		}
		if got := m.OperationShare(5000); math.Abs(got-tt.part) > 1e-9 {
			t.Errorf("OperationShare(5000) of %s = %v, want %v", tt.name, got, tt.part)
		}
		if m.Run.Duration = 0; m.OperationShare(5000) != 0 {
			t.Errorf("OperationShare(5000) of no window = %v, want 0", m.OperationShare(5000))
		}
	}
	m := &Model{Process: counters(0, 4*time.Second), Load: &Load{Ops: 2000, Rate: 200}, Run: Run{Duration: 10 * time.Second}}
	if got := m.CPUPerOperation(); got != 2*ms {
		t.Errorf("CPUPerOperation() in the kernel alone = %v, want 2ms", got)
	}
	b := tally{&Model{Load: m.Load, Run: m.Run}}
	if b.CPU = b.profile(nil, map[string]time.Duration{appStack: time.Second}); b.CPUPerOperation() != 500*time.Microsecond {
		t.Errorf("CPUPerOperation() of 1s in 2000 operations = %v, want 500µs", b.CPUPerOperation())
	}
	if b.CPU.Duration = 0; b.CPUPerOperation() != 0 {
		t.Errorf("CPUPerOperation() of a profile without a length = %v, want 0", b.CPUPerOperation())
	}
	if got := (&Model{Load: &Load{Ops: 5, Rate: 1}, Run: Run{Duration: time.Second}}).CPUPerOperation(); got != 0 {
		t.Errorf("CPUPerOperation() without CPU time = %v, want 0", got)
	}
}

// Each of what a reason is known by tells it from another.
func TestReasonSame(t *testing.T) {
	r := Reason{Pattern: MapTwice, Func: "main.f", File: "f.go", Line: 3, Last: 4}
	for name, change := range map[string]func(*Reason){
		"pattern": func(o *Reason) { o.Pattern = PowTen }, "function": func(o *Reason) { o.Func = "main.g" }, "file": func(o *Reason) { o.File = "g.go" },
		"line": func(o *Reason) { o.Line = 2 }, "last line": func(o *Reason) { o.Last = 5 },
	} {
		o := r
		if change(&o); r.Same(&o) {
			t.Errorf("Same(a reason of another %s) = true, want false", name)
		}
	}
	if !OfLine("runtime.memequal64") || OfLine("runtime.mem") || OfLine("") {
		t.Error("OfLine(runtime.memequal64), of runtime.mem and of nothing are not true, false, false")
	}
	join := Reason{Func: "main.f", File: "f.go", Line: 3, Last: 4, Alone: true, Through: []string{"runtime.concatstring"}}
	at := []Frame{{Func: "main.f", File: "f.go", Line: 3}}
	shared, called := join, join
	shared.Alone, called.Through = false, []string{"strings.Repeat"}
	for want, list := range map[bool][]Reason{true: {join}, false: {shared, called}} {
		for _, r := range list {
			if got := r.Allocates(at); got != want {
				t.Errorf("Allocates(the line itself) of %+v = %v, want %v", r, got, want)
			}
		}
	}
}

// What is no number has no part in a trend.
func TestThinned(t *testing.T) {
	s := Series{{1, 5}, {2, math.NaN()}, {3, math.Inf(1)}, {4, math.Inf(-1)}, {5, -math.MaxFloat64}}
	if got, want := s.thinned(), (Series{{1, 5}, {5, -math.MaxFloat64}}); !reflect.DeepEqual(got, want) {
		t.Errorf("thinned() = %v, want %v", got, want)
	}
	long := make(Series, 400)
	for i := range long {
		long[i] = Point{time.Duration(i), float64(i)}
	}
	if got := long.thinned(); len(got) != 200 || got[0] != (Point{1, 0.5}) || got[199] != (Point{399, 398.5}) {
		t.Errorf("thinned() of 400 points has %d, from %v to %v, want 200 from the first two to the last", len(got), got[0], got[len(got)-1])
	}
}

// Without the metrics the lines of gctrace tell what was alive, as far as they are in order.
func TestLiveSeries(t *testing.T) {
	m := &Model{GCLog: []GCLine{{At: 50, Live: 4, SweepTerm: 3}, {At: 70, Live: 5, SweepTerm: 2}, {At: 60, Live: 6, SweepTerm: 9},
		{At: 70, Live: 7}, {At: 80, Live: 8}}}
	if got, want := m.liveSeries(), (Series{{50, 4}, {70, 5}, {80, 8}}); !reflect.DeepEqual(got, want) {
		t.Errorf("liveSeries() = %v, want %v", got, want)
	}
}

// What the runtime keeps reaches its limit as it grows: of 100 MiB 61 are used after eleven seconds of a
// MiB each.
func TestGOMEMLIMITReached(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Model)
		want   time.Duration
	}{
		{"read each second", func(*Model) {}, 39 * time.Second},
		{"what was given back is read otherwise", func(m *Model) {
			name := memoryClasses + classReleased + ":bytes"
			m.Metrics.Series[name] = m.Metrics.Series[name][1:]
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := growing(12)
			tt.change(m)
			b := m.MemoryAccount().Bounds[1]
			if b.Name != "GOMEMLIMIT" || b.Used != 61*mib || b.Reached.Round(time.Millisecond) != tt.want {
				t.Errorf("the bound is %+v, want GOMEMLIMIT, of which 61 MiB are used, reached in %v", b, tt.want)
			}
		})
	}
	if got := new(Model).keptSeries(); got != nil {
		t.Errorf("keptSeries() of nothing = %v, want nil", got)
	}
}

// A trend is told with its first and last value and the time between these.
func TestGrowthOfSeries(t *testing.T) {
	var s Series
	for i := range 10 {
		s = append(s, Point{time.Duration(3+i) * time.Second, 100 + 7*float64(i)})
	}
	a := &MemoryAccount{}
	a.grow("live heap", s)
	a.grow("one value", s[:1])
	if len(a.Growth) != 1 {
		t.Fatalf("there are %d trends, want one", len(a.Growth))
	}
	g := a.Growth[0]
	if math.Abs(g.PerSecond-7) > 1e-9 || math.Abs(g.Low-7) > 1e-9 || math.Abs(g.High-7) > 1e-9 || g.Name != "live heap" {
		t.Errorf("the trend is %+v, want 7 a second", g)
	}
	if g.First != 100 || g.Last != 163 || g.Over != 9*time.Second {
		t.Errorf("the trend is from %d to %d over %v, want from 100 to 163 over 9s", g.First, g.Last, g.Over)
	}
}
