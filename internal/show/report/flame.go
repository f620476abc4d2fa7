package report

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
)

// FlameOptions say how a flame graph looks.
type FlameOptions struct {
	layout.Options
	// All shows the frames, too, that only call one other and are not the program's own.
	All bool
	// Of is the total that the tree's is a part of; 0 when it is the whole.
	Of int64
	// Others are the kinds of stacks that could be shown as well.
	Others []string
}

// A terminal has few columns: a cell of fewer than these says nothing any more.
const leastCell = 3

// Flame writes a tree of stacks as a flame graph of text: callers above, what they call
// below, as wide as its share of the whole. A cell begins with ▏ and ends where the line
// goes on with nothing or the next one.
func Flame(w io.Writer, t *flame.Tree, o FlameOptions) error {
	f := flameText{texter: newTexter(o.Options), t: t, o: o}
	f.Width = max(layout.MinWidth, o.Width)
	if o.Width == 0 {
		f.Width = plainWidth
	}
	f.head()
	for row := f.shown(0, 0); len(row) > 0; {
		f.row(row)
		var next []cell
		for _, c := range row {
			next = append(next, f.shown(c.node, c.from)...)
		}
		row = next
	}
	f.foot()
	return f.Flush(w)
}

// plainWidth is how wide what nobody measured is written.
const plainWidth = 80

// A flameText writes a flame graph.
type flameText struct {
	*texter
	t      *flame.Tree
	o      FlameOptions
	kids   [][]int32
	folded int // frames left out because they only call one other
	owners map[flame.Owner]bool
}

// A cell is a node and where it stands: from its first value on, of the total.
type cell struct {
	node int32
	from int64
}

func (f *flameText) head() {
	f.kids, f.owners = make([][]int32, len(f.t.Parent)), map[flame.Owner]bool{}
	for i := 1; i < len(f.t.Parent); i++ {
		p := f.t.Parent[i]
		f.kids[p] = append(f.kids[p], int32(i))
	}
	all := f.t.Kind + ": " + f.amount(f.t.Total)
	if f.o.Of > 0 {
		all += fmt.Sprintf(", %s of %s", figures.Percent(float64(f.t.Total)/float64(f.o.Of)), f.amount(f.o.Of))
	}
	f.Line(f.Paint(layout.Bold, all))
}

// amount writes a value in the tree's unit.
func (f *flameText) amount(v int64) string {
	switch f.t.Unit {
	case "nanoseconds":
		return figures.Duration(time.Duration(v))
	case "bytes":
		return figures.Bytes(v)
	}
	return figures.Int(v)
}

// column returns where a value ends on the line.
func (f *flameText) column(v int64) int {
	return int(math.Round(float64(v) / float64(max(1, f.t.Total)) * float64(f.Width)))
}

func (f *flameText) span(c cell) (from, to int) {
	return f.column(c.from), f.column(c.from + f.t.Sum[c.node])
}

// shown returns the cells below a node that are wide enough. Of frames that only call one
// other the last is shown, and those of the program's own.
func (f *flameText) shown(node int32, from int64) (cells []cell) {
	for _, c := range f.wide(node, from) {
		for !f.o.All && f.t.Funcs[f.t.Func[c.node]].Owner != flame.Own {
			only := f.wide(c.node, c.from)
			if len(only) != 1 || !f.covers(only[0], c) {
				break
			}
			f.folded++
			c = only[0]
		}
		cells = append(cells, c)
	}
	return cells
}

// wide returns the children of a node that can be seen.
func (f *flameText) wide(node int32, from int64) (cells []cell) {
	for _, k := range f.kids[node] {
		c := cell{k, from}
		if a, b := f.span(c); b-a >= leastCell {
			cells = append(cells, c)
		}
		from += f.t.Sum[k]
	}
	return cells
}

// covers reports whether a cell is as wide as its caller.
func (f *flameText) covers(c, caller cell) bool {
	a, b := f.span(c)
	x, y := f.span(caller)
	return a == x && b == y
}

func (f *flameText) row(cells []cell) {
	var line strings.Builder
	at := 0
	for _, c := range cells {
		from, to := f.span(c)
		line.WriteString(strings.Repeat(" ", from-at))
		fn := f.t.Funcs[f.t.Func[c.node]]
		f.owners[fn.Owner] = true
		line.WriteString(f.Paint(ownerStyles[fn.Owner], f.text(c, fn.Name, to-from)))
		at = to
	}
	f.Line(line.String())
}

// text returns a cell: the function and its share, as much of it as there is room for.
func (f *flameText) text(c cell, name string, width int) string {
	name = layout.Safe(shortFunction(name))
	share := " " + figures.Percent(float64(f.t.Sum[c.node])/float64(max(1, f.t.Total)))
	room := width - 1
	last := ownName(name)
	for _, text := range []string{name + share, name, last + share, last} {
		if n := utf8.RuneCountInString(text); n <= room {
			fill := " "
			if !f.o.Color {
				fill = "─" // shows how far the cell goes where no colour does
			}
			if n < room {
				text += " " + strings.Repeat(fill, room-n-1)
			}
			return "▏" + text
		}
	}
	return "▏" + string([]rune(last)[:room-1]) + "…"
}

// ownName returns a function without its package and type; of a closure with the function
// that it stands in.
func ownName(name string) string {
	for end := len(name); ; {
		i := strings.LastIndexByte(name[:end], '.')
		if i < 0 {
			return name
		}
		if !closure.MatchString(name[i+1 : end]) {
			return name[i+1:]
		}
		end = i
	}
}

// closure is how the compiler names what has no name.
var closure = regexp.MustCompile(`^(func|gowrap|deferwrap)?\d+$`)

// ownerStyles are the colours of a cell, whose a function is.
var ownerStyles = map[flame.Owner]layout.Style{flame.Own: "30;43", flame.Dep: "30;46", flame.Std: "30;42", flame.Runtime: "30;47", flame.Kernel: "30;45"}

// ownerWords say so below the graph.
var ownerWords = []struct {
	owner flame.Owner
	words string
}{{flame.Own, "the program's own"}, {flame.Dep, "other modules"}, {flame.Std, "standard library"}, {flame.Runtime, "runtime"}, {flame.Kernel, "kernel"}}

// foot says what the colours are and what is not shown.
func (f *flameText) foot() {
	f.Line("")
	if f.o.Color {
		var legend []string
		for _, o := range ownerWords {
			if f.owners[o.owner] {
				legend = append(legend, f.Paint(ownerStyles[o.owner], " "+o.words+" "))
			}
		}
		f.Line(strings.Join(legend, " "))
	}
	note := f.t.Note
	if f.folded > 0 {
		note += fmt.Sprintf(" %s that only call one other and are not the program's own are left out; --all shows them.", figures.Plural(f.folded, "frame"))
	}
	note += fmt.Sprintf(" A column is %s.", f.amount(f.t.Total/int64(f.Width)))
	if len(f.o.Others) > 0 {
		note += " Also --of " + strings.Join(f.o.Others, ", ") + "."
	}
	for _, l := range layout.Lines(strings.TrimSpace(note), min(f.Width, plainWidth)) {
		f.Line(f.Paint(layout.Dim, l))
	}
}
