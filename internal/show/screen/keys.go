package screen

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"
)

// A binding is what keys do, for the keys and for the help.
type binding struct {
	keys string // as the help names them
	does string
	on   []string // names of tcell's keys, or the characters
	do   func(v *view)
}

// bindings are htop's where htop has them. Those of the list come first, then
// those of one program, then those of both.
var listBindings, programBindings, bothBindings []binding

func init() { // the help is one of them
	listBindings = []binding{
		{"Enter", "look at one program", []string{"Enter"}, func(v *view) { v.enter(v.selected) }},
		{"F3 /  n", "search by name, number, argument or verdict; the next", []string{"F3", "/"}, (*view).askSearch},
		{"", "", []string{"n"}, func(v *view) { v.find(v.search, 1) }},
		{"F4 \\  u", "filter in the same way; by user", []string{"F4", "\\"}, (*view).askFilter},
		{"", "", []string{"u"}, (*view).askUser},
		{"F5 t", "as a tree", []string{"F5", "t"}, (*view).toggleTree},
		{"F6  < >  I", "sort by a column; by the one beside; the other way round", []string{"F6"}, (*view).askSort},
		{"", "", []string{">", "."}, func(v *view) { v.sortNext(1) }},
		{"", "", []string{"<", ","}, func(v *view) { v.sortNext(-1) }},
		{"", "", []string{"I"}, func(v *view) { v.reverse = !v.reverse; v.resort() }},
		{"P M T G N", "sort by CPU, memory, time, goroutines, number", []string{"P"}, func(v *view) { v.sortBy("CPU%") }},
		{"", "", []string{"M"}, func(v *view) { v.sortBy("RSS") }},
		{"", "", []string{"T"}, func(v *view) { v.sortBy("UP") }},
		{"", "", []string{"G"}, func(v *view) { v.sortBy("GOROUT") }},
		{"", "", []string{"N"}, func(v *view) { v.sortBy("PID") }},
		{"F2 C", "choose columns; what they mean", []string{"F2", "C", "S"}, (*view).askColumns},
		{"a", "all processes, not Go's alone", []string{"a"}, (*view).showAll},
		{"F", "the bar follows its process, or stays in its place", []string{"F"}, (*view).toggleFollow},
		{"Esc", "back from a filter, a tree, a frozen list", []string{"Esc"}, (*view).escape},
		{"F10 q", "quit", []string{"F10", "q", "Ctrl+C"}, func(v *view) { v.quit = true }},
	}
	programBindings = []binding{
		{"Esc q", "back to the list", []string{"Esc", "q", "Backspace2", "Backspace", "Left"}, func(v *view) { v.enter(0) }},
		{"t", "take a trace along in the next ten seconds", []string{"t"}, (*view).takeTrace},
		{"d", "difference to a minute ago", []string{"d"}, func(v *view) { v.diff = !v.diff }},
		{"H", "its threads", []string{"H"}, (*view).toggleThreads},
		{"Tab", "the next program of the list", []string{"Tab"}, func(v *view) { v.next(1) }},
		{"", "", []string{"Backtab"}, func(v *view) { v.next(-1) }},
		{"F10", "quit", []string{"F10", "Ctrl+C"}, func(v *view) { v.quit = true }},
	}
	bothBindings = []binding{
		{"arrows, PgUp …", "move", nil, nil},
		{"r", "keep the last seconds as a recording", []string{"r"}, (*view).keep},
		{"w", "open the live page in a browser", []string{"w"}, (*view).page},
		{"Space Z", "freeze, go on", []string{" ", "Z"}, (*view).freeze},
		{"F9 k", "end the process: asks by which signal", []string{"F9", "k"}, (*view).askKill},
		{"F1 h ?", "this help", []string{"F1", "h", "?"}, func(v *view) { v.help, v.helpTop = true, 0 }},
		{"", "", []string{"Ctrl+L"}, func(v *view) { v.requestFrame() }},
		{"", "", []string{"Ctrl+Z"}, func(v *view) { v.suspend = true }},
	}
}

// moves are how many rows keys go, in whatever is shown.
var moves = map[string]int{
	"Up": -1, "Down": 1, "Ctrl+P": -1, "Ctrl+N": 1,
	"PgUp": -pageRows, "PgDn": pageRows, "Home": -allRows, "End": allRows,
}

const (
	pageRows = 10
	allRows  = 1 << 20
)

func (v *view) key(e *tcell.EventKey) {
	name := e.Name()
	if e.Key() == tcell.KeyRune {
		name = string(e.Rune())
	}
	v.message = "" // it has been read
	switch by := moves[name]; {
	case v.question != nil:
		v.answer(name)
	case v.input != nil:
		v.typed(e)
	case by != 0:
		v.step(by)
	case v.help:
		v.help = false
	case v.setup:
		v.choose(name)
	default:
		v.act(name)
	}
}

// act does what the key is bound to.
func (v *view) act(name string) {
	own := listBindings
	if v.open != 0 {
		own = programBindings
	}
	for _, b := range slices.Concat(own, bothBindings) {
		if slices.Contains(b.on, name) {
			b.do(v)
			return
		}
	}
}

// step moves by rows, in whatever is shown.
func (v *view) step(by int) {
	switch {
	case v.help:
		v.helpTop += by
	case v.setup:
		v.at = min(max(0, v.at+by), len(listColumns)-1)
	case v.open != 0:
		v.scroll = max(0, v.scroll+by)
	default:
		v.move(by)
	}
}

// next goes to another program of the list without going back to it.
func (v *view) next(by int) {
	v.move(by)
	v.enter(v.selected)
}

// sortNext sorts by the column beside, of those that are on the screen.
func (v *view) sortNext(by int) {
	shown, _ := v.fit(v.width)
	n := slices.IndexFunc(shown, func(c column) bool { return c.head == listColumns[v.sort].head })
	v.sortBy(shown[(max(0, n)+by+len(shown))%len(shown)].head)
	v.say("sorted by " + listColumns[v.sort].means)
}

func (v *view) toggleTree() {
	v.tree = !v.tree
	v.resort()
}

func (v *view) showAll() {
	v.o.All = !v.o.All
	v.source.ShowAll(v.o.All)
	v.requestFrame()
}

func (v *view) toggleFollow() {
	if v.follow = !v.follow; v.follow {
		v.say(fmt.Sprintf("the bar follows process %d", v.selected))
	} else {
		v.say("the bar stays in its place")
	}
}

// escape undoes what narrows the list. It does not quit: who comes back from one program
// presses it once too often.
func (v *view) escape() {
	if v.filter == "" && v.user == "" && !v.tree && !v.frozen {
		v.say("q or F10 quits")
		return
	}
	v.filter, v.user, v.tree = "", "", false
	if v.frozen {
		v.freeze()
	}
	v.resort()
}

// typed takes a key of a text that is being typed.
func (v *view) typed(e *tcell.EventKey) {
	in := v.input
	switch e.Key() {
	case tcell.KeyEnter:
		v.input = nil
		in.done(string(in.text))
		return
	case tcell.KeyEscape, tcell.KeyCtrlC:
		v.input = nil
		in.done("")
		return
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		in.text = in.text[:max(0, len(in.text)-1)]
	case tcell.KeyCtrlU:
		in.text = nil
	case tcell.KeyF3:
		if in.next != nil {
			in.next(string(in.text))
		}
		return
	case tcell.KeyRune:
		if len(in.text) < maxTyped {
			in.text = append(in.text, e.Rune())
		}
	}
	in.live(string(in.text))
}

// maxTyped is more than any name that is worth typing.
const maxTyped = 200

func (v *view) askFilter() { v.askLine("Filter: ", &v.filter) }
func (v *view) askUser()   { v.askLine("User: ", &v.user) }

// askLine has a text typed that narrows the list at each key.
func (v *view) askLine(label string, to *string) {
	set := func(s string) {
		*to = s
		v.resort()
	}
	v.input = &input{label: label, text: []rune(*to), live: set, done: set}
}

func (v *view) askSearch() {
	v.input = &input{
		label: "Search: ",
		live:  func(s string) { v.find(s, 0) },
		next:  func(s string) { v.find(s, 1) },
		done:  func(s string) { v.search = cmp.Or(s, v.search) },
	}
}

// find selects the next process that matches, from the selected one on.
func (v *view) find(text string, from int) {
	if text == "" {
		return
	}
	at := max(0, v.index())
	for i := range v.rows {
		if n := (at + from + i) % len(v.rows); matches(v.rows[n].Process, text) {
			v.selectRow(n)
			v.follow = true
			return
		}
	}
	v.say("nothing matches " + text)
}

func (v *view) askColumns() { v.setup = true }

func (v *view) askSort() { v.setup, v.at = true, v.sort }

// choose takes a key of the choice of columns.
func (v *view) choose(name string) {
	switch name {
	case " ":
		if c := listColumns[v.at]; c.drop > 0 { // the number and the name stay
			v.chosen[c.head] = !v.shows(c)
		}
	case "Enter":
		v.sortBy(listColumns[v.at].head)
		v.setup = false
	default:
		v.setup = false
	}
}
