package web

import (
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// groupNamed returns a group by its start function, "" when that starts none.
func (l *linker) groupNamed(function string) string {
	if s := l.v.Model.Sched; s != nil && function != "" && s.Group(function) != nil {
		return function
	}
	return ""
}

// groupsOf returns the goroutine groups that a finding is about: those that it says,
// else those that its functions start, else those that waited where it says.
func (l *linker) groupsOf(f *diagnosis.Finding) (list []string) {
	m := l.v.Model
	if m.Sched == nil {
		return nil
	}
	add := func(group string) {
		if !slices.Contains(list, group) && m.Sched.Group(group) != nil {
			list = append(list, group)
		}
	}
	for _, g := range f.Groups {
		add(g)
	}
	for _, w := range f.Where {
		if g := l.groupNamed(w.Function); g != "" {
			add(g)
		}
	}
	if len(list) > 0 {
		return list
	}
	// Waits are in the order of their length.
	for _, w := range m.Sched.Waits {
		if w.Kind != model.SchedWait && l.isOf(f, w.Stack) {
			add(w.Group)
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// isOf reports whether a stack is one that a finding is about.
func (l *linker) isOf(f *diagnosis.Finding, s model.Stack) bool {
	if slices.Contains(f.Stacks, s) {
		return true
	}
	for _, frame := range l.v.Model.Stacks.Frames(s) {
		if slices.ContainsFunc(f.Where, func(w diagnosis.Place) bool { return w.Function == frame.Func }) {
			return true
		}
	}
	return false
}
