// Package source holds the texts under review.
package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Text is one document.
type Text struct {
	Name string
	Body string
	// lines has the offsets of the lines when the text was opened with them.
	lines []int
}

// Pos is a place in a text as editors count: lines and columns begin with 1,
// and columns are UTF-16 code units.
type Pos struct {
	Line, Column int
}

// Open returns the text; with lines it keeps their offsets.
func Open(name, body string, lines bool) *Text {
	t := &Text{Name: name, Body: body}
	if lines {
		t.lines = append(make([]int, 0, strings.Count(body, "\n")+1), 0)
		for i := range len(body) {
			if body[i] == '\n' {
				t.lines = append(t.lines, i+1)
			}
		}
	}
	return t
}

// Position converts an offset.
func (t *Text) Position(off int) Pos {
	if t.lines != nil {
		n := sort.SearchInts(t.lines, off+1)
		return Pos{n, 1 + units(t.Body[t.lines[n-1]:off])}
	}
	return t.scan(off)
}

func (t *Text) scan(off int) Pos {
	p := Pos{1, 1}
	for _, r := range t.Body[:off] {
		switch {
		case r == '\n':
			p.Line++
			p.Column = 1
		case r > 0xffff:
			p.Column += 2
		default:
			p.Column++
		}
	}
	return p
}

func units(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// Words calls f with each word and its offset.
func (t *Text) Words(f func(off int, word string)) {
	start := -1
	for i, r := range t.Body {
		if r == ' ' || r == '\n' || r == ',' || r == '.' || r == ';' {
			if start >= 0 {
				f(start, t.Body[start:i])
			}
			start = -1
		} else if start < 0 && r != utf8.RuneError {
			start = i
		}
	}
	if start >= 0 {
		f(start, t.Body[start:])
	}
}
