package model

import (
	"slices"
	"strings"
	"time"
)

// A MemoryMoment is what the memory was at a moment of the window: parts as those of a
// [MemoryAccount], without what only mappings tell, which are read once.
type MemoryMoment struct {
	At    time.Duration
	Parts []MemoryPart // they add up to what was resident, or taken where nothing tells that
}

// MemoryOver accounts for the memory at each moment at which the runtime's classes were read,
// or, without them, the resident memory; empty where neither was read twice.
func (m *Model) MemoryOver() (list []MemoryMoment) {
	read, rss := m.classesRead(), m.Process.resident()
	if len(read) < 2 {
		read = rss
	}
	if len(read) < 2 {
		return nil
	}
	live := m.liveSeries()
	for _, p := range read {
		a := &MemoryAccount{}
		if len(live) > 0 && live[0].At <= p.At { // before the first collection nothing says what is alive
			a.Live = uint64(max(0, live.At(p.At)))
		}
		a.classify(m.classesAt(p.At))
		a.RSS = uint64(rss.nearest(p.At))
		u, counted := a.heapUse()
		a.divide(u, counted, a.RSS)
		list = append(list, MemoryMoment{p.At, a.Parts})
	}
	// What was read once the process had given all of it back says nothing of its memory.
	first, _ := rss.First()
	for len(list) > 0 && first.Value > 0 && rss.nearest(list[len(list)-1].At) == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// OutsideRuntime returns the resident memory beyond what the runtime has taken and not given back,
// at each moment at which its classes were read: the program's text, memory of C code, and
// what the program maps itself. Heap that nobody touched yet makes it too little by as much. It is
// empty where nothing tells both.
func (m *Model) OutsideRuntime() (s Series) {
	all := m.Process.resident()
	if m.Metrics == nil || len(all) < 2 {
		return nil
	}
	released := m.Metrics.Series[memoryClasses+classReleased+":bytes"]
	if len(released) == 0 {
		return nil
	}
	for _, p := range m.Metrics.Series[memoryClasses+classTotal+":bytes"] {
		if rss := all.nearest(p.At); rss > 0 { // it has not ended
			s = append(s, Point{p.At, max(0, rss-p.Value+released.At(p.At))})
		}
	}
	return s
}

// classesAt returns the runtime's classes and their total at a moment.
func (m *Model) classesAt(at time.Duration) map[string]uint64 {
	classes := map[string]uint64{}
	if m.Metrics == nil {
		return classes
	}
	for name, s := range m.Metrics.Series {
		if class, ok := strings.CutPrefix(name, memoryClasses); ok && len(s) > 0 {
			classes[strings.TrimSuffix(class, ":bytes")] = uint64(max(0, s.At(at)))
		}
	}
	return classes
}

// PartNames returns the parts of an account over time, in the order in which they add up.
func PartNames(moments []MemoryMoment) (names []string) {
	for _, m := range moments {
		after := 0 // that it stands behind
		for _, p := range m.Parts {
			if i := slices.Index(names, p.Name); i >= 0 {
				after = i + 1
			} else if p.Told {
				names = slices.Insert(names, after, p.Name)
				after++
			}
		}
	}
	return names
}
