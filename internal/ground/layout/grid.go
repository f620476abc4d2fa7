package layout

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A Grid is rows and what to show of them.
type Grid[R any] struct {
	Rows    []R
	Columns []Column[R]
	Total   func([]R) R // nil where totals mean nothing
	// Expand, if set, gives the rows that text shows under a row; JSON has
	// them inside it.
	Expand func(R) []R
	Notes  func(shown []R, width int) []string
	Empty  string // what to say when there are no rows
}

// A Column is one figure, or a name, of every row.
type Column[R any] struct {
	Head string
	Text func(R) string
	Left bool // aligned
	// Where the screen is too narrow, columns with a Drop are left out, low
	// ones first; one that is Quiet only when it has nothing to tell.
	Drop  int
	Quiet bool
}

// NewGrid returns a grid of rows of text, with a column for each head: aligned to the left
// where it begins with "<", and left out first of all where it begins with "~".
func NewGrid(heads ...string) *Grid[[]string] {
	t := new(Grid[[]string])
	for i, h := range heads {
		c := Column[[]string]{Head: strings.TrimLeft(h, "<~"), Text: func(r []string) string { return r[i] }, Left: h[0] == '<'}
		if h[0] == '~' {
			c.Drop = 1
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Print writes those of the rows that are shown. The last column is cut to what the width leaves.
func (t *Grid[R]) Print(x *Text, shown []R) {
	if len(t.Rows) == 0 {
		x.Line(t.Empty)
		return
	}
	cells := t.layout(shown)
	widths, ok := x.fit(cells)
	for !ok && t.dropColumn(cells) {
		cells = t.layout(shown)
		widths, ok = x.fit(cells)
	}
	for i, row := range cells {
		s := Plain
		switch {
		case i == 0:
			s = Bold
		case t.Total != nil && i == len(cells)-1:
			s = Bold
		}
		x.Line(x.Paint(s, strings.TrimRight(t.join(row, widths), " ")))
	}
	if hidden := len(t.Rows) - len(shown); hidden > 0 {
		x.Line(x.Paint(Dim, fmt.Sprintf("and %s; --top 0 shows all", figures.Plural(hidden, "more row"))))
	}
	if t.Notes != nil {
		for _, n := range t.Notes(shown, x.Width) {
			x.Line("")
			x.Line(n)
		}
	}
}

// dropColumn leaves out the column that is missed least, if there is one.
func (t *Grid[R]) dropColumn(cells [][]string) bool {
	least := -1
	for i, c := range t.Columns {
		tells := c.Quiet && slices.ContainsFunc(cells[1:], func(row []string) bool { return row[i] != "0" && row[i] != figures.Duration(0) })
		if c.Drop > 0 && !tells && (least < 0 || c.Drop < t.Columns[least].Drop) {
			least = i
		}
	}
	if least < 0 {
		return false
	}
	t.Columns = slices.Delete(slices.Clone(t.Columns), least, least+1)
	return true
}

// layout returns the text of all cells: heads, rows and totals.
func (t *Grid[R]) layout(shown []R) [][]string {
	cells := [][]string{t.Heads()}
	for _, r := range shown {
		cells = append(cells, t.Cells(r))
		if t.Expand != nil {
			for _, piece := range t.Expand(r) {
				cells = append(cells, t.Cells(piece))
			}
		}
	}
	if t.Total != nil {
		cells = append(cells, t.Cells(t.Total(t.Rows)))
	}
	return cells
}

// Heads returns those of the columns.
func (t *Grid[R]) Heads() []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Head
	}
	return out
}

// Cells returns the texts of a row, safe for a terminal.
func (t *Grid[R]) Cells(r R) []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = Safe(c.Text(r))
	}
	return out
}

// minName is how much of a name at the end of a line has to be seen.
const minName = 24

func (t *Grid[R]) join(row []string, widths []int) string {
	var b strings.Builder
	for i, c := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		if i == len(row)-1 {
			c = Shorten(c, widths[i])
		}
		gap := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(c)))
		if t.Columns[i].Left {
			b.WriteString(c + gap)
		} else {
			b.WriteString(gap + c)
		}
	}
	return b.String()
}
