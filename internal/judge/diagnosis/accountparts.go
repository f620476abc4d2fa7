package diagnosis

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// An owner is whose a stack is in an account.
type owner struct {
	name  string
	frame model.Frame // its line; none where the name is of no code
	with  string      // what else is to be known of the stack, in a few words
}

// largestIn returns the functions of the program, or of the library where no line of the
// program is on the stack, that have most of a tree.
func largestIn(p fact.Meter, tree string, total fact.Fact) []AccountRow {
	return rowsOf(p, tree, total, byFunction)
}

// rowsOf returns the owners with most of a tree, each with the line and the note that most
// of it has.
func rowsOf(p fact.Meter, tree string, total fact.Fact, of func([]model.Frame) owner) []AccountRow {
	return rowsBy(p, tree, total, of, p.Samples)
}

// A measure adds the matching samples of a tree up.
type measure func(name, tree string, match fact.Where) fact.Fact

// rowsBy is rowsOf by what each is measured with.
func rowsBy(p fact.Meter, tree string, total fact.Fact, of func([]model.Frame) owner, by measure) (rows []AccountRow) {
	known := map[model.Stack]owner{}
	ownerOf := func(s *model.Sample) owner {
		o, ok := known[s.Stack]
		if !ok {
			o = of(p.Model.Stacks.Frames(s.Stack))
			known[s.Stack] = o
		}
		return o
	}
	for _, name := range p.Largest(tree, func(s *model.Sample) string { return ownerOf(s).name }) {
		ofName := func(s *model.Sample) bool { return ownerOf(s).name == name }
		value := by(name, tree, ofName)
		if len(rows) == accountRows || value.Value <= 0 {
			break
		}
		row := AccountRow{Name: name, Value: value, Share: ratio(value.Value, total.Value)}
		frames := map[string]model.Frame{}
		// Samples of others have a key of their own, which is empty.
		at := p.Largest(tree, func(s *model.Sample) string {
			if o := ownerOf(s); o.name == name && o.frame.Func != "" {
				key := location(o.frame)
				frames[key] = o.frame
				return key
			}
			return ""
		})
		if i := firstNamed(at); i >= 0 {
			f := frames[at[i]]
			row.Where = &Place{f.Func, f.File, f.Line}
		}
		row.Note = mostOften(p, tree, ofName, func(s *model.Sample) string { return ownerOf(s).with })
		rows = append(rows, row)
	}
	return rows
}

// mostOften returns what most of the matching samples of a tree say; "" when that is nothing.
func mostOften(p fact.Meter, tree string, match fact.Where, says func(*model.Sample) string) string {
	const other = "\x00" // samples that do not match
	for _, words := range p.Largest(tree, func(s *model.Sample) string {
		if !match(s) {
			return other
		}
		return says(s)
	}) {
		if words != other {
			return words
		}
	}
	return ""
}

func firstNamed(names []string) int {
	for i, n := range names {
		if n != "" {
			return i
		}
	}
	return -1
}

// byFunction returns the function of the program nearest to the leaf, with that of a library
// that it called; or the leaf where nothing of the program is on the stack.
func byFunction(frames []model.Frame) owner {
	f, ok := model.UserFrame(frames)
	leaf := leafOf(frames)
	if !ok {
		return owner{name: leaf.Func, frame: leaf}
	}
	o := owner{name: f.Func, frame: f}
	if leaf.Func != f.Func {
		o.with = "in " + leaf.Func
	}
	return o
}

// leafOf returns the first frame that is not the allocator itself, which is at the leaf of
// every stack of a heap.
func leafOf(frames []model.Frame) model.Frame {
	for _, f := range frames {
		if !allocator(f.Func) {
			return f
		}
	}
	if len(frames) == 0 {
		return model.Frame{Func: "(no stack)"}
	}
	return frames[0]
}

// allocator reports whether a function allocates and does nothing else.
func allocator(function string) bool {
	name, ok := strings.CutPrefix(function, "runtime.")
	return ok && (strings.HasPrefix(name, "malloc") || strings.HasPrefix(name, "make") || strings.HasPrefix(name, "growslice") ||
		name == "newobject" || name == "newarray" || name == "systemstack" || name == "profilealloc")
}

// location returns a line as a key.
func location(f model.Frame) string {
	return f.Func + "\x00" + f.File + "\x00" + fact.Count.Format(float64(f.Line))
}

// mostOf says who has most of something, in a piece of a sentence.
func mostOf(rows []AccountRow) (share, name fact.Name) {
	return fact.Name(fact.Ratio.Format(rows[0].Share)), fact.Name(rows[0].Name)
}

// note joins the pieces of one, as far as there are any.
func note(pieces ...string) string {
	return strings.Join(slices.DeleteFunc(pieces, func(s string) bool { return s == "" }), ", ")
}
