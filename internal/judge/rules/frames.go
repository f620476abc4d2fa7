package rules

import (
	"fmt"
	"slices"
	"strings"

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
