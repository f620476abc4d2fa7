package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/draw/listing"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// WriteFinding writes the nth finding of a diagnosis in full and, when there are
// any, the functions that it points at.
func WriteFinding(w io.Writer, n int, f *diagnosis.Finding, functions []listing.Function, o layout.Options) error {
	t := newTexter(o)
	t.finding(n, f, "")
	for i := range functions {
		t.listing(&functions[i])
	}
	_, err := io.WriteString(w, strings.TrimPrefix(t.String(), "\n"))
	return err
}

// tabWidth is how far a tab of the source goes: eight columns leave little room
// for Go on a terminal of eighty.
const tabWidth = 4

func (t *texter) listing(f *listing.Function) {
	t.Title(layout.Safe(f.Name) + "  " + layout.Safe(f.File))
	switch {
	case f.Missing != "":
		t.Para(3, "", "Its source cannot be shown: "+f.Missing+".", layout.Yellow)
		return
	case f.Changed:
		t.Para(3, "", "! the file was changed after the recording: lines may have moved.", layout.Yellow)
	}
	if f.Unasked != "" {
		t.Para(3, "", "! the compiler was not able to say what escapes: "+f.Unasked, layout.Yellow)
	}
	heads, cells := t.columns(f)
	wide := make([]int, len(heads))
	for i, h := range heads {
		wide[i] = utf8.RuneCountInString(h)
		for _, row := range cells {
			wide[i] = max(wide[i], utf8.RuneCountInString(row[i]))
		}
	}
	margin := len(strconv.Itoa(f.Lines[len(f.Lines)-1].Number))
	t.Line(t.Paint(layout.Dim, t.row(heads, wide)))
	for i := range f.Lines {
		t.sourceLine(&f.Lines[i], t.row(cells[i], wide), margin)
	}
}

// columns lists what was measured, in the order of the profiles' usual use.
func (t *texter) columns(f *listing.Function) (heads []string, cells [][]string) {
	cells = make([][]string, len(f.Lines))
	add := func(head string, cell func(*listing.Line) string) {
		heads = append(heads, head)
		for i := range f.Lines {
			cells[i] = append(cells[i], cell(&f.Lines[i]))
		}
	}
	if f.CPU {
		add("CPU", func(l *listing.Line) string { return orBlank(l.CPU == 0, figures.Duration(l.CPU)) })
	}
	if f.Allocs {
		add("objects", func(l *listing.Line) string { return orBlank(l.Objects == 0, figures.Int(l.Objects)) })
		add("bytes", func(l *listing.Line) string { return orBlank(l.Bytes == 0, figures.Bytes(l.Bytes)) })
	}
	return heads, cells
}

func orBlank(blank bool, s string) string {
	if blank {
		return ""
	}
	return s
}

func (t *texter) row(cells []string, wide []int) string {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(strings.Repeat(" ", 2+wide[i]-utf8.RuneCountInString(c)) + c)
	}
	return b.String()
}

// sourceLine writes a line, and below it what the compiler says of it.
func (t *texter) sourceLine(l *listing.Line, cells string, margin int) {
	mark, s := " ", layout.Plain
	if l.Place {
		mark, s = ">", layout.Bold
	}
	text := layout.Safe(strings.ReplaceAll(l.Text, "\t", strings.Repeat(" ", tabWidth)))
	t.Line(cells + "  " + t.Paint(layout.Dim, fmt.Sprintf("%*d", margin, l.Number)) + t.Paint(s, mark+" "+text))
	indent := utf8.RuneCountInString(cells) + 2 + margin + 2 + len(text) - len(strings.TrimLeft(text, " "))
	for _, m := range l.Compiler {
		t.Line(strings.Repeat(" ", indent) + t.Paint(layout.Yellow, "^ "+layout.Safe(m)))
	}
}
