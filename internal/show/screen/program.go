package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// A line is one of a program's page: pieces of text, each in a style.
type line struct {
	pieces []piece
	spark  *series // drawn at the right of what is written
}

func (l line) width() (n int) {
	for _, p := range l.pieces {
		n += uniseg.StringWidth(layout.Safe(p.text))
	}
	return n
}

type piece struct {
	text  string
	style tcell.Style
}

// A page is lines, which are drawn from where the user scrolled to.
type page struct {
	lines []line
	width int
	s     styles
}

func (p *page) add(pieces ...piece)              { p.lines = append(p.lines, line{pieces: pieces}) }
func (p *page) text(style tcell.Style, s string) { p.add(piece{s, style}) }
func (p *page) title(s string) {
	p.add()
	p.add(piece{s, p.s.link})
}

// wrap adds text in as many lines as it takes, behind an indent.
func (p *page) wrap(style tcell.Style, indent int, text string) {
	for _, l := range layout.Lines(layout.Safe(text), max(20, p.width-indent)) {
		p.text(style, strings.Repeat(" ", indent)+l)
	}
}

func (v *view) drawProgram(c canvas, y int) {
	p := process(v.frame, v.open)
	if p == nil {
		c.put(2, y+1, v.styles.plain, fmt.Sprintf("process %d has ended; Esc goes back to the list", v.open))
		return
	}
	pg := &page{width: c.width, s: v.styles}
	v.pageHead(pg, p)
	if p.IsGo() {
		v.pageVerdict(pg, p)
		v.pageGoroutines(pg, p)
		v.pageThreads(pg, p)
		v.pageActivity(pg, p)
	} else {
		pg.add()
		pg.wrap(v.styles.dim, 0, notGo)
	}
	v.scroll = v.drawPage(c, y, pg, v.scroll)
}

// notGo says why there is no more of a process.
const notGo = "This is no Go program, or its file may not be read: no goroutines, no diagnosis."

// drawPage draws the lines of a page from top on, and returns the top that there is.
func (v *view) drawPage(c canvas, y int, pg *page, top int) int {
	room := c.height - 1 - y
	top = max(0, min(top, len(pg.lines)-room))
	sparks := pg.sparks()
	for i, l := range pg.lines[top:min(len(pg.lines), top+max(0, room))] {
		x := 0
		for _, t := range l.pieces {
			x = c.put(x, y+i, t.style, t.text)
		}
		if l.spark != nil && sparks < c.width {
			v.spark(c, sparks, y+i, c.width-sparks, l.spark, v.styles.bar)
		}
	}
	if below := len(pg.lines) - top - room; below > 0 {
		more := fmt.Sprintf(" %d more below ", below)
		c.put(c.width-len(more), y+room-1, v.styles.head, more)
	}
	return top
}

// sparks returns the column at which the sparklines begin: behind all that is written
// beside them, so that the same moment is at the same place in each.
func (p *page) sparks() (x int) {
	for _, l := range p.lines {
		if l.spark != nil {
			x = max(x, l.width()+2)
		}
	}
	return x
}

// pageHead adds what the process is and uses, with how that went.
func (v *view) pageHead(pg *page, p *live.Process) {
	h := v.past[p.PID]
	if h == nil {
		h = &history{}
	}
	with := func(of *series, format string, args ...any) {
		pg.lines = append(pg.lines, line{[]piece{{fmt.Sprintf(format, args...), v.styles.plain}}, of})
	}
	v.pageName(pg, p)
	with(&h.cpu, "CPU        %5.1f%%%s", 100*p.CPU.Cores(), cpuOf(p))
	if g := p.Goroutines; g != nil && g.Why == "" {
		with(&h.goroutines, "Goroutines %6s  run %s  runq %s  syscall %s  blocked %s  %s", short(float64(g.Total)),
			short(float64(g.Running)), short(float64(g.Runnable)), short(float64(g.Syscall)), short(float64(g.Waiting)), growth(g.Growth))
	}
	if r := p.Runtime; r != nil {
		with(&h.heap, "Heap       %6s%s  Ps %d/%d  %s", size(float64(r.HeapLive)), goalOf(r), r.BusyProcs, r.Procs, collections(r))
	}
	with(&h.rss, "Memory     %6s%s", size(float64(p.RSS)), memoryOf(p))
	if m := p.Memory; m != nil && m.Why != "" {
		pg.text(v.styles.plain, unweighed(m))
	}
	if h.cpu.length > 1 && pg.sparks() < pg.width {
		pg.lines[0].pieces = rightOf(pg.lines[0], pg.width, piece{"last " + formatAgo(v.frame.Time.Sub(v.times[max(0, len(v.times)-h.cpu.length)])), v.styles.dim})
	}
	if c := p.Counters; c != nil {
		pg.text(v.styles.plain, "Waits      "+waitsOf(c))
		pg.text(v.styles.plain, switchesOf(p, c))
		if c.Quota > 0 {
			pg.text(v.styles.plain, fmt.Sprintf("Quota      %6.3g CPUs, used up in %s of the time", c.Quota, percent(c.Throttled)))
		}
	}
}

// rightOf returns a line with a piece at its right end, where there is room.
func rightOf(l line, width int, p piece) []piece {
	gap := width - l.width() - len(p.text)
	if gap < 2 {
		return l.pieces
	}
	return append(l.pieces, piece{strings.Repeat(" ", gap), p.style}, p)
}

// pageName writes one line: what this is, whose, since when, and how it was started.
func (v *view) pageName(pg *page, p *live.Process) {
	s := v.styles
	what := []string{p.Go, version(p), p.User, "up " + formatAgo(p.Up)}
	what = slices.DeleteFunc(what, func(t string) bool { return t == "" })
	pg.add(piece{fmt.Sprintf("%d %s", p.PID, p.ShortName()), s.bold}, piece{"  " + strings.Join(what, "  "), s.plain})
	first := &pg.lines[0]
	if p.Restarts > 0 {
		first.pieces = append(first.pieces, piece{"  " + figures.Plural(p.Restarts, "restart") + " seen", s.warn})
	}
	args := piece{"  " + strings.Join(p.Args, " "), s.dim}
	if l := (line{pieces: []piece{args}}); len(p.Args) > 0 && first.width()+l.width()+len("  last 9m59") <= pg.width {
		first.pieces = append(first.pieces, args)
	} else if len(p.Args) > 0 {
		pg.text(s.dim, strings.TrimSpace(args.text))
	}
}

func cpuOf(p *live.Process) string {
	return fmt.Sprintf("  user %.1f%%  kernel %.1f%%", 100*p.CPU.User, 100*p.CPU.System)
}

// waitsOf returns how much threads wait for a CPU, and how long each time.
func waitsOf(c *live.Counters) string {
	switch {
	case c.Waiting < 0:
		return "     -  for a CPU: this kernel does not count it; see gowhy doctor"
	case c.Wait < 0:
		return fmt.Sprintf("%5.1f%%  for a CPU; none got one", 100*c.Waiting)
	}
	return fmt.Sprintf("%5.1f%%  for a CPU, %s each time", 100*c.Waiting, figures.Duration(c.Wait))
}

// shareOf returns the program's part of the memory that it uses with others.
func shareOf(m *live.Memory) string {
	text := "  PSS " + size(float64(m.PSS))
	if m.Swap > 0 {
		text += ", swap " + size(float64(m.Swap))
	}
	if m.Age > oldMemory {
		text += ", " + formatAgo(m.Age) + " ago"
	}
	return text
}

// unweighed says why that is not known.
func unweighed(m *live.Memory) string {
	text := "PSS             -  " + m.Why
	if m.How != "" {
		text += ": " + m.How
	}
	return text
}

// oldMemory is older than what the refresh itself read.
const oldMemory = 1500 * time.Millisecond

func switchesOf(p *live.Process, c *live.Counters) string {
	text := fmt.Sprintf("Switches   %6s/s  %s/s forced", short(c.Voluntary+c.Involuntary), short(c.Involuntary))
	if c.Reads >= 0 {
		text += fmt.Sprintf("  reads %s/s  writes %s/s", short(c.Reads), short(c.Writes))
	}
	if p.Faults >= 0.5 {
		text += fmt.Sprintf("  faults from disk %s/s", short(p.Faults))
	}
	return text
}

func goalOf(r *live.Runtime) string {
	if r.HeapGoal == 0 {
		return ", GOGC=off"
	}
	return " of " + size(float64(r.HeapGoal))
}

func collections(r *live.Runtime) string {
	text := rate(r.GCs) + " GC/s"
	if r.GCShare >= 0 {
		text += fmt.Sprintf(", %.1f%% of CPU", 100*r.GCShare)
	}
	return text
}

func memoryOf(p *live.Process) (text string) {
	c := p.Counters
	if c != nil && c.MemoryLimit > 0 {
		text = " of " + size(float64(c.MemoryLimit))
	}
	if m := p.Memory; m != nil && m.Why == "" {
		text += shareOf(m)
	}
	text += "  " + figures.Plural(p.Threads, "thread")
	if c != nil && c.FDs >= 0 {
		text += "  " + figures.Plural(c.FDs, "file")
	}
	return text
}

// growth returns a change by minute, empty when there is none.
func growth(f float64) string {
	if f > -1 && f < 1 {
		return ""
	}
	return fmt.Sprintf("%+.0f/min", f)
}

func (v *view) pageVerdict(pg *page, p *live.Process) {
	s := v.styles
	d := p.Verdict
	pg.title("Diagnosis")
	if d == nil {
		pg.text(s.dim, "  the first ten seconds are being recorded…")
		return
	}
	if d.Judged > 0 {
		pg.lines[len(pg.lines)-1].pieces = append(pg.lines[len(pg.lines)-1].pieces,
			piece{fmt.Sprintf("  of %s, the last ended %s ago", figures.Plural(d.Judged, "recording"), formatAgo(v.frame.Time.Sub(d.At))), s.dim})
	}
	if !slices.ContainsFunc(d.Findings, func(f live.Finding) bool { return !f.Remark }) {
		pg.text(v.verdictStyle(p), "  "+verdictLine(p))
	}
	for i, f := range d.Findings {
		style := s.bad
		if f.Remark {
			style = s.plain
		}
		pg.add(piece{fmt.Sprintf("  %d. %s", i+1, f.Title), style}, piece{"  " + f.Where, s.link})
		pg.wrap(s.plain, 5, f.Summary)
		seen := fmt.Sprintf("since %s, %s confidence", f.Since.Local().Format("15:04:05"), f.Confidence)
		if f.Gain != "" && !f.Remark {
			seen += ", gain " + f.Gain
		}
		if gone := v.frame.Time.Sub(f.Last); gone > 25*time.Second {
			seen += fmt.Sprintf("; not seen for %s", formatAgo(gone))
		}
		pg.wrap(s.dim, 5, seen)
	}
	if n := len(d.Unchecked); n > 0 {
		how := "t takes one"
		if d.NoEndpoint {
			how = "the program has no endpoint for one"
		}
		pg.text(s.dim, fmt.Sprintf("  %s an execution trace: %s", figures.Plural(n, "rule needs", "rules need"), how))
	}
	if len(d.Findings) > 0 {
		pg.wrap(s.dim, 2, "r keeps the recording: gowhy explain 1 FILE tells why, gowhy verify FILE proves it")
	}
}

func (v *view) pageGoroutines(pg *page, p *live.Process) {
	s := v.styles
	g := p.Goroutines
	pg.title("Goroutines")
	switch {
	case g == nil:
		pg.text(s.dim, "  being read…")
		return
	case g.Why != "":
		pg.wrap(s.plain, 2, g.Why)
		if g.How != "" {
			pg.text(s.link, "  $ "+g.How)
		}
		return
	}
	if g.Age > 1500*time.Millisecond {
		pg.lines[len(pg.lines)-1].pieces = append(pg.lines[len(pg.lines)-1].pieces, piece{"  as of " + formatAgo(g.Age) + " ago, for the budget", s.dim})
	}
	old, ago := v.minuteAgo(p.PID)
	last := "/MIN"
	if v.diff {
		last = "CHANGE"
		pg.lines[len(pg.lines)-1].pieces = append(pg.lines[len(pg.lines)-1].pieces, piece{"  compared with " + formatAgo(ago) + " ago", s.dim})
	}
	t := fitGroups(g.Groups, pg.width)
	pg.text(s.head, t.row("COUNT", "STATE", "OLDEST", last, "FUNCTION", "AT", "CREATED BY"))
	for i := range g.Groups {
		gr := &g.Groups[i]
		grow := strings.TrimSuffix(growth(gr.Growth), "/min")
		if v.diff {
			grow = change(gr, old)
		}
		style := s.plain
		if gr.Growth >= leakGrowth {
			style = s.warn
		}
		pg.text(style, t.row(fmt.Sprint(gr.Count), stateOf(gr), oldestOf(gr), grow, gr.Function, gr.At, gr.Creator))
		if len(gr.Labels) > 0 {
			pg.wrap(s.dim, len("  COUNT  "), strings.Join(live.LabelWords(gr.Labels, gr.LabelSets), ", "))
		}
	}
}

// change returns how many more a group has than it had.
func change(g *live.Group, old map[string]int) string {
	if n := g.Count - old[groupName(g)]; n != 0 && old != nil {
		return fmt.Sprintf("%+d", n)
	}
	return ""
}

func stateOf(g *live.Group) string { return cmp.Or(g.Reason, g.State) }

// oldestOf leaves out what is too short to mean anything.
func oldestOf(g *live.Group) string {
	if g.Oldest < 100*time.Millisecond {
		return ""
	}
	return formatAgo(g.Oldest)
}

// A groupTable is how wide the columns of groups are that differ: as their content
// needs, the names sharing what the terminal has. 0 is a column that is left out.
type groupTable struct{ state, function, at, creator int }

// leastName is how wide the column of a name must be to tell something.
const leastName = 12

func fitGroups(groups []live.Group, width int) (t groupTable) {
	t.state, t.function = len("STATE"), len("FUNCTION")
	for i := range groups {
		g := &groups[i]
		t.state = max(t.state, len(stateOf(g)))
		t.function = max(t.function, len(g.Function))
		t.at = max(t.at, len(g.At))
		t.creator = max(t.creator, len(g.Creator))
	}
	if t.creator > 0 {
		t.creator = max(t.creator, len("CREATED BY"))
	}
	t.state = min(t.state, 20)
	room := width - len(groupTable{state: t.state}.row("", "", "", "", "", "", ""))
	t.function = min(t.function, max(room/2, room-t.at-2))
	t.at = narrow(t.at, room-t.function-2)
	t.creator = narrow(t.creator, room-t.function-t.at-4)
	return t
}

// narrow returns how wide a name's column is where there is so much room, 0 when it would
// tell nothing.
func narrow(want, room int) int {
	if got := min(want, room); got >= min(want, leastName) {
		return got
	}
	return 0
}

func (t groupTable) row(count, state, oldest, growth, function, at, creator string) string {
	text := fmt.Sprintf("%7s  %s %6s %6s  %s", count, layout.Pad(layout.Shorten(layout.Safe(state), t.state), t.state), oldest, growth, fitName(function, t.function))
	if t.at > 0 {
		text += "  " + fitName(at, t.at)
	}
	if t.creator > 0 {
		text += "  " + fitName(creator, t.creator)
	}
	return text
}

// fitName returns a function's name in a column: without the path of its package where that
// does not fit, for its end tells more.
func fitName(name string, width int) string {
	name = layout.Safe(name)
	if uniseg.StringWidth(name) > width {
		name = name[strings.LastIndex(name, "/")+1:]
	}
	return layout.Pad(layout.Shorten(name, width), width)
}

// minuteAgo returns how many goroutines the groups had about a minute ago.
func (v *view) minuteAgo(pid int) (groups map[string]int, ago time.Duration) {
	h := v.past[pid]
	if h == nil || len(h.groups) == 0 {
		return nil, 0
	}
	return h.groups[0].groups, v.frame.Time.Sub(h.groups[0].at)
}

// leastCores is what is shown as more than 0.0%, and leastRate as more than 0 a second.
const (
	leastCores = 0.0005
	leastRate  = 0.5
)

func (v *view) pageThreads(pg *page, p *live.Process) {
	if !v.threads {
		return
	}
	pg.title("Threads, of one CPU")
	if len(p.Tasks) == 0 {
		pg.text(v.styles.dim, "  their first figures come with the next refresh")
		return
	}
	pg.text(v.styles.dim, "        ID    CPU%   KRN%  WAIT%    SW/s  NAME")
	for _, t := range p.Tasks {
		pg.text(v.styles.plain, fmt.Sprintf("  %8d  %6.1f %6.1f %6.1f  %6s  %s", t.ID, 100*t.CPU.Cores(), 100*t.CPU.System, 100*t.Waiting, short(t.Switches), layout.Safe(t.Name)))
	}
}

func (v *view) pageActivity(pg *page, p *live.Process) {
	if p.Verdict == nil {
		return
	}
	a := p.Verdict.Activity
	last := " in the last " + formatAgo(a.Time)
	pg.spots("On the CPU"+last+", of one CPU", a.CPU)
	pg.spots("Off the CPU"+last+", of one thread", a.Off)
	pg.calls("System calls a second"+last, a.Calls)
}

// spots adds functions with their time, largest first.
func (p *page) spots(title string, list []live.Spot) {
	list = slices.DeleteFunc(slices.Clone(list), func(f live.Spot) bool { return f.Cores < leastCores })
	if len(list) == 0 {
		return
	}
	p.title(title)
	for _, f := range list {
		style, name := p.s.plain, layout.Safe(f.Function)
		if f.Kernel {
			style, name = p.s.barKernel, name+" [kernel]"
		}
		pieces := []piece{{fmt.Sprintf("%7.1f%%  ", 100*f.Cores), p.s.plain}, {name, style}}
		if f.Under != "" {
			pieces = append(pieces, piece{"  under " + layout.Safe(f.Under), p.s.dim})
		}
		p.add(pieces...)
	}
}

// calls adds system calls with their rates, several in a line.
func (p *page) calls(title string, list []live.Calls) {
	list = slices.DeleteFunc(slices.Clone(list), func(c live.Calls) bool { return c.Rate < leastRate })
	if len(list) == 0 {
		return
	}
	p.title(title)
	text := ""
	for _, c := range list {
		one := "  " + c.Name + " " + short(c.Rate)
		if len(text)+len(one) > p.width {
			p.text(p.s.plain, text)
			text = ""
		}
		text += one
	}
	p.text(p.s.plain, text)
}
