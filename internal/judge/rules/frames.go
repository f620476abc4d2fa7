package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What a stack says by the names of its functions.

// startsWith reports whether a function's name begins with one of some.
func startsWith(function string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(function, n) })
}

// through reports whether a stack goes through a function whose name begins so.
func through(frames []model.Frame, names []string) bool {
	return throughFunc(frames, func(f string) bool { return startsWith(f, names) })
}

// throughOne reports whether a stack goes through one of some functions.
func throughOne(frames []model.Frame, functions []string) bool {
	return throughFunc(frames, func(f string) bool { return slices.Contains(functions, f) })
}

// throughFunc reports whether a stack goes through a function that matches.
func throughFunc(frames []model.Frame, match func(function string) bool) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool { return match(f.Func) })
}

// isMutex reports whether a function takes or gives a lock of package sync.
func isMutex(function string) bool {
	return startsWith(function, []string{"sync.(*Mutex).", "sync.(*RWMutex).", "internal/sync.(*Mutex).", "internal/sync.(*HashTrieMap"})
}

// ofNobody reports whether what a stack does is the recording's or package
// testing's, and not the program's.
func ofNobody(frames []model.Frame) bool {
	return model.OfRecording(frames) || model.OfHarness(frames)
}

// machinery reports whether a function only carries out the waiting and
// waking that its caller asked for.
func machinery(function string) bool {
	return startsWith(function, []string{"runtime.", "sync.", "internal/sync.", "internal/poll.", "internal/runtime/"})
}

// systemPackage reports whether a function is of the packages that call the system.
func systemPackage(function string) bool {
	return startsWith(function, []string{"syscall.", "internal/", "os.", "os/", "net.", "runtime.", "golang.org/x/sys/"})
}

// leaf is the innermost function of a stack, "" for an unknown one.
func leaf(m *model.Model, s model.Stack) string {
	if f := m.Stacks.Frames(s); len(f) > 0 {
		return f[0].Func
	}
	return ""
}

// caller is the innermost frame that is not machinery.
func caller(frames []model.Frame) (f model.Frame, ok bool) {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !machinery(f.Func) })
	if i < 0 {
		return f, false
	}
	return frames[i], true
}

// site names the line that asked for a wait or ended one.
func site(m *model.Model, s model.Stack) string {
	if f, ok := caller(m.Stacks.Frames(s)); ok {
		return fmt.Sprintf("%s:%d", f.Func, f.Line)
	}
	return leaf(m, s)
}

// userPlace is the user's line of the first of some stacks that has one.
func userPlace(p *diagnosis.Pass, stacks ...model.Stack) diagnosis.Place {
	for _, s := range stacks {
		if place, ok := p.UserPlace(s); ok {
			return place
		}
	}
	return diagnosis.Place{}
}

// programPlace is the user's line that belongs to the program itself, of the first
// of some stacks that has one: the frame nearest to the leaf in package main or in
// the program's module. A library's line is what [userPlace] has.
func programPlace(p *diagnosis.Pass, stacks ...model.Stack) diagnosis.Place {
	for _, s := range stacks {
		if place, ok := programFrame(p.Model, p.Model.Stacks.Frames(s)); ok {
			return place
		}
	}
	return diagnosis.Place{}
}

// programFrame is programPlace for the frames of one stack, leaf first.
func programFrame(m *model.Model, frames []model.Frame) (place diagnosis.Place, ok bool) {
	own := ownPackages(m)
	for _, f := range frames {
		if place, ok := diagnosis.UserPlace([]model.Frame{f}); ok && startsWith(f.Func, own) {
			return place, true
		}
	}
	return diagnosis.Place{}, false
}

// ownPackages are the beginnings of the names of the functions that belong to the
// program itself: of package main, and of the packages of its module, with their tests.
func ownPackages(m *model.Model) []string {
	packages := []string{"main."}
	if b := m.Build; b != nil && b.Module != "" {
		packages = append(packages, b.Module+"/", b.Module+".", b.Module+"_test.")
	}
	return packages
}

// withProgram is a place and, where that is in a library, the program's line that
// leads there.
func withProgram(p *diagnosis.Pass, place diagnosis.Place, stacks ...model.Stack) []diagnosis.Place {
	if own := programPlace(p, stacks...); own.Function != place.Function {
		return where(place, own)
	}
	return where(place)
}

// makerOf is the program's line that makes the library's thing behind a place: it calls a
// function named New…, Dial…, Open… or Connect… of the place's library. Many dial in a
// goroutine of their own, under which nobody's line is; what the line makes shows in any
// profile. The one with most stacks, and nothing where the place is the program's.
func makerOf(p *diagnosis.Pass, place diagnosis.Place) (maker diagnosis.Place) {
	m := p.Model
	own, library := ownPackages(m), libraryOf(place.Function)
	if library == "" || startsWith(place.Function, own) {
		return maker
	}
	count := map[diagnosis.Place]int{}
	for s := range model.Stack(m.Stacks.Len()) {
		frames := m.Stacks.Frames(s)
		for i, f := range frames {
			if i > 0 && startsWith(f.Func, own) && libraryOf(frames[i-1].Func) == library && makes(frames[i-1].Func) {
				count[diagnosis.Place{Function: f.Func, File: f.File, Line: f.Line}]++
			}
		}
	}
	most := 0
	for at, n := range count {
		if n > most || n == most && line(at) < line(maker) {
			maker, most = at, n
		}
	}
	return maker
}

// makes reports whether a function is named as one that makes a client or a connection.
func makes(function string) bool {
	return startsWith(function[strings.LastIndexByte(function, '.')+1:], []string{"New", "Dial", "Open", "Connect"})
}

// libraryOf is the beginning of a function's name that all packages of its module share, as
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

// withText matches stacks by their functions and lines: the same code in another
// profile has another identity but the same text.
func withText(m *model.Model, stacks ...model.Stack) fact.Where {
	same := map[string]bool{}
	for _, s := range stacks {
		same[placeText(m, s)] = true
	}
	return func(s *model.Sample) bool { return same[placeText(m, s.Stack)] }
}

// placeText is a stack by its functions and lines without the runtime's at both ends,
// which texts and dumps leave out.
func placeText(m *model.Model, s model.Stack) string {
	frames := m.Stacks.Frames(s)
	ofRuntime := func(f model.Frame) bool { return strings.HasPrefix(f.Func, "runtime.") }
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !ofRuntime(f) })
	if i < 0 {
		return stackText(m, s)
	}
	for ofRuntime(frames[len(frames)-1]) {
		frames = frames[:len(frames)-1]
	}
	return framesText(frames[i:])
}

// stackText is a stack by its functions and lines.
func stackText(m *model.Model, s model.Stack) string { return framesText(m.Stacks.Frames(s)) }

func framesText(frames []model.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s:%d\n", f.Func, f.Line)
	}
	return b.String()
}

// atStart reports whether a function runs once in the life of a program.
func atStart(f string) bool {
	return startsWith(f, []string{"runtime.doInit", "sync.(*Once)."}) || strings.HasSuffix(f, ".init") || strings.Contains(f, ".init.")
}
