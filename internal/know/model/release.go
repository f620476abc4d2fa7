package model

import "slices"

// A Release is a newer release of a module that the program uses, whose list of changes says that it
// takes less for functions of the program's stacks, which it changes, or leaks no longer.
type Release struct {
	Module, Used string   // its path, and the version that the program was built with
	Version      string   // the newer one
	Said, Since  string   // the line, shortened, and the version that it is said of
	In           string   // the file that has it
	About        About    // what is better
	Funcs        []string // functions that it speaks of and the release changes, as the stacks have them
}

// About is what a release makes better.
type About string

// What releases are about.
const (
	AboutTime   About = "time"
	AboutMemory About = "memory" // and nothing is said of time
	AboutLeak   About = "leak"
)

// Of reports whether a stack, leaf first, goes through one of its functions.
func (r *Release) Of(frames []Frame) bool {
	return slices.ContainsFunc(frames, func(f Frame) bool { return slices.Contains(r.Funcs, f.Func) })
}
