// Package listing puts source lines beside what they cost and what the
// compiler says of them.
//
// It hides where the source of a recorded function is on this machine, how it
// is made sure that it is that function's, how profiles are summed by line,
// and how the compiler is asked for its escape analysis. [Make] gives a
// [Function] for each place.
//
// It reads files of one module only, the one that the reader works in: what a
// recording names is not reason enough to show a file or to compile a package.
package listing

import (
	"context"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Function is the part of one function that is worth showing, or why it
// cannot be shown.
type Function struct {
	Name  string // as the runtime has it
	File  string // on this machine; as the recording has it when Missing
	Lines []Line
	// Measured columns are those that a profile filled.
	CPU, Allocs bool
	// Missing says why there are no lines; Unasked why the compiler said
	// nothing; Changed that the file is newer than the recording.
	Missing, Unasked string
	Changed          bool
}

// A Line is one line of source.
type Line struct {
	Number int
	Text   string
	Place  bool // the finding points here
	// CPU, Objects and Bytes are what this line and all that it calls took; a
	// stack that passes the line twice counts once.
	CPU            time.Duration
	Objects, Bytes int64
	Compiler       []string // in the compiler's words
}

// Options say where source is looked for.
type Options struct {
	// Dir is in the module whose files may be shown; "" is the working directory.
	Dir string
	// Compile asks the compiler. It runs `go build` in the package's directory.
	Compile bool
}

// maxLines bounds what is shown of one function: a place in the middle of a long
// one has about as many lines before it as after.
const maxLines = 60

// Make lists the functions of places, each once, in their order.
func Make(ctx context.Context, m *model.Model, places []diagnosis.Place, o Options) []Function {
	root, err := findRoot(o.Dir)
	compiler := &compiler{answers: map[pack]answer{}, tags: buildTags(m)}
	var list []Function
	for _, p := range merge(places) {
		f := Function{Name: p.name, File: p.file}
		if err != nil {
			f.Missing = err.Error()
		} else {
			f.fill(ctx, m, root, p, o.Compile, compiler)
		}
		list = append(list, f)
	}
	return list
}

// A spot is a function with the lines in it that places name.
type spot struct {
	name, file string
	lines      []int
}

func merge(places []diagnosis.Place) (list []spot) {
	index := map[[2]string]int{}
	for _, p := range places {
		if p.File == "" || p.Line <= 0 {
			continue
		}
		key := [2]string{p.Function, p.File}
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, spot{name: p.Function, file: p.File})
		}
		list[i].lines = append(list[i].lines, p.Line)
	}
	return list
}

func (f *Function) fill(ctx context.Context, m *model.Model, root string, s spot, compile bool, c *compiler) {
	src, err := find(root, s)
	if err != nil {
		f.Missing = err.Error()
		return
	}
	f.File = src.path
	f.Changed = changed(src.modified, m.Run)
	for i, text := range src.lines {
		n := src.first + i
		f.Lines = append(f.Lines, Line{Number: n, Text: text, Place: slices.Contains(s.lines, n)})
	}
	f.count(m, s.file)
	if compile {
		f.ask(ctx, c)
	}
}

// changed tells whether a file is newer than what was recorded; without a start that is known
// that is not known, and then it is not claimed.
func changed(modified time.Time, run model.Run) bool {
	return !run.Start.IsZero() && modified.After(run.Start.Add(run.Duration))
}

// count sums the profiles by line.
func (f *Function) count(m *model.Model, recorded string) {
	if m.CPU != nil {
		_, nanos := m.CPU.Columns()
		f.CPU = f.add(m, m.CPU, recorded, nanos, func(l *Line, v int64) { l.CPU += time.Duration(v) })
	}
	if m.Heap != nil {
		objects := f.add(m, m.Heap, recorded, column(m.Heap, "alloc_objects"), func(l *Line, v int64) { l.Objects += v })
		bytes := f.add(m, m.Heap, recorded, column(m.Heap, "alloc_space"), func(l *Line, v int64) { l.Bytes += v })
		f.Allocs = objects || bytes
	}
}

func column(p *model.Profile, name string) int {
	for i, t := range p.Types {
		if t.Name == name {
			return i
		}
	}
	return -1
}

// add gives a profile's column to the lines of the function, and reports
// whether there is such a column.
func (f *Function) add(m *model.Model, p *model.Profile, recorded string, col int, add func(*Line, int64)) bool {
	if col < 0 || len(f.Lines) == 0 {
		return false
	}
	first := f.Lines[0].Number
	seen := map[int]bool{}
	for i := range p.Samples {
		s := &p.Samples[i]
		if col >= len(s.Values) || s.Values[col] == 0 {
			continue
		}
		clear(seen)
		for _, fr := range m.Stacks.Frames(s.Stack) {
			at := fr.Line - first
			if fr.File != recorded || at < 0 || at >= len(f.Lines) || seen[at] {
				continue
			}
			seen[at] = true
			add(&f.Lines[at], s.Values[col])
		}
	}
	return true
}
