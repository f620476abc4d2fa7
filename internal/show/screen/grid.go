package screen

import (
	"slices"

	"github.com/gdamore/tcell/v2"
)

// A grid is what stands in the cells of a screen, and what is to stand there next. The
// screen would compare them too, but takes each cell's text apart before it does,
// which for a list that moves little was most of what drawing it cost.
type grid struct {
	width, height int
	shown, next   []cell
	styles        []tcell.Style // what cells have, by number
}

// A cell is one grapheme. A wide one is followed by a blank, which it covers.
type cell struct {
	text  string
	style uint8
}

// mostStyles is more than are ever used.
const mostStyles = 255

// begin makes the next cells blank, as many as the screen has.
func (g *grid) begin(width, height int) {
	if width != g.width || height != g.height || len(g.styles) == 0 || len(g.styles) >= mostStyles {
		*g = grid{width: width, height: height, shown: make([]cell, width*height), next: make([]cell, width*height), styles: []tcell.Style{tcell.StyleDefault}}
	}
	blank := cell{" ", 0}
	for i := range g.next {
		g.next[i] = blank
	}
}

// number returns that of a style.
func (g *grid) number(style tcell.Style) uint8 {
	n := slices.Index(g.styles, style)
	if n < 0 {
		if n = len(g.styles); n == mostStyles { // the next drawing begins anew
			return 0
		}
		g.styles = append(g.styles, style)
	}
	return uint8(n)
}

// set puts text into cells; what is outside is left out.
func (g *grid) set(x, y int, text string, style uint8) {
	if x >= 0 && x < g.width && y >= 0 && y < g.height {
		g.next[y*g.width+x] = cell{text, style}
	}
}

// end tells a screen which cells are others now.
func (g *grid) end(s tcell.Screen) {
	for i, c := range g.next {
		if c != g.shown[i] {
			s.Put(i%g.width, i/g.width, c.text, g.styles[c.style])
		}
	}
	g.shown, g.next = g.next, g.shown
}
