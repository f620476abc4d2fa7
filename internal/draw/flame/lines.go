package flame

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Line is what one line of a function has: Self where it was the leaf itself, Sum
// with all that it called. A stack that has the line twice counts once.
type Line struct {
	Number    int
	Self, Sum int64
}

// Lines are a function's lines with a value, by number, in the file where it has most.
type Lines struct {
	Kind, Unit string
	Total      int64 // of the kind, or of what was chosen of it
	File       string
	Lines      []Line
}

// LinesOf adds up a function line by line. Its errors are of type [*problem.Error].
func LinesOf(m *model.Model, kindName, group, label, function string) (*Lines, error) {
	k := kindNamed(kindName)
	if k == nil {
		return nil, problem.New(problem.Misuse, "", "no kind of stacks %q", clip(kindName, 80))
	}
	w, ok := gather(k, m, choice{group, label, nil})
	if !ok {
		return nil, problem.New(problem.Failure, "", "the values of kind %s add up to more than 2^63: the profile is damaged", k.name)
	}
	files := map[string]map[int]*Line{}
	of := map[string]int64{}
	for p, v := range w.at {
		seen := map[int]bool{}
		for i, f := range m.Stacks.Frames(p.frames) {
			if f.Func != function || f.Line <= 0 {
				continue
			}
			if files[f.File] == nil {
				files[f.File] = map[int]*Line{}
			}
			l := files[f.File][f.Line]
			if l == nil {
				l = &Line{Number: f.Line}
				files[f.File][f.Line] = l
			}
			if i == 0 && p.leaf == "" {
				l.Self = addUp(l.Self, v)
			}
			if !seen[f.Line] {
				seen[f.Line] = true
				l.Sum = addUp(l.Sum, v)
				of[f.File] = addUp(of[f.File], v)
			}
		}
	}
	if len(files) == 0 {
		return nil, problem.New(problem.Absence, "", "no stack of kind %s has a line of %q", k.name, clip(function, 80))
	}
	file := slices.MaxFunc(slices.Sorted(maps.Keys(files)), func(a, b string) int { return cmp.Compare(of[a], of[b]) })
	out := &Lines{Kind: k.name, Unit: k.unit(m), Total: w.total, File: file}
	for _, n := range slices.Sorted(maps.Keys(files[file])) {
		out.Lines = append(out.Lines, *files[file][n])
	}
	return out, nil
}
