package evidence

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// The text of a heap profile ends with the runtime's counts of its memory, one a line:
// "# HeapSys = 1262190592".

// statistic reads such a line; other comments are none.
func (p *textParser) statistic(line string) {
	name, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), " = ")
	if !ok || p.kind.source != model.Heap {
		return
	}
	s := &p.stats
	if name == "GCCPUFraction" {
		if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 && v <= 1 {
			s.GCCPUFraction = v
		}
		return
	}
	value, taken, two := strings.Cut(value, " / ") // "# Stack = 1 / 2": in use, and taken for it
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return
	}
	if p.fields == nil {
		p.fields = map[string]float64{}
	}
	if v, err := strconv.ParseUint(taken, 10, 63); two && err == nil {
		p.fields[name+"Inuse"], p.fields[name+"Sys"] = float64(n), float64(v)
	} else {
		p.fields[name] = float64(n)
	}
	setStat(s, name, n)
}

// setStat keeps one of the fields that are used.
func setStat(s *model.MemStats, name string, n uint64) {
	switch name {
	case "HeapAlloc":
		s.HeapAlloc = n
	case "HeapSys":
		s.HeapSys = n
	case "HeapReleased":
		s.HeapReleased = n
	case "TotalAlloc":
		s.TotalAlloc = n
	case "NextGC":
		s.NextGC = n
	case "NumGC":
		s.NumGC = n
	case "LastGC":
		if n > 0 {
			s.LastGC = time.Unix(0, int64(n))
		}
	}
}

// memStats returns what was read, nil where the text was cut before them.
func (p *textParser) memStats() *model.MemStats {
	if p.stats.HeapSys == 0 {
		return nil
	}
	p.stats.Classes = classesOf(p.fields)
	return &p.stats
}

// classesOf returns the classes of memory as fields of runtime.MemStats tell them.
func classesOf(fields map[string]float64) map[string]uint64 {
	all := map[string]uint64{}
	for _, m := range artifact.MemMetrics {
		class, ok := strings.CutPrefix(m.Name, "/memory/classes/")
		if v, known := m.Value(fields); ok && known {
			all[strings.TrimSuffix(class, ":bytes")] = uint64(v)
		}
	}
	return all
}

// dateByCollections gives two heaps in text form, which has no time, that of the
// collection before: a heap profile is of the state that it left.
func dateByCollections(a, b *snapshot) {
	if a.at.IsZero() && b.at.IsZero() && a.stats != nil && b.stats != nil && !a.stats.LastGC.IsZero() && !b.stats.LastGC.IsZero() {
		a.at, b.at = a.stats.LastGC, b.stats.LastGC
	}
}

// age compares when two snapshots were taken: by their times, or else by what only
// grows in a program. 0 is that they do not tell.
func age(a, b *snapshot) int {
	if !a.at.Equal(b.at) {
		return a.at.Compare(b.at)
	}
	if a.stats != nil && b.stats != nil {
		return cmp.Or(cmp.Compare(a.stats.TotalAlloc, b.stats.TotalAlloc), cmp.Compare(a.stats.NumGC, b.stats.NumGC), a.stats.LastGC.Compare(b.stats.LastGC))
	}
	return cmp.Compare(allocated(a.p), allocated(b.p))
}

// allocated adds up what a heap profile has of all that was allocated since the start.
func allocated(p *model.Profile) (sum float64) {
	column := p.Column("alloc_space")
	for i := range p.Samples {
		sum += p.Samples[i].Value(column)
	}
	return sum
}
