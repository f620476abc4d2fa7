package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// styles are the few that are used. Nothing is shown by colour alone, so without colours
// nothing is lost.
type styles struct {
	plain, dim, bold, head, selected, bar, barKernel, good, bad, warn, link tcell.Style
}

func newStyles(plain bool) styles {
	d := tcell.StyleDefault
	s := styles{plain: d, dim: d.Dim(true), bold: d.Bold(true), head: d.Reverse(true), selected: d.Reverse(true).Bold(true),
		bar: d, barKernel: d, good: d, bad: d.Bold(true), warn: d.Bold(true), link: d.Bold(true)}
	if plain {
		return s
	}
	// Of the 16 colours that a terminal's own theme decides over.
	s.dim = d.Foreground(tcell.ColorGray)
	s.head = d.Background(tcell.ColorGreen).Foreground(tcell.ColorBlack)
	s.selected = d.Background(tcell.ColorTeal).Foreground(tcell.ColorBlack)
	s.bar, s.barKernel = d.Foreground(tcell.ColorGreen), d.Foreground(tcell.ColorMaroon)
	s.good, s.bad, s.warn = d.Foreground(tcell.ColorGreen), d.Foreground(tcell.ColorRed).Bold(true), d.Foreground(tcell.ColorOlive)
	s.link = d.Foreground(tcell.ColorTeal).Bold(true)
	return s
}

// A canvas is the screen while it is drawn.
type canvas struct {
	tcell.Screen
	*grid
}

// put writes text, cut at the edge, and returns the column behind it. What a
// program may have put into its name is made safe here.
func (c canvas) put(x, y int, style tcell.Style, text string) int {
	return c.putIn(x, y, c.width, style, text)
}

// putIn writes text up to a column; what does not fit ends in an ellipsis.
func (c canvas) putIn(x, y, end int, style tcell.Style, text string) int {
	if y < 0 || y >= c.height {
		return x
	}
	end = min(end, c.width)
	look := c.number(style)
	if plain(text) { // nearly all is, and need not be taken apart
		room := end - x
		for i := range min(len(text), max(0, room)) {
			c.set(x+i, y, text[i:i+1], look)
		}
		if len(text) <= room {
			return x + len(text)
		}
		if room > 0 {
			c.set(end-1, y, "…", look)
		}
		return end
	}
	text = layout.Safe(text)
	whole := uniseg.StringWidth(text) <= end-x
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		w := g.Width()
		if !whole && x+w > end-1 {
			if x < end {
				c.set(x, y, "…", look)
			}
			return end
		}
		c.set(x, y, g.Str(), look)
		x += w
	}
	return x
}

// plain reports whether a text is of characters alone that stand in a cell each, and can
// do nothing to a terminal.
func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// fill writes a line of blanks.
func (c canvas) fill(y int, style tcell.Style) {
	look := c.number(style)
	for x := range c.width {
		c.set(x, y, " ", look)
	}
}

// leastWidth and leastHeight are of a terminal in which a program can be shown.
const (
	leastWidth  = 20
	leastHeight = 5
)

// draw draws everything. Cells that are as they were cost nothing.
func (v *view) draw(s tcell.Screen) {
	w, h := s.Size()
	c := canvas{s, &v.grid}
	v.width = w
	v.grid.begin(w, h)
	defer v.grid.end(s)
	s.HideCursor()
	v.hits = v.hits[:0]
	if w < leastWidth || h < leastHeight {
		c.put(0, 0, v.styles.plain, fmt.Sprintf("%d×%d at least", leastWidth, leastHeight))
		return
	}
	if v.frame == nil {
		c.put(0, 0, v.styles.plain, "gowhy top: reading…")
		return
	}
	y := v.drawHead(c)
	switch {
	case v.help:
		v.drawHelp(c, y)
	case v.setup:
		v.drawSetup(c, y)
	case v.open != 0:
		v.drawProgram(c, y)
	default:
		v.drawList(c, y)
	}
	v.drawFoot(c)
}

// drawHead draws the machine, and returns the line below.
func (v *view) drawHead(c canvas) int {
	m := &v.frame.Machine
	half := c.width / 2
	v.bar(c, 0, 0, half-2, "CPU", m.Busy/max(1, float64(m.CPUs)), fmt.Sprintf("%s of %s", figures.Percent(m.Busy/max(1, float64(m.CPUs))), figures.Plural(m.CPUs, "CPU")))
	used := 0.0
	if m.Memory > 0 {
		used = 1 - float64(m.Available)/float64(m.Memory)
	}
	v.bar(c, 0, 1, half-2, "Mem", used, figures.Bytes(m.Memory-m.Available)+" of "+figures.Bytes(m.Memory))
	x := half
	x = c.put(x, 0, v.styles.bold, fmt.Sprint(m.Programs))
	x = c.put(x, 0, v.styles.plain, " Go of "+figures.Plural(m.Processes, "process", "processes"))
	if m.Closed > 0 {
		c.put(x, 0, v.styles.dim, fmt.Sprintf(", %d not readable", m.Closed))
	}
	x = c.put(half, 1, v.styles.plain, fmt.Sprintf("load %.2f", m.Load))
	if m.CPUPressure >= 0 {
		style := v.styles.plain
		if m.CPUPressure > 0.1 || m.MemoryPressure > 0.1 || m.IOPressure > 0.1 {
			style = v.styles.warn
		}
		x = c.put(x, 1, style, fmt.Sprintf("  pressure cpu %s mem %s io %s", percent(m.CPUPressure), percent(m.MemoryPressure), percent(m.IOPressure)))
	}
	if m.Steal >= 0.005 {
		c.put(x, 1, v.styles.warn, "  steal "+figures.Cores(m.Steal))
	}
	return 2
}

// bar draws a share as htop does.
func (v *view) bar(c canvas, x, y, width int, label string, share float64, text string) {
	at := c.put(x, y, v.styles.link, label) + 1
	at = c.put(at, y, v.styles.bold, "[")
	room := width - (at - x) - 1
	if room < 4 {
		return
	}
	full := int(min(1, max(0, share))*float64(room) + 0.5)
	look, plain := c.number(v.styles.bar), c.number(v.styles.plain)
	for i := range min(full, room) {
		c.set(at+i, y, "|", look)
	}
	figure := []rune(layout.Shorten(text, room))
	for i, r := range figure {
		place, its := room-len(figure)+i, plain
		if place < full {
			its = look
		}
		c.set(at+place, y, string(r), its)
	}
	c.put(at+room, y, v.styles.bold, "]")
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// drawFoot draws what keys do, a question, what is typed, or what is to be said.
func (v *view) drawFoot(c canvas) {
	y := c.height - 1
	c.fill(y, v.styles.plain)
	switch {
	case v.question != nil:
		c.say(v.styles.selected, v.question.text)
	case v.input != nil:
		x := c.put(0, y, v.styles.link, v.input.label)
		x = c.put(x, y, v.styles.plain, string(v.input.text))
		c.ShowCursor(x, y)
	case v.speaks():
		c.say(v.styles.warn, v.message)
	default:
		v.drawKeys(c, y)
	}
}

// say writes text into the last lines, as many as it takes.
func (c canvas) say(style tcell.Style, text string) {
	lines := layout.Lines(layout.Safe(text), c.width)
	for i, l := range lines {
		y := c.height - len(lines) + i
		c.fill(y, style)
		c.put(0, y, style, l)
	}
}

// drawKeys draws what keys do and, at the right, what is unusual and what gowhy uses.
func (v *view) drawKeys(c canvas, y int) {
	cost := v.frame.Cost
	state := []string{fmt.Sprintf("gowhy %.1f%% CPU", 100*cost.Share)}
	if cost.Every > v.o.Every {
		state = append(state, "each "+figures.Duration(cost.Every)+" for the budget")
	}
	if by := v.filterText(); by != "" {
		state = append(state, by)
	}
	if v.frozen {
		state = append(state, "frozen")
	}
	slices.Reverse(state)
	own := layout.Shorten(layout.Safe(strings.Join(state, " · ")), c.width)
	end := c.width - uniseg.StringWidth(own) - 1
	x := 0
	for _, k := range v.fitKeys(end) {
		from := x
		x = c.put(x, y, v.styles.plain, k.key)
		x = c.put(x, y, v.styles.head, k.does) + 1
		v.hits = append(v.hits, hit{from, y, x - from - 1, k.do})
	}
	style := v.styles.dim
	if len(state) > 1 {
		style = v.styles.warn
	}
	c.put(end+1, y, style, own)
}

// A footKey is a key in the last line. Where there is no room for all, those that are
// marked as spare go first.
type footKey struct {
	key, does string
	do        func()
	spare     bool
}

func (k footKey) width() int { return len(k.key) + len(k.does) + 1 }

func (v *view) footKeys() []footKey {
	help := footKey{"F1", "Help", func() { v.help, v.helpTop = true, 0 }, false}
	if v.open != 0 {
		return []footKey{
			{"Esc", "Back", func() { v.enter(0) }, false}, help, {"d", "Diff", func() { v.diff = !v.diff }, false}, {"t", "Trace", v.takeTrace, false},
			{"r", "Record", v.keep, false}, {"w", "Page", v.page, false}, {"Space", "Freeze", v.freeze, false}, {"F9", "Kill", v.askKill, true},
		}
	}
	return []footKey{
		help, {"Enter", "Open", func() { v.enter(v.selected) }, false}, {"F2", "Setup", v.askColumns, true}, {"F3", "Search", v.askSearch, false},
		{"F4", "Filter", v.askFilter, false}, {"F5", "Tree", v.toggleTree, true}, {"F6", "Sort", v.askSort, false}, {"F9", "Kill", v.askKill, false},
		{"F10", "Quit", func() { v.quit = true }, false},
	}
}

// fitKeys returns the keys that there is room for.
func (v *view) fitKeys(room int) []footKey {
	keys := v.footKeys()
	used := 0
	for _, k := range keys {
		used += k.width()
	}
	for used > room && len(keys) > 0 {
		n := slices.IndexFunc(keys, func(k footKey) bool { return k.spare })
		if n < 0 {
			n = len(keys) - 1
		}
		used -= keys[n].width()
		keys = slices.Delete(keys, n, n+1)
	}
	return keys
}

func (v *view) drawHelp(c canvas, y int) {
	pg := &page{width: c.width, s: v.styles}
	own := listBindings
	if v.open != 0 {
		own = programBindings
	}
	pg.add()
	for _, b := range slices.Concat(own, []binding{{}}, bothBindings) {
		if b.keys != "" || b.on == nil {
			pg.add(piece{fmt.Sprintf("  %-16s", b.keys), v.styles.link}, piece{b.does, v.styles.plain})
		}
	}
	pg.add(piece{"  any other key goes back", v.styles.dim})
	v.helpTop = v.drawPage(c, y, pg, v.helpTop)
}

func (v *view) drawSetup(c canvas, y int) {
	c.put(2, y, v.styles.bold, "Space shows or hides a column, Enter sorts by it, any other key goes back")
	y++
	room := max(1, c.height-1-y)
	top := max(0, min(v.at-room/2, len(listColumns)-room))
	shown := map[string]bool{}
	columns, _ := v.fit(c.width)
	for _, col := range columns {
		shown[col.head] = true
	}
	for i, col := range listColumns[top:min(len(listColumns), top+room)] {
		i += top
		style, mark := v.styles.plain, "[ ]"
		if shown[col.head] {
			mark = "[x]"
		}
		if i == v.at {
			style = v.styles.selected
		}
		c.put(2, y, style, fmt.Sprintf("%s %-8s %s", mark, col.head, col.means))
		v.hits = append(v.hits, hit{0, y, c.width, func() { v.at = i; v.choose(" ") }})
		y++
	}
}

// blocks are eighths of a cell's height.
var blocks = []rune("▁▂▃▄▅▆▇█")

// spark draws how a figure went, newest at the right.
func (v *view) spark(c canvas, x, y, width int, of *series, style tcell.Style) {
	cells := of.peaks(width)
	most := slices.Max(append(cells, 0))
	x += width - len(cells)
	look := c.number(style)
	for i, f := range cells {
		n := 0
		if most > 0 {
			n = min(len(blocks)-1, int(f/most*float64(len(blocks))))
		}
		r := blocks[n]
		if c.CharacterSet() != "UTF-8" {
			r = rune(" .:-=+*#"[n])
		}
		c.set(x+i, y, string(r), look)
	}
}

// verdictStyle returns that of a verdict's line.
func (v *view) verdictStyle(p *live.Process) tcell.Style {
	d := p.Verdict
	switch {
	case d == nil:
		return v.styles.dim
	case slices.ContainsFunc(d.Findings, func(f live.Finding) bool { return !f.Remark }):
		return v.styles.bad
	case leaks(p):
		return v.styles.warn
	case strings.HasPrefix(d.Line, "nothing found"):
		return v.styles.good
	}
	return v.styles.dim
}
