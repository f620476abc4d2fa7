// Package code says what stacks tell of a program's code by the names of its functions: which line
// somebody can change, what a function does for another, and which group of goroutines it is in.
//
// It hides the spelling of names: which frames of packages runtime, sync and internal/poll only
// carry out a wait, which functions belong to the program's own module, how much of a path is one
// library, that the main goroutine goes by two names, and where the compiler and a profile write
// one file differently. Rules ask [ContainsPrefix] and its kin what a stack goes through, [UserPlace] and
// [ProgramPlace] for lines, [Root] and [Group] for groups of goroutines.
//
// code measures no cost and knows no rule.
package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What a stack says by the names of its functions.

// StartsWith reports whether a function's name begins with one of some.
func StartsWith(function string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(function, n) })
}

// ContainsPrefix reports whether a stack goes through a function whose name begins so.
func ContainsPrefix(frames []model.Frame, names []string) bool {
	return ContainsFunc(frames, func(f string) bool { return StartsWith(f, names) })
}

// ContainsAny reports whether a stack goes through one of some functions.
func ContainsAny(frames []model.Frame, functions []string) bool {
	return ContainsFunc(frames, func(f string) bool { return slices.Contains(functions, f) })
}

// ContainsFunc reports whether a stack goes through a function that matches.
func ContainsFunc(frames []model.Frame, match func(function string) bool) bool {
	return slices.ContainsFunc(frames, func(f model.Frame) bool { return match(f.Func) })
}

// IsMutex reports whether a function takes or gives a lock of package sync.
func IsMutex(function string) bool {
	return StartsWith(function, []string{"sync.(*Mutex).", "sync.(*RWMutex).", "internal/sync.(*Mutex).", "internal/sync.(*HashTrieMap"})
}

// Foreign reports whether what a stack does is the recording's or package
// testing's, and not the program's.
func Foreign(frames []model.Frame) bool {
	return model.OfRecording(frames) || model.OfHarness(frames)
}

// IsMachinery reports whether a function only carries out the waiting and
// waking that its caller asked for.
func IsMachinery(function string) bool {
	return StartsWith(function, []string{"runtime.", "sync.", "internal/sync.", "internal/poll.", "internal/runtime/"})
}

// IsSystem reports whether a function is of the packages that call the system.
func IsSystem(function string) bool {
	return StartsWith(function, []string{"syscall.", "internal/", "os.", "os/", "net.", "runtime.", "golang.org/x/sys/"})
}

// Leaf returns the innermost function of a stack, "" for an unknown one.
func Leaf(m *model.Model, s model.Stack) string {
	if f := m.Stacks.Frames(s); len(f) > 0 {
		return f[0].Func
	}
	return ""
}

// Caller returns the innermost frame that is not machinery.
func Caller(frames []model.Frame) (f model.Frame, ok bool) {
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !IsMachinery(f.Func) })
	if i < 0 {
		return f, false
	}
	return frames[i], true
}

// Site names the line that asked for a wait or ended one.
func Site(m *model.Model, s model.Stack) string {
	if f, ok := Caller(m.Stacks.Frames(s)); ok {
		return fmt.Sprintf("%s:%d", f.Func, f.Line)
	}
	return Leaf(m, s)
}

// MatchText matches stacks by their functions and lines: the same code in another
// profile has another identity but the same text.
func MatchText(m *model.Model, stacks ...model.Stack) fact.Where {
	same := map[string]bool{}
	for _, s := range stacks {
		same[PlaceText(m, s)] = true
	}
	return func(s *model.Sample) bool { return same[PlaceText(m, s.Stack)] }
}

// PlaceText returns a stack by its functions and lines without the runtime's at both ends,
// which texts and dumps leave out.
func PlaceText(m *model.Model, s model.Stack) string {
	frames := m.Stacks.Frames(s)
	ofRuntime := func(f model.Frame) bool { return strings.HasPrefix(f.Func, "runtime.") }
	i := slices.IndexFunc(frames, func(f model.Frame) bool { return !ofRuntime(f) })
	if i < 0 {
		return StackText(m, s)
	}
	for ofRuntime(frames[len(frames)-1]) {
		frames = frames[:len(frames)-1]
	}
	return framesText(frames[i:])
}

// StackText returns a stack by its functions and lines.
func StackText(m *model.Model, s model.Stack) string { return framesText(m.Stacks.Frames(s)) }

func framesText(frames []model.Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "%s:%d\n", f.Func, f.Line)
	}
	return b.String()
}

// RunsOnce reports whether a function runs once in the life of a program.
func RunsOnce(f string) bool {
	return StartsWith(f, []string{"runtime.doInit", "sync.(*Once)."}) || strings.HasSuffix(f, ".init") || strings.Contains(f, ".init.")
}
