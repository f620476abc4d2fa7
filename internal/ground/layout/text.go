package layout

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Options say how a report looks.
type Options struct {
	Width   int  // columns; 0 means 80
	Height  int  // rows of the terminal; 0 when it is none
	Color   bool // ANSI colours
	Verbose bool // everything that the diagnosis has
}

// A Style is an ANSI attribute.
type Style string

// The styles of a report.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "1;31"
	Green  Style = "32"
	Yellow Style = "33"
)

// A Text is laid out for a terminal. Its Width may change between parts: prose is
// narrower than tables.
type Text struct {
	strings.Builder
	Width int
	color bool
}

// MinWidth is the narrowest layout; below it words fall over the edge anyway.
// MaxWidth keeps lines of prose short enough to be read on a wide screen.
const (
	MinWidth = 48
	MaxWidth = 110
)

// Wrap returns a paragraph in the layout of [Text], with a newline after each line.
func Wrap(s string, o Options) string {
	t := NewText(o)
	t.Para(0, "", s, Plain)
	return t.String()
}

// NewText begins a text that is as wide as prose is read, at most.
func NewText(o Options) *Text {
	w := o.Width
	if w == 0 {
		w = 80
	}
	return &Text{Width: min(max(w, MinWidth), MaxWidth), color: o.Color}
}

// Paint paints text that is safe already.
func (t *Text) Paint(s Style, text string) string {
	if !t.color || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Line writes a line as it is.
func (t *Text) Line(s string) { t.WriteString(strings.TrimRight(s, " ") + "\n") }

// Para writes wrapped text behind a first-line label, indented throughout.
func (t *Text) Para(indent int, label, text string, s Style) {
	pad := strings.Repeat(" ", indent)
	first := pad
	if label != "" {
		first = "   " + t.Paint(Dim, label) + strings.Repeat(" ", max(1, indent-3-utf8.RuneCountInString(label)))
	}
	for i, l := range Lines(text, t.Width-indent) {
		if i == 0 {
			t.Line(first + t.Paint(s, l))
		} else {
			t.Line(pad + t.Paint(s, l))
		}
	}
}

// Flush writes all of it to w.
func (t *Text) Flush(w io.Writer) error {
	_, err := io.WriteString(w, t.String())
	return err
}

// Title begins a part.
func (t *Text) Title(s string) {
	t.Line("")
	t.Line(t.Paint(Bold, s))
}

// List writes items under a title; none write nothing.
func (t *Text) List(title string, items []string, s Style) {
	if len(items) == 0 {
		return
	}
	t.Title(title)
	for _, item := range items {
		mark := "·"
		if s == Green {
			mark = "✓"
		}
		for i, l := range Lines(item, t.Width-5) {
			if i == 0 {
				t.Line("   " + t.Paint(s, mark) + " " + l)
			} else {
				t.Line("     " + l)
			}
		}
	}
}

// fit returns the widths of the columns, and whether they fit; the last one,
// which is text, gets what is left of the line.
func (x *Text) fit(cells [][]string) (widths []int, ok bool) {
	widths = make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	used := 0
	last := len(widths) - 1
	for _, w := range widths[:last] {
		used += w + 2
	}
	ok = used+min(widths[last], minName) <= x.Width
	widths[last] = min(widths[last], max(LeastName, x.Width-used))
	return widths, ok
}
