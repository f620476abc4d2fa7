package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/know/model"
)

// HoldersOptions say how [Holders] looks.
type HoldersOptions struct {
	layout.Options
	Top  int // holders shown; 0 is all
	JSON bool
	// Account is the command that says what is resident beside the heap.
	Account string
}

// A heldHolder is a holder in JSON, with its way in words beside its steps.
type heldHolder struct {
	model.Holder
	Way string `json:"way"`
}

// Holders writes who holds the heap: each holder with the way to the most of it, or JSON. In
// JSON bytes are numbers, and what is not known is null.
func Holders(w io.Writer, l *model.HeapLook, o HoldersOptions) error {
	if o.JSON {
		all := struct {
			*model.HeapLook
			Holders []heldHolder `json:"holders"`
		}{HeapLook: l, Holders: []heldHolder{}}
		for _, h := range l.Holders {
			all.Holders = append(all.Holders, heldHolder{h, h.Way()})
		}
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	x := newTexter(o.Options)
	x.holders(l, o.Top)
	x.beside(l, o.Account)
	x.types(l)
	x.garbage(l)
	x.List("What it rests on", HeldNotes(l), layout.Dim)
	return x.Flush(w)
}

func (x *texter) holders(l *model.HeapLook, top int) {
	title := fmt.Sprintf("%s in %s objects, by who holds them", figures.Bytes(l.Reached.Bytes), figures.Int(l.Reached.Objects))
	if l.Partial {
		title += "; interrupted: there are more"
	}
	x.Line(x.Paint(layout.Bold, title))
	x.Line("")
	shown := l.Holders
	if top > 0 {
		shown = weighty(l, top)
	}
	heads := []string{"HELD", "SHARE", "SHARED", "OBJECTS", "HOLDER"}
	if l.Over > 0 {
		heads = slices.Insert(heads, 2, "GREW")
	}
	rows := [][]string{heads}
	for _, h := range shown {
		row := []string{figures.Bytes(h.Bytes), figures.Percent(share(h.Bytes, l.Reached.Bytes)), figures.Bytes(h.Shared), figures.Int(h.Objects), h.Words()}
		if l.Over > 0 {
			row = slices.Insert(row, 2, grown(h.Grew))
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(heads))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for n, row := range rows {
		var line strings.Builder
		for i, c := range row[:len(row)-1] {
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)) + c + "  ")
		}
		indent := utf8.RuneCountInString(line.String())
		style := layout.Plain
		if n == 0 {
			style = layout.Bold
		}
		for i, part := range layout.Lines(layout.Safe(row[len(row)-1]), max(x.Width-indent, layout.LeastName)) {
			if i > 0 {
				line.Reset()
				line.WriteString(strings.Repeat(" ", indent))
			}
			x.Line(x.Paint(style, line.String()+part))
		}
		if n > 0 {
			if way := strings.TrimSpace(shown[n-1].Steps()); way != "" {
				x.Para(6, "", layout.Safe(way), layout.Dim)
			}
			for _, s := range shown[n-1].Path {
				if len(s.Examples) > 0 {
					x.Para(6, "", layout.Safe("for example "+quoted(s.Examples)), layout.Dim)
				}
			}
		}
	}
	if hidden := len(l.Holders) - len(shown); hidden > 0 {
		rest := l.Reached.Bytes
		for _, h := range shown {
			rest -= min(rest, h.Bytes)
		}
		x.Line(x.Paint(layout.Dim, fmt.Sprintf("and %s of %s in all; --top 0 shows them", figures.Plural(hidden, "more holder"), figures.Bytes(rest))))
	}
}

// quoted returns contents of a memory in a line, with nothing in them that a terminal obeys.
func quoted(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = strconv.QuoteToASCII(s)
	}
	return strings.Join(words, ", ")
}

// mostBeside is the share of the resident memory from which what is beside the objects of the heap
// is said: with GOGC=100 a heap that was just collected has as much as its objects free.
const mostBeside = 0.6

// beside says how much of the memory no holder has, because it is not the heap's.
func (x *texter) beside(l *model.HeapLook, account string) {
	if beside := l.Beside(); float64(beside) >= mostBeside*float64(l.Resident) && beside > 0 {
		x.Para(0, "", fmt.Sprintf("%s of the %s that are resident are no objects of the Go heap: free, stacks, the program, or native memory (mmap, C).",
			figures.Bytes(beside), figures.Bytes(l.Resident)), layout.Plain)
		x.Line("   $ " + account)
	}
}

// leastHeld is the share of the heap, or of what it grew by, below which a holder is not shown
// unless it is asked for: an idle server of 40 MiB has 35 below it, of 100 KiB together.
const leastHeld = 0.002

// weighty returns the holders that count, the first at least.
func weighty(l *model.HeapLook, most int) (list []model.Holder) {
	grew := int64(0)
	for _, h := range l.Holders {
		if h.Grew != nil {
			grew += max(0, *h.Grew)
		}
	}
	for _, h := range l.Holders {
		if len(list) == most {
			break
		}
		if len(list) == 0 || share(h.Bytes, l.Reached.Bytes) >= leastHeld || h.Grew != nil && float64(*h.Grew) >= leastHeld*float64(grew) && *h.Grew > 0 {
			list = append(list, h)
		}
	}
	return list
}

func grown(by *int64) string {
	switch {
	case by == nil:
		return "-"
	case *by > 0:
		return "+" + figures.Bytes(*by)
	case *by < 0:
		return "−" + figures.Bytes(-*by)
	}
	return "0 B"
}

func share(part, whole uint64) float64 { return float64(part) / float64(max(whole, 1)) }

// typesShown are enough to see what a heap is made of.
const typesShown = 8

func (x *texter) types(l *model.HeapLook) {
	if len(l.Types) == 0 {
		return
	}
	x.Title("What it is made of")
	heads := []string{"BYTES", "OBJECTS", "<TYPE", "SHARE", "<MOSTLY HELD BY"}
	if l.Over > 0 {
		heads = slices.Insert(heads, 1, "GREW")
	}
	g := layout.NewGrid(heads...)
	for _, t := range l.Types[:min(len(l.Types), typesShown)] {
		row := []string{figures.Bytes(t.Bytes), figures.Int(t.Objects), t.Name, "", t.Holder}
		if t.Holder != "" {
			row[3] = figures.Percent(share(t.HolderBytes, t.Bytes))
		}
		if l.Over > 0 {
			row = slices.Insert(row, 1, grown(t.Grew))
		}
		g.Rows = append(g.Rows, row)
	}
	if l.Untyped.Bytes > 0 {
		row := []string{figures.Bytes(l.Untyped.Bytes), figures.Int(l.Untyped.Objects), "(not known)", "", ""}
		if l.Over > 0 {
			row = slices.Insert(row, 1, "-")
		}
		g.Rows = append(g.Rows, row)
	}
	g.Print(x.Text, g.Rows)
}

// garbageShown are the places of garbage that are shown, of which each has at least the share leastGarbage: of fewer than
// leastSamples in all a share says little.
const (
	garbageShown = 5
	leastGarbage = 0.03
	leastSamples = 20
)

// MainGarbage returns the places that allocated most of what is reached from nowhere, and how many bytes all samples stand for.
func MainGarbage(l *model.HeapLook) (list []model.MadeSum, of float64) {
	samples := 0
	for _, g := range l.Garbage {
		samples, of = samples+g.Samples, of+g.Bytes
	}
	if samples < leastSamples {
		return nil, 0
	}
	list = l.Garbage[:min(len(l.Garbage), garbageShown)]
	for n, g := range list {
		if g.Bytes < leastGarbage*of {
			return list[:n], of
		}
	}
	return list, of
}

// garbage says who allocated what is reached from nowhere.
func (x *texter) garbage(l *model.HeapLook) {
	list, of := MainGarbage(l)
	if len(list) == 0 {
		return
	}
	x.Title("Who allocated the garbage")
	g := layout.NewGrid("BYTES", "SHARE", "SAMPLES", "<ALLOCATED AT")
	for _, m := range list {
		g.Rows = append(g.Rows, []string{"about " + figures.Bytes(uint64(m.Bytes)), figures.Percent(m.Bytes / of), figures.Int(m.Samples), m.Place})
	}
	g.Print(x.Text, g.Rows)
}

// leastFree is what is free between objects of one size, as a part of what is reached, from which it is said: the 25
// programs of the lab that are well have 54 KiB at most, a third of what the smallest of them reach; the one whose
// pages a burst filled has 6.9 times what it reaches.
const leastFree = 0.5

// freeNote says between which objects most is free; "" where that is little.
func freeNote(l *model.HeapLook) string {
	if len(l.Free) == 0 || float64(l.Free[0].Free) < leastFree*float64(l.Reached.Bytes) || l.Free[0].Free < 1<<20 {
		return ""
	}
	f := l.Free[0]
	return fmt.Sprintf("%s are free between %s of %s: their %s of pages stay while one is in each", figures.Bytes(f.Free), figures.Plural(int(f.Objects), "object"), figures.Bytes(f.Size), figures.Bytes(f.Bytes))
}

// muchLess is below which share of what a collection found alive the reached part asks for a word: a
// program that allocated 7 MB a second beside 80 MiB on a busy machine had 80% of it, and all its
// objects were there; one at rest has 97% and more.
const muchLess = 0.95

// HeldNotes says how far the figures of a look may be believed.
func HeldNotes(l *model.HeapLook) (list []string) {
	if note := freeNote(l); note != "" {
		list = append(list, note)
	}
	switch {
	case l.Dump:
		list = append(list, fmt.Sprintf("read in %s out of a heap dump, which does not change", figures.Duration(l.Took)))
		if len(l.Missing) > 0 {
			list = append(list, "the dump is cut short; it lacks "+strings.Join(l.Missing, ", "))
		}
	case l.Core:
		list = append(list, fmt.Sprintf("read in %s out of a core, which does not change", figures.Duration(l.Took)))
	case l.StoodBy != "":
		text := fmt.Sprintf("the program was stopped by %s for %s of the %s, while its variables and stacks were read", l.StoodBy, figures.Duration(l.Stood), figures.Duration(l.Took))
		if l.Early {
			text += ": that was not long enough for all of them"
		}
		list = append(list, text)
	default:
		list = append(list, fmt.Sprintf("read in %s without stopping the program, which went on meanwhile", figures.Duration(l.Took)))
	}
	if l.PartRead > 0 {
		list = append(list, "interrupted when "+figures.Percent(l.PartRead)+" of the heap was read: what is held is what that leads to, and there is more")
	}
	if l.Over > 0 {
		list = append(list, "growth is over "+figures.Duration(l.Over)+"; a collection between the looks makes it smaller")
	}
	if l.Marked > 0 && !l.Partial {
		text := fmt.Sprintf("the last collection found %s alive", figures.Bytes(l.Marked))
		if l.Allocated > l.Marked/100 {
			text += fmt.Sprintf(", and %s were allocated since, garbage among them", figures.Bytes(l.Allocated))
		}
		apart := float64(l.Reached.Bytes) / float64(l.Marked)
		text = fmt.Sprintf("%s; %s were reached (%s)", text, figures.Bytes(l.Reached.Bytes), figures.Change(apart))
		if apart < muchLess {
			text += ": what is allocated while a collection runs counts as alive, if it was dropped soon, too"
		}
		list = append(list, text)
	}
	if l.Unreached.Objects > 0 && !l.Partial {
		why := "garbage, or changed while they were read"
		if l.Dump {
			why = "garbage, or what cleanups keep that wait"
		}
		list = append(list, fmt.Sprintf("%s in %s are allocated and reached from nowhere: %s",
			figures.Bytes(l.Unreached.Bytes), figures.Plural(int(l.Unreached.Objects), "object"), why))
	}
	onStacks := uint64(0)
	for _, h := range l.Holders {
		onStacks += h.OnStacks
	}
	if onStacks > 0 {
		list = append(list, figures.Bytes(onStacks)+" are reached from stacks of others, too")
	}
	if l.Collections > 0 {
		list = append(list, figures.Plural(int(l.Collections), "collection")+" ended while it was read")
	}
	if l.Lost > l.Reached.Objects/1000 {
		list = append(list, "words that pointed to what was freed, or is newer than the list of objects: "+figures.Int(l.Lost))
	}
	if l.Dropped > 0 {
		list = append(list, "spans that changed so that nothing is known of them: "+figures.Int(l.Dropped))
	}
	if l.Running > 0 {
		list = append(list, "goroutines that ran, whose registers are not seen: "+figures.Int(l.Running))
	}
	if l.Stackless > 0 {
		list = append(list, "goroutines whose stacks could not be read: "+figures.Int(l.Stackless))
	}
	switch {
	case l.Nameless && !l.Dump:
		list = append(list, "variables have no names, for the program was built with -ldflags=-s",
			"go tool nm -n of a build with -ldflags=-w says which variable is at an address")
	case l.Nameless:
		list = append(list, "variables and types have no names: give the program that wrote the dump, built without -ldflags=-s, behind it",
			"go tool nm -n says which variable is at an address")
	case !l.Typed:
		list = append(list, "types of variables are not known: the program was built with -w, or stripped")
	}
	return list
}
