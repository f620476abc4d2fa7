package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A memoryRow is an amount of memory or a rate of it.
type memoryRow struct {
	Name string `json:"name"`
	// Of is resident or taken, of whose parts the rows add up; all, their sum; beside, what is
	// in no part or in several; limit; heap, runtime and allocation.
	Of    string   `json:"of"`
	Value *float64 `json:"value"` // null when nothing tells it
	Unit  string   `json:"unit"`  // bytes, bytes per second, objects per second, bytes per operation, …
	// Share is of the sum of the parts, or how much of a limit is used; null for others.
	Share *float64 `json:"share"`
	From  string   `json:"from"`
	// Growth is the robust slope in bytes a second with its 95% interval;
	// null when too few values were read.
	Growth     *float64 `json:"growth"`
	GrowthLow  *float64 `json:"growth_low"`
	GrowthHigh *float64 `json:"growth_high"`
	// Headroom is what a limit leaves, and Reached when it is reached at the slope of now;
	// null where there is no limit, or no slope.
	Headroom *float64 `json:"headroom"`
	Reached  *float64 `json:"reached_seconds"`

	order int
}

const bytesUnit = "bytes"

// The names that the model has for what grows, and the rows that tell it.
const (
	residentRow = "resident memory"
	liveRow     = "live heap"
)

// A memoryTab is the account while its rows are added.
type memoryTab struct {
	table[*memoryRow]
	a *model.MemoryAccount
}

func (t *memoryTab) add(of, name string, v float64, unit, from string) *memoryRow {
	r := &memoryRow{Name: name, Of: of, Value: &v, Unit: unit, From: from, order: len(t.Rows)}
	t.Rows = append(t.Rows, r)
	if name == model.AlivePart {
		name = liveRow
	}
	for _, g := range t.a.Growth {
		if g.Name == name {
			r.Growth, r.GrowthLow, r.GrowthHigh = &g.PerSecond, &g.Low, &g.High
		}
	}
	return r
}

func memoryTable(m *model.Model) table[*memoryRow] {
	t := &memoryTab{a: m.MemoryAccount()}
	t.Empty = "no memory"
	t.parts()
	t.beside()
	t.bounds()
	t.heap()
	t.allocations(m)
	t.Columns = []layout.Column[*memoryRow]{
		{Head: "OF", Left: true, Text: func(r *memoryRow) string { return r.Of }},
		{Head: "AMOUNT", Text: memoryAmount},
		{Head: "SHARE", Text: memoryShare},
		{Head: "WHAT", Left: true, Text: func(r *memoryRow) string { return r.Name }},
		{Head: "FROM", Left: true, Text: memoryFrom},
	}
	t.order = []sortKey[*memoryRow]{
		{"of", smallest(func(r *memoryRow) int { return r.order })},
		{"amount", largest(func(r *memoryRow) float64 {
			if r.Value == nil {
				return -1
			}
			return *r.Value
		})},
	}
	t.Notes = func(_ []*memoryRow, width int) []string { return memoryNotes(t.a, width) }
	return t.table
}

// parts returns what the memory is, and their sum.
func (t *memoryTab) parts() {
	a, of, sum := t.a, "taken", "taken from the system, not given back"
	if a.Resident {
		of, sum = "resident", residentRow
	}
	for _, p := range a.Parts {
		r := t.add(of, p.Name, float64(p.Bytes), bytesUnit, p.From)
		if !p.Told {
			r.Value = nil
		} else if a.Counted > 0 {
			r.Share = new(float64(p.Bytes) / float64(a.Counted))
		}
	}
	switch {
	case len(a.Parts) > 0:
		t.add("all", sum, float64(a.Counted), bytesUnit, "")
	case a.RSS > 0:
		t.add("all", residentRow, float64(a.RSS), bytesUnit, "")
	}
	if len(a.Parts) > 0 && !a.Resident {
		t.add("all", residentRow, 0, bytesUnit, "").Value = nil
	}
}

// beside returns what is in no part, or in several.
func (t *memoryTab) beside() {
	a := t.a
	for _, x := range []struct {
		name  string
		bytes uint64
		from  string
	}{
		{"proportional (PSS)", a.PSS, "smaps"}, {"swapped out", a.Swap, "smaps"}, {"of it in huge pages", a.Huge, "smaps"},
		{"heap never touched", a.Untouched, "smaps+runtime"}, {"heap given back (scavenged)", a.Released, "runtime"},
		{"control group's page cache", a.Cache, "memory.stat"},
	} {
		if x.bytes > 0 {
			t.add("beside", x.name, float64(x.bytes), bytesUnit, x.from)
		}
	}
}

func (t *memoryTab) bounds() {
	for _, b := range t.a.Bounds {
		r := t.add("limit", b.Name, float64(b.Limit), bytesUnit, "")
		r.Share, r.Headroom = new(float64(b.Used)/float64(b.Limit)), new(float64(b.Headroom()))
		if b.Reached > 0 {
			r.Reached = new(b.Reached.Seconds())
		}
	}
}

// heap returns what is known of it where the parts do not have it.
func (t *memoryTab) heap() {
	a := t.a
	if len(a.Parts) > 0 && len(a.Classes) > 0 {
		return
	}
	if a.Live > 0 {
		t.add("heap", liveRow, float64(a.Live), bytesUnit, "")
	}
	if a.Goal > 0 {
		t.add("heap", "heap goal", float64(a.Goal), bytesUnit, "")
	}
}

func (t *memoryTab) allocations(m *model.Model) {
	a := t.a
	if a.AllocFrom == "" {
		return
	}
	t.add("alloc", "bytes allocated", a.AllocBytes, "bytes per second", a.AllocFrom)
	if a.AllocObjects > 0 {
		t.add("alloc", "objects allocated", a.AllocObjects, "objects per second", a.AllocFrom)
	}
	rate := m.Operations().PerSecond(m.Run.Duration)
	if rate <= 0 {
		return
	}
	t.add("alloc", "bytes allocated", a.AllocBytes/rate, "bytes per operation", a.AllocFrom)
	if a.AllocObjects > 0 {
		t.add("alloc", "objects allocated", a.AllocObjects/rate, "objects per operation", a.AllocFrom)
	}
}

func memoryAmount(r *memoryRow) string {
	if r.Value == nil {
		return "not told"
	}
	switch what, per, _ := strings.Cut(r.Unit, " per "); {
	case per == "":
		return figures.Bytes(*r.Value)
	case what == bytesUnit:
		return figures.Bytes(*r.Value) + "/" + shortUnits[per]
	default:
		return figures.Number(*r.Value) + "/" + shortUnits[per]
	}
}

var shortUnits = map[string]string{"second": "s", "operation": "op"}

func memoryShare(r *memoryRow) string {
	if r.Share == nil {
		return "-"
	}
	return figures.Percent(*r.Share)
}

func memoryFrom(r *memoryRow) string {
	if r.Headroom != nil {
		return figures.Bytes(*r.Headroom) + " left"
	}
	return cmp.Or(r.From, "-")
}

// memoryNotes say how it grows, and when a limit is reached.
func memoryNotes(a *model.MemoryAccount, width int) []string {
	var lines []string
	for _, g := range a.Growth {
		switch {
		case g.Low > 0:
			lines = append(lines, fmt.Sprintf("%s grows by %s/s (%s to %s)", g.Name, figures.Bytes(g.PerSecond), figures.Bytes(g.Low), figures.Bytes(g.High)))
		case g.High < 0:
			lines = append(lines, fmt.Sprintf("%s shrinks by %s/s (%s to %s)", g.Name, figures.Bytes(-g.PerSecond), figures.Bytes(-g.High), figures.Bytes(-g.Low)))
		}
	}
	for _, b := range a.Bounds {
		if b.Reached > 0 {
			lines = append(lines, fmt.Sprintf("%s %s: %s in use by %s, reached in %s if it grows on like this",
				b.Name, figures.Bytes(b.Limit), figures.Bytes(b.Used), b.UsedBy, figures.Duration(b.Reached)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	for i, l := range lines {
		lines[i] = strings.Join(layout.FigureLines(l, min(width, layout.MaxWidth)), "\n")
	}
	return []string{strings.Join(lines, "\n")}
}
