package web

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/read/sourcefile"
)

const (
	maxSourceFile  = 4 << 20
	maxSourceLines = 800
	maxEscapes     = 20 // of a line
	// sourceAround is how many lines are shown beside those that cost, where no
	// beginning and end of a function are found.
	sourceAround = 3
)

// source answers api/source: one function (fn) of a tree (kind, group, label, from, to), line
// by line, with what each costs and what of it escapes to the heap.
func (v *View) source(q url.Values) (any, error) {
	m, note, err := v.flameModel(q)
	if err != nil {
		return nil, err
	}
	f, err := flame.LinesOf(m, q.Get("kind"), q.Get("group"), q.Get("label"), q.Get("fn"))
	if problem.Is(err, problem.Absence) {
		// Who comes from a stack of the timeline wants the line, whichever stacks it is on.
		for _, kind := range everyTree {
			other, wrong := flame.LinesOf(v.Model, kind, "", "", q.Get("fn"))
			if wrong == nil {
				f, err = other, nil
				note = strings.TrimSpace(note + " No stack of this picture has it: the figures are of " + kind + ".")
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	out := &SourceText{Func: name(q.Get("fn")), File: name(f.File), Kind: f.Kind, Unit: f.Unit, Total: f.Total, Lines: []SourceLine{}, Note: note}
	text, path, why := v.sourceText(f.File)
	out.Path, out.Missing = name(path), why
	if info, err := os.Stat(path); err == nil && text != nil && !v.Model.Run.Start.IsZero() && info.ModTime().After(v.Model.Run.Start) {
		out.Note = strings.TrimSpace(out.Note + " The file was changed after the recording: lines may have moved.")
	}
	if f.Lines[len(f.Lines)-1].Number > len(text) {
		text = nil // of another version
	}
	escapes := v.escapes(f.File)
	add := func(l flame.Line, text string) {
		line := SourceLine{Number: l.Number, Text: text, Self: l.Self, Sum: l.Sum, Escapes: []string{}}
		line.Escapes = append(line.Escapes, escapes[l.Number]...)
		out.Lines = append(out.Lines, line)
	}
	if text == nil {
		for _, l := range f.Lines[:min(len(f.Lines), maxSourceLines)] {
			add(l, "")
		}
		return out, nil
	}
	cost := map[int]flame.Line{}
	for _, l := range f.Lines {
		cost[l.Number] = l
	}
	from, to := extent(text, f.Lines[0].Number, f.Lines[len(f.Lines)-1].Number)
	for n := from; n <= to; n++ {
		l := cost[n]
		l.Number = n
		add(l, string(text[n-1]))
	}
	return out, nil
}

// extent returns the lines of a function: from the line that begins with "func" to the
// brace that ends it, as gofmt writes them.
func extent(text [][]byte, first, last int) (from, to int) {
	from, to = max(1, first-sourceAround), min(len(text), last+sourceAround)
	for n := first; n >= 1 && n > last-maxSourceLines; n-- {
		if bytes.HasPrefix(text[n-1], []byte("func ")) {
			from = n
			break
		}
	}
	for n := last; n <= len(text) && n < from+maxSourceLines; n++ {
		if bytes.HasPrefix(text[n-1], []byte("}")) {
			to = n
			break
		}
	}
	return from, min(to, from+maxSourceLines)
}

// sourceText reads a Go file that a stack names, from where the program was built, as
// lines; why says in words that it cannot.
func (v *View) sourceText(file string) (lines [][]byte, path, why string) {
	if !strings.HasSuffix(file, ".go") {
		return nil, "", "the stacks name no Go file"
	}
	for _, path := range v.sourcePaths(file) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > maxSourceFile {
			return nil, path, fmt.Sprintf("%s is larger than %d MiB", name(path), maxSourceFile>>20)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, path, name(err.Error())
		}
		return bytes.Split(bytes.TrimSuffix(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n")), []byte("\n")), path, ""
	}
	return nil, "", name(file) + " is not on this machine"
}

// sourcePaths returns where a file may be: it ran, or is looked at, somewhere in its module.
func (v *View) sourcePaths(file string) []string {
	module := ""
	if b := v.Model.Build; b != nil {
		module = b.Module
	}
	here, _ := os.Getwd()
	return sourcefile.Paths(file, module, v.Model.Run.Dir, here)
}

// escapes returns what the compiler said of a file, by line.
func (v *View) escapes(file string) map[int][]string {
	out := map[int][]string{}
	for i := range v.Model.Escapes {
		e := &v.Model.Escapes[i]
		if e.Stays || !e.In(file) {
			continue
		}
		what := name(e.What)
		if e.Moved {
			what += " (moved to the heap)"
		}
		if len(out[e.Line]) < maxEscapes && !slices.Contains(out[e.Line], what) {
			out[e.Line] = append(out[e.Line], what)
		}
	}
	return out
}
