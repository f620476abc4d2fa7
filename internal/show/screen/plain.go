package screen

import (
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// Plain returns a frame as lines of text, for what is no terminal. With open each program has its
// page, not one line.
func Plain(f *live.Frame, width int, open bool) string {
	v := newView(still{}, Options{Plain: true})
	v.take(f)
	var b strings.Builder
	m := &f.Machine
	fmt.Fprintf(&b, "%s  CPU %s of %d", f.Time.Local().Format("15:04:05"), percent(m.Busy/max(1, float64(m.CPUs))), m.CPUs)
	if m.CPUPressure >= 0 {
		fmt.Fprintf(&b, ", pressure %s", percent(m.CPUPressure))
	}
	fmt.Fprintf(&b, "; memory %s of %s; %d Go of %s", figures.Bytes(m.Memory-m.Available), figures.Bytes(m.Memory), m.Programs, figures.Plural(m.Processes, "process", "processes"))
	if m.Closed > 0 {
		fmt.Fprintf(&b, ", %d not readable", m.Closed)
	}
	b.WriteString("\n")
	if open {
		for i := range f.Processes {
			if i > 0 {
				b.WriteString("\n")
			}
			v.plainProgram(&b, &f.Processes[i], width)
		}
		return b.String()
	}
	columns, _ := v.fit(width)
	row := func(text func(c column) string) {
		var l strings.Builder
		for i, c := range columns {
			t := layout.Safe(text(c))
			switch {
			case c.left && i == len(columns)-1:
				l.WriteString(t)
			case c.left:
				l.WriteString(layout.Pad(layout.Shorten(t, c.width), c.width) + " ")
			default:
				fmt.Fprintf(&l, "%*s ", c.width, t)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	row(func(c column) string { return c.head })
	for _, r := range v.rows {
		row(func(c column) string {
			if quiet(r.Process) && r.Verdict != nil && c.head == "PROGRAM" {
				return c.text(r.Process) + "  " + r.Verdict.Line
			}
			return c.text(r.Process)
		})
		if r.Verdict != nil && !quiet(r.Process) {
			b.WriteString("        " + layout.Safe(r.Verdict.Line) + "\n")
		}
	}
	return b.String()
}

func (v *view) plainProgram(b *strings.Builder, p *live.Process, width int) {
	pg := &page{width: width, s: v.styles}
	v.pageHead(pg, p)
	if p.Verdict != nil {
		v.pageVerdict(pg, p)
	}
	if p.IsGo() {
		v.pageGoroutines(pg, p)
		v.pageActivity(pg, p)
	}
	for _, l := range pg.lines {
		var t strings.Builder
		for _, x := range l.pieces {
			t.WriteString(layout.Safe(x.text))
		}
		b.WriteString(strings.TrimRight(layout.Shorten(t.String(), width), " ") + "\n")
	}
}

// still is the source of a view that only writes.
type still struct{}

func (still) Refresh() (*live.Frame, error) { return nil, nil }
func (still) Attend(int, bool)              {}
func (still) Keep(int, string) error        { return nil }
func (still) ShowAll(bool)                  {}
func (still) ShowThreads(int)               {}
