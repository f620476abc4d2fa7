package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// part returns the size of one; 0 when there is none.
func (a *MemoryAccount) part(name string) (n uint64) {
	for _, p := range a.Parts {
		if p.Name == name {
			n += p.Bytes
		}
	}
	return n
}

const mib = 1 << 20

// counted has the runtime's counts of a heap of 60 MiB, 10 of them given back.
func counted() *Metrics {
	m := &Metrics{Series: map[string]Series{}}
	for name, v := range map[string]float64{"/gc/heap/live:bytes": 20, "/gc/heap/goal:bytes": 42, "/gc/gomemlimit:bytes": 100,
		"/memory/classes/heap/objects:bytes": 30, "/memory/classes/heap/unused:bytes": 5, "/memory/classes/heap/free:bytes": 8,
		"/memory/classes/heap/released:bytes": 10, "/memory/classes/heap/stacks:bytes": 2, "/memory/classes/metadata/other:bytes": 3,
		"/memory/classes/metadata/mspan/inuse:bytes": 1, "/memory/classes/total:bytes": 60} {
		m.Series[name] = Series{{0, v * mib}}
	}
	return m
}

// without has those counts but one.
func without(name string) *Metrics {
	m := counted()
	delete(m.Series, name)
	return m
}

func mapped(heap, anonymous uint64) *Process {
	of := func(n uint64) Resident { return Resident{RSS: n * mib, PSS: n * mib / 2} }
	return &Process{Samples: []ProcessSample{{RSS: (heap + anonymous + 22) * mib}}, Maps: &Maps{Arenas: true,
		Heap: of(heap), Anonymous: of(anonymous), Program: of(12), Files: of(6), Stack: of(4)}}
}

// swapped is a process of whose heap so much is swapped out.
func swapped(n uint64) *Process {
	p := mapped(25, 2)
	p.Maps.Heap.Swap = n * mib
	return p
}

// anonymous is a process of which nothing tells where its heap is.
func anonymous(n uint64) *Process {
	p := mapped(0, n)
	p.Maps.Arenas = false
	return p
}

func TestMemoryParts(t *testing.T) {
	for name, c := range map[string]struct {
		m         *Model
		want      map[string]uint64 // MiB
		untouched uint64
		total     uint64
	}{
		"as counted": {&Model{Process: mapped(46, 9), Metrics: counted()}, map[string]uint64{
			// The runtime has 5 MiB beside the arenas: of GC's 3 one is in the arenas; 4 are native.
			AlivePart: 20, partSince: 10, UnusedPart: 5, partFree: 8, StacksPart: 2, partOwn: 5, NativePart: 5, partProgram: 12, partFiles: 6, partStack: 4}, 0, 77},
		"touched in part": {&Model{Process: mapped(25, 2), Metrics: counted()}, map[string]uint64{
			AlivePart: 10, partSince: 5, UnusedPart: 0, partFree: 8, StacksPart: 2, partOwn: 2, NativePart: 0}, 20, 49},
		"next to nothing touched": {&Model{Process: mapped(4, 2), Metrics: counted()}, map[string]uint64{
			AlivePart: 0, partSince: 0, UnusedPart: 0, partFree: 2, StacksPart: 2}, 41, 28},
		"given back, resident again": {&Model{Process: mapped(54, 2), Metrics: counted()}, map[string]uint64{
			AlivePart: 20, partOwn: 5, partAgain: 6}, 0, 78},
		"before a collection": {&Model{Process: mapped(46, 9), Metrics: without("/gc/heap/live:bytes")}, map[string]uint64{
			partObjects: 30, UnusedPart: 5, partFree: 8, StacksPart: 2, partOwn: 5, NativePart: 5, partProgram: 12}, 0, 77},
		"swapped out": {&Model{Process: swapped(5), Metrics: counted()}, map[string]uint64{AlivePart: 10, partSince: 5, NativePart: 0}, 15, 49},
		"all swapped": {&Model{Process: swapped(50), Metrics: counted()}, map[string]uint64{AlivePart: 10, partSince: 5, NativePart: 0}, 0, 49},
		"a heap that is not found": {&Model{Process: anonymous(55), Metrics: counted()}, map[string]uint64{
			AlivePart: 20, partSince: 10, UnusedPart: 5, partFree: 8, StacksPart: 2, partOwn: 5, NativePart: 5, partProgram: 12}, 0, 77},
		"no heap and no counts": {&Model{Process: anonymous(55)}, map[string]uint64{partAll: 55, partProgram: 12}, 0, 77},
		"no classes of the heap": {&Model{Process: mapped(46, 9), Metrics: without("/memory/classes/heap/objects:bytes")}, map[string]uint64{
			partHeap: 46, partTogether: 9, partProgram: 12}, 0, 77},
		"maps alone":    {&Model{Process: mapped(30, 9)}, map[string]uint64{partHeap: 30, partTogether: 9, partProgram: 12}, 0, 61},
		"counts alone":  {&Model{Metrics: counted()}, map[string]uint64{AlivePart: 20, partFree: 8, partOwn: 5}, 0, 50},
		"beside in all": {&Model{Metrics: counted(), Process: &Process{Samples: []ProcessSample{{RSS: 60 * mib}}}}, map[string]uint64{AlivePart: 20, partRest: 10}, 0, 60},
	} {
		a := c.m.MemoryAccount()
		for p, want := range c.want {
			if got := a.part(p); got != want*mib {
				t.Errorf("%s: %s is %.2f MiB, want %d", name, p, float64(got)/mib, want)
			}
		}
		if a.Untouched != c.untouched*mib || a.Counted != c.total*mib {
			t.Errorf("%s: %d MiB untouched, %d in all; want %d and %d", name, a.Untouched>>20, a.Counted>>20, c.untouched, c.total)
		}
		addsUp(t, name, a)
	}
}

func addsUp(t *testing.T, name string, a *MemoryAccount) {
	t.Helper()
	var sum uint64
	for _, p := range a.Parts {
		sum += p.Bytes
		if !p.Told && p.Bytes > 0 || p.Told && p.From == "" {
			t.Errorf("%s: %s has %d bytes, told %v, from %q, want a source where told, and 0 bytes where not",
				name, p.Name, p.Bytes, p.Told, p.From)
		}
	}
	if sum != a.Counted {
		t.Errorf("%s: parts of %d, want %d: %+v", name, sum, a.Counted, a.Parts)
	}
}

// TestMemoryPartsAddUp: whatever the sources say, however little they agree, the parts add
// up to what is resident, and none is less than nothing.
func TestMemoryPartsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		m := &Model{}
		any := func() uint64 { return r.Uint64() >> (20 + r.IntN(44)) }
		if r.IntN(4) > 0 {
			m.Metrics = counted()
			for name, s := range m.Metrics.Series {
				if s[0].Value = float64(any()); r.IntN(6) == 0 {
					delete(m.Metrics.Series, name)
				}
			}
		}
		if r.IntN(4) > 0 {
			m.Process = &Process{Samples: []ProcessSample{{RSS: any()}}}
			if r.IntN(2) == 0 {
				k := &Maps{Arenas: r.IntN(2) == 0}
				for _, into := range []*Resident{&k.Heap, &k.Anonymous, &k.Stack, &k.Program, &k.Libraries, &k.Files, &k.Shared, &k.Kernel} {
					if r.IntN(3) > 0 {
						into.RSS, into.Swap = any(), any()
					}
				}
				m.Process.Maps = k
			}
		}
		a := m.MemoryAccount()
		if a == nil {
			continue
		}
		addsUp(t, "random", a)
		if t.Failed() {
			t.Fatalf("MemoryAccount() of %+v and %+v, want parts that add up", m.Process, m.Metrics)
		}
	}
}

// TestMemoryBounds: a limit is reached only by what grows for sure, and for long enough.
func TestMemoryBounds(t *testing.T) {
	for _, c := range []struct {
		over time.Duration
		step uint64
		want time.Duration
	}{{20 * time.Second, mib, 60 * time.Second}, {5 * time.Second, mib, 0}, {20 * time.Second, 0, 0}} {
		m := &Model{Process: &Process{}, Limits: &Limits{Memory: 200 * mib, MemoryHigh: 160 * mib}, Metrics: counted()}
		for at := time.Duration(0); at <= c.over; at += time.Second {
			grown := 120*mib + uint64(at/time.Second)*c.step
			m.Process.Samples = append(m.Process.Samples, ProcessSample{At: at, RSS: grown})
			m.Limits.Samples = append(m.Limits.Samples, LimitSample{At: at, Memory: grown + 30*mib, Cache: 40 * mib, Droppable: 30 * mib})
		}
		a := m.MemoryAccount()
		if len(a.Bounds) != 4 {
			t.Fatalf("bounds %+v, want GOGC's, GOMEMLIMIT and two of the group", a.Bounds)
		}
		goal := MemoryBound{Name: "GOGC: the next collection ends at", Limit: 42 * mib, Used: 30 * mib, UsedBy: "objects"}
		if got := a.Bounds[0]; got != goal {
			t.Errorf("the first bound is %+v, want %+v", got, goal)
		}
		last := a.Bounds[3]
		if last.Limit != 200*mib || last.Used != 120*mib+uint64(c.over/time.Second)*c.step || last.Reached.Round(time.Second) != c.want {
			t.Errorf("%+v over %v, want it reached in %v", last, c.over, c.want)
		}
		if memory := a.Bounds[1]; memory.Name != "GOMEMLIMIT" || memory.Used != 50*mib || memory.Headroom() != 50*mib || memory.Reached != 0 {
			t.Errorf("%+v, want 50 of 100 MiB", memory)
		}
	}
}

// A limit that there is not bounds nothing, nor one of which nobody counted the use; of a group's memory what
// would be given up first is no use.
func TestLimitsThatDoNotBind(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Model)
		want   []string
	}{
		"all":                {func(*Model) {}, []string{"GOGC: the next collection ends at", "GOMEMLIMIT", "control group: killed over"}},
		"no GOMEMLIMIT":      {func(m *Model) { m.Metrics.Series["/gc/gomemlimit:bytes"][0].Value = 1 << 63 }, []string{"GOGC: the next collection ends at", "control group: killed over"}},
		"GOMEMLIMIT of none": {func(m *Model) { m.Metrics.Series["/gc/gomemlimit:bytes"][0].Value = 0 }, []string{"GOGC: the next collection ends at", "control group: killed over"}},
		"GOMEMLIMIT of 2 EiB": {func(m *Model) { m.Metrics.Series["/gc/gomemlimit:bytes"][0].Value = 1 << 61 },
			[]string{"GOGC: the next collection ends at", "GOMEMLIMIT", "control group: killed over"}},
		"GOMEMLIMIT of 4 EiB": {func(m *Model) { m.Metrics.Series["/gc/gomemlimit:bytes"][0].Value = 1 << 62 },
			[]string{"GOGC: the next collection ends at", "control group: killed over"}},
		"nothing collected": {func(m *Model) { delete(m.Metrics.Series, "/gc/heap/live:bytes") },
			[]string{"GOGC: the next collection ends at", "GOMEMLIMIT", "control group: killed over"}},
		"no goal": {func(m *Model) { delete(m.Metrics.Series, "/gc/heap/goal:bytes") }, []string{"GOMEMLIMIT", "control group: killed over"}},
		"no objects counted": {func(m *Model) { delete(m.Metrics.Series, "/memory/classes/heap/objects:bytes") },
			[]string{"GOMEMLIMIT", "control group: killed over"}},
		"nothing counted": {func(m *Model) {
			for name := range m.Metrics.Series {
				if strings.HasPrefix(name, memoryClasses) {
					delete(m.Metrics.Series, name)
				}
			}
		}, []string{"control group: killed over"}},
		"no group": {func(m *Model) { m.Limits = nil }, []string{"GOGC: the next collection ends at", "GOMEMLIMIT"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Model{Process: mapped(46, 9), Metrics: counted(), Limits: &Limits{Memory: 200 * mib, Samples: []LimitSample{
				{Memory: 90 * mib, Cache: 1 * mib, Droppable: 1 * mib}, {Memory: 100 * mib, Cache: 40 * mib, Droppable: 30 * mib}}}}
			tt.change(m)
			a := m.MemoryAccount()
			var names []string
			for _, b := range a.Bounds {
				names = append(names, b.Name)
			}
			if !slices.Equal(names, tt.want) {
				t.Errorf("bounds are %q, want %q", names, tt.want)
			}
			if m.Limits != nil && (a.Cache != 40*mib || a.Droppable != 30*mib || a.Bounds[len(a.Bounds)-1].Used != 70*mib) {
				t.Errorf("of the group %d bytes are cache, %d droppable, and %+v; want 40, 30 and 70 MiB used", a.Cache, a.Droppable, a.Bounds)
			}
		})
	}
}
