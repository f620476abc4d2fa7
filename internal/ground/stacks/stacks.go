// Package stacks writes places of a program into a profile in pprof's format, for all who
// make one: of a trace, of the kernel's samples, of what was read from memory, of a fleet.
//
// It hides how functions and lines get their numbers, and that each is there once. Its types
// are [Writer] and [Frame].
package stacks

import "github.com/google/pprof/profile"

// A Frame is a place in a program; Func is empty where only the address is known.
type Frame struct {
	PC         uint64
	Func, File string
	Line       int
}

// A Writer gives a profile its functions and locations.
type Writer struct {
	Profile   *profile.Profile
	Name      func(string) string // how names are written, nil for as they are
	functions map[[2]string]*profile.Function
	locations map[Frame]*profile.Location
}

// NewWriter returns a writer into a profile that has no locations yet.
func NewWriter(p *profile.Profile) *Writer {
	return &Writer{p, nil, map[[2]string]*profile.Function{}, map[Frame]*profile.Location{}}
}

// Location returns the location of a frame, which has one line, or none where its function
// is not known. Who inlined it has a frame and a location of its own.
func (w *Writer) Location(f Frame) *profile.Location {
	l := w.locations[f]
	if l == nil {
		l = &profile.Location{ID: uint64(len(w.Profile.Location) + 1), Address: f.PC}
		if f.Func != "" {
			l.Line = []profile.Line{{Function: w.function(f), Line: int64(f.Line)}}
		}
		w.locations[f] = l
		w.Profile.Location = append(w.Profile.Location, l)
	}
	return l
}

func (w *Writer) function(f Frame) *profile.Function {
	name := [2]string{f.Func, f.File}
	fn := w.functions[name]
	if fn == nil {
		if w.Name != nil {
			f.Func, f.File = w.Name(f.Func), w.Name(f.File)
		}
		fn = &profile.Function{ID: uint64(len(w.Profile.Function) + 1), Name: f.Func, SystemName: f.Func, Filename: f.File}
		w.functions[name] = fn
		w.Profile.Function = append(w.Profile.Function, fn)
	}
	return fn
}
