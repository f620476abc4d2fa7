package model

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestGoMinor(t *testing.T) {
	for _, tt := range []struct {
		version string
		n       int
		ok      bool
	}{
		{"go1.26.1", 26, true}, {"go1.26-abc", 26, true}, {"devel go1.27-abc", 27, true}, {"go1.19", 19, true}, {"go1.20rc1", 20, true},
		{"go1.9:1", 9, true}, {"go1.", 0, false}, {"go1.x", 0, false}, {"go2.1", 0, false}, {"", 0, false}, {"1.26", 0, false},
	} {
		if n, ok := GoMinor(tt.version); n != tt.n || ok != tt.ok {
			t.Errorf("GoMinor(%q) = %d, %v, want %d, %v", tt.version, n, ok, tt.n, tt.ok)
		}
	}
}

func TestUsable(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    Model
		want float64
	}{
		{"nothing known", Model{}, 0},
		{"the machine", Model{Machine: &Machine{CPUs: 8}}, 8},
		{"limits without numbers", Model{Machine: &Machine{CPUs: 8}, Limits: &Limits{}}, 8},
		{"affinity", Model{Machine: &Machine{CPUs: 8}, Limits: &Limits{CPUs: 4}}, 4},
		{"affinity of more than there are", Model{Machine: &Machine{CPUs: 8}, Limits: &Limits{CPUs: 16}}, 8},
		{"affinity alone", Model{Limits: &Limits{CPUs: 4}}, 4},
		{"a quota below affinity", Model{Machine: &Machine{CPUs: 8}, Limits: &Limits{CPUs: 4, Quota: 1.5}}, 1.5},
		{"a quota above affinity", Model{Machine: &Machine{CPUs: 8}, Limits: &Limits{CPUs: 4, Quota: 6}}, 4},
		{"a quota alone", Model{Limits: &Limits{Quota: 2.5}}, 2.5},
	} {
		if got := tt.m.Usable(); got != tt.want {
			t.Errorf("Usable() of %s = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestInUse(t *testing.T) {
	start, end, heap := &Profile{}, &Profile{}, &Profile{At: 5}
	window := &Profile{Duration: time.Second}
	for _, tt := range []struct {
		name string
		m    Model
		want *Profile
	}{
		{"nothing", Model{}, nil},
		{"nothing at the end", Model{LiveHeap: Snapshots{Start: start}}, nil},
		{"a heap profile", Model{LiveHeap: Snapshots{start, end}}, end},
		{"a heap profile, and of all allocations", Model{LiveHeap: Snapshots{start, end}, Heap: heap}, end},
		{"all allocations", Model{Heap: heap, Block: start, Goroutines: Snapshots{End: end}}, heap},
		{"all allocations alone", Model{Heap: heap}, heap},
		{"all allocations, and a heap profile of the start", Model{Heap: heap, LiveHeap: Snapshots{Start: start}}, heap},
		{"those of a window", Model{Heap: window}, nil},
		{"another", Model{Block: heap}, nil},
	} {
		if got := tt.m.InUse(); got != tt.want {
			t.Errorf("InUse() of %s = %p, want %p", tt.name, got, tt.want)
		}
	}
	p := &Profile{Types: []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}}
	for name, want := range map[string]int{"samples": 0, "cpu": 1, "nanoseconds": -1} {
		if got := p.Column(name); got != want {
			t.Errorf("Column(%s) = %d, want %d", name, got, want)
		}
	}
	s := &Sample{Values: []int64{3, 5}}
	for column, want := range map[int]float64{-1: 0, 0: 3, 1: 5, 2: 0} {
		if got := s.Value(column); got != want {
			t.Errorf("Value(%d) = %v, want %v", column, got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	c := &Counts{
		Calls:  []Count{{Name: "c", N: 50}, {Name: "b", N: 50}, {Name: "read", N: 60}, {Name: "write", N: 70}, {Name: "a", N: 40}},
		Events: []Count{{Name: "z", N: 5}, {Name: "y", N: 9}},
		Inits:  []Init{{Package: "net", At: 1000, Took: 30}, {Package: "os", At: 2000, Took: 4}},
	}
	if got := c.Initialising(); got != 34 {
		t.Errorf("Initialising() = %d, want 34", got)
	}
	if got := c.AllCalls(); got != 270 {
		t.Errorf("AllCalls() = %v, want 270", got)
	}
	c.Sort()
	want := []Count{{Name: "write", N: 70}, {Name: "read", N: 60}, {Name: "b", N: 50}, {Name: "c", N: 50}, {Name: "a", N: 40}}
	if !reflect.DeepEqual(c.Calls, want) || c.Events[0].Name != "z" {
		t.Errorf("Sort() made %+v of calls and %+v of events, want %+v and the events as they were", c.Calls, c.Events, want)
	}
}

func TestSyscalls(t *testing.T) {
	for share, want := range map[float64]bool{0: true, 1: true, 1.5: true, 0.75: false, 0.25: false} {
		if got := (&Syscalls{Share: share}).Exact(); got != want {
			t.Errorf("Exact() of a share of %v = %v, want %v", share, got, want)
		}
	}
	s := &Syscalls{Calls: []Syscall{{Name: "read", Count: 3}, {Name: "futex", Count: 9}}}
	for name, want := range map[string]int64{"read": 3, "futex": 9, "write": 0} {
		if got := s.Call(name); got.Name != name || got.Count != want {
			t.Errorf("Call(%s) = %+v, want %d of that name", name, got, want)
		}
	}
}

func TestHowItEnded(t *testing.T) {
	for _, tt := range []struct {
		run  Run
		want string
	}{
		{Run{}, ""},
		{Run{Killed: &Kill{}, Death: &Death{}}, "was killed for want of memory"},
		{Run{Killed: &Kill{Words: "was killed at noon"}}, "was killed at noon"},
		{Run{Death: &Death{}}, "died"},
		{Run{Death: &Death{Signal: "SIGSEGV", Addr: 0x18}}, "died of SIGSEGV at address 0x18"},
		{Run{Death: &Death{Words: "panic: no"}}, "died: panic: no"},
		{Run{Death: &Death{Func: "main.f", File: "/src/f.go", Line: 7}}, "died, in main.f (f.go:7)"},
		{Run{Death: &Death{File: "/src/f.go", Line: 7}}, "died"},
	} {
		if got := tt.run.Ending(); got != tt.want {
			t.Errorf("Ending() of %+v = %q, want %q", tt.run.Death, got, tt.want)
		}
	}
}

func TestReleaseOf(t *testing.T) {
	r := &Release{Funcs: []string{"p.slow", "p.other"}}
	for stack, want := range map[string]bool{"runtime.mallocgc p.other main.main": true, "p.fast main.main": false, "": false} {
		if got := r.Of(frames(stack)); got != want {
			t.Errorf("Of(%s) = %v, want %v", stack, got, want)
		}
	}
	if r.Of([]Frame{{Func: "p.fast", File: "p.slow"}}) {
		t.Error("Of(a file of that name) = true, want false")
	}
	r.Without = "p.costly"
	for stack, want := range map[string]bool{
		"p.costly p.slow main.main":                  true, // at the leaf
		"p.costly p.slow":                            true,
		"runtime.mallocgc p.costly p.fast p.other m": true,
		"p.costly main.main":                         false, // on another way
		"p.slow p.costly":                            false, // which comes from there
		"p.fast p.slow main.main":                    false, // to something else
	} {
		if got := r.Of(frames(stack)); got != want {
			t.Errorf("Of(%s) of a release without p.costly = %v, want %v", stack, got, want)
		}
	}
}

func TestStacks(t *testing.T) {
	var s Stacks
	if s.Len() != 1 || s.Frames(0) != nil {
		t.Errorf("an empty table has %d stacks, and %v is the first, want 1 without frames", s.Len(), s.Frames(0))
	}
	id := s.Add(frames("a b"))
	if got := s.Frames(id); !slices.Equal(got, frames("a b")) || s.Len() != 2 {
		t.Errorf("Frames(%d) = %v of %d stacks, want a b of 2", id, got, s.Len())
	}
	for _, unknown := range []Stack{-1, 2, 9} {
		if got := s.Frames(unknown); got != nil {
			t.Errorf("Frames(%d) = %v, want nil", unknown, got)
		}
	}
}

// Each source is its own part of the model.
func TestHas(t *testing.T) {
	profile := &Profile{}
	for source, m := range map[Source]*Model{
		Trace: {Sched: &Sched{}}, CPU: {CPU: profile}, Wall: {Wall: profile}, LiveHeap: {LiveHeap: Snapshots{End: profile}}, Heap: {Heap: profile},
		Block: {Block: profile}, Mutex: {Mutex: profile}, GoroutineProfile: {Goroutines: Snapshots{End: profile}}, ThreadCreate: {ThreadCreate: profile},
		Leak: {Leaks: profile}, MetricsLog: {Metrics: &Metrics{}}, GCTrace: {GCLog: make([]GCLine, 1)}, SchedTrace: {SchedLog: make([]SchedLine, 1)},
		BuildInfo: {Build: &Build{}}, ProcFS: {Process: &Process{}}, KernelCPU: {Kernel: &Kernel{CPU: profile}}, OffCPU: {Kernel: &Kernel{Off: profile}},
		SyscallLog: {Syscalls: &Syscalls{}}, Holders: {Run: Run{Holders: make([]*HeapLook, 1)}}, LoadResult: {Load: &Load{}},
		Escape: {Escapes: make([]Escaping, 1)}, Printed: {Tables: make([]*Table, 1)}, Counted: {Counts: make([]*Counts, 1)}, ShortageLog: {Shortages: make([]Shortage, 1)},
	} {
		for _, s := range Sources() {
			if got, want := m.Has(s), s == source; got != want {
				t.Errorf("Has(%s) of a model of %s = %v, want %v", s, source, got, want)
			}
		}
		if got := m.Profile(source); (got == profile) != (lineOf(source).profile != nil) {
			t.Errorf("Profile(%s) = %p, want it where the source is one", source, got)
		}
	}
	for s, want := range map[Source]string{Trace: "trace", Heap: "allocs", Escape: "", Source("none"): ""} {
		if got := s.Recorded(); got != want {
			t.Errorf("Recorded() of %s = %q, want %q", s, got, want)
		}
	}
}

func TestHistogramSums(t *testing.T) {
	var a, b Histogram
	a.AddN(3, 2)
	b.AddN(100, 4)
	b.AddN(5, 1)
	small := a
	small.Counts = slices.Clone(a.Counts)
	a.Merge(b)
	if a.N != 7 || a.Sum != 411 || a.Max != 100 || len(a.Counts) != HistogramBucket(100)+1 {
		t.Errorf("Merge(…) = %+v, want 7 of 411, the largest 100, in %d buckets", a, HistogramBucket(100)+1)
	}
	b.Merge(small)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("merged %+v and %+v, want the same whichever is larger", a, b)
	}
	// Of seven: two of 3, one of 5, four of about 100.
	for _, tt := range []struct {
		q    float64
		want time.Duration
	}{{0, 3}, {0.2, 3}, {0.35, 3}, {0.37, 5}, {0.5, 100}, {1, 100}, {2, 100}} {
		if got := a.Quantile(tt.q); got != tt.want {
			t.Errorf("Quantile(%v) = %d, want %d", tt.q, got, tt.want)
		}
	}
	var wide Histogram
	wide.Add(1000)
	wide.Add(5000)
	if got := wide.Quantile(0.5); got != 992 { // the middle of [960, 1024)
		t.Errorf("Quantile(0.5) = %d, want 992", got)
	}
}
