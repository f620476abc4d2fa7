package screen

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// A view is what is shown, and what keys have made of it.
type view struct {
	source Watcher
	o      Options
	hurry  chan struct{}
	styles styles
	grid   grid

	frame   *live.Frame
	past    map[int]*history
	times   []time.Time // of the frames of which points are kept
	rows    []row
	width   int // of the screen when it was last drawn
	frozen  bool
	quit    bool
	suspend bool

	selected int  // process
	place    int  // its row
	follow   bool // the bar stays with the process, not in its place
	top      int  // the first row shown
	sort     int  // column
	reverse  bool
	tree     bool
	chosen   map[string]bool // columns that the user shows or hides, by head
	filter   string
	user     string // whose processes alone are shown; "" is everybody
	search   string
	input    *input    // being typed
	question *question // being put
	help     bool
	helpTop  int  // its first line shown
	setup    bool // the choice of columns is open
	at       int  // in it
	message  string
	until    time.Time // of the message; zero is until a key

	open    int  // the program that is shown alone; 0 is the list
	scroll  int  // in it
	threads bool // they are shown
	diff    bool // against a minute ago
	hits    []hit
}

// A row is a line of the list.
type row struct {
	*live.Process
	branch string // what joins it to its parent, in the tree
}

// An input is text being typed in the last line.
type input struct {
	label string
	text  []rune
	done  func(text string)
	live  func(text string) // at each key
	next  func(text string) // at F3; may be nil
}

// A question is answered with one key; keys that are no answer mean no.
type question struct {
	text   string
	answer func(key string)
}

// A hit is a part of the screen that a click means something on.
type hit struct {
	x, y, width int
	do          func()
}

// A history is how the figures of a process went.
type history struct {
	cpu, goroutines, heap, rss series
	last                       time.Time // of the points
	program                    string
	groups                     []groupsAt // about one each five seconds
}

// A series is the last points of a figure. Those in a row that are the same are one: most
// programs rest.
type series struct {
	runs    []run
	length  int // points
	dropped int // older points
}

type run struct {
	value  float64
	points int
}

func (s *series) add(x float64) {
	if n := len(s.runs); n > 0 && s.runs[n-1].value == x {
		s.runs[n-1].points++
	} else {
		s.runs = append(s.runs, run{x, 1})
	}
	if s.length++; s.length <= pastLength {
		return
	}
	s.length, s.dropped = s.length-1, s.dropped+1
	if s.runs[0].points--; s.runs[0].points == 0 {
		s.runs = s.runs[1:]
	}
}

// peaks returns the points in at most width cells, each the peak of equally many. Cells
// begin at multiples of that among all points there ever were, so that a peak keeps
// its height while it moves to the left.
func (s *series) peaks(width int) (cells []float64) {
	each := max(1, (s.length+width-1)/max(1, width))
	i := 0
	for _, r := range s.runs {
		for range r.points {
			if i == 0 || (s.dropped+i)%each == 0 {
				cells = append(cells, r.value)
			}
			last := &cells[len(cells)-1]
			*last = max(*last, r.value)
			i++
		}
	}
	return cells[max(0, len(cells)-width):]
}

type groupsAt struct {
	at     time.Time
	groups map[string]int
}

// pastLength is how many points are kept: some minutes, or all cells of a wide terminal.
const pastLength = 400

func newView(from Watcher, o Options) *view {
	v := &view{source: from, o: o, hurry: make(chan struct{}, 1), past: map[int]*history{}, chosen: map[string]bool{}, open: o.Open, selected: o.Open, follow: o.Open != 0}
	v.styles = newStyles(o.Plain)
	v.sort = slices.IndexFunc(listColumns, func(c column) bool { return c.head == "CPU%" })
	if v.open != 0 {
		from.Attend(v.open, false)
	}
	return v
}

// take takes a frame over.
func (v *view) take(f *live.Frame) {
	v.times = append(v.times, f.Time)
	v.times = v.times[max(0, len(v.times)-pastLength):]
	for i := range f.Processes {
		v.remember(f.Time, &f.Processes[i])
	}
	for pid, p := range v.past {
		if f.Time.Sub(p.last) > time.Minute {
			delete(v.past, pid)
		}
	}
	if v.frozen {
		return
	}
	v.follow1(f)
	v.frame = f
	v.arrange()
}

// follow1 goes on with a program that was restarted: the same program with
// another number, once the one that is open has ended.
func (v *view) follow1(f *live.Frame) {
	old := v.past[v.open]
	if v.open == 0 || old == nil || process(f, v.open) != nil {
		return
	}
	for i := range f.Processes {
		p := &f.Processes[i]
		if p.IsGo() && p.Program == old.program && f.Time.Add(-p.Up).After(old.last.Add(-2*time.Second)) {
			v.say(fmt.Sprintf("process %d has ended; %d is the same program", v.open, p.PID))
			v.enter(p.PID)
			return
		}
	}
}

func (v *view) remember(now time.Time, p *live.Process) {
	if !p.IsGo() {
		return
	}
	h := v.past[p.PID]
	if h == nil {
		h = &history{program: p.Program}
		v.past[p.PID] = h
	}
	h.last = now
	h.cpu.add(p.CPU.Cores())
	h.rss.add(float64(p.RSS))
	if p.Runtime != nil {
		h.heap.add(float64(p.Runtime.HeapLive))
	}
	if p.Goroutines == nil || p.Goroutines.Why != "" {
		return
	}
	h.goroutines.add(float64(p.Goroutines.Total))
	if n := len(h.groups); n == 0 || now.Sub(h.groups[n-1].at) >= 5*time.Second {
		at := groupsAt{now, map[string]int{}}
		for _, g := range p.Goroutines.Groups {
			at.groups[groupName(&g)] = g.Count
		}
		if n > 0 && maps.Equal(at.groups, h.groups[n-1].groups) {
			at.groups = h.groups[n-1].groups
		}
		h.groups = append(h.groups, at)
		h.groups = h.groups[max(0, len(h.groups)-13):]
	}
}

func groupName(g *live.Group) string {
	return g.Function + " " + g.State + " " + g.Reason + " " + g.Creator
}

func process(f *live.Frame, pid int) *live.Process {
	if f == nil {
		return nil
	}
	n := slices.IndexFunc(f.Processes, func(p live.Process) bool { return p.PID == pid })
	if n < 0 {
		return nil
	}
	return &f.Processes[n]
}

// arrange puts the processes in the order of the list.
func (v *view) arrange() {
	v.rows = v.rows[:0]
	for i := range v.frame.Processes {
		if p := &v.frame.Processes[i]; v.wanted(p) {
			v.rows = append(v.rows, row{Process: p})
		}
	}
	by := listColumns[v.sort].order
	slices.SortStableFunc(v.rows, func(a, b row) int {
		n := by(a.Process, b.Process)
		if v.reverse {
			n = -n
		}
		return cmp.Or(n, cmp.Compare(a.PID, b.PID))
	})
	if v.tree {
		v.rows = asTree(v.rows)
	}
	// A bar that nobody has moved stays at the top, and so do the first rows.
	if len(v.rows) > 0 && (!v.follow || v.index() < 0) {
		v.selected = v.rows[min(v.place, len(v.rows)-1)].PID
	}
	v.place = max(0, v.index())
}

// asTree puts children behind their parents, siblings in the order of the list.
func asTree(rows []row) []row {
	here := map[int]bool{}
	children := map[int][]row{}
	for _, r := range rows {
		here[r.PID] = true
	}
	var roots []row
	for _, r := range rows {
		if here[r.Parent] && r.Parent != r.PID {
			children[r.Parent] = append(children[r.Parent], r)
		} else {
			roots = append(roots, r)
		}
	}
	var list []row
	var place func(r row, trunk string)
	place = func(r row, trunk string) {
		if len(list) >= len(rows) {
			return
		}
		list = append(list, r)
		for i, c := range children[r.PID] {
			if i < len(children[r.PID])-1 {
				c.branch = trunk + "├─ "
				place(c, trunk+"│  ")
			} else {
				c.branch = trunk + "└─ "
				place(c, trunk+"   ")
			}
		}
	}
	for _, r := range roots {
		place(r, "")
	}
	return list
}

func (v *view) wanted(p *live.Process) bool {
	return (v.filter == "" || matches(p, v.filter)) && (v.user == "" || strings.HasPrefix(p.User, v.user))
}

func matches(p *live.Process, text string) bool {
	text = strings.ToLower(text)
	verdict := ""
	if p.Verdict != nil {
		verdict = p.Verdict.Line
	}
	for _, s := range []string{p.Name, p.Program, p.User, fmt.Sprint(p.PID), strings.Join(p.Args, " "), verdict} {
		if strings.Contains(strings.ToLower(s), text) {
			return true
		}
	}
	return false
}

// index returns the place of the selected process in the list.
func (v *view) index() int {
	return slices.IndexFunc(v.rows, func(r row) bool { return r.PID == v.selected })
}

func (v *view) move(by int) {
	if len(v.rows) == 0 {
		return
	}
	v.selectRow(min(max(0, v.index()+by), len(v.rows)-1))
}

// selectRow puts the bar on a row. It then stays with the process, but for the first
// row: there it stays at the top.
func (v *view) selectRow(n int) {
	v.selected, v.place, v.follow = v.rows[n].PID, n, n > 0
}

// say says what a key did, for some seconds; announce what must be read, like an
// address or an error, until the next key.
func (v *view) say(text string)      { v.message, v.until = text, time.Now().Add(5*time.Second) }
func (v *view) announce(text string) { v.message, v.until = text, time.Time{} }

// speaks reports whether there is still something to be read.
func (v *view) speaks() bool {
	return v.message != "" && (v.until.IsZero() || time.Now().Before(v.until))
}

// enter shows one program, 0 the list.
func (v *view) enter(pid int) {
	v.open, v.scroll = pid, 0
	if pid != 0 {
		v.selected, v.follow = pid, true
	}
	v.source.Attend(pid, false)
	v.showThreads()
}

func (v *view) toggleThreads() {
	v.threads = !v.threads
	v.showThreads()
	v.requestFrame()
}

// showThreads has the threads of the program read that is looked at, if somebody wants
// to see them.
func (v *view) showThreads() {
	pid := 0
	if v.threads {
		pid = v.open
	}
	v.source.ShowThreads(pid)
}

// requestFrame asks for a frame now.
func (v *view) requestFrame() {
	select {
	case v.hurry <- struct{}{}:
	default:
	}
}

func (v *view) sortBy(head string) {
	n := slices.IndexFunc(listColumns, func(c column) bool { return c.head == head })
	if n < 0 {
		return
	}
	if v.sort == n {
		v.reverse = !v.reverse
	} else {
		v.sort, v.reverse = n, false
	}
	v.resort()
}

func (v *view) resort() {
	if v.frame != nil {
		v.arrange()
	}
}

// endings are the signals that a user can choose from, by the key that chooses. Nobody
// presses these by accident who wants to leave the question.
var endings = []struct {
	key, name, does string
	signal          syscall.Signal
}{
	{"y", "SIGTERM", "", syscall.SIGTERM},
	{"9", "SIGKILL", "", syscall.SIGKILL},
	{"3", "SIGQUIT", ", Go prints its goroutines", syscall.SIGQUIT},
}

// askKill asks before it ends a process. The process is held from the question on, so
// that none that gets its number meanwhile is ended instead.
func (v *view) askKill() {
	p := process(v.frame, cmp.Or(v.open, v.selected))
	if p == nil {
		return
	}
	held, err := os.FindProcess(p.PID)
	if err != nil {
		v.announce(err.Error())
		return
	}
	text := fmt.Sprintf("End process %d (%s)?", p.PID, p.ShortName())
	for _, e := range endings {
		text += fmt.Sprintf(" %s: %s%s ·", e.key, e.name, e.does)
	}
	v.question = &question{text + " other keys: no", func(key string) {
		defer held.Release()
		for _, e := range endings {
			if strings.ToLower(key) == e.key {
				v.kill(held, e.signal, e.name)
			}
		}
	}}
}

func (v *view) kill(p *os.Process, sig os.Signal, name string) {
	switch err := p.Signal(sig); {
	case errors.Is(err, os.ErrProcessDone):
		v.say(fmt.Sprintf("process %d has ended", p.Pid))
	case err != nil:
		v.announce(fmt.Sprintf("process %d does not get %s: %v", p.Pid, name, err))
	default:
		v.say(fmt.Sprintf("sent %s to process %d", name, p.Pid))
	}
	v.requestFrame()
}

// keep writes the recording of the last seconds beside the user.
func (v *view) keep() {
	p := process(v.frame, cmp.Or(v.open, v.selected))
	if p == nil {
		return
	}
	file := live.FileName(p, time.Now())
	if err := v.source.Keep(p.PID, file); err != nil {
		v.announce("not kept: " + err.Error())
		return
	}
	size := ""
	if info, err := os.Stat(file); err == nil {
		size = ", " + figures.Bytes(info.Size())
	}
	v.announce(fmt.Sprintf("kept %s%s; gowhy view %s shows it", file, size, file))
}

func (v *view) page() {
	pid := cmp.Or(v.open, v.selected)
	if v.o.Page == nil {
		v.say("there is no live page here")
		return
	}
	url, err := v.o.Page(pid)
	if err != nil {
		v.announce("no live page: " + err.Error())
		return
	}
	v.announce("the live page is at " + url)
}

// freeze keeps what is shown, or goes on.
func (v *view) freeze() {
	if v.frozen = !v.frozen; !v.frozen {
		v.requestFrame()
	}
}

func (v *view) takeTrace() {
	v.source.Attend(v.open, true)
	v.say("the next ten seconds are traced if the program has gowhy's agent or net/http/pprof; it pays a few percent for that")
}

func (v *view) mouse(e *tcell.EventMouse) {
	x, y := e.Position()
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		v.step(-wheelRows)
	case b&tcell.WheelDown != 0:
		v.step(wheelRows)
	case b&tcell.Button1 != 0:
		v.click(x, y)
	}
}

// wheelRows is how far one notch of a wheel goes.
const wheelRows = 3

// click does what stands where the user clicked. What covers the screen or asks goes
// away first, as by any key.
func (v *view) click(x, y int) {
	v.message = ""
	switch {
	case v.question != nil:
		v.answer("")
		return
	case v.help:
		v.help = false
		return
	}
	for _, h := range v.hits {
		if y == h.y && x >= h.x && x < h.x+h.width {
			h.do()
			return
		}
	}
}

func (v *view) answer(key string) {
	q := v.question
	v.question = nil
	q.answer(key)
}
