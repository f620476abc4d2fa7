package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// A column of the list. Where the terminal is too narrow those with the lowest
// drop are left out; 0 stays.
type column struct {
	head, means string
	width       int
	left        bool
	drop        int
	text        func(p *live.Process) string
	order       func(a, b *live.Process) int // as the list is sorted by it, first what is looked for
}

// most sorts by a figure, largest first.
func most(of func(p *live.Process) float64) func(a, b *live.Process) int {
	return func(a, b *live.Process) int { return cmp.Compare(of(b), of(a)) }
}

func cores(p *live.Process) float64 { return p.CPU.Cores() }
func rss(p *live.Process) float64   { return float64(p.RSS) }

// unknown is a figure that a process does not have, or that could not be read.
const unknown = -1

// ofGoroutines, ofCounters and ofRuntime are figures that only some processes have.
func ofGoroutines(of func(g *live.Goroutines) int) func(p *live.Process) float64 {
	return func(p *live.Process) float64 {
		if p.Goroutines == nil || p.Goroutines.Why != "" {
			return unknown
		}
		return float64(of(p.Goroutines))
	}
}

func ofCounters(of func(c *live.Counters) float64) func(p *live.Process) float64 {
	return func(p *live.Process) float64 {
		if p.Counters == nil {
			return unknown
		}
		return of(p.Counters)
	}
}

func ofRuntime(of func(r *live.Runtime) float64) func(p *live.Process) float64 {
	return func(p *live.Process) float64 {
		if p.Runtime == nil {
			return unknown
		}
		return of(p.Runtime)
	}
}

// known writes a figure, a dash where there is none.
func known(of func(p *live.Process) float64, text func(f float64) string) func(p *live.Process) string {
	return func(p *live.Process) string {
		if f := of(p); f >= 0 {
			return text(f)
		}
		return "-"
	}
}

func short(f float64) string {
	switch {
	case f >= 999.5e3:
		return fmt.Sprintf("%.3gM", f/1e6)
	case f >= 1e4:
		return fmt.Sprintf("%.3gk", f/1e3)
	}
	return fmt.Sprintf("%.0f", f)
}

// size is bytes in five columns.
func size(f float64) string {
	for _, u := range []string{"", "K", "M", "G", "T"} {
		if f < 999.5 {
			if u == "" || f >= 99.5 {
				return fmt.Sprintf("%.0f%s", f, u)
			}
			return fmt.Sprintf("%.3g%s", f, u)
		}
		f /= 1024
	}
	return fmt.Sprintf("%.0fP", f)
}

func hundredths(f float64) string { return fmt.Sprintf("%.1f", 100*f) }
func whole100(f float64) string   { return fmt.Sprintf("%.0f", 100*f) }

var (
	waiting   = ofCounters(func(c *live.Counters) float64 { return c.Waiting })
	meanWait  = ofCounters(func(c *live.Counters) float64 { return c.Wait.Seconds() })
	switches  = ofCounters(func(c *live.Counters) float64 { return c.Voluntary + c.Involuntary })
	forced    = ofCounters(func(c *live.Counters) float64 { return c.Involuntary })
	reads     = ofCounters(func(c *live.Counters) float64 { return c.Reads })
	writes    = ofCounters(func(c *live.Counters) float64 { return c.Writes })
	files     = ofCounters(func(c *live.Counters) float64 { return float64(c.FDs) })
	quota     = ofCounters(func(c *live.Counters) float64 { return orUnknown(c.Quota, c.Quota) })
	throttled = ofCounters(func(c *live.Counters) float64 { return orUnknown(c.Throttled, c.Quota) })
	limit     = ofCounters(func(c *live.Counters) float64 { return orUnknown(float64(c.MemoryLimit), float64(c.MemoryLimit)) })
	heap      = ofRuntime(func(r *live.Runtime) float64 { return float64(r.HeapLive) })
	goal      = ofRuntime(func(r *live.Runtime) float64 { return float64(r.HeapGoal) })
	gcShare   = ofRuntime(func(r *live.Runtime) float64 { return r.GCShare })
	gcs       = ofRuntime(func(r *live.Runtime) float64 { return r.GCs })
	busyProcs = ofRuntime(func(r *live.Runtime) float64 { return float64(r.BusyProcs) })
	total     = ofGoroutines(func(g *live.Goroutines) int { return g.Total })
	running   = ofGoroutines(func(g *live.Goroutines) int { return g.Running })
	ready     = ofGoroutines(func(g *live.Goroutines) int { return g.Runnable })
	blocked   = ofGoroutines(func(g *live.Goroutines) int { return g.Waiting + g.Syscall })
)

// orUnknown returns a figure that means something only under a limit.
func orUnknown(f, limit float64) float64 {
	if limit == 0 {
		return unknown
	}
	return f
}

// grown returns by how many the goroutines become more each minute. It may be negative.
func grown(p *live.Process) float64 {
	if p.Goroutines == nil {
		return 0
	}
	return p.Goroutines.Growth
}

var listColumns = []column{
	{"PID", "number of the process", 7, false, 0, func(p *live.Process) string { return fmt.Sprint(p.PID) }, func(a, b *live.Process) int { return cmp.Compare(a.PID, b.PID) }},
	{"USER", "its user", 9, true, 3, func(p *live.Process) string { return p.User }, func(a, b *live.Process) int { return cmp.Compare(a.User, b.User) }},
	{"CPU%", "CPU in use, of one CPU", 6, false, 20, func(p *live.Process) string { return hundredths(p.CPU.Cores()) }, most(cores)},
	{"USR%", "of it, in the program", 6, false, 5, func(p *live.Process) string { return hundredths(p.CPU.User) }, most(func(p *live.Process) float64 { return p.CPU.User })},
	{"KRN%", "of it, in the kernel", 6, false, 5, func(p *live.Process) string { return hundredths(p.CPU.System) }, most(func(p *live.Process) float64 { return p.CPU.System })},
	{"WAIT%", "threads ready and without a CPU", 6, false, 8, known(waiting, hundredths), most(waiting)},
	{"LAG", "time until a thread gets a CPU, on average", 7, false, 3, known(meanWait, figures.Seconds), most(meanWait)},
	{"Ps", "Ps at work, of GOMAXPROCS", 5, false, 10, busyOf, most(busyProcs)},
	{"GOROUT", "goroutines, the runtime's own left out", 6, false, 19, known(total, short), most(total)},
	{"+/MIN", "how many more they are each minute", 6, false, 13, func(p *live.Process) string { return strings.TrimSuffix(growth(grown(p)), "/min") }, most(grown)},
	{"RUN", "running goroutines", 5, false, 5, known(running, short), most(running)},
	{"RUNQ", "runnable goroutines: ready, and waiting for a P", 5, false, 9, known(ready, short), most(ready)},
	{"BLOCK", "goroutines blocked or in a system call", 6, false, 5, known(blocked, short), most(blocked)},
	{"HEAP", "live heap", 5, false, 15, known(heap, size), most(heap)},
	{"GOAL", "heap at which the next collection ends", 5, false, 6, known(goal, size), most(goal)},
	{"GC%", "share of CPU time that collections took", 5, false, 12, known(gcShare, hundredths), most(gcShare)},
	{"GC/s", "collections a second", 5, false, 3, known(gcs, rate), most(gcs)},
	{"RSS", "memory in use", 5, false, 16, func(p *live.Process) string { return size(rss(p)) }, most(rss)},
	{"LIMIT", "memory that its control group may use", 5, false, 3, known(limit, size), most(limit)},
	{"SW/s", "context switches a second", 6, false, 4, known(switches, short), most(switches)},
	{"FORCED", "of them, because others were to run", 6, false, 3, known(forced, short), most(forced)},
	{"FAULT", "page faults that read a disk, a second", 5, false, 1, func(p *live.Process) string { return short(p.Faults) }, most(func(p *live.Process) float64 { return p.Faults })},
	{"READ/s", "system calls that read, a second", 6, false, 3, known(reads, short), most(reads)},
	{"WRIT/s", "system calls that write, a second", 6, false, 3, known(writes, short), most(writes)},
	{"FDS", "open files", 5, false, 2, known(files, short), most(files)},
	{"THR", "threads", 4, false, 7, func(p *live.Process) string { return fmt.Sprint(p.Threads) }, most(func(p *live.Process) float64 { return float64(p.Threads) })},
	{"QUOTA", "CPUs that its control group may use", 5, false, 11, known(quota, rate), most(quota)},
	{"THRO%", "time in which the quota was used up", 5, false, 11, known(throttled, whole100), most(throttled)},
	{"UP", "since when it runs", 6, false, 3, func(p *live.Process) string { return formatAgo(p.Up) }, most(func(p *live.Process) float64 { return p.Up.Seconds() })},
	{"GO", "version of Go", 9, true, 2, func(p *live.Process) string { return strings.TrimPrefix(p.Go, "go") }, func(a, b *live.Process) int { return cmp.Compare(a.Go, b.Go) }},
	{"MODULE", "path of its module", 24, true, 1, func(p *live.Process) string { return p.Module }, func(a, b *live.Process) int { return cmp.Compare(a.Module, b.Module) }},
	{"VERSION", "version of its module", 12, true, 1, version, func(a, b *live.Process) int { return cmp.Compare(a.Version, b.Version) }},
	{"PROGRAM", "name", 12, true, 0, (*live.Process).ShortName, func(a, b *live.Process) int { return cmp.Compare(a.ShortName(), b.ShortName()) }},
}

// spare are columns that are shown only when the user chooses them, and rare those
// that are left out as long as no process has a figure for them.
var (
	spare = []string{"USR%", "LAG", "RUN", "BLOCK", "GC/s", "LIMIT", "FORCED", "READ/s", "WRIT/s", "MODULE"}
	rare  = []string{"QUOTA", "THRO%", "VERSION"}
)

func busyOf(p *live.Process) string {
	if p.Runtime == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", p.Runtime.BusyProcs, p.Runtime.Procs)
}

func rate(f float64) string { return fmt.Sprintf("%.3g", f) }

// version returns a module's; what was built from a working tree has none.
func version(p *live.Process) string {
	if p.Version == "(devel)" {
		return ""
	}
	return p.Version
}

// formatAgo returns how long ago something was, in five columns.
func formatAgo(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02d", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02d", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%.0fs", d.Seconds())
}

// leastVerdict is how wide a verdict must be beside the figures; in less it has
// a line of its own. A name gets widestName before it is cut.
const (
	leastVerdict = 50
	widestName   = 30
)

// chosenDrop is how long a column stays that the user chose or sorts by: longer than
// any other.
const chosenDrop = 30

// wants says how long a column stays when it becomes narrow, -1 not at all.
func (v *view) wants(c column) int {
	chosen, told := v.chosen[c.head]
	switch {
	case c.drop == 0:
		return chosenDrop + 1
	case told && chosen, c.head == listColumns[v.sort].head:
		return chosenDrop
	case told || slices.Contains(spare, c.head) || slices.Contains(rare, c.head) && !v.anyHas(c):
		return -1
	}
	return c.drop
}

func (v *view) anyHas(c column) bool {
	return slices.ContainsFunc(v.rows, func(r row) bool {
		text := c.text(r.Process)
		return text != "" && text != "-"
	})
}

// shows reports whether a column is on the screen.
func (v *view) shows(c column) bool {
	shown, _ := v.fit(v.width)
	return slices.ContainsFunc(shown, func(s column) bool { return s.head == c.head })
}

// fit returns which columns there is room for, and whether verdicts stand beside them.
func (v *view) fit(width int) (shown []column, beside bool) {
	stays := make([]int, len(listColumns))
	for i, c := range listColumns {
		stays[i] = v.wants(c)
	}
	needs := 0 // beyond the usual, of the names
	if v.tree {
		needs = max(0, v.widest()-listColumns[len(listColumns)-1].width)
	}
	for least := 0; ; least++ {
		shown = shown[:0]
		used := 0
		for i, c := range listColumns {
			if stays[i] > least {
				shown = append(shown, c)
				used += c.width + 1
			}
		}
		// Wide terminals have all of it; on others a verdict below costs fewer figures.
		if room := width - used - leastVerdict - needs; room >= 0 {
			last := &shown[len(shown)-1]
			last.width += min(room+needs, max(0, v.widest()-last.width))
			return shown, true
		}
		if used+needs <= width && (width < 120 || least >= 8) || least >= chosenDrop {
			return shown, false
		}
	}
}

// widest returns the width of the longest name.
func (v *view) widest() (n int) {
	for _, r := range v.rows {
		n = max(n, len([]rune(r.branch+r.ShortName())))
	}
	return min(n, widestName)
}

func (v *view) drawList(c canvas, y int) {
	columns, beside := v.fit(c.width)
	c.fill(y, v.styles.head)
	x := 0
	for _, col := range columns {
		head, style := col.head, v.styles.head
		if col.head == listColumns[v.sort].head {
			style = v.styles.selected
		}
		if col.left {
			c.put(x, y, style, head)
		} else {
			c.put(x+col.width-len(head), y, style, head)
		}
		v.hits = append(v.hits, hit{x, y, col.width, func() { v.sortBy(col.head) }})
		x += col.width + 1
	}
	if beside {
		c.put(x, y, v.styles.head, "VERDICT")
	}
	y++
	if len(v.rows) == 0 {
		v.drawEmpty(c, y+1)
		return
	}
	end := c.height - 1
	v.scrollList(end-y, beside)
	for _, r := range v.rows[v.top:] {
		tall := r.tall(beside)
		if y >= end || y+tall > end && r.PID != v.selected {
			break
		}
		v.drawRow(c, y, r, columns, beside)
		for i := range tall {
			v.hits = append(v.hits, hit{0, y + i, c.width, func() { v.point(r.PID) }})
		}
		y += tall
	}
}

// tall returns how many lines a row takes: only of a Go program that does something there is
// something to say. Most programs of a machine do nothing at a time.
func (r row) tall(beside bool) int {
	if beside || !r.IsGo() || quiet(r.Process) {
		return 1
	}
	return 2
}

// quiet reports whether a word behind its name is all that there is to say of a program:
// it is idle, or was not judged yet.
func quiet(p *live.Process) bool {
	if p.Verdict == nil {
		return p.Goroutines == nil || p.Goroutines.Why == ""
	}
	return p.Verdict.Line == live.Idle && len(p.Verdict.Findings) == 0 && !leaks(p)
}

// scrollList sets the first row so that the selected one is in sight, and no line is
// left blank while there are rows for it.
func (v *view) scrollList(room int, beside bool) {
	at := max(0, v.index())
	v.top = min(v.top, at)
	used := 0
	for _, r := range v.rows[v.top : at+1] {
		used += r.tall(beside)
	}
	for ; used > room && v.top < at; v.top++ {
		used -= v.rows[v.top].tall(beside)
	}
	for _, r := range v.rows[at+1:] {
		used += r.tall(beside)
	}
	for v.top > 0 && used+v.rows[v.top-1].tall(beside) <= room {
		v.top--
		used += v.rows[v.top].tall(beside)
	}
}

// point takes a click on a process: the first selects it, the second opens it.
func (v *view) point(pid int) {
	if v.selected == pid {
		v.enter(pid)
	}
	v.selected, v.follow = pid, true
}

func (v *view) drawEmpty(c canvas, y int) {
	switch {
	case v.filter != "" || v.user != "":
		c.put(2, y, v.styles.plain, "no process matches the "+v.filterText()+"; Esc shows all")
	default:
		c.put(2, y, v.styles.plain, "no Go program runs here; a shows all processes")
		if v.frame.Machine.Closed > 0 {
			c.put(2, y+1, v.styles.plain, figures.Plural(v.frame.Machine.Closed, "process is", "processes are")+" not readable: sudo gowhy top reads those of other users")
		}
	}
}

func (v *view) drawRow(c canvas, y int, r row, columns []column, beside bool) {
	style, vs := v.styles.plain, v.verdictStyle(r.Process)
	if r.PID == v.selected {
		style, vs = v.styles.selected, v.styles.selected
		for i := range r.tall(beside) {
			c.fill(y+i, style)
		}
	}
	x := 0
	for i, col := range columns {
		text := col.text(r.Process)
		end := x + col.width
		if col.head == "PROGRAM" {
			text = r.branch + text
			if !beside && i == len(columns)-1 {
				end = c.width
			}
		}
		at := x
		if !col.left {
			at = max(x, x+col.width-len([]rune(text)))
		}
		c.putIn(at, y, end, style, text)
		x += col.width + 1
	}
	line := verdictLine(r.Process)
	if beside {
		c.put(x, y, vs, line)
		return
	}
	if r.tall(beside) == 1 {
		last := columns[len(columns)-1]
		if at := x - last.width - 1 + len([]rune(r.branch+r.ShortName())) + 2; at+len([]rune(line)) <= c.width {
			c.putIn(at, y, c.width, vs, line)
		}
		return
	}
	c.put(9, y+1, vs, line)
}

// filterText says what leaves processes out of the list.
func (v *view) filterText() string {
	var by []string
	if v.filter != "" {
		by = append(by, "filter "+v.filter)
	}
	if v.user != "" {
		by = append(by, "user "+v.user)
	}
	return strings.Join(by, ", ")
}

// leakGrowth is how many more goroutines a minute are worth a colour: one each second.
const leakGrowth = 60

// leaks reports whether goroutines become more while no finding says so: a program can
// be too idle to be recorded and leak.
func leaks(p *live.Process) bool {
	return grown(p) >= leakGrowth && p.Verdict != nil && len(p.Verdict.Findings) == 0
}

// verdictLine says what there is to say of a process, and why when there is nothing.
func verdictLine(p *live.Process) string {
	switch {
	case !p.IsGo():
		return ""
	case p.Verdict == nil && p.Goroutines != nil && p.Goroutines.Why != "":
		return p.Goroutines.Why
	case p.Verdict == nil:
		return "not judged yet"
	case leaks(p):
		return p.Verdict.Line + "; " + growth(grown(p)) + " goroutines"
	}
	return p.Verdict.Line
}
