package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The columns of the memory account: each row has an amount of memory or a rate of it.
//
//   - of is resident or taken, of whose parts the rows add up; all, their sum; mapped, what has
//     the most outside of the heap, by name; beside, what is in no part or in several; limit;
//     heap and alloc; held, who holds most of the heap.
//   - share is of the sum of the parts, of what is reached on the heap, or how much of a limit is used.
//   - growth is the robust slope in bytes a second with its 95% interval, unless too few
//     values were read.
//   - headroom is what a limit leaves, and reached_seconds when it is reached at the slope
//     of now.
const memoryColumns = "name of value unit share from growth growth_low growth_high headroom reached_seconds"

const bytesUnit = "bytes"

// The names that the model has for what grows, and the rows that tell it.
const (
	residentRow = "resident memory"
	liveRow     = "live heap"
)

// A memoryTab is the account while its rows are added.
type memoryTab struct {
	*table
	a *model.MemoryAccount
}

func (t *memoryTab) add(of, name string, v any, unit, from string) row {
	r := t.table.add(name, of, v, unit, nil, from)
	if name == model.AlivePart {
		name = liveRow
	}
	for _, g := range t.a.Growth {
		if g.Name == name {
			t.set(r, "growth", g.PerSecond)
			t.set(r, "growth_low", g.Low)
			t.set(r, "growth_high", g.High)
		}
	}
	return r
}

func memoryTable(m *model.Model) *table {
	return tableOfMemory(m.MemoryAccount(), m.Operations().PerSecond(m.Run.Duration), &m.Run)
}

// tableOfMemory returns the table of an account; operations is how many the program does a second,
// 0 where nothing tells. Who holds the heap is added where the run has a look at it.
func tableOfMemory(a *model.MemoryAccount, operations float64, run *model.Run) *table {
	t := &memoryTab{newTable("no memory", memoryColumns), a}
	t.parts()
	t.mapped()
	t.beside()
	t.bounds()
	t.heap()
	t.allocations(operations)
	t.holders(run)
	t.names("OF", "of")
	t.text("AMOUNT", t.amount)
	t.show("SHARE", "share")
	t.names("WHAT", "name")
	t.text("FROM", func(r row) string {
		if left, ok := t.get(r, "headroom").(float64); ok {
			return figures.Bytes(left) + " left"
		}
		return orDash(t.name(r, "from"))
	}).Left = true
	t.order = []string{"of=", "amount=value"}
	notes := memoryNotes(t.a)
	t.note(append(notes, holderNotes(run)...)...)
	return t.table
}

const (
	// heldRows are how many holders the account has, and leastHeldRow the share of the heap from
	// which one counts: the others are in the list of all.
	heldRows     = 3
	leastHeldRow = 0.01
)

// holderNotes say who grew, and where the ways are.
func holderNotes(run *model.Run) (lines []string) {
	if len(run.Holders) == 0 {
		return nil
	}
	look := run.Holders[len(run.Holders)-1]
	for _, h := range look.Holders[:min(len(look.Holders), 1)] {
		if h.Growth() > 0 && share(uint64(h.Growth()), look.Reached.Bytes) >= leastHeldRow {
			lines = append(lines, fmt.Sprintf("%s grew most between two looks at the heap: by %s in %s", h.Words(), figures.Bytes(h.Growth()), figures.Duration(look.Over)))
		}
	}
	if run.Recording != "" {
		lines = append(lines, "the ways to what they hold: gowhy memory "+shell.Word(run.Recording)+" --holders")
	}
	return lines
}

// holders writes those with most of the heap at the last look, and how fast each grew since the first.
func (t *memoryTab) holders(run *model.Run) {
	if len(run.Holders) == 0 {
		return
	}
	look := run.Holders[len(run.Holders)-1]
	list := slices.Clone(look.Holders)
	slices.SortStableFunc(list, func(a, b model.Holder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for i, h := range list[:min(len(list), heldRows)] {
		if i > 0 && share(h.Bytes, look.Reached.Bytes) < leastHeldRow {
			break
		}
		r := t.table.add(h.Words(), "held", float64(h.Bytes), bytesUnit, share(h.Bytes, look.Reached.Bytes), "look at the heap")
		if h.Grew != nil {
			t.set(r, "growth", float64(*h.Grew)/look.Over.Seconds())
		}
	}
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
			t.set(r, "value", nil)
		} else if a.Counted > 0 {
			t.set(r, "share", float64(p.Bytes)/float64(a.Counted))
		}
	}
	switch {
	case len(a.Parts) > 0:
		t.add("all", sum, float64(a.Counted), bytesUnit, "")
	case a.RSS > 0:
		t.add("all", residentRow, float64(a.RSS), bytesUnit, "")
	}
	if len(a.Parts) > 0 && !a.Resident {
		t.add("all", residentRow, nil, bytesUnit, "")
	}
}

// mapped returns what is mapped outside of the heap, of which the parts above are the sums.
func (t *memoryTab) mapped() {
	for _, m := range t.a.Largest {
		t.add("mapped", m.Words(), float64(m.RSS), bytesUnit, "smaps")
	}
}

// beside returns what is in no part, or in several.
func (t *memoryTab) beside() {
	a, both := t.a, "smaps+runtime"
	if a.Core {
		both = "core+runtime"
	}
	for _, x := range []struct {
		name  string
		bytes uint64
		from  string
	}{
		{"proportional (PSS)", a.PSS, "smaps"}, {"swapped out", a.Swap, "smaps"}, {"of it in huge pages", a.Huge, "smaps"},
		{"heap never touched", a.Untouched, both}, {"heap given back (scavenged)", a.Released, "runtime"},
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
		t.set(r, "share", float64(b.Used)/float64(b.Limit))
		t.set(r, "headroom", float64(b.Headroom()))
		if b.Reached > 0 {
			t.set(r, "reached_seconds", b.Reached.Seconds())
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

func (t *memoryTab) allocations(rate float64) {
	a := t.a
	if a.AllocFrom == "" {
		return
	}
	t.add("alloc", "bytes allocated", a.AllocBytes, "bytes per second", a.AllocFrom)
	if a.AllocObjects > 0 {
		t.add("alloc", "objects allocated", a.AllocObjects, "objects per second", a.AllocFrom)
	}
	if rate <= 0 {
		return
	}
	t.add("alloc", "bytes allocated", a.AllocBytes/rate, "bytes per operation", a.AllocFrom)
	if a.AllocObjects > 0 {
		t.add("alloc", "objects allocated", a.AllocObjects/rate, "objects per operation", a.AllocFrom)
	}
}

// MemoryRows returns an account of memory as its JSON has it, an object for each row, and the
// lines that stand below it as text; operations is how many the program does a second.
func MemoryRows(a *model.MemoryAccount, operations float64) (rows []json.RawMessage, notes []string, err error) {
	if a == nil {
		return nil, nil, nil
	}
	t := tableOfMemory(a, operations, &model.Run{})
	rows, err = t.objects(t.Rows)
	return rows, memoryNotes(a), err
}

func (t *memoryTab) amount(r row) string {
	v, ok := t.get(r, "value").(float64)
	if !ok {
		return "not told"
	}
	switch what, per, _ := strings.Cut(t.name(r, "unit"), " per "); {
	case per == "":
		return figures.Bytes(v)
	case what == bytesUnit:
		return figures.Bytes(v) + "/" + shortUnits[per]
	default:
		return figures.Number(v) + "/" + shortUnits[per]
	}
}

var shortUnits = map[string]string{"second": "s", "operation": "op"}

// memoryNotes say how it grows, and when a limit is reached.
func memoryNotes(a *model.MemoryAccount) (lines []string) {
	for i := range a.Growth {
		g := &a.Growth[i]
		switch {
		case (g.Low > 0 || g.High < 0) && !g.Lasts():
			lines = append(lines, fmt.Sprintf("%s went from %s to %s in %s", g.Name, figures.Bytes(g.First), figures.Bytes(g.Last), figures.Duration(g.Over)))
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
	return lines
}
