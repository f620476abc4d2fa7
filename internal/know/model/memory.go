package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A MemoryAccount says what the process's memory is and how it changes.
type MemoryAccount struct {
	Live, Goal uint64 // heap in bytes: what the last collection left, and where the next one ends; 0 when not known
	// AllocBytes and AllocObjects are allocations a second, AllocFrom what
	// says so; empty when nothing does. AllocObjects is 0 where only bytes are known.
	AllocBytes, AllocObjects float64
	AllocFrom                string
	// Classes are what the runtime mapped, largest first; they add up to
	// Mapped. Released is the part of it that was given back.
	Classes          []MemoryClass
	Mapped, Released uint64
	RSS              uint64 // the process's resident memory at last; 0 when not known
	// Parts are what the memory is. They add up to Counted: resident memory, or where nothing
	// tells that, what the runtime took and has not given back.
	Parts    []MemoryPart
	Counted  uint64
	Resident bool // what Counted is
	Core     bool // what was resident a core file tells
	// Untouched is what the runtime counts and nobody touched yet, so that it is no part.
	Untouched uint64
	// PSS, Swap and Huge are of the mappings; Cache and Droppable of the control group: pages of
	// files, and what of them would be given up first. 0 when there is none or nothing tells.
	PSS, Swap, Huge  uint64
	Cache, Droppable uint64
	Limit            uint64 // by control group; 0 when there is none
	Bounds           []MemoryBound
	// Largest is what has the most of the resident memory outside of heap and program.
	Largest []Mapped
	// Growth is the trend of what was read often enough.
	Growth []Growth
}

// A MemoryClass is memory of one use, by runtime/metrics' name between
// "/memory/classes/" and ":bytes".
type MemoryClass struct {
	Name  string
	Bytes uint64
}

// Growth is the robust trend of a quantity, with its 95% interval.
type Growth struct {
	Name                 string
	PerSecond, Low, High float64 // bytes a second
	First, Last          uint64
	Over                 time.Duration
}

const (
	memoryClasses = "/memory/classes/"
	classTotal    = "total"
	classReleased = "heap/released"
)

// MemoryAccount accounts for memory; nil without any evidence of it.
//
// Of a [Model.Frozen] it is computed once; the result must not be changed.
func (m *Model) MemoryAccount() *MemoryAccount {
	if m.frozen == nil {
		return m.memoryAccount()
	}
	m.frozen.memory.Do(func() { m.frozen.resident = m.memoryAccount() })
	return m.frozen.resident
}

func (m *Model) memoryAccount() *MemoryAccount {
	a := &MemoryAccount{}
	a.Live, a.Goal = m.heapSize()
	a.AllocBytes, a.AllocObjects, a.AllocFrom = m.allocRate()
	a.classify(m.countedClasses())
	last, _ := m.Process.Resident().Last()
	a.RSS = uint64(last.Value)
	if m.Limits != nil {
		a.Limit = m.Limits.Memory
	}
	a.grow("resident memory", m.Process.Resident())
	a.grow("live heap", m.liveSeries())
	if a.Live == 0 && a.AllocFrom == "" && a.Mapped == 0 && a.RSS == 0 {
		return nil
	}
	m.memoryParts(a)
	m.memoryBounds(a)
	return a
}

// residentBeside returns the resident memory when the runtime's classes were read last, or the last
// there is where nothing tells when that was: a process that ends gives back first most and
// then all of it, and /proc is read meanwhile. It is 0 where no resident memory is known.
func (m *Model) residentBeside() uint64 {
	rss := m.Process.Resident()
	last, ok := m.classesRead().Last()
	if !ok {
		last, _ = rss.Last()
	}
	return uint64(rss.nearest(last.At))
}

// classesRead returns a series of the runtime's classes, for the moments at which they were read.
func (m *Model) classesRead() Series {
	if m.Metrics == nil {
		return nil
	}
	if s := m.Metrics.Series[memoryClasses+classTotal+":bytes"]; len(s) > 0 {
		return s
	}
	return m.Metrics.Series[memoryClasses+classReleased+":bytes"]
}

func (a *MemoryAccount) grow(name string, s Series) {
	per, low, high, ok := s.Slope()
	if !ok {
		return
	}
	a.Growth = append(a.Growth, Growth{name, per, low, high, uint64(max(0, s[0].Value)), uint64(max(0, s[len(s)-1].Value)), s[len(s)-1].At - s[0].At})
}

// liveSeries returns the live heap over time: of the metrics, else of the lines of
// gctrace.
func (m *Model) liveSeries() Series {
	if m.Metrics != nil && len(m.Metrics.Series["/gc/heap/live:bytes"]) > 0 {
		return m.Metrics.Series["/gc/heap/live:bytes"]
	}
	s := make(Series, 0, len(m.GCLog))
	for _, l := range m.GCLog {
		if n := len(s); n == 0 || l.At > s[n-1].At {
			s = append(s, Point{l.At, float64(l.Live)})
		}
	}
	return s
}

func (m *Model) heapSize() (live, goal uint64) {
	if p, ok := m.liveSeries().Last(); ok {
		live = uint64(max(0, p.Value))
	} else if m.GC != nil && len(m.GC.Heap) > 0 {
		live = m.GC.lately()
	} else if p := m.LiveHeap.End; p != nil {
		live = uint64(max(0, p.total("inuse_space")))
	}
	switch v, ok := m.Metrics.Last("/gc/heap/goal:bytes"); {
	case ok:
		goal = uint64(max(0, v))
	case m.GC != nil && len(m.GC.Heap) > 0:
		goal = m.GC.Heap[len(m.GC.Heap)-1].Goal
	case len(m.GCLog) > 0:
		goal = m.GCLog[len(m.GCLog)-1].Goal
	case m.MemStats != nil:
		goal = m.MemStats.NextGC
	}
	return live, goal
}

// lately returns the smallest heap since the last collection but one began, without two
// of the last quarter of a trace: what was alive at most, for its sizes are of the
// heap with the garbage that nobody swept yet. An older one may be of a smaller heap.
func (g *GC) lately() (least uint64) {
	from := g.Heap[len(g.Heap)*3/4].At
	if n := len(g.Cycles); n >= 2 && g.Cycles[n-2].Begin >= 0 {
		from = g.Cycles[n-2].Begin
	}
	for _, h := range g.Heap {
		if h.At >= from && h.Alloc > 0 && (least == 0 || h.Alloc < least) {
			least = h.Alloc
		}
	}
	return least
}

// total adds up the column of a name; 0 when there is none.
func (p *Profile) total(name string) (sum int64) {
	i := slices.IndexFunc(p.Types, func(t ValueType) bool { return t.Name == name })
	if i < 0 {
		return 0
	}
	for _, s := range p.Samples {
		if i < len(s.Values) {
			sum += s.Values[i]
		}
	}
	return sum
}

// allocRate is allocations a second from the best evidence: the runtime's own
// counters are exact, a profile of the window estimates, and a trace's heap
// sizes tell the bytes between collections.
func (m *Model) allocRate() (bytes, objects float64, from string) {
	if b, ok := m.Metrics.Rate("/gc/heap/allocs:bytes"); ok {
		o, _ := m.Metrics.Rate("/gc/heap/allocs:objects")
		return b, o, "runtime/metrics"
	}
	if p := m.Heap; p != nil && p.Duration > 0 {
		return float64(p.total("alloc_space")) / p.Duration.Seconds(), float64(p.total("alloc_objects")) / p.Duration.Seconds(), "allocs profile"
	}
	if m.GC != nil && len(m.GC.Heap) > 0 {
		var sum float64
		for i, h := range m.GC.Heap[1:] {
			if before := m.GC.Heap[i].Alloc; h.Alloc > before && before > 0 {
				sum += float64(h.Alloc - before)
			}
		}
		if w := m.GC.Heap[len(m.GC.Heap)-1].At - m.GC.Heap[0].At; w > 0 && sum > 0 {
			return sum / w.Seconds(), 0, "heap sizes of the trace"
		}
	}
	return 0, 0, ""
}

// countedClasses returns what the runtime counts by class, and their total: the last values, or those
// beside the mappings, which of a program that ended by itself were read before.
func (m *Model) countedClasses() map[string]uint64 {
	classes := map[string]uint64{}
	if m.Metrics != nil {
		for name, s := range m.Metrics.Series {
			if class, ok := strings.CutPrefix(name, memoryClasses); ok {
				v, _ := m.Metrics.Last(name)
				if m.Process != nil && m.Process.Maps != nil {
					v = s.nearest(m.Process.Maps.At)
				}
				classes[strings.TrimSuffix(class, ":bytes")] = uint64(max(0, v))
			}
		}
	}
	if len(classes) == 0 && m.MemStats != nil {
		return m.MemStats.Classes
	}
	return classes
}

// classify takes what the runtime counts by class, and their total.
func (a *MemoryAccount) classify(classes map[string]uint64) {
	var sum uint64
	for class, bytes := range classes {
		switch class {
		case classTotal:
			a.Mapped = bytes
			continue
		case classReleased:
			a.Released = bytes
		}
		sum += bytes
		a.Classes = append(a.Classes, MemoryClass{class, bytes})
	}
	// The classes are read one after the other, and a recorder may leave some out.
	switch {
	case a.Mapped > sum:
		a.Classes = append(a.Classes, MemoryClass{"not listed", a.Mapped - sum})
	default:
		a.Mapped = sum
	}
	slices.SortFunc(a.Classes, func(x, y MemoryClass) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), strings.Compare(x.Name, y.Name))
	})
}
