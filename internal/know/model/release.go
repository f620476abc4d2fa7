package model

import "slices"

// A Release is a newer release of a module that the program uses, whose list of changes says that it
// takes less for functions of the program's stacks, which it changes, or leaks no longer; or one in which
// such a function no longer comes to another that it comes to here.
type Release struct {
	Module, Used string   // its path, and the version that the program was built with
	Version      string   // the newer one
	Said, Since  string   // the line, shortened, and the version that it is said of
	In           string   // the file that has it
	About        About    // what is better
	Funcs        []string // functions that it speaks of and the release changes, as [AnyTypes] has them
	Without      string   // the function that they no longer come to; "" where the list of changes speaks
}

// About is what a release makes better.
type About string

// What releases are about.
const (
	AboutTime   About = "time"
	AboutMemory About = "memory" // and nothing is said of time
	AboutLeak   About = "leak"
)

// Of reports whether a stack, leaf first, goes through one of its functions, and on to what they no longer come to.
func (r *Release) Of(frames []Frame) bool {
	if r.Without != "" {
		at := slices.IndexFunc(frames, func(f Frame) bool { return AnyTypes(f.Func) == r.Without })
		if at < 0 {
			return false
		}
		frames = frames[at+1:]
	}
	return slices.ContainsFunc(frames, func(f Frame) bool { return r.IsIn(f.Func) })
}

// IsIn reports whether a function is one of those that it speaks of.
func (r *Release) IsIn(function string) bool { return slices.Contains(r.Funcs, AnyTypes(function)) }
