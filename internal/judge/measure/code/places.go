package code

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// PlaceOf returns a frame's line as a place.
func PlaceOf(f model.Frame) diagnosis.Place {
	return diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}
}

// UserPlace returns the user's line of the first of some stacks that has one.
func UserPlace(p *diagnosis.Pass, stacks ...model.Stack) diagnosis.Place {
	for _, s := range stacks {
		if place, ok := p.UserPlace(s); ok {
			return place
		}
	}
	return diagnosis.Place{}
}

// ProgramPlace returns the user's line that belongs to the program itself, of the first
// of some stacks that has one: the frame nearest to the leaf in package main or in
// the program's module. A library's line is what [UserPlace] has.
func ProgramPlace(p *diagnosis.Pass, stacks ...model.Stack) diagnosis.Place {
	for _, s := range stacks {
		if place, ok := ProgramFrame(p.Model, p.Model.Stacks.Frames(s)); ok {
			return place
		}
	}
	return diagnosis.Place{}
}

// ProgramFrame is ProgramPlace for the frames of one stack, leaf first.
func ProgramFrame(m *model.Model, frames []model.Frame) (place diagnosis.Place, ok bool) {
	own := ProgramPackages(m)
	for _, f := range frames {
		if place, ok := diagnosis.UserPlace([]model.Frame{f}); ok && StartsWith(f.Func, own) {
			return place, true
		}
	}
	return diagnosis.Place{}, false
}

// ProgramPackages returns the beginnings of the names of the functions that belong to the
// program itself: of package main, and of the packages of its module, with their tests.
func ProgramPackages(m *model.Model) []string {
	packages := []string{"main."}
	if b := m.Build; b != nil && b.Module != "" {
		packages = append(packages, b.Module+"/", b.Module+".", b.Module+"_test.")
	}
	return packages
}

// WithProgram returns a place and, where that is in a library, the program's line that
// leads there.
func WithProgram(p *diagnosis.Pass, place diagnosis.Place, stacks ...model.Stack) []diagnosis.Place {
	if own := ProgramPlace(p, stacks...); own.Function != place.Function {
		return Places(place, own)
	}
	return Places(place)
}

// Places returns the places that are known, without repeating one.
func Places(ps ...diagnosis.Place) []diagnosis.Place {
	var out []diagnosis.Place
	seen := map[diagnosis.Place]bool{}
	for _, p := range ps {
		if p != (diagnosis.Place{}) && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// Begins reports whether a program, a benchmark or a goroutine begins in a function: it is the
// first of most stacks that have it, but for the runtime and package testing.
func Begins(m *model.Model, function string) bool {
	has, first := 0, 0
	for s := range model.Stack(m.Stacks.Len()) {
		frames := m.Stacks.Frames(s)
		at := slices.IndexFunc(frames, func(f model.Frame) bool { return f.Func == function })
		if at < 0 {
			continue
		}
		if has++; !slices.ContainsFunc(frames[at+1:], func(f model.Frame) bool { return f.Func != function && !model.IsStd(f.Func) }) {
			first++
		}
	}
	return 2*first > has
}

// MakerOf returns the program's line that makes the library's thing behind a place: it calls a
// function named New…, Dial…, Open… or Connect… of the place's library. Many dial in a
// goroutine of their own, under which nobody's line is; what the line makes shows in any
// profile. The one with most stacks, and nothing where the place is the program's.
func MakerOf(p *diagnosis.Pass, place diagnosis.Place) (maker diagnosis.Place) {
	m := p.Model
	own, library := ProgramPackages(m), libraryOf(place.Function)
	if library == "" || StartsWith(place.Function, own) {
		return maker
	}
	count := map[diagnosis.Place]int{}
	for s := range model.Stack(m.Stacks.Len()) {
		frames := m.Stacks.Frames(s)
		for i, f := range frames {
			if i > 0 && StartsWith(f.Func, own) && libraryOf(frames[i-1].Func) == library && makes(frames[i-1].Func) {
				count[diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}]++
			}
		}
	}
	most := 0
	for at, n := range count {
		if n > most || n == most && Line(at) < Line(maker) {
			maker, most = at, n
		}
	}
	return maker
}

// makes reports whether a function is named as one that makes a client or a connection.
func makes(function string) bool {
	return StartsWith(function[strings.LastIndexByte(function, '.')+1:], []string{"New", "Dial", "Open", "Connect"})
}

// libraryOf returns the beginning of a function's name that all packages of its module share, as
// far as a name tells: host and owner and repository, or host and one name where a domain
// is a project's own. Empty for the standard library and for main.
func libraryOf(function string) string {
	parts := strings.Split(function, "/")
	n := 2
	switch parts[0] {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org":
		n = 3
	case "golang.org", "gopkg.in":
		n = len(parts)
	}
	if len(parts) < 2 || !strings.Contains(parts[0], ".") {
		return ""
	}
	name := strings.Join(parts[:min(n, len(parts))], "/")
	if i := strings.IndexByte(name[len(parts[0]):], '.'); i >= 0 && n >= len(parts) {
		name = name[:len(parts[0])+i]
	}
	return name
}

// Short returns a function's name without its import path, for sentences; the
// place beside them has the whole.
func Short(function string) string {
	name, args, generic := strings.Cut(function, "[")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if generic {
		return name + "[" + args
	}
	return name
}

// Name returns a function for a sentence, by its short name.
func Name(function string) fact.Name { return fact.Name(Short(function)) }

// Line writes a place for a sentence: the function by its short name, and the line.
func Line(p diagnosis.Place) string { return Short(p.Function) + ":" + strconv.Itoa(p.Line) }

// FileLine returns a place's file and line, as a sentence has it.
func FileLine(at diagnosis.Place) fact.Name {
	return fact.Name(Base(at.File) + ":" + strconv.Itoa(at.Line))
}

// Base returns the name of a file without its directories.
func Base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// MatchStacks counts what has one of some stacks.
func MatchStacks(stacks []model.Stack) fact.Where {
	return func(s *model.Sample) bool { return slices.Contains(stacks, s.Stack) }
}
