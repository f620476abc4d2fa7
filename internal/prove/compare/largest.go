package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// mostChanges is how many quantities the first line of a comparison names.
const mostChanges = 4

// unchanged is the part of a quantity below which nobody would say that it changed.
const unchanged = 0.0005

// A candidate is a quantity that the first line may name: how far it changed, as the
// logarithm of its ratio, the words for that, and the table that says where.
type candidate struct {
	size        float64
	text, table string
}

// quantitiesOf are the rows that the first line may name, with the table that says where the
// change is.
var quantitiesOf = []struct{ row, table string }{
	{"operations a second", ""}, {"CPU", cpuTable}, {"CPU in use", ""}, {"allocated bytes", allocatedTable}, {"p99", ""},
	{"live heap", inUseTable}, {"goroutines", standingTable},
	{"collections a second", ""}, {"CPU of collections", ""},
	{"goroutines that are ready and queue", ""}, {"idle Ps", ""},
}

// largest says what changed most, the largest change first and where it was.
func (c *Comparison) largest() (parts []string) {
	list := c.candidates()
	slices.SortStableFunc(list, func(x, y candidate) int { return cmp.Compare(y.size, x.size) })
	still := func(x candidate) bool { return x.size < unchanged }
	if slices.ContainsFunc(list, func(x candidate) bool { return !still(x) }) {
		list = slices.DeleteFunc(list, still)
	}
	for i, x := range list[:min(len(list), mostChanges)] {
		if i == 0 && count(c.Findings, Gone)+count(c.Findings, New) == 0 { // else these say where
			x.text += c.mover(x.table)
		}
		parts = append(parts, x.text)
	}
	return parts
}

// candidates returns the rows that the first line may name, and of profiles without such rows
// their totals.
func (c *Comparison) candidates() (list []candidate) {
	for _, q := range quantitiesOf {
		i := slices.IndexFunc(c.Ledger, func(r Row) bool { return r.Name == q.row && r.A != nil && r.B != nil })
		if i >= 0 {
			r := &c.Ledger[i]
			size, text := changed(*r.A, *r.B, r.Unit)
			list = append(list, candidate{size, r.words(c.Per) + " " + text, q.table})
		}
	}
	if len(list) > 0 {
		return list
	}
	// A heap profile is taken for what is in use; what was ever allocated grows in any program.
	inUse := slices.ContainsFunc(c.Tables, func(t Table) bool { return t.Name == inUseTable })
	for i := range c.Tables {
		t := &c.Tables[i]
		if inUse && strings.HasPrefix(t.Name, "allocated ") {
			continue
		}
		size, text := changed(t.TotalA, t.TotalB, t.Unit)
		list = append(list, candidate{max(size, t.shift()), t.subject() + " " + text, t.Name})
	}
	return list
}

// changed returns how far a quantity changed, and that in words.
func changed(a, b float64, unit fact.Unit) (size float64, text string) {
	switch {
	case a == b:
		return 0, "unchanged"
	case a <= 0 || b <= 0 || !finite(b/a):
		return math.Inf(1), unit.Format(a) + " → " + unit.Format(b)
	}
	return math.Abs(math.Log(b / a)), changeText(b / a)
}

// subject names what a table counts, without by what.
func (t *Table) subject() string {
	name, _, _ := strings.Cut(t.Name, " by ")
	return strings.TrimSuffix(name, ",")
}

// shift returns how far the first entry changed, as a part of all.
func (t *Table) shift() float64 {
	if len(t.Rows) == 0 {
		return 0
	}
	return math.Abs(t.Rows[0].B-t.Rows[0].A) / max(t.TotalA, t.TotalB, 1e-300)
}

// mover names the function that changed most, where that is worth naming: at least half of
// what its table changed by in all, so that "mostly" is true.
func (c *Comparison) mover(table string) string {
	i := slices.IndexFunc(c.Tables, func(t Table) bool { return t.Name == table })
	if table == "" || i < 0 || len(c.Tables[i].Rows) == 0 {
		return ""
	}
	t := &c.Tables[i]
	e := &t.Rows[0]
	by := e.B - e.A
	if by == 0 || t.shift() < unchanged || math.Abs(by) < math.Abs(t.TotalB-t.TotalA)/2 {
		return ""
	}
	sign := "+"
	if by < 0 {
		sign = "−"
	}
	return fmt.Sprintf(" (mostly %s, %s%s)", withoutPath(e.Function), sign, t.Unit.Format(math.Abs(by)))
}

// withoutPath returns a function's name from its package on.
func withoutPath(name string) string {
	own, _, _ := strings.Cut(name, "[") // of a type's arguments have paths, too
	return name[strings.LastIndexByte(own, '/')+1:]
}

// failures says how the share of failures changed; empty when neither side has any.
func (c *Comparison) failures() string {
	i := slices.IndexFunc(c.Ledger, func(r Row) bool { return r.Name == failedShare })
	if i < 0 || c.Ledger[i].A == nil || c.Ledger[i].B == nil {
		return ""
	}
	a, b := *c.Ledger[i].A, *c.Ledger[i].B
	switch {
	case a == 0 && b == 0:
		return ""
	case a == b:
		return fmt.Sprintf("%s of operations failed in both", fact.Ratio.Format(a))
	}
	return fmt.Sprintf("failed operations %s → %s", fact.Ratio.Format(a), fact.Ratio.Format(b))
}
